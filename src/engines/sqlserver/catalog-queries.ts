/**
 * What introspection asks of the `sys` views of the connection's own database. They show a login only what it holds some
 * right on, and tell one that may SELECT of keys, indexes and triggers as well; what it may do with each column they do not
 * say, so that the server is asked. Every query is set-based, and their number does not depend on the number of tables.
 * Every cell is text. Valid from SQL Server 2019.
 *
 * `@p1` is the numbers of the schemas, a comma before and behind each: neither table parameters nor `OPENJSON` work at every
 * compatibility level.
 */
const IN_SCHEMAS = "CHARINDEX(N',' + CONVERT(nvarchar(11), o.schema_id) + N',', @p1) > 0"

/**
 * The object `o` of the schema `s`, as the server is asked about rights on it. It answers NULL for a name that it cannot
 * read, which then counts as a right to read: the server itself is to refuse.
 */
const OBJECT_NAME = "QUOTENAME(s.name) + N'.' + QUOTENAME(o.name)"

/** Of the column or parameter `c`, whose declared type is `d` and whose system type is `b`; see `CatalogType`. */
const TYPE_JOINS = `
LEFT JOIN sys.types d ON d.user_type_id = c.user_type_id
LEFT JOIN sys.types b ON b.user_type_id = c.system_type_id AND b.is_user_defined = 0`

/**
 * A login need not see an alias type, but always its system type. `hierarchyid` and the spatial types share one number with
 * every type of an assembly, and so are found by their own names.
 */
const TYPE_NAMES = `
COALESCE(b.name, CASE WHEN d.is_user_defined = 0 THEN d.name END), d.name,
       CONVERT(nvarchar(11), c.max_length), CONVERT(nvarchar(11), c.precision), CONVERT(nvarchar(11), c.scale)`

const IS_ALIAS =
  "CASE WHEN b.name IS NOT NULL AND (d.user_type_id IS NULL OR d.is_user_defined = 1) THEN N'1' ELSE N'0' END"

const DATABASE_COLLATION = "CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), N'Collation'))"

/**
 * One row: version; whether the login may do anything with the database; connections that the server may have; whether its
 * catalog disregards case in names; the database's compatibility level, where the server is
 * Microsoft's own: others that speak its protocol count differently.
 */
export const SERVER_FACTS = `
SELECT CONVERT(nvarchar(128), SERVERPROPERTY(N'ProductVersion')),
       CASE WHEN IS_SRVROLEMEMBER(N'sysadmin') = 1 OR IS_MEMBER(N'db_owner') = 1
              OR HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'CONTROL') = 1 THEN N'1' ELSE N'0' END,
       CONVERT(nvarchar(11), @@MAX_CONNECTIONS),
       CASE WHEN EXISTS (SELECT 1 FROM sys.schemas WHERE name = N'SYS') THEN N'1' ELSE N'0' END,
       (SELECT CONVERT(nvarchar(11), d.compatibility_level) FROM sys.databases d
        WHERE d.name = DB_NAME() AND @@VERSION LIKE N'Microsoft%')`

/** Every schema in which the login holds any right, or sees any object: number, name. All of them are visible to everyone. */
export const SCHEMAS = `
SELECT CONVERT(nvarchar(11), s.schema_id), s.name
FROM sys.schemas s
WHERE s.name NOT IN (N'sys', N'INFORMATION_SCHEMA')
  AND (HAS_PERMS_BY_NAME(QUOTENAME(s.name), N'SCHEMA', N'ANY') = 1
       OR EXISTS (SELECT 1 FROM sys.objects o WHERE o.schema_id = s.schema_id AND o.is_ms_shipped = 0))`

/**
 * A computed column that is not known to read nothing but its own row: a function that reads, or that is not bound to what it
 * names and may, cannot stand in what a statement returns. The server answers NULL where it does not know.
 */
const READING_COLUMN = `EXISTS (
         SELECT 1 FROM sys.columns c
         WHERE c.object_id = o.object_id AND c.is_computed = 1
           AND (ISNULL(COLUMNPROPERTY(c.object_id, c.name, N'UserDataAccess'), 1) <> 0
                OR ISNULL(COLUMNPROPERTY(c.object_id, c.name, N'SystemDataAccess'), 1) <> 0))`

/**
 * Whether the statement itself cannot return the row: an enabled trigger of the table that fires on the event takes that
 * away, and so does a computed column that may read elsewhere.
 */
function readBack(event: 'INSERT' | 'UPDATE'): string {
  return `CASE WHEN EXISTS (
         SELECT 1 FROM sys.triggers r JOIN sys.trigger_events v ON v.object_id = r.object_id
         WHERE r.parent_id = o.object_id AND r.parent_class = 1 AND r.is_disabled = 0 AND v.type_desc = N'${event}'
       ) OR ${READING_COLUMN} THEN N'1' ELSE N'0' END`
}

