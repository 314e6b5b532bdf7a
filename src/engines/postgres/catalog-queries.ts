/**
 * What introspection asks of `pg_catalog`. `information_schema` is never read: it hides keys from a login that may only
 * SELECT. Every list is JSON, so that no name needs a parser of its own; every query is set-based, and their number does
 * not depend on the number of tables. Valid from PostgreSQL 13 to 18.
 */

/** One snapshot for all of them. */
export const BEGIN_CATALOG = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'
export const COMMIT_CATALOG = 'COMMIT'

/** `$1`: schemas. One row. The connection limit is the smallest of the server's, the database's and the role's. */
export const SERVER_FACTS = `
SELECT current_setting('server_version_num'),
       r.rolsuper::text,
       least(current_setting('max_connections')::int,
             CASE WHEN d.datconnlimit >= 0 THEN d.datconnlimit END,
             CASE WHEN r.rolconnlimit >= 0 THEN r.rolconnlimit END)::text,
       coalesce((SELECT json_agg(n.nspname)
                 FROM pg_namespace n
                 WHERE n.nspname = ANY ($1::text[]) AND has_schema_privilege(n.oid, 'USAGE')), '[]')::text
FROM pg_roles r
JOIN pg_database d ON d.datname = current_database()
WHERE r.rolname = current_user`

/**
 * `$1`: schemas. Partitions are left out: their parent stands for them, and counts their rows where it was never analyzed
 * itself. Ordered as the model is.
 */
export const RELATIONS = `
SELECT c.oid::text, n.nspname::text, c.relname::text, c.relkind::text, d.description,
       c.reltuples::float8::text, c.relpages::text, leaves.tuples::text,
       pg_has_role(c.relowner, 'USAGE')::text,
       (c.relkind <> 'm' AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                              OR has_any_column_privilege(c.oid, 'INSERT, UPDATE')))::text
FROM pg_namespace n
JOIN pg_class c ON c.relnamespace = n.oid
LEFT JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
LEFT JOIN LATERAL (
  SELECT sum(leaf.reltuples::float8) AS tuples
  FROM pg_partition_tree(c.oid) p
  JOIN pg_class leaf ON leaf.oid = p.relid
  WHERE p.isleaf AND leaf.reltuples > 0
) leaves ON c.relkind = 'p'
WHERE n.nspname = ANY ($1::text[])
  AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
  AND NOT c.relispartition
  AND has_schema_privilege(n.oid, 'USAGE')
ORDER BY n.nspname, c.relname`

/**
 * `$1`: relations. Only columns that the login may SELECT. A NOT NULL that PostgreSQL 18 was told not to validate holds for
 * new rows alone, so it does not count.
 */
export const COLUMNS = `
SELECT a.attrelid::text, a.attnum::text, a.attname::text, a.atttypid::text, a.atttypmod::text,
       format_type(a.atttypid, a.atttypmod),
       (a.attnotnull AND NOT EXISTS (
         SELECT FROM pg_constraint k
         WHERE k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated
           AND k.conkey = ARRAY[a.attnum]))::text,
       a.atthasdef::text, a.attidentity::text, a.attgenerated::text, d.description
FROM unnest($1::oid[]) AS wanted (oid)
JOIN pg_attribute a ON a.attrelid = wanted.oid
LEFT JOIN pg_description d ON d.objoid = a.attrelid AND d.classoid = 'pg_class'::regclass AND d.objsubid = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum`

/**
 * `$1`: types. With them come the types they are made of: the base of a domain, the element of a true array. Then come
 * two columns of the default operator class that the planner would look for, of the type itself or else of one it is
 * binary-coercible to: whether it orders (btree) or only compares (hash), and the schema of its operators. Both are NULL
 * without one, or where the login may not use that schema. Last: whether a value can be cast to the type by its name.
 */
