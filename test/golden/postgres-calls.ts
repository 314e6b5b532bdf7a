import type { CompiledSets } from '../../src/engines/engine.js'
import type { Golden } from './postgres.js'

/** One engine's statement for each call, by the case's name, with its result columns and where they stand in a row. */
export type GoldenCalls = Readonly<
  Record<
    string,
    Golden[string] & {
      readonly columns: readonly string[]
      readonly cells?: readonly number[]
      readonly sets?: CompiledSets
    }
  >
>

export const POSTGRES_CALLS: GoldenCalls = {
  'function without parameters': {
    text: 'SELECT f.v FROM "api"."do ""it"""() AS f(v) LIMIT $1',
    params: ['201'],
    columns: ['result'],
  },
  'function with every argument': {
    text: 'SELECT f.v FROM "api"."do ""it"""(CAST($1 AS "pg_catalog"."int4"), CAST($2 AS "extensions"."citext"), CAST($3 AS "public"."mood")) AS f(v) LIMIT $4',
    params: ['1', 'x', 'ok', '201'],
    columns: ['result'],
  },
  'function without its last argument': {
    text: 'SELECT f.v FROM "api"."do ""it"""(CAST($1 AS "pg_catalog"."int4"), CAST($2 AS "extensions"."citext")) AS f(v) LIMIT $3',
    params: ['1', 'x', '201'],
    columns: ['result'],
  },
  'function without an argument in the middle': {
    text: 'SELECT f.v FROM "api"."do ""it"""(CAST($1 AS "pg_catalog"."int4"), "Odd ""c""" => CAST($2 AS "public"."mood")) AS f(v) LIMIT $3',
    params: ['1', 'ok', '201'],
    columns: ['result'],
  },
  'function with unnamed parameters': {
    text: 'SELECT f.v FROM "api"."do ""it"""(CAST($1 AS "pg_catalog"."bytea"), CAST($2 AS "pg_catalog"."jsonb")) AS f(v) LIMIT $3',
    params: ['\\x0001ff', '{"a":1}', '201'],
    columns: ['result'],
  },
  'function with NULL for an argument': {
    text: 'SELECT f.v FROM "api"."do ""it"""(CAST(NULL AS "pg_catalog"."int4")) AS f(v) LIMIT $1',
    params: ['201'],
    columns: ['result'],
  },
  'function with a list of arguments': {
    text: 'SELECT f.v FROM "api"."do ""it"""(CAST($1 AS "pg_catalog"."text"), VARIADIC CAST($2 AS "pg_catalog"."_text")) AS f(v) LIMIT $3',
    params: ['p', '{"a","b"}', '201'],
    columns: ['result'],
  },
  'function with a list of arguments by name': {
    text: 'SELECT f.v FROM "api"."do ""it"""(VARIADIC "words" => CAST($1 AS "pg_catalog"."_text")) AS f(v) LIMIT $2',
    params: ['{"a","b"}', '201'],
    columns: ['result'],
  },
  'function with a polymorphic parameter': {
    text: 'SELECT f.v FROM "api"."do ""it"""(CAST($1 AS text)) AS f(v) LIMIT $2',
    params: ['x', '201'],
    columns: ['result'],
  },
  'function that gives nothing': {
    text: 'SELECT "api"."do ""it"""(CAST($1 AS "pg_catalog"."int4"))',
    params: ['1'],
    columns: [],
  },
  'function that gives a set of long texts': {
    text: 'SELECT left(f.v::text, 17) FROM "api"."do ""it"""() AS f(v) LIMIT $1',
    params: ['8'],
    columns: ['result'],
  },
  'function that gives rows': {
    text: 'SELECT f."month", f."revenue", left(f."note"::text, 17) FROM "api"."do ""it"""() AS f LIMIT $1',
    params: ['201'],
    columns: ['month', 'revenue', 'note'],
  },
  'function that gives rows of some columns': {
    text: 'SELECT f."month", f."revenue" FROM "api"."do ""it"""() AS f LIMIT $1',
    params: ['201'],
    columns: ['month', 'revenue'],
  },
  'function that gives one output': {
    text: 'SELECT f."total" FROM "api"."do ""it"""() AS f LIMIT $1',
    params: ['201'],
    columns: ['total'],
  },
  'function that gives one output without a name': {
    text: 'SELECT f."column1" FROM "api"."do ""it"""() AS f("column1") LIMIT $1',
    params: ['201'],
    columns: ['column1'],
  },
  'function that gives outputs among its parameters': {
    text: 'SELECT f."n", left(f."x"::text, 4001) FROM "api"."do ""it"""(CAST($1 AS "pg_catalog"."numeric"), CAST($2 AS "pg_catalog"."date")) AS f LIMIT $3',
    params: ['1.5', '2024-02-29', '201'],
    columns: ['n', 'x'],
  },
  'procedure that gives nothing': {
    text: 'CALL "api"."do ""it"""(CAST($1 AS "pg_catalog"."text"))',
    params: ['x'],
    columns: [],
    cells: [],
  },
  'procedure with outputs': {
    text: 'CALL "api"."do ""it"""(CAST(NULL AS "pg_catalog"."int4"), CAST($1 AS "pg_catalog"."int4"), CAST($2 AS "pg_catalog"."text"), CAST(NULL AS "public"."mood"))',
    params: ['1', 'x'],
    columns: ['first', 'm', 'last'],
    cells: [0, 1, 2],
  },
  'procedure with some of its outputs': {
    text: 'CALL "api"."do ""it"""(CAST(NULL AS "pg_catalog"."int4"), CAST($1 AS "pg_catalog"."int4"), CAST($2 AS "pg_catalog"."text"), CAST(NULL AS "public"."mood"))',
    params: ['1', 'x'],
    columns: ['m', 'last'],
    cells: [1, 2],
  },
  'procedure without an argument before another': {
    text: 'CALL "api"."do ""it"""(CAST($1 AS "pg_catalog"."text"), "long" => CAST($2 AS "pg_catalog"."text"))',
    params: ['x', 'y'],
    columns: ['done', 'long'],
    cells: [0, 1],
  },
}