/**
 * Tables and views: number, schema, name, type, comment, whether it is external, rows, whether a row that is inserted or
 * updated has to be read back, whether the login may alter it, whether it may write it as a whole, whether it is kept in memory. Rows are counted for each partition of the heap or
 * the clustered index.
 */
export const RELATIONS = `
SELECT CONVERT(nvarchar(11), o.object_id), s.name, o.name, RTRIM(o.type), CONVERT(nvarchar(4000), e.value),
       CASE WHEN t.is_external = 1 THEN N'1' ELSE N'0' END,
       (SELECT CONVERT(nvarchar(20), SUM(p.rows)) FROM sys.partitions p
        WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)),
       ${readBack('INSERT')},
       ${readBack('UPDATE')},
       CASE WHEN HAS_PERMS_BY_NAME(${OBJECT_NAME}, N'OBJECT', N'ALTER') = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN HAS_PERMS_BY_NAME(${OBJECT_NAME}, N'OBJECT', N'INSERT') = 1
              OR HAS_PERMS_BY_NAME(${OBJECT_NAME}, N'OBJECT', N'UPDATE') = 1
              OR HAS_PERMS_BY_NAME(${OBJECT_NAME}, N'OBJECT', N'DELETE') = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN t.is_memory_optimized = 1 THEN N'1' ELSE N'0' END
FROM sys.objects o
JOIN sys.schemas s ON s.schema_id = o.schema_id
LEFT JOIN sys.tables t ON t.object_id = o.object_id
LEFT JOIN sys.extended_properties e ON e.class = 1 AND e.major_id = o.object_id AND e.minor_id = 0
                                   AND e.name = N'MS_Description'
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0 AND ${IN_SCHEMAS}`

/**
 * Columns of tables, views and functions that give tables: object, number, name, type, whether it may be null, has a
 * default, counts up, is computed, comment, and whether the login may SELECT and UPDATE it. Versions of a row and sets of
 * sparse columns are computed too, in that nothing can be written there. Left out are columns whose content only a client
 * with its keys could read, and those in which a graph keeps what it is made of. What is masked is masked for the login.
 */
export const COLUMNS = `
SELECT CONVERT(nvarchar(11), c.object_id), CONVERT(nvarchar(11), c.column_id), c.name, ${TYPE_NAMES},
       c.collation_name, CONVERT(nvarchar(11), COLLATIONPROPERTY(c.collation_name, N'CodePage')), ${IS_ALIAS},
       CASE WHEN c.is_nullable = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN c.default_object_id <> 0 THEN N'1' ELSE N'0' END,
       CASE WHEN c.is_identity = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN c.is_computed = 1 OR c.generated_always_type <> 0 OR c.is_column_set = 1 THEN N'1' ELSE N'0' END,
       CONVERT(nvarchar(4000), e.value),
       CASE WHEN ISNULL(HAS_PERMS_BY_NAME(${OBJECT_NAME}, N'OBJECT', N'SELECT', c.name, N'COLUMN'), 1) = 1
            THEN N'1' ELSE N'0' END,
       CASE WHEN HAS_PERMS_BY_NAME(${OBJECT_NAME}, N'OBJECT', N'UPDATE', c.name, N'COLUMN') = 1
            THEN N'1' ELSE N'0' END
FROM sys.objects o
JOIN sys.schemas s ON s.schema_id = o.schema_id
JOIN sys.columns c ON c.object_id = o.object_id${TYPE_JOINS}
LEFT JOIN sys.extended_properties e ON e.class = 1 AND e.major_id = c.object_id AND e.minor_id = c.column_id
                                   AND e.name = N'MS_Description'
WHERE o.type IN ('U', 'V', 'IF', 'TF', 'FT') AND o.is_ms_shipped = 0 AND ${IN_SCHEMAS}
  AND c.encryption_type IS NULL AND c.graph_type IS NULL
ORDER BY c.object_id, c.column_id`

/**
 * A row for each key column of an index that the server keeps up: table, index, whether it is the primary key, unique,
 * filtered, a tree, and the column's number. A heap and column stores have no keys; a hash makes one.
 */
export const INDEXES = `
SELECT CONVERT(nvarchar(11), i.object_id), i.name,
       CASE WHEN i.is_primary_key = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN i.is_unique = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN i.has_filter = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN i.type IN (1, 2) THEN N'1' ELSE N'0' END,
       CONVERT(nvarchar(11), k.column_id)
FROM sys.objects o
JOIN sys.indexes i ON i.object_id = o.object_id
JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
WHERE o.type = 'U' AND o.is_ms_shipped = 0 AND ${IN_SCHEMAS}
  AND i.type IN (1, 2, 7) AND i.is_disabled = 0 AND i.is_hypothetical = 0 AND k.key_ordinal > 0
ORDER BY i.object_id, i.index_id, k.key_ordinal`

