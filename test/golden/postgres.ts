import type { Param } from '../../src/core/statement.js'

/** One engine's statement for each case, by the case's name. */
export type Golden = Readonly<Record<string, { readonly text: string; readonly params: readonly Param[] }>>

export const POSTGRES: Golden = {
  'get with no scope': {
    text: 'SELECT t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 LIMIT 1',
    params: ['1'],
  },
  'search with no scope': {
    text: 'SELECT t."id", t."name" FROM "public"."customers" AS t WHERE t."name" <> $1 ORDER BY t."id" LIMIT $2',
    params: ['x', '11'],
  },
  'aggregate with no scope': {
    text: 'SELECT count(*) FROM "public"."customers" AS t WHERE t."name" <> $1 LIMIT $2',
    params: ['x', '11'],
  },
  'get with scope all': {
    text: 'SELECT t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 AND t."tenant_id" = $2 AND t."ssn" IS NOT NULL LIMIT 1',
    params: ['1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  },
  'search with scope all': {
    text: 'SELECT t."id", t."name" FROM "public"."customers" AS t WHERE t."name" <> $1 AND t."tenant_id" = $2 AND t."ssn" IS NOT NULL ORDER BY t."id" LIMIT $3',
    params: ['x', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '11'],
  },
  'aggregate with scope all': {
    text: 'SELECT count(*) FROM "public"."customers" AS t WHERE t."name" <> $1 AND t."tenant_id" = $2 AND t."ssn" IS NOT NULL LIMIT $3',
    params: ['x', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '11'],
  },
  'get with scope any': {
    text: 'SELECT t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 AND ((t."name" = $2 AND t."id" > $3) OR (t."ssn" IS NULL)) LIMIT 1',
    params: ['1', 'a', '5'],
  },
  'search with scope any': {
    text: 'SELECT t."id", t."name" FROM "public"."customers" AS t WHERE t."name" <> $1 AND ((t."name" = $2 AND t."id" > $3) OR (t."ssn" IS NULL)) ORDER BY t."id" LIMIT $4',
    params: ['x', 'a', '5', '11'],
  },
  'aggregate with scope any': {
    text: 'SELECT count(*) FROM "public"."customers" AS t WHERE t."name" <> $1 AND ((t."name" = $2 AND t."id" > $3) OR (t."ssn" IS NULL)) LIMIT $4',
    params: ['x', 'a', '5', '11'],
  },
  'get with scope all and any': {
    text: 'SELECT t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 AND t."tenant_id" = $2 AND ((t."name" = ANY($3))) LIMIT 1',
    params: ['1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', ['a', 'b']],
  },
  'search with scope all and any': {
    text: 'SELECT t."id", t."name" FROM "public"."customers" AS t WHERE t."name" <> $1 AND t."tenant_id" = $2 AND ((t."name" = ANY($3))) ORDER BY t."id" LIMIT $4',
    params: ['x', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', ['a', 'b'], '11'],
  },
  'aggregate with scope all and any': {
    text: 'SELECT count(*) FROM "public"."customers" AS t WHERE t."name" <> $1 AND t."tenant_id" = $2 AND ((t."name" = ANY($3))) LIMIT $4',
    params: ['x', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', ['a', 'b'], '11'],
  },
  'get with scope any without a group': {
    text: 'SELECT t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 AND 1 = 0 LIMIT 1',
    params: ['1'],
  },
  'search with scope any without a group': {
    text: 'SELECT t."id", t."name" FROM "public"."customers" AS t WHERE t."name" <> $1 AND 1 = 0 ORDER BY t."id" LIMIT $2',
    params: ['x', '11'],
  },
  'aggregate with scope any without a group': {
    text: 'SELECT count(*) FROM "public"."customers" AS t WHERE t."name" <> $1 AND 1 = 0 LIMIT $2',
    params: ['x', '11'],
  },
  'get with scope any with a group that is always true': {
    text: 'SELECT t."id", t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t WHERE t."id" = $1 AND (1 = 1 OR (t."id" = $2)) LIMIT 1',
    params: ['1', '1'],
  },
  'search with scope any with a group that is always true': {
    text: 'SELECT t."id", t."name" FROM "public"."customers" AS t WHERE t."name" <> $1 AND (1 = 1 OR (t."id" = $2)) ORDER BY t."id" LIMIT $3',
    params: ['x', '1', '11'],
  },
  'aggregate with scope any with a group that is always true': {
    text: 'SELECT count(*) FROM "public"."customers" AS t WHERE t."name" <> $1 AND (1 = 1 OR (t."id" = $2)) LIMIT $3',
    params: ['x', '1', '11'],
  },
  'search filter eq': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" = $1 ORDER BY t."id" LIMIT $2',
    params: ['a', '11'],
  },
  'aggregate filter eq': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" = $1 AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: ['a', '1', '11'],
  },
  'search filter neq': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" <> $1 ORDER BY t."id" LIMIT $2',
    params: ['a', '11'],
  },
  'aggregate filter neq': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" <> $1 AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: ['a', '1', '11'],
  },
  'search filter in': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" = ANY($1) ORDER BY t."id" LIMIT $2',
    params: [['a', 'b'], '11'],
  },
  'aggregate filter in': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" = ANY($1) AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: [['a', 'b'], '1', '11'],
  },
  'search filter gt': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" > $1 ORDER BY t."id" LIMIT $2',
    params: ['a', '11'],
  },
  'aggregate filter gt': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" > $1 AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: ['a', '1', '11'],
  },
  'search filter gte': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" >= $1 ORDER BY t."id" LIMIT $2',
    params: ['a', '11'],
  },
  'aggregate filter gte': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" >= $1 AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: ['a', '1', '11'],
  },
  'search filter lt': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" < $1 ORDER BY t."id" LIMIT $2',
    params: ['a', '11'],
  },
  'aggregate filter lt': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" < $1 AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: ['a', '1', '11'],
  },
  'search filter lte': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" <= $1 ORDER BY t."id" LIMIT $2',
    params: ['a', '11'],
  },
  'aggregate filter lte': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" <= $1 AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: ['a', '1', '11'],
  },
  'search filter ilike': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name"::text ILIKE $1 ORDER BY t."id" LIMIT $2',
    params: ['a', '11'],
  },
  'aggregate filter ilike': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name"::text ILIKE $1 AND t."id" > $2 GROUP BY t."name" ORDER BY t."name" LIMIT $3',
    params: ['a', '1', '11'],
  },
  'search filter is_null': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" IS NULL ORDER BY t."id" LIMIT $1',
    params: ['11'],
  },
  'aggregate filter is_null': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" IS NULL AND t."id" > $1 GROUP BY t."name" ORDER BY t."name" LIMIT $2',
    params: ['1', '11'],
  },
  'search filter not_null': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE t."name" IS NOT NULL ORDER BY t."id" LIMIT $1',
    params: ['11'],
  },
  'aggregate filter not_null': {
    text: 'SELECT t."name", count(*) FROM "public"."customers" AS t WHERE t."name" IS NOT NULL AND t."id" > $1 GROUP BY t."name" ORDER BY t."name" LIMIT $2',
    params: ['1', '11'],
  },
  'search filter in without values': {
    text: 'SELECT t."id" FROM "public"."customers" AS t WHERE 1 = 0 ORDER BY t."id" LIMIT $1',
    params: ['11'],
  },
  'search every op on smallint': {
    text: 'SELECT t."c_smallint", t."id" FROM "public"."samples" AS t WHERE t."c_smallint" = $1 AND t."c_smallint" <> $2 AND t."c_smallint" = ANY($3) AND t."c_smallint" > $4 AND t."c_smallint" >= $5 AND t."c_smallint" < $6 AND t."c_smallint" <= $7 AND t."c_smallint"::text ILIKE $8 AND t."c_smallint" IS NULL AND t."c_smallint" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on integer': {
    text: 'SELECT t."c_integer", t."id" FROM "public"."samples" AS t WHERE t."c_integer" = $1 AND t."c_integer" <> $2 AND t."c_integer" = ANY($3) AND t."c_integer" > $4 AND t."c_integer" >= $5 AND t."c_integer" < $6 AND t."c_integer" <= $7 AND t."c_integer"::text ILIKE $8 AND t."c_integer" IS NULL AND t."c_integer" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on bigint': {
    text: 'SELECT t."c_bigint", t."id" FROM "public"."samples" AS t WHERE t."c_bigint" = $1 AND t."c_bigint" <> $2 AND t."c_bigint" = ANY($3) AND t."c_bigint" > $4 AND t."c_bigint" >= $5 AND t."c_bigint" < $6 AND t."c_bigint" <= $7 AND t."c_bigint"::text ILIKE $8 AND t."c_bigint" IS NULL AND t."c_bigint" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on decimal': {
    text: 'SELECT t."c_decimal", t."id" FROM "public"."samples" AS t WHERE t."c_decimal" = $1 AND t."c_decimal" <> $2 AND t."c_decimal" = ANY($3) AND t."c_decimal" > $4 AND t."c_decimal" >= $5 AND t."c_decimal" < $6 AND t."c_decimal" <= $7 AND t."c_decimal"::text ILIKE $8 AND t."c_decimal" IS NULL AND t."c_decimal" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on float': {
    text: 'SELECT t."c_float", t."id" FROM "public"."samples" AS t WHERE t."c_float" = $1 AND t."c_float" <> $2 AND t."c_float" = ANY($3) AND t."c_float" > $4 AND t."c_float" >= $5 AND t."c_float" < $6 AND t."c_float" <= $7 AND t."c_float"::text ILIKE $8 AND t."c_float" IS NULL AND t."c_float" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on real': {
    text: 'SELECT t."c_real", t."id" FROM "public"."samples" AS t WHERE t."c_real" = $1 AND t."c_real" <> $2 AND t."c_real" = ANY($3) AND t."c_real" > $4 AND t."c_real" >= $5 AND t."c_real" < $6 AND t."c_real" <= $7 AND t."c_real"::text ILIKE $8 AND t."c_real" IS NULL AND t."c_real" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on text': {
    text: 'SELECT left(t."c_text"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_text" = $1 AND t."c_text" <> $2 AND t."c_text" = ANY($3) AND t."c_text" > $4 AND t."c_text" >= $5 AND t."c_text" < $6 AND t."c_text" <= $7 AND t."c_text"::text ILIKE $8 AND t."c_text" IS NULL AND t."c_text" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on varchar40': {
    text: 'SELECT t."c_varchar40", t."id" FROM "public"."samples" AS t WHERE t."c_varchar40" = $1 AND t."c_varchar40" <> $2 AND t."c_varchar40" = ANY($3) AND t."c_varchar40" > $4 AND t."c_varchar40" >= $5 AND t."c_varchar40" < $6 AND t."c_varchar40" <= $7 AND t."c_varchar40"::text ILIKE $8 AND t."c_varchar40" IS NULL AND t."c_varchar40" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on varchar9000': {
    text: 'SELECT left(t."c_varchar9000"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_varchar9000" = $1 AND t."c_varchar9000" <> $2 AND t."c_varchar9000" = ANY($3) AND t."c_varchar9000" > $4 AND t."c_varchar9000" >= $5 AND t."c_varchar9000" < $6 AND t."c_varchar9000" <= $7 AND t."c_varchar9000"::text ILIKE $8 AND t."c_varchar9000" IS NULL AND t."c_varchar9000" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on char5': {
    text: 'SELECT t."c_char5", t."id" FROM "public"."samples" AS t WHERE t."c_char5" = $1 AND t."c_char5" <> $2 AND t."c_char5" = ANY($3) AND t."c_char5" > $4 AND t."c_char5" >= $5 AND t."c_char5" < $6 AND t."c_char5" <= $7 AND t."c_char5"::text ILIKE $8 AND t."c_char5" IS NULL AND t."c_char5" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on name': {
    text: 'SELECT t."c_name", t."id" FROM "public"."samples" AS t WHERE t."c_name" = $1::text AND t."c_name" <> $2::text AND t."c_name" = ANY($3::text[]) AND t."c_name" > $4::text AND t."c_name" >= $5::text AND t."c_name" < $6::text AND t."c_name" <= $7::text AND t."c_name"::text ILIKE $8 AND t."c_name" IS NULL AND t."c_name" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on citext': {
    text: 'SELECT left(t."c_citext"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_citext" OPERATOR("extensions".=) $1 AND t."c_citext" OPERATOR("extensions".<>) $2 AND t."c_citext" OPERATOR("extensions".=) ANY($3) AND t."c_citext" OPERATOR("extensions".>) $4 AND t."c_citext" OPERATOR("extensions".>=) $5 AND t."c_citext" OPERATOR("extensions".<) $6 AND t."c_citext" OPERATOR("extensions".<=) $7 AND t."c_citext"::text ILIKE $8 AND t."c_citext" IS NULL AND t."c_citext" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on boolean': {
    text: 'SELECT t."c_boolean", t."id" FROM "public"."samples" AS t WHERE t."c_boolean" = $1 AND t."c_boolean" <> $2 AND t."c_boolean" = ANY($3) AND t."c_boolean" > $4 AND t."c_boolean" >= $5 AND t."c_boolean" < $6 AND t."c_boolean" <= $7 AND t."c_boolean"::text ILIKE $8 AND t."c_boolean" IS NULL AND t."c_boolean" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['true', 'true', ['true'], 'true', 'true', 'true', 'true', 'true', '11'],
  },
  'search every op on timestamptz': {
    text: 'SELECT t."c_timestamptz", t."id" FROM "public"."samples" AS t WHERE t."c_timestamptz" = $1 AND t."c_timestamptz" <> $2 AND t."c_timestamptz" = ANY($3) AND t."c_timestamptz" > $4 AND t."c_timestamptz" >= $5 AND t."c_timestamptz" < $6 AND t."c_timestamptz" <= $7 AND t."c_timestamptz"::text ILIKE $8 AND t."c_timestamptz" IS NULL AND t."c_timestamptz" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on timestamp': {
    text: 'SELECT t."c_timestamp", t."id" FROM "public"."samples" AS t WHERE t."c_timestamp" = $1 AND t."c_timestamp" <> $2 AND t."c_timestamp" = ANY($3) AND t."c_timestamp" > $4 AND t."c_timestamp" >= $5 AND t."c_timestamp" < $6 AND t."c_timestamp" <= $7 AND t."c_timestamp"::text ILIKE $8 AND t."c_timestamp" IS NULL AND t."c_timestamp" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on date': {
    text: 'SELECT t."c_date", t."id" FROM "public"."samples" AS t WHERE t."c_date" = $1 AND t."c_date" <> $2 AND t."c_date" = ANY($3) AND t."c_date" > $4 AND t."c_date" >= $5 AND t."c_date" < $6 AND t."c_date" <= $7 AND t."c_date"::text ILIKE $8 AND t."c_date" IS NULL AND t."c_date" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on time': {
    text: 'SELECT t."c_time", t."id" FROM "public"."samples" AS t WHERE t."c_time" = $1 AND t."c_time" <> $2 AND t."c_time" = ANY($3) AND t."c_time" > $4 AND t."c_time" >= $5 AND t."c_time" < $6 AND t."c_time" <= $7 AND t."c_time"::text ILIKE $8 AND t."c_time" IS NULL AND t."c_time" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on timetz': {
    text: 'SELECT t."c_timetz", t."id" FROM "public"."samples" AS t WHERE t."c_timetz" = $1 AND t."c_timetz" <> $2 AND t."c_timetz" = ANY($3) AND t."c_timetz" > $4 AND t."c_timetz" >= $5 AND t."c_timetz" < $6 AND t."c_timetz" <= $7 AND t."c_timetz"::text ILIKE $8 AND t."c_timetz" IS NULL AND t."c_timetz" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on interval': {
    text: 'SELECT t."c_interval", t."id" FROM "public"."samples" AS t WHERE t."c_interval" = $1 AND t."c_interval" <> $2 AND t."c_interval" = ANY($3) AND t."c_interval" > $4 AND t."c_interval" >= $5 AND t."c_interval" < $6 AND t."c_interval" <= $7 AND t."c_interval"::text ILIKE $8 AND t."c_interval" IS NULL AND t."c_interval" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on uuid': {
    text: 'SELECT t."c_uuid", t."id" FROM "public"."samples" AS t WHERE t."c_uuid" = $1 AND t."c_uuid" <> $2 AND t."c_uuid" = ANY($3) AND t."c_uuid" > $4 AND t."c_uuid" >= $5 AND t."c_uuid" < $6 AND t."c_uuid" <= $7 AND t."c_uuid"::text ILIKE $8 AND t."c_uuid" IS NULL AND t."c_uuid" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on json': {
    text: 'SELECT left(t."c_json"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_json"::text = $1 AND t."c_json"::text <> $2 AND t."c_json"::text = ANY($3) AND t."c_json"::text > $4 AND t."c_json"::text >= $5 AND t."c_json"::text < $6 AND t."c_json"::text <= $7 AND t."c_json"::text ILIKE $8 AND t."c_json" IS NULL AND t."c_json" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on jsonb': {
    text: 'SELECT left(t."c_jsonb"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_jsonb" = $1 AND t."c_jsonb" <> $2 AND t."c_jsonb" = ANY($3) AND t."c_jsonb" > $4 AND t."c_jsonb" >= $5 AND t."c_jsonb" < $6 AND t."c_jsonb" <= $7 AND t."c_jsonb"::text ILIKE $8 AND t."c_jsonb" IS NULL AND t."c_jsonb" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on bytes': {
    text: 'SELECT substring(t."c_bytes", 1, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_bytes" = $1 AND t."c_bytes" <> $2 AND t."c_bytes" = ANY($3) AND t."c_bytes" > $4 AND t."c_bytes" >= $5 AND t."c_bytes" < $6 AND t."c_bytes" <= $7 AND t."c_bytes"::text ILIKE $8 AND t."c_bytes" IS NULL AND t."c_bytes" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['\\x0001ff', '\\x0001ff', ['\\x0001ff'], '\\x0001ff', '\\x0001ff', '\\x0001ff', '\\x0001ff', 'AAH/', '11'],
  },
  'search every op on mood': {
    text: 'SELECT t."c_mood", t."id" FROM "public"."samples" AS t WHERE t."c_mood" = $1 AND t."c_mood" <> $2 AND t."c_mood" = ANY($3) AND t."c_mood" > $4 AND t."c_mood" >= $5 AND t."c_mood" < $6 AND t."c_mood" <= $7 AND t."c_mood"::text ILIKE $8 AND t."c_mood" IS NULL AND t."c_mood" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on moodDomain': {
    text: 'SELECT t."c_moodDomain", t."id" FROM "public"."samples" AS t WHERE coalesce(t."c_moodDomain", NULL) = $1 AND coalesce(t."c_moodDomain", NULL) <> $2 AND coalesce(t."c_moodDomain", NULL) = ANY($3) AND coalesce(t."c_moodDomain", NULL) > $4 AND coalesce(t."c_moodDomain", NULL) >= $5 AND coalesce(t."c_moodDomain", NULL) < $6 AND coalesce(t."c_moodDomain", NULL) <= $7 AND t."c_moodDomain"::text ILIKE $8 AND t."c_moodDomain" IS NULL AND t."c_moodDomain" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on textDomain': {
    text: 'SELECT left(t."c_textDomain"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_textDomain" = $1 AND t."c_textDomain" <> $2 AND t."c_textDomain" = ANY($3) AND t."c_textDomain" > $4 AND t."c_textDomain" >= $5 AND t."c_textDomain" < $6 AND t."c_textDomain" <= $7 AND t."c_textDomain"::text ILIKE $8 AND t."c_textDomain" IS NULL AND t."c_textDomain" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on integers': {
    text: 'SELECT left(t."c_integers"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_integers"::text = $1 AND t."c_integers"::text <> $2 AND t."c_integers"::text = ANY($3) AND t."c_integers"::text > $4 AND t."c_integers"::text >= $5 AND t."c_integers"::text < $6 AND t."c_integers"::text <= $7 AND t."c_integers"::text ILIKE $8 AND t."c_integers" IS NULL AND t."c_integers" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on texts': {
    text: 'SELECT left(t."c_texts"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_texts"::text = $1 AND t."c_texts"::text <> $2 AND t."c_texts"::text = ANY($3) AND t."c_texts"::text > $4 AND t."c_texts"::text >= $5 AND t."c_texts"::text < $6 AND t."c_texts"::text <= $7 AND t."c_texts"::text ILIKE $8 AND t."c_texts" IS NULL AND t."c_texts" IS NOT NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on inet': {
    text: 'SELECT t."c_inet", t."id" FROM "public"."samples" AS t WHERE t."c_inet" = $1 AND t."c_inet" <> $2 AND t."c_inet" = ANY($3) AND t."c_inet" > $4 AND t."c_inet" >= $5 AND t."c_inet" < $6 AND t."c_inet" <= $7 AND t."c_inet"::text ILIKE $8 AND t."c_inet" IS NOT DISTINCT FROM NULL AND t."c_inet" IS DISTINCT FROM NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on regclass': {
    text: 'SELECT left(t."c_regclass"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_regclass"::text = $1 AND t."c_regclass"::text <> $2 AND t."c_regclass"::text = ANY($3) AND t."c_regclass"::text > $4 AND t."c_regclass"::text >= $5 AND t."c_regclass"::text < $6 AND t."c_regclass"::text <= $7 AND t."c_regclass"::text ILIKE $8 AND t."c_regclass" IS NOT DISTINCT FROM NULL AND t."c_regclass" IS DISTINCT FROM NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on periodDomain': {
    text: 'SELECT left(t."c_periodDomain"::text, 4001), t."id" FROM "public"."samples" AS t WHERE coalesce(t."c_periodDomain", NULL) = $1 AND coalesce(t."c_periodDomain", NULL) <> $2 AND coalesce(t."c_periodDomain", NULL) = ANY($3) AND coalesce(t."c_periodDomain", NULL) > $4 AND coalesce(t."c_periodDomain", NULL) >= $5 AND coalesce(t."c_periodDomain", NULL) < $6 AND coalesce(t."c_periodDomain", NULL) <= $7 AND t."c_periodDomain"::text ILIKE $8 AND t."c_periodDomain" IS NOT DISTINCT FROM NULL AND t."c_periodDomain" IS DISTINCT FROM NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on xml': {
    text: 'SELECT left(t."c_xml"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_xml"::text = $1 AND t."c_xml"::text <> $2 AND t."c_xml"::text = ANY($3) AND t."c_xml"::text > $4 AND t."c_xml"::text >= $5 AND t."c_xml"::text < $6 AND t."c_xml"::text <= $7 AND t."c_xml"::text ILIKE $8 AND t."c_xml" IS NOT DISTINCT FROM NULL AND t."c_xml" IS DISTINCT FROM NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on tsvector': {
    text: 'SELECT left(t."c_tsvector"::text, 4001), t."id" FROM "public"."samples" AS t WHERE t."c_tsvector" = $1 AND t."c_tsvector" <> $2 AND t."c_tsvector" = ANY($3) AND t."c_tsvector" > $4 AND t."c_tsvector" >= $5 AND t."c_tsvector" < $6 AND t."c_tsvector" <= $7 AND t."c_tsvector"::text ILIKE $8 AND t."c_tsvector" IS NOT DISTINCT FROM NULL AND t."c_tsvector" IS DISTINCT FROM NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'search every op on point': {
    text: 'SELECT t."c_point", t."id" FROM "public"."samples" AS t WHERE t."c_point"::text = $1 AND t."c_point"::text <> $2 AND t."c_point"::text = ANY($3) AND t."c_point"::text > $4 AND t."c_point"::text >= $5 AND t."c_point"::text < $6 AND t."c_point"::text <= $7 AND t."c_point"::text ILIKE $8 AND t."c_point" IS NOT DISTINCT FROM NULL AND t."c_point" IS DISTINCT FROM NULL ORDER BY t."id" LIMIT $9',
    params: ['1', '1', ['1'], '1', '1', '1', '1', '1', '11'],
  },
  'get by a composite key': {
    text: 'SELECT left(t."note"::text, 4001), t."quantity", t."order_id", t."line" FROM "public"."order_lines" AS t WHERE t."order_id" = $1 AND t."line" = $2 LIMIT 1',
    params: ['9', '2'],
  },
  'get by a unique key': {
    text: 'SELECT t."email", left(t."bio"::text, 4001), t."id" FROM "public"."customers" AS t WHERE t."email" OPERATOR("extensions".=) $1 LIMIT 1',
    params: ['a@b.c'],
  },
  'get from a view by a key that may match several rows': {
    text: 'SELECT t."actor", t."amount" FROM "public"."activity" AS t WHERE t."actor" = $1 ORDER BY t."at", t."actor", t."amount", t."actor"::text COLLATE "C", t."amount"::text COLLATE "C", t."detail"::text COLLATE "C" LIMIT 1',
    params: ['x'],
  },
  'search ordered by the caller': {
    text: 'SELECT t."name", t."bio", t."id" FROM "public"."customers" AS t ORDER BY t."created_at" DESC, t."bio", t."id" LIMIT $1',
    params: ['11'],
  },
  'search ordered by a part of the tie-break': {
    text: 'SELECT t."name", left(t."bio"::text, 4001), t."id" FROM "public"."customers" AS t ORDER BY t."id" DESC LIMIT $1',
    params: ['11'],
  },
  'search ordered twice by one column': {
    text: 'SELECT t."name", left(t."bio"::text, 4001), t."id" FROM "public"."customers" AS t ORDER BY t."name", t."id" LIMIT $1',
    params: ['11'],
  },
  'search whose primary key is hidden': {
    text: 'SELECT t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t ORDER BY t."email" LIMIT $1',
    params: ['11'],
  },
  'search whose keys are all hidden': {
    text: 'SELECT t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t ORDER BY t."name" DESC, t."tenant_id", t."bio", t."balance", t."created_at", t."ssn", t."name"::text COLLATE "C", t."bio"::text COLLATE "C", t."balance"::text COLLATE "C", t."ssn"::text COLLATE "C" LIMIT $1',
    params: ['11'],
  },
  'search whose only visible key can be null': {
    text: 'SELECT t."name", left(t."bio"::text, 4001) FROM "public"."customers" AS t ORDER BY t."name", t."bio", t."balance", t."created_at", t."ssn", t."name"::text COLLATE "C", t."bio"::text COLLATE "C", t."balance"::text COLLATE "C", t."ssn"::text COLLATE "C" LIMIT $1',
    params: ['11'],
  },
  'search ordered over a composite key': {
    text: 'SELECT left(t."note"::text, 4001), t."order_id", t."line" FROM "public"."order_lines" AS t ORDER BY t."line" DESC, t."order_id" LIMIT $1',
    params: ['11'],
  },
  'search over a view without a key': {
    text: 'SELECT t."at", left(t."detail"::text, 4001) FROM "public"."activity" AS t ORDER BY t."amount" DESC, t."at", t."actor", t."actor"::text COLLATE "C", t."amount"::text COLLATE "C", t."detail"::text COLLATE "C" LIMIT $1',
    params: ['11'],
  },
  'search of every type with short cells': {
    text: 'SELECT t."id", t."c_smallint", t."c_integer", t."c_bigint", t."c_decimal", t."c_float", t."c_real", left(t."c_text"::text, 17), left(t."c_varchar40"::text, 17), left(t."c_varchar9000"::text, 17), t."c_char5", t."c_name", left(t."c_citext"::text, 17), t."c_boolean", t."c_timestamptz", t."c_timestamp", t."c_date", t."c_time", t."c_timetz", t."c_interval", t."c_uuid", left(t."c_json"::text, 17), left(t."c_jsonb"::text, 17), substring(t."c_bytes", 1, 17), t."c_mood", t."c_moodDomain", left(t."c_textDomain"::text, 17), left(t."c_integers"::text, 17), left(t."c_texts"::text, 17), t."c_inet", left(t."c_regclass"::text, 17), left(t."c_periodDomain"::text, 17), left(t."c_xml"::text, 17), left(t."c_tsvector"::text, 17), t."c_point" FROM "public"."samples" AS t ORDER BY t."id" LIMIT $1',
    params: ['11'],
  },
  'aggregate with every metric': {
    text: 'SELECT count(*), count(t."bio"), count(DISTINCT t."email"), sum(t."balance"), avg(t."id"), min(t."created_at"), left(max(t."bio")::text, 4001) FROM "public"."customers" AS t LIMIT $1',
    params: ['11'],
  },
  'aggregate by groups in the order of a metric and a group': {
    text: 'SELECT t."name", t."bio", count(*), sum(t."balance") FROM "public"."customers" AS t GROUP BY t."name", t."bio" ORDER BY sum(t."balance") DESC, t."bio" DESC, t."name" LIMIT $1',
    params: ['11'],
  },
  'aggregate of values that are equal and may look different': {
    text: 'SELECT min(t."email"::text COLLATE "C"), min(t."price"::text COLLATE "C"), trim_scale(min(t."price")) FROM "public"."prices" AS t GROUP BY t."email", t."price" ORDER BY t."email", t."price" LIMIT $1',
    params: ['11'],
  },
  'aggregate of groups alone': {
    text: 'SELECT t."name" FROM "public"."customers" AS t GROUP BY t."name" ORDER BY t."name" LIMIT $1',
    params: ['11'],
  },
  'aggregate without groups in the order of its metric': {
    text: 'SELECT count(*) FROM "public"."customers" AS t ORDER BY count(*) LIMIT $1',
    params: ['11'],
  },
  'aggregate in the order of two metrics that are the same': {
    text: 'SELECT count(*), count(*) FROM "public"."customers" AS t ORDER BY count(*) LIMIT $1',
    params: ['11'],
  },
  'aggregate of the first and last of texts that compare loosely': {
    text: 'SELECT left(min(t."email")::text, 4001), left(max(t."email")::text, 4001) FROM "public"."prices" AS t LIMIT $1',
    params: ['11'],
  },
  'aggregate by groups of a size in the order of a metric': {
    text: 'SELECT g.c0, g.c1, g.c2, g.c3 FROM (SELECT t."name" AS c0, t."bio" AS c1, count(*) AS c2, sum(t."balance") AS c3, count(*) AS members, ROW_NUMBER() OVER (ORDER BY count(*), t."name", t."bio") AS place, SUM(CASE WHEN count(*) < 5 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY sum(t."balance") DESC, t."bio" DESC, t."name") AS turn FROM "public"."customers" AS t WHERE t."id" > $1 AND t."tenant_id" = $2 GROUP BY t."name", t."bio") AS g WHERE g.members >= 5 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn LIMIT $3',
    params: ['1', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '11'],
  },
  'aggregate by groups of a size that are equal and may look different': {
    text: 'SELECT g.c0, g.c1, g.c2 FROM (SELECT min(t."email"::text COLLATE "C") AS c0, min(t."price"::text COLLATE "C") AS c1, avg(t."price") AS c2, count(*) AS members, ROW_NUMBER() OVER (ORDER BY count(*), t."email", t."price") AS place, SUM(CASE WHEN count(*) < 5 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY t."email", t."price") AS turn FROM "public"."prices" AS t GROUP BY t."email", t."price") AS g WHERE g.members >= 5 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn LIMIT $1',
    params: ['11'],
  },
  'aggregate of groups alone of a size': {
    text: 'SELECT g.c0 FROM (SELECT t."name" AS c0, count(*) AS members, ROW_NUMBER() OVER (ORDER BY count(*), t."name") AS place, SUM(CASE WHEN count(*) < 5 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY t."name") AS turn FROM "public"."customers" AS t GROUP BY t."name") AS g WHERE g.members >= 5 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn LIMIT $1',
    params: ['11'],
  },
  'aggregate without groups of a size': {
    text: 'SELECT count(*), count(DISTINCT t."email") FROM "public"."customers" AS t WHERE t."name" <> $1 HAVING count(*) >= 5 ORDER BY count(*) DESC LIMIT $2',
    params: ['x', '11'],
  },
  'get with a parent': {
    text: 'SELECT t."quantity", t."order_id", t."line" FROM "public"."order_lines" AS t WHERE t."order_id" = $1 AND t."line" = $2 AND EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."order_id" AND p1."tenant_id" = $3) LIMIT 1',
    params: ['9', '2', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  },
  'search with a parent': {
    text: 'SELECT left(t."note"::text, 4001), t."order_id", t."line" FROM "public"."order_lines" AS t WHERE t."quantity" < $1 AND EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."order_id" AND p1."tenant_id" = $2) ORDER BY t."order_id", t."line" LIMIT $3',
    params: ['9', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '11'],
  },
  'aggregate with a parent': {
    text: 'SELECT g.c0, g.c1 FROM (SELECT t."quantity" AS c0, count(*) AS c1, count(*) AS members, ROW_NUMBER() OVER (ORDER BY count(*), t."quantity") AS place, SUM(CASE WHEN count(*) < 3 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY t."quantity") AS turn FROM "public"."order_lines" AS t WHERE EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."order_id" AND p1."tenant_id" = $1) GROUP BY t."quantity") AS g WHERE g.members >= 3 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn LIMIT $2',
    params: ['7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', '11'],
  },
  'get with parents of parents': {
    text: 'SELECT t."quantity", t."order_id", t."line" FROM "public"."order_lines" AS t WHERE t."order_id" = $1 AND t."line" = $2 AND t."quantity" > $3 AND ((EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."line" AND p1."balance" = t."order_id" AND EXISTS (SELECT 1 FROM "public"."flagged" AS p2 WHERE p2."id" = p1."balance" AND p2."deleted" = $4) AND ((p1."name" = $5 AND EXISTS (SELECT 1 FROM "public"."prices" AS p2 WHERE p2."email" OPERATOR("extensions".=) p1."email")) OR (p1."ssn" IS NULL)))) OR (t."note" IS NULL)) LIMIT 1',
    params: ['9', '2', '1', 'false', 'a'],
  },
  'search with parents of parents': {
    text: 'SELECT left(t."note"::text, 4001), t."order_id", t."line" FROM "public"."order_lines" AS t WHERE t."quantity" < $1 AND t."quantity" > $2 AND ((EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."line" AND p1."balance" = t."order_id" AND EXISTS (SELECT 1 FROM "public"."flagged" AS p2 WHERE p2."id" = p1."balance" AND p2."deleted" = $3) AND ((p1."name" = $4 AND EXISTS (SELECT 1 FROM "public"."prices" AS p2 WHERE p2."email" OPERATOR("extensions".=) p1."email")) OR (p1."ssn" IS NULL)))) OR (t."note" IS NULL)) ORDER BY t."order_id", t."line" LIMIT $5',
    params: ['9', '1', 'false', 'a', '11'],
  },
  'aggregate with parents of parents': {
    text: 'SELECT g.c0, g.c1 FROM (SELECT t."quantity" AS c0, count(*) AS c1, count(*) AS members, ROW_NUMBER() OVER (ORDER BY count(*), t."quantity") AS place, SUM(CASE WHEN count(*) < 3 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY t."quantity") AS turn FROM "public"."order_lines" AS t WHERE t."quantity" > $1 AND ((EXISTS (SELECT 1 FROM "public"."customers" AS p1 WHERE p1."id" = t."line" AND p1."balance" = t."order_id" AND EXISTS (SELECT 1 FROM "public"."flagged" AS p2 WHERE p2."id" = p1."balance" AND p2."deleted" = $2) AND ((p1."name" = $3 AND EXISTS (SELECT 1 FROM "public"."prices" AS p2 WHERE p2."email" OPERATOR("extensions".=) p1."email")) OR (p1."ssn" IS NULL)))) OR (t."note" IS NULL)) GROUP BY t."quantity") AS g WHERE g.members >= 3 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn LIMIT $4',
    params: ['1', 'false', 'a', '11'],
  },
}