export const TYPES = `
WITH RECURSIVE used (oid) AS (
  SELECT unnest($1::oid[])
  UNION
  SELECT part.oid
  FROM used
  JOIN pg_type t ON t.oid = used.oid
  LEFT JOIN pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
  CROSS JOIN LATERAL (VALUES (t.typbasetype), (e.oid)) AS part (oid)
  WHERE part.oid <> 0
), classes AS (
  SELECT c.opcintype, m.amname, n.nspname, has_schema_privilege(n.oid, 'USAGE') AS usable
  FROM pg_opclass c
  JOIN pg_am m ON m.oid = c.opcmethod
  JOIN pg_amop p ON p.amopfamily = c.opcfamily AND p.amoplefttype = c.opcintype AND p.amoprighttype = c.opcintype
                AND p.amopstrategy = CASE m.amname WHEN 'btree' THEN 3 ELSE 1 END
  JOIN pg_operator o ON o.oid = p.amopopr
  JOIN pg_namespace n ON n.oid = o.oprnamespace
  WHERE c.opcdefault AND m.amname IN ('btree', 'hash')
    -- hstore orders for indexes alone: its operators have names that no comparison is written with.
    AND (m.amname = 'hash' OR EXISTS (
      SELECT FROM pg_amop less JOIN pg_operator lo ON lo.oid = less.amopopr
      WHERE less.amopfamily = c.opcfamily AND less.amoplefttype = c.opcintype AND less.amoprighttype = c.opcintype
        AND less.amopstrategy = 1 AND lo.oprname = '<'))
)
SELECT t.oid::text, n.nspname::text, t.typname::text, t.typtype::text,
       t.typbasetype::text, t.typtypmod::text, format_type(t.typbasetype, t.typtypmod),
       t.typnotnull::text, (t.typdefault IS NOT NULL)::text, e.oid::text,
       (SELECT json_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_enum l WHERE l.enumtypid = t.oid)::text,
       CASE WHEN best.usable THEN best.amname::text END, CASE WHEN best.usable THEN best.nspname::text END,
       (t.typtype <> 'p' AND has_schema_privilege(n.oid, 'USAGE'))::text
FROM used
JOIN pg_type t ON t.oid = used.oid
JOIN pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
LEFT JOIN LATERAL (
  SELECT c.amname, c.nspname, c.usable
  FROM classes c
  WHERE c.opcintype = t.oid
     OR c.opcintype IN (SELECT k.casttarget FROM pg_cast k
                        WHERE k.castsource = t.oid AND k.castmethod = 'b' AND k.castcontext = 'i')
  ORDER BY c.opcintype = t.oid DESC, c.amname = 'btree' DESC
  LIMIT 1
) AS best ON true`

/**
 * `$1`: schemas. Functions and procedures that the login may execute; aggregates, window and trigger functions cannot be
 * called by themselves, and what belongs to an extension is its own. Per parameter: mode, name, type and the type as
 * PostgreSQL writes it; the members of a composite result likewise. Last: whether a call that leaves defaults out could mean
 * another routine of the same name, also one that is not listed here.
 */
export const ROUTINES = `
SELECT p.oid::text, n.nspname::text, p.proname::text, p.prokind::text, d.description,
       (p.provolatile <> 'v')::text, p.prosecdef::text, p.proretset::text, p.prorettype::text,
       format_type(p.prorettype, NULL), pg_get_function_identity_arguments(p.oid), p.pronargdefaults::text,
       (SELECT coalesce(json_agg(json_build_array(coalesce(p.proargmodes[place]::text, 'i'),
                                                  coalesce(p.proargnames[place], ''), oid::text,
                                                  format_type(oid, NULL)) ORDER BY place), '[]')
        FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS args (oid, place))::text,
       (SELECT json_agg(json_build_array('o', a.attname, a.atttypid::text, format_type(a.atttypid, a.atttypmod))
                        ORDER BY a.attnum)
        FROM pg_attribute a
        WHERE r.typtype = 'c' AND a.attrelid = r.typrelid AND a.attnum > 0 AND NOT a.attisdropped)::text,
       EXISTS (SELECT FROM pg_proc o
               WHERE o.pronamespace = p.pronamespace AND o.proname = p.proname AND o.oid <> p.oid
                 AND o.pronargs - o.pronargdefaults < p.pronargs
                 AND (o.provariadic <> 0 OR o.pronargs >= p.pronargs - p.pronargdefaults))::text
FROM pg_namespace n
JOIN pg_proc p ON p.pronamespace = n.oid
JOIN pg_type r ON r.oid = p.prorettype
LEFT JOIN pg_description d ON d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass AND d.objsubid = 0
WHERE n.nspname = ANY ($1::text[])
  AND p.prokind IN ('f', 'p')
  AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
  AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[])
  AND has_schema_privilege(n.oid, 'USAGE')
  AND has_function_privilege(p.oid, 'EXECUTE')
  AND NOT EXISTS (SELECT FROM pg_depend e
                  WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e')
ORDER BY n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)`

/**
 * `$1`: relations. The key columns of every usable index, INCLUDE columns left out, 0 for an expression. Only btree can
 * serve every comparison and order that a plan can ask for; a primary key is listed whatever carries it.
 */
export const INDEXES = `
SELECT i.indrelid::text, c.relname::text, i.indisprimary::text, i.indisunique::text, (i.indpred IS NOT NULL)::text,
       (m.amname = 'btree')::text, to_json((i.indkey::int2[])[0:i.indnkeyatts - 1])::text
FROM unnest($1::oid[]) AS wanted (oid)
JOIN pg_index i ON i.indrelid = wanted.oid
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am m ON m.oid = c.relam
WHERE i.indisvalid AND i.indisready AND i.indislive AND (m.amname = 'btree' OR i.indisprimary)
ORDER BY i.indrelid, c.relname`

