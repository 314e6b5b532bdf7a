import type { Golden } from './postgres.js'

type Statement = Golden[string]

/** One engine's statements for each mutation, by the case's name. */
export type GoldenMutations = Readonly<
  Record<string, { readonly lock?: Statement; readonly write: Statement; readonly readBack?: Statement }>
>

export const POSTGRES_MUTATIONS: GoldenMutations = {
  'create with values of every source': {
    write: {
      text: 'INSERT INTO "public"."customers" AS t ("email", "name", "bio", "created_at", "tenant_id") VALUES ($1, $2, NULL, now(), $3) RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['a@b.c', 'A', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
  },
  'create of defaults alone': {
    write: {
      text: 'INSERT INTO "public"."customers" AS t DEFAULT VALUES RETURNING t."id", true',
      params: [],
    },
  },
  'create that returns nothing': {
    write: {
      text: 'INSERT INTO "public"."customers" AS t ("name") VALUES ($1) RETURNING true',
      params: ['A'],
    },
  },
  'create in a scope': {
    write: {
      text: 'INSERT INTO "public"."customers" AS t ("name") VALUES ($1) RETURNING t."id", t."name", left(t."bio"::text, 4001), coalesce(t."tenant_id" = $2 AND ((t."name" = $3) OR (t."ssn" IS NULL)), false)',
      params: ['A', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a'],
    },
  },
  'create in a scope that offers no group': {
    write: {
      text: 'INSERT INTO "public"."customers" AS t ("name") VALUES ($1) RETURNING t."id", t."name", left(t."bio"::text, 4001), coalesce(1 = 0, false)',
      params: ['A'],
    },
  },
  'create in a table that does not return what is inserted': {
    write: {
      text: 'INSERT INTO "public"."customers" AS t ("id", "name") VALUES ($1, $2) RETURNING t."id", left(t."bio"::text, 4001), coalesce(t."tenant_id" = $3 AND ((t."name" = $4) OR (t."ssn" IS NULL)), false)',
      params: ['7', 'A', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a'],
    },
  },
  'update in no scope': {
    lock: {
      text: 'SELECT true, t."name"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."varchar")::text AND t."bio" IS NOT DISTINCT FROM NULL, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $2 FOR NO KEY UPDATE OF t',
      params: ['A', '1'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "name" = $1, "bio" = NULL WHERE t."id" = $2 RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['A', '1'],
    },
  },
  'update in a scope': {
    lock: {
      text: 'SELECT true, t."name"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."varchar")::text, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $2 AND t."tenant_id" = $3 AND ((t."name" = $4) OR (t."ssn" IS NULL)) FOR NO KEY UPDATE OF t',
      params: ['A', '1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "name" = $1 WHERE t."id" = $2 AND t."tenant_id" = $3 AND ((t."name" = $4) OR (t."ssn" IS NULL)) RETURNING t."id", t."name", left(t."bio"::text, 4001), coalesce(t."tenant_id" = $5 AND ((t."name" = $6) OR (t."ssn" IS NULL)), false)',
      params: ['A', '1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a'],
    },
  },
  'update of a column that the caller may not read': {
    lock: {
      text: 'SELECT true, false, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 FOR UPDATE OF t',
      params: ['1'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "ssn" = $1 WHERE t."id" = $2 RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['1', '1'],
    },
  },
  'update whose written scope is another': {
    lock: {
      text: 'SELECT true, t."balance" IS NOT DISTINCT FROM $1, t."id", t."balance" FROM "public"."customers" AS t WHERE t."id" = $2 AND t."tenant_id" = $3 AND t."created_at" IS NULL FOR NO KEY UPDATE OF t',
      params: ['1.5000', '1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "balance" = $1 WHERE t."id" = $2 AND t."tenant_id" = $3 AND t."created_at" IS NULL RETURNING t."id", t."balance", coalesce(t."tenant_id" = $4, false)',
      params: ['1.5000', '1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
  },
  'update with expectations': {
    lock: {
      text: 'SELECT coalesce(t."name" = $1 AND t."email" OPERATOR("extensions".=) $2 AND t."bio" IS NOT DISTINCT FROM NULL AND t."balance" = $3, false), t."name"::text COLLATE "C" IS NOT DISTINCT FROM CAST($4 AS "pg_catalog"."varchar")::text, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $5 FOR NO KEY UPDATE OF t',
      params: ['B', 'x@y.z', '2', 'A', '1'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "name" = $1 WHERE t."id" = $2 RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['A', '1'],
    },
  },
  'update that stamps the time': {
    lock: {
      text: 'SELECT true, false, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 FOR NO KEY UPDATE OF t',
      params: ['1'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "name" = $1, "created_at" = now() WHERE t."id" = $2 RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['A', '1'],
    },
  },
  'update of the key': {
    lock: {
      text: 'SELECT true, t."id" IS NOT DISTINCT FROM $1, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $2 FOR UPDATE OF t',
      params: ['2', '1'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "id" = $1 WHERE t."id" = $2 RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['2', '1'],
    },
  },
  'update of a unique column': {
    lock: {
      text: 'SELECT true, t."email"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "extensions"."citext")::text, left(t."email"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $2 FOR UPDATE OF t',
      params: ['x@y.z', '1'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "email" = $1 WHERE t."id" = $2 RETURNING left(t."email"::text, 4001), true',
      params: ['x@y.z', '1'],
    },
  },
  'update by a key that the policy alone warrants': {
    lock: {
      text: 'SELECT true, t."bio"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."text")::text, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."name" = $2 LIMIT $3 FOR NO KEY UPDATE OF t',
      params: ['x', 'A', '6'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "bio" = $1 WHERE t."name" = $2 RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['x', 'A'],
    },
  },
  'dry run of an update': {
    lock: {
      text: 'SELECT true, t."name"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."varchar")::text, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $2 FOR NO KEY UPDATE OF t',
      params: ['A', '1'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "name" = $1 WHERE t."id" = $2 RETURNING t."id", t."name", left(t."bio"::text, 4001), true',
      params: ['A', '1'],
    },
  },
  'soft delete with a time': {
    lock: {
      text: 'SELECT true, false, t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 AND t."tenant_id" = $2 AND t."created_at" IS NULL FOR NO KEY UPDATE OF t',
      params: ['1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
    write: {
      text: 'UPDATE "public"."customers" AS t SET "created_at" = now() WHERE t."id" = $1 AND t."tenant_id" = $2 AND t."created_at" IS NULL RETURNING t."id", t."name", left(t."bio"::text, 4001), coalesce(t."tenant_id" = $3, false)',
      params: ['1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
  },
  'soft delete with a flag': {
    lock: {
      text: 'SELECT true, t."deleted" IS NOT DISTINCT FROM $1, t."id", t."deleted" FROM "public"."flagged" AS t WHERE t."id" = $2 AND t."deleted" = $3 FOR NO KEY UPDATE OF t',
      params: ['true', '1', 'false'],
    },
    write: {
      text: 'UPDATE "public"."flagged" AS t SET "deleted" = $1 WHERE t."id" = $2 AND t."deleted" = $3 RETURNING t."id", t."deleted", true',
      params: ['true', '1', 'false'],
    },
  },
  'update by a composite key': {
    lock: {
      text: 'SELECT true, t."note"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."text")::text, t."order_id", t."line", t."quantity", left(t."note"::text, 4001) FROM "public"."order_lines" AS t WHERE t."order_id" = $2 AND t."line" = $3 FOR NO KEY UPDATE OF t',
      params: ['n', '9', '2'],
    },
    write: {
      text: 'UPDATE "public"."order_lines" AS t SET "note" = $1 WHERE t."order_id" = $2 AND t."line" = $3 RETURNING t."order_id", t."line", t."quantity", left(t."note"::text, 4001), true',
      params: ['n', '9', '2'],
    },
  },
  'update of smallint': {
    lock: {
      text: 'SELECT coalesce(t."c_smallint" = $1, false), t."c_smallint" IS NOT DISTINCT FROM $2, t."c_smallint" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_smallint" = $1 WHERE t."id" = $2 RETURNING t."c_smallint", true',
      params: ['1', '1'],
    },
  },
  'update of integer': {
    lock: {
      text: 'SELECT coalesce(t."c_integer" = $1, false), t."c_integer" IS NOT DISTINCT FROM $2, t."c_integer" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_integer" = $1 WHERE t."id" = $2 RETURNING t."c_integer", true',
      params: ['1', '1'],
    },
  },
  'update of bigint': {
    lock: {
      text: 'SELECT coalesce(t."c_bigint" = $1, false), t."c_bigint" IS NOT DISTINCT FROM $2, t."c_bigint" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_bigint" = $1 WHERE t."id" = $2 RETURNING t."c_bigint", true',
      params: ['1', '1'],
    },
  },
  'update of decimal': {
    lock: {
      text: 'SELECT coalesce(t."c_decimal" = $1, false), t."c_decimal" IS NOT DISTINCT FROM $2, t."c_decimal" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_decimal" = $1 WHERE t."id" = $2 RETURNING t."c_decimal", true',
      params: ['1', '1'],
    },
  },
  'update of float': {
    lock: {
      text: 'SELECT coalesce(t."c_float" = $1, false), t."c_float"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."float8")::text, t."c_float" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_float" = $1 WHERE t."id" = $2 RETURNING t."c_float", true',
      params: ['1', '1'],
    },
  },
  'update of real': {
    lock: {
      text: 'SELECT coalesce(t."c_real" = $1, false), t."c_real"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."float4")::text, t."c_real" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_real" = $1 WHERE t."id" = $2 RETURNING t."c_real", true',
      params: ['1', '1'],
    },
  },
  'update of text': {
    lock: {
      text: 'SELECT coalesce(t."c_text" = $1, false), t."c_text"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."text")::text, left(t."c_text"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_text" = $1 WHERE t."id" = $2 RETURNING left(t."c_text"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of varchar40': {
    lock: {
      text: 'SELECT coalesce(t."c_varchar40" = $1, false), t."c_varchar40"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."varchar")::text, left(t."c_varchar40"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_varchar40" = $1 WHERE t."id" = $2 RETURNING left(t."c_varchar40"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of varchar9000': {
    lock: {
      text: 'SELECT coalesce(t."c_varchar9000" = $1, false), t."c_varchar9000"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."varchar")::text, left(t."c_varchar9000"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_varchar9000" = $1 WHERE t."id" = $2 RETURNING left(t."c_varchar9000"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of char5': {
    lock: {
      text: 'SELECT coalesce(t."c_char5" = $1, false), t."c_char5"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."bpchar")::text, t."c_char5" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_char5" = $1 WHERE t."id" = $2 RETURNING t."c_char5", true',
      params: ['1', '1'],
    },
  },
  'update of name': {
    lock: {
      text: 'SELECT coalesce(t."c_name" = $1::text, false), t."c_name"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."name")::text, t."c_name" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_name" = $1 WHERE t."id" = $2 RETURNING t."c_name", true',
      params: ['1', '1'],
    },
  },
  'update of citext': {
    lock: {
      text: 'SELECT coalesce(t."c_citext" OPERATOR("extensions".=) $1, false), t."c_citext"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "extensions"."citext")::text, left(t."c_citext"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_citext" = $1 WHERE t."id" = $2 RETURNING left(t."c_citext"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of boolean': {
    lock: {
      text: 'SELECT coalesce(t."c_boolean" = $1, false), t."c_boolean" IS NOT DISTINCT FROM $2, t."c_boolean" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['true', 'true', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_boolean" = $1 WHERE t."id" = $2 RETURNING t."c_boolean", true',
      params: ['true', '1'],
    },
  },
  'update of timestamptz': {
    lock: {
      text: 'SELECT coalesce(t."c_timestamptz" = $1, false), t."c_timestamptz" IS NOT DISTINCT FROM $2, t."c_timestamptz" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_timestamptz" = $1 WHERE t."id" = $2 RETURNING t."c_timestamptz", true',
      params: ['1', '1'],
    },
  },
  'update of timestamp': {
    lock: {
      text: 'SELECT coalesce(t."c_timestamp" = $1, false), t."c_timestamp" IS NOT DISTINCT FROM $2, t."c_timestamp" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_timestamp" = $1 WHERE t."id" = $2 RETURNING t."c_timestamp", true',
      params: ['1', '1'],
    },
  },
  'update of date': {
    lock: {
      text: 'SELECT coalesce(t."c_date" = $1, false), t."c_date" IS NOT DISTINCT FROM $2, t."c_date" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_date" = $1 WHERE t."id" = $2 RETURNING t."c_date", true',
      params: ['1', '1'],
    },
  },
  'update of time': {
    lock: {
      text: 'SELECT coalesce(t."c_time" = $1, false), t."c_time"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."time")::text, t."c_time" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_time" = $1 WHERE t."id" = $2 RETURNING t."c_time", true',
      params: ['1', '1'],
    },
  },
  'update of timetz': {
    lock: {
      text: 'SELECT coalesce(t."c_timetz" = $1, false), t."c_timetz"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."timetz")::text, t."c_timetz" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_timetz" = $1 WHERE t."id" = $2 RETURNING t."c_timetz", true',
      params: ['1', '1'],
    },
  },
  'update of interval': {
    lock: {
      text: 'SELECT coalesce(t."c_interval" = $1, false), t."c_interval"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."interval")::text, t."c_interval" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_interval" = $1 WHERE t."id" = $2 RETURNING t."c_interval", true',
      params: ['1', '1'],
    },
  },
  'update of uuid': {
    lock: {
      text: 'SELECT coalesce(t."c_uuid" = $1, false), t."c_uuid" IS NOT DISTINCT FROM $2, t."c_uuid" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_uuid" = $1 WHERE t."id" = $2 RETURNING t."c_uuid", true',
      params: ['1', '1'],
    },
  },
  'update of json': {
    lock: {
      text: 'SELECT coalesce(t."c_json"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."json")::text, false), t."c_json"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."json")::text, left(t."c_json"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['{"a":1}', '{"a":1}', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_json" = $1 WHERE t."id" = $2 RETURNING left(t."c_json"::text, 17), true',
      params: ['{"a":1}', '1'],
    },
  },
  'update of jsonb': {
    lock: {
      text: 'SELECT coalesce(t."c_jsonb" = $1, false), t."c_jsonb"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."jsonb")::text, left(t."c_jsonb"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['{"a":1}', '{"a":1}', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_jsonb" = $1 WHERE t."id" = $2 RETURNING left(t."c_jsonb"::text, 17), true',
      params: ['{"a":1}', '1'],
    },
  },
  'update of bytes': {
    lock: {
      text: 'SELECT coalesce(t."c_bytes" = $1, false), t."c_bytes" IS NOT DISTINCT FROM $2, substring(t."c_bytes", 1, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['\\x0001ff', '\\x0001ff', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_bytes" = $1 WHERE t."id" = $2 RETURNING substring(t."c_bytes", 1, 17), true',
      params: ['\\x0001ff', '1'],
    },
  },
  'update of mood': {
    lock: {
      text: 'SELECT coalesce(t."c_mood" = $1, false), t."c_mood"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "public"."mood")::text, t."c_mood" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_mood" = $1 WHERE t."id" = $2 RETURNING t."c_mood", true',
      params: ['1', '1'],
    },
  },
  'update of moodDomain': {
    lock: {
      text: 'SELECT coalesce(coalesce(t."c_moodDomain", NULL) = $1, false), t."c_moodDomain"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "public"."daily_mood")::text, t."c_moodDomain" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_moodDomain" = $1 WHERE t."id" = $2 RETURNING t."c_moodDomain", true',
      params: ['1', '1'],
    },
  },
  'update of textDomain': {
    lock: {
      text: 'SELECT coalesce(t."c_textDomain" = $1, false), t."c_textDomain"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "public"."short_text")::text, left(t."c_textDomain"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_textDomain" = $1 WHERE t."id" = $2 RETURNING left(t."c_textDomain"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of integers': {
    lock: {
      text: 'SELECT coalesce(t."c_integers"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."_int4")::text, false), t."c_integers"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."_int4")::text, left(t."c_integers"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['{"1",NULL}', '{"1",NULL}', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_integers" = $1 WHERE t."id" = $2 RETURNING left(t."c_integers"::text, 17), true',
      params: ['{"1",NULL}', '1'],
    },
  },
  'update of texts': {
    lock: {
      text: 'SELECT coalesce(t."c_texts"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."_text")::text, false), t."c_texts"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."_text")::text, left(t."c_texts"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['{{"a\\"b"},{"c"}}', '{{"a\\"b"},{"c"}}', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_texts" = $1 WHERE t."id" = $2 RETURNING left(t."c_texts"::text, 17), true',
      params: ['{{"a\\"b"},{"c"}}', '1'],
    },
  },
  'update of inet': {
    lock: {
      text: 'SELECT coalesce(t."c_inet" = $1, false), t."c_inet"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."inet")::text, t."c_inet" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_inet" = $1 WHERE t."id" = $2 RETURNING t."c_inet", true',
      params: ['1', '1'],
    },
  },
  'update of regclass': {
    lock: {
      text: 'SELECT coalesce(t."c_regclass"::text = $1, false), t."c_regclass"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."regclass")::text, left(t."c_regclass"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_regclass" = $1 WHERE t."id" = $2 RETURNING left(t."c_regclass"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of periodDomain': {
    lock: {
      text: 'SELECT coalesce(coalesce(t."c_periodDomain", NULL) = $1, false), t."c_periodDomain"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "public"."period")::text, left(t."c_periodDomain"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_periodDomain" = $1 WHERE t."id" = $2 RETURNING left(t."c_periodDomain"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of xml': {
    lock: {
      text: 'SELECT coalesce(t."c_xml"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."xml")::text, false), t."c_xml"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."xml")::text, left(t."c_xml"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_xml" = $1 WHERE t."id" = $2 RETURNING left(t."c_xml"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of tsvector': {
    lock: {
      text: 'SELECT coalesce(t."c_tsvector" = $1, false), t."c_tsvector"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."tsvector")::text, left(t."c_tsvector"::text, 17) FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_tsvector" = $1 WHERE t."id" = $2 RETURNING left(t."c_tsvector"::text, 17), true',
      params: ['1', '1'],
    },
  },
  'update of point': {
    lock: {
      text: 'SELECT coalesce(t."c_point"::text COLLATE "C" IS NOT DISTINCT FROM CAST($1 AS "pg_catalog"."point")::text, false), t."c_point"::text COLLATE "C" IS NOT DISTINCT FROM CAST($2 AS "pg_catalog"."point")::text, t."c_point" FROM "public"."samples" AS t WHERE t."id" = $3 FOR NO KEY UPDATE OF t',
      params: ['1', '1', '1'],
    },
    write: {
      text: 'UPDATE "public"."samples" AS t SET "c_point" = $1 WHERE t."id" = $2 RETURNING t."c_point", true',
      params: ['1', '1'],
    },
  },
  'create with a parent': {
    write: {
      text: 'INSERT INTO "public"."order_lines" AS t ("order_id", "line", "quantity") VALUES ($1, $2, $3) RETURNING t."order_id", left(t."note"::text, 4001), coalesce(EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."order_id" AND p1."tenant_id" = $4), false)',
      params: ['9', '2', '4', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
  },
  'update with a parent': {
    lock: {
      text: 'SELECT coalesce(t."note" = $1, false), false, t."line" FROM "public"."order_lines" AS t WHERE t."order_id" = $2 AND t."line" = $3 AND EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."order_id" AND p1."tenant_id" = $4) FOR NO KEY UPDATE OF t',
      params: ['n', '9', '2', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
    write: {
      text: 'UPDATE "public"."order_lines" AS t SET "quantity" = $1 WHERE t."order_id" = $2 AND t."line" = $3 AND EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."order_id" AND p1."tenant_id" = $4) RETURNING t."line", coalesce(EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."order_id" AND p1."tenant_id" = $5), false)',
      params: ['4', '9', '2', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
  },
  'create with parents of parents': {
    write: {
      text: 'INSERT INTO "public"."order_lines" AS t ("order_id", "line", "quantity") VALUES ($1, $2, $3) RETURNING t."order_id", left(t."note"::text, 4001), coalesce(t."quantity" > $4 AND ((EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."line" AND p1."balance" = t."order_id" AND EXISTS (SELECT 1 FROM "public"."flagged" AS p2 WHERE p2."id" = p1."balance" AND p2."deleted" = $5) AND ((p1."name" = $6 AND EXISTS (SELECT 1 FROM "public"."prices" AS p2 WHERE p2."email" OPERATOR("extensions".=) p1."email")) OR (p1."ssn" IS NULL)))) OR (t."note" IS NULL)), false)',
      params: ['9', '2', '4', '1', 'false', 'a'],
    },
  },
  'update with parents of parents': {
    lock: {
      text: 'SELECT coalesce(t."note" = $1, false), false, t."line" FROM "public"."order_lines" AS t WHERE t."order_id" = $2 AND t."line" = $3 AND t."quantity" > $4 AND ((EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."line" AND p1."balance" = t."order_id" AND EXISTS (SELECT 1 FROM "public"."flagged" AS p2 WHERE p2."id" = p1."balance" AND p2."deleted" = $5) AND ((p1."name" = $6 AND EXISTS (SELECT 1 FROM "public"."prices" AS p2 WHERE p2."email" OPERATOR("extensions".=) p1."email")) OR (p1."ssn" IS NULL)))) OR (t."note" IS NULL)) FOR NO KEY UPDATE OF t',
      params: ['n', '9', '2', '1', 'false', 'a'],
    },
    write: {
      text: 'UPDATE "public"."order_lines" AS t SET "quantity" = $1 WHERE t."order_id" = $2 AND t."line" = $3 AND t."quantity" > $4 AND ((EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."line" AND p1."balance" = t."order_id" AND EXISTS (SELECT 1 FROM "public"."flagged" AS p2 WHERE p2."id" = p1."balance" AND p2."deleted" = $5) AND ((p1."name" = $6 AND EXISTS (SELECT 1 FROM "public"."prices" AS p2 WHERE p2."email" OPERATOR("extensions".=) p1."email")) OR (p1."ssn" IS NULL)))) OR (t."note" IS NULL)) RETURNING t."line", coalesce(t."quantity" > $7 AND ((EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."line" AND p1."balance" = t."order_id" AND EXISTS (SELECT 1 FROM "public"."flagged" AS p2 WHERE p2."id" = p1."balance" AND p2."deleted" = $8) AND ((p1."name" = $9 AND EXISTS (SELECT 1 FROM "public"."prices" AS p2 WHERE p2."email" OPERATOR("extensions".=) p1."email")) OR (p1."ssn" IS NULL)))) OR (t."note" IS NULL)), false)',
      params: ['4', '9', '2', '1', 'false', 'a', '1', 'false', 'a'],
    },
  },
}