/**
 * A row for each column of a foreign key, wherever it leads, as long as the login sees the table there. One that is disabled
 * or was not checked when it was made still says how the tables belong together.
 */
export const FOREIGN_KEYS = `
SELECT CONVERT(nvarchar(11), k.parent_object_id), k.name, c.name, CONVERT(nvarchar(11), f.constraint_column_id),
       rs.name, ro.name, rc.name
FROM sys.objects o
JOIN sys.foreign_keys k ON k.parent_object_id = o.object_id
JOIN sys.foreign_key_columns f ON f.constraint_object_id = k.object_id
JOIN sys.columns c ON c.object_id = f.parent_object_id AND c.column_id = f.parent_column_id
JOIN sys.objects ro ON ro.object_id = f.referenced_object_id
JOIN sys.schemas rs ON rs.schema_id = ro.schema_id
JOIN sys.columns rc ON rc.object_id = f.referenced_object_id AND rc.column_id = f.referenced_column_id
WHERE o.type = 'U' AND o.is_ms_shipped = 0 AND ${IN_SCHEMAS}
ORDER BY k.parent_object_id, k.object_id, f.constraint_column_id`

/**
 * Procedures and functions that the login may run, in T-SQL and in assemblies: number, schema, name, type, comment, whether
 * it runs as somebody else than its caller.
 */
export const ROUTINES = `
SELECT CONVERT(nvarchar(11), o.object_id), s.name, o.name, RTRIM(o.type), CONVERT(nvarchar(4000), e.value),
       CASE WHEN m.execute_as_principal_id IS NOT NULL OR a.execute_as_principal_id IS NOT NULL
            THEN N'1' ELSE N'0' END
FROM sys.objects o
JOIN sys.schemas s ON s.schema_id = o.schema_id
LEFT JOIN sys.sql_modules m ON m.object_id = o.object_id
LEFT JOIN sys.assembly_modules a ON a.object_id = o.object_id
LEFT JOIN sys.extended_properties e ON e.class = 1 AND e.major_id = o.object_id AND e.minor_id = 0
                                   AND e.name = N'MS_Description'
WHERE o.type IN ('P', 'PC', 'FN', 'FS', 'IF', 'TF', 'FT') AND o.is_ms_shipped = 0 AND ${IN_SCHEMAS}
  AND ISNULL(HAS_PERMS_BY_NAME(${OBJECT_NAME}, N'OBJECT',
                               CASE WHEN o.type IN ('IF', 'TF', 'FT') THEN N'SELECT' ELSE N'EXECUTE' END), 1) = 1`

/**
 * Parameters: routine, number, name, type, whether it gives a value back, has a default, is a cursor, is a table. Number 0
 * is what a scalar function returns. A default is in the catalog for assemblies alone: in T-SQL only the text of the routine
 * has it, which a login that may run it need not see.
 */
export const PARAMETERS = `
SELECT CONVERT(nvarchar(11), c.object_id), CONVERT(nvarchar(11), c.parameter_id), c.name, ${TYPE_NAMES},
       ${DATABASE_COLLATION}, CONVERT(nvarchar(11), COLLATIONPROPERTY(${DATABASE_COLLATION}, N'CodePage')), ${IS_ALIAS},
       CASE WHEN c.is_output = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN c.has_default_value = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN c.is_cursor_ref = 1 THEN N'1' ELSE N'0' END,
       CASE WHEN c.is_readonly = 1 OR d.is_table_type = 1 THEN N'1' ELSE N'0' END
FROM sys.objects o
JOIN sys.all_parameters c ON c.object_id = o.object_id${TYPE_JOINS}
WHERE o.type IN ('P', 'PC', 'FN', 'FS', 'IF', 'TF', 'FT') AND o.is_ms_shipped = 0 AND ${IN_SCHEMAS}
ORDER BY c.object_id, c.parameter_id`

/**
 * The text of views, procedures and functions: object, type, text. NULL, or no row, for a login that may only read or run it. What
 * the server itself knows of their dependencies it tells its owner alone, and of a single column only where a view is bound to
 * its tables.
 */
export const MODULE_TEXTS = `
SELECT CONVERT(nvarchar(11), o.object_id), s.name, o.name, RTRIM(o.type), m.definition
FROM sys.objects o
JOIN sys.schemas s ON s.schema_id = o.schema_id
JOIN sys.sql_modules m ON m.object_id = o.object_id
WHERE o.type IN ('V', 'P', 'FN', 'IF', 'TF') AND o.is_ms_shipped = 0 AND ${IN_SCHEMAS}`