/**
 * `$1`: relations. Wherever the keys lead. Copies that the server makes for partitions are left out, and so are keys over
 * periods (PostgreSQL 18), which contain rather than equal; the row as JSON asks for that column without its existing.
 */
export const FOREIGN_KEYS = `
SELECT k.conrelid::text, k.conname::text, to_json(k.conkey)::text, n.nspname::text, c.relname::text,
       (SELECT json_agg(a.attname ORDER BY target.place)
        FROM unnest(k.confkey) WITH ORDINALITY AS target (attnum, place)
        JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = target.attnum)::text
FROM unnest($1::oid[]) AS wanted (oid)
JOIN pg_constraint k ON k.conrelid = wanted.oid
JOIN pg_class c ON c.oid = k.confrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0 AND to_jsonb(k) ->> 'conperiod' IS DISTINCT FROM 'true'
ORDER BY k.conrelid, k.conname`

/**
 * `$1`: views and materialized views, and whatever they read is followed to the tables. A row for each column that a view's
 * query names: view, schema and name of what is read, the column (NULL where it names none of them), whether it takes whole
 * rows: then no column of those is a dependency, and only the parsed query tells. Further rows name a function that the query calls,
 * last, and nothing that is read.
 */
export const VIEW_READS = `
WITH RECURSIVE used (oid) AS (
  SELECT unnest($1::oid[])
  UNION
  SELECT d.refobjid
  FROM used
  JOIN pg_rewrite r ON r.ev_class = used.oid AND r.ev_type = '1'
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
)
SELECT vn.nspname::text, v.relname::text, n.nspname::text, c.relname::text, a.attname::text,
       (r.ev_action::text LIKE '%:varattno 0 %')::text, NULL::text
FROM used
JOIN pg_class v ON v.oid = used.oid
JOIN pg_namespace vn ON vn.oid = v.relnamespace
JOIN pg_rewrite r ON r.ev_class = v.oid AND r.ev_type = '1'
JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
                AND d.refobjid <> v.oid
JOIN pg_class c ON c.oid = d.refobjid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND d.refobjsubid <> 0
WHERE v.relkind IN ('v', 'm') AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
UNION ALL
SELECT vn.nspname::text, v.relname::text, NULL, NULL, NULL, NULL, p.oid::text
FROM used
JOIN pg_class v ON v.oid = used.oid
JOIN pg_namespace vn ON vn.oid = v.relnamespace
JOIN pg_rewrite r ON r.ev_class = v.oid AND r.ev_type = '1'
JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_proc'::regclass
JOIN pg_proc p ON p.oid = d.refobjid
JOIN pg_language l ON l.oid = p.prolang
WHERE v.relkind IN ('v', 'm') AND l.lanname NOT IN ('internal', 'c')`

/**
 * `$1`: routines, and beside them every one that these may call, whoever may run it: extensions' own are left out. Only what is
 * written in a language has a text. The text of the body, empty where it was parsed when the routine was made; then what it depends
 * on tells: schema and name of the table, the column or NULL; whether such a body takes whole rows; the routines that it calls. Last
 * the name.
 */
export const ROUTINE_READS = `
SELECT p.oid::text, p.prosrc,
       (SELECT coalesce(json_agg(json_build_array(n.nspname, c.relname, a.attname)), '[]')
        FROM pg_depend d
        JOIN pg_class c ON c.oid = d.refobjid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND d.refobjsubid <> 0
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass
          AND c.relkind IN ('r', 'v', 'm', 'p', 'f'))::text,
       coalesce(to_jsonb(p) ->> 'prosqlbody' LIKE '%:varattno 0 %', false)::text,
       (SELECT coalesce(json_agg(called.oid::text), '[]')
        FROM pg_depend d
        JOIN pg_proc called ON called.oid = d.refobjid
        JOIN pg_language cl ON cl.oid = called.prolang
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_proc'::regclass
          AND cl.lanname NOT IN ('internal', 'c'))::text,
       p.proname::text
FROM pg_proc p
JOIN pg_namespace pn ON pn.oid = p.pronamespace
JOIN pg_language l ON l.oid = p.prolang
WHERE l.lanname NOT IN ('internal', 'c')
  AND (p.oid = ANY ($1::oid[])
       OR (pn.nspname NOT LIKE 'pg\\_%' AND pn.nspname <> 'information_schema'
           AND NOT EXISTS (SELECT FROM pg_depend e
                           WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e')))`
