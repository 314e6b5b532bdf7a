import { z } from 'zod'
import {
  AFFECTED_ROWS_CEILING,
  GROUP_SIZE_CEILING,
  IN_VALUES_MAX,
  QUERY_TIMEOUT_MAX_MS,
  RESPONSE_CHARS_CEILING,
  ROW_CAP_MAX,
  TABLE_ROWS_CEILING,
  VALUE_CHARS_MAX,
} from '../core/limits.js'
import { FILTER_OPS } from '../core/plan.js'
import { bareRecord, type PolicyPath } from './policy-tree.js'
import { hasWholeVariables } from './vars.js'

/** The grammar of a policy document: which keys stand where, and what each takes. */

const NAME_CHARS_MAX = 512

const wholeNumber = (max: number) => {
  const error = `a whole number from 1 to ${max}`
  return z.int({ error }).min(1, { error }).max(max, { error })
}

const callLimitShape = {
  row_cap: wholeNumber(ROW_CAP_MAX).exactOptional(),
  page_size: wholeNumber(ROW_CAP_MAX).exactOptional(),
  query_timeout_ms: wholeNumber(QUERY_TIMEOUT_MAX_MS).exactOptional(),
  response_chars_max: wholeNumber(RESPONSE_CHARS_CEILING).exactOptional(),
  cell_chars_max: wholeNumber(RESPONSE_CHARS_CEILING).exactOptional(),
}

const limitShape = {
  ...callLimitShape,
  max_affected_rows: wholeNumber(AFFECTED_ROWS_CEILING).exactOptional(),
  min_group_size: wholeNumber(GROUP_SIZE_CEILING).exactOptional(),
  require_index_above_rows: wholeNumber(TABLE_ROWS_CEILING).exactOptional(),
}

const name = (what: string) => {
  const error = `${what} of 1 to ${NAME_CHARS_MAX} characters`
  return z.string({ error }).min(1, { error }).max(NAME_CHARS_MAX, { error })
}

const listOf = <T extends z.ZodType>(item: T, what: string) => {
  const error = `a list of ${what}, at least one`
  return z.array(item, { error }).min(1, { error })
}

const columnList = listOf(name('a column name'), 'column names')
const procedureList = listOf(name("a procedure name, or '*'"), "procedure names, or ['*'] for every procedure")
const tableList = listOf(name("a table name, or '*'"), "table names, or ['*'] for every table")

/** A mapping by names that the author chose. Through a Map, because zod's records skip the name `__proto__`. */
const named = <T extends z.ZodType>(member: T, what: string) =>
  z
    .preprocess(
      (raw) => (isMapping(raw) ? new Map(Object.entries(raw)) : raw),
      z.map(z.string(), member, { error: `a mapping of ${what}` }),
    )
    .transform((members) => bareRecord(members))

const mappingWith = (keys: readonly string[]) => `a mapping with ${keys.join(', ')}`

const strict = <const T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: mappingWith(Object.keys(shape)) })

const LITERAL = `text, a number, true or false; text has at most ${VALUE_CHARS_MAX} characters, and \${vars. begins a variable such as \${vars.region}`
/** A filter that compares with the text of half a variable would silently match nothing. */
const text = z
  .string()
  .refine((given) => given.length <= VALUE_CHARS_MAX && hasWholeVariables(given, 'literal'), { error: LITERAL })
const literal = z.union([text, z.number(), z.boolean()], { error: LITERAL })
const PATTERN = `a pattern of at most ${VALUE_CHARS_MAX} characters, in which \${vars. begins a variable such as \${vars.region}, without a \\ before it`
const claimShape = { claim: name('a claim name') }
const claim = z.strictObject(claimShape)
const filterError = `one of ${FILTER_OPS.join(', ')}`

const filterShapes = {
  value: {
    column: name('a column name'),
    op: z.enum(['eq', 'neq', 'gt', 'gte', 'lt', 'lte'], { error: filterError }),
    value: z.union([literal, claim], { error: `${LITERAL}; or { claim: name }` }),
  },
  // A claim is a value and never a pattern: one of "%" would open every row.
  pattern: {
    column: name('a column name'),
    op: z.literal('ilike', { error: filterError }),
    value: z
      .string({ error: 'a pattern as text; a claim is a value and cannot be one' })
      .refine((given) => given.length <= VALUE_CHARS_MAX && hasWholeVariables(given, 'pattern'), { error: PATTERN }),
  },
  values: {
    column: name('a column name'),
    op: z.literal('in', { error: filterError }),
    values: z.union([z.array(literal).min(1).max(IN_VALUES_MAX), claim], {
      error: `a list of 1 to ${IN_VALUES_MAX} literals (${LITERAL}), or { claim: name }`,
    }),
  },
  none: {
    column: name('a column name'),
    op: z.enum(['is_null', 'not_null'], { error: filterError }),
  },
}

/** About the row itself. */
const columnFilter = z.discriminatedUnion(
  'op',
  [strict(filterShapes.value), strict(filterShapes.pattern), strict(filterShapes.values), strict(filterShapes.none)],
  { error: (issue) => (issue.code === 'invalid_union' ? filterError : 'a filter such as { column, op, value }') },
)
const parentShape = { parent: columnList }
const parentFilter = strict(parentShape)

/** Which of the two is meant the key tells, so that what is wrong is told of that one alone. */
const filter = z.unknown().transform((raw, context): z.output<typeof columnFilter> | z.output<typeof parentFilter> => {
  const schema = isMapping(raw) && 'parent' in raw ? parentFilter : columnFilter
  const parsed = schema.safeParse(raw)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) {
    // An issue as it is told, which is one as it is raised but for the input: the types of the two do not know of each other.
    context.issues.push({ ...issue, input: raw } as z.core.$ZodRawIssue)
  }
  return z.NEVER
})
const filterList = listOf(filter, 'filters { column, op, value } or { parent: [columns] }')

const relationShape = {
  columns: columnList,
  references: name('a table, as under tables'),
  referenced_columns: columnList.exactOptional(),
}

const writeShape = {
  columns: columnList,
  preset: named(
    z.union([literal, claim], { error: `${LITERAL}; or { claim: name }; or now` }),
    'column names to a literal, { claim: name } or now',
  ).exactOptional(),
}

const softDeleteShape = {
  column: name('a column name'),
  value: z.union([text, z.number(), z.boolean()], { error: `now, or ${LITERAL}` }),
  reads_include_deleted: z.boolean({ error: 'true or false' }).exactOptional(),
}

const EFFECTS = ['read', 'write'] as const

const procedureShape = {
  effect: z.enum(EFFECTS, { error: 'read or write' }),
  result_columns: columnList.exactOptional(),
  tool_name: name('a name for the tool').exactOptional(),
  ...callLimitShape,
}

const tableShape = {
  tool_name: name('a name for the tools').exactOptional(),
  mask: columnList.exactOptional(),
  columns: columnList.exactOptional(),
  key: columnList.exactOptional(),
  relations: named(strict(relationShape), 'relation names to { columns, references }').exactOptional(),
  row_filter: filterList.exactOptional(),
  aggregate: z
    .union([z.boolean(), z.strictObject({ columns: columnList })], { error: 'true, false or { columns: [names] }' })
    .exactOptional(),
  create: strict(writeShape).exactOptional(),
  update: strict(writeShape).exactOptional(),
  soft_delete: strict(softDeleteShape).exactOptional(),
  ...limitShape,
}

const roleShape = {
  read: tableList.exactOptional(),
  aggregate: tableList.exactOptional(),
  create: tableList.exactOptional(),
  update: tableList.exactOptional(),
  soft_delete: tableList.exactOptional(),
  call: procedureList.exactOptional(),
  deny: tableList.exactOptional(),
  mask: named(columnList, 'table names to lists of column names').exactOptional(),
  row_filter: named(filterList, 'table names to lists of filters').exactOptional(),
  ...limitShape,
}

const identityShape = {
  read_only: z.boolean({ error: 'true or false' }).exactOptional(),
  ...limitShape,
}

/** A table may stand with nothing after its colon: it is named, and that is all its author wants to say. */
const table = z.preprocess((raw) => (raw === null ? {} : raw), strict(tableShape))

const documentShape = {
  version: z.literal(1, { error: '1, the only version there is' }),
  defaults: strict(limitShape).default({}),
  tables: named(table, 'table names (schema.table) to their settings').default(bareRecord<never>([])),
  procedures: named(strict(procedureShape), 'procedure names (schema.name) to their settings').default(
    bareRecord<never>([]),
  ),
  roles: named(strict(roleShape), 'role names to their grants').default(bareRecord<never>([])),
  identities: named(strict(identityShape), 'identity names to their settings').default(bareRecord<never>([])),
}

/** A document in itself; what its parts say of each other is checked on the result. */
export const documentSchema = strict(documentShape)

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const TRUTHS: ReadonlySet<PropertyKey | undefined> = new Set(['aggregate', 'read_only', 'reads_include_deleted'])

/** The words that a value at this place is one of, to suggest the nearest; none where it is not a word. */
export function wordsAt(path: PolicyPath): readonly string[] {
  if (path.at(-1) === 'op') return FILTER_OPS
  if (path.length > 2 && TRUTHS.has(path.at(-1))) return ['true', 'false']
  return path.length === 3 && path[0] === 'procedures' && path[2] === 'effect' ? EFFECTS : []
}

/** What stands directly under one name of a section. */
const MEMBERS: Readonly<Record<string, z.ZodRawShape>> = {
  tables: tableShape,
  procedures: procedureShape,
  roles: roleShape,
  identities: identityShape,
}

/** What stands under one key of a table. */
const TABLE_MEMBERS: Readonly<Record<string, z.ZodRawShape>> = {
  aggregate: { columns: columnList },
  create: writeShape,
  update: writeShape,
  soft_delete: softDeleteShape,
}

/** The keys that a mapping at this place takes. */
export function keysAt(path: PolicyPath, value: unknown): readonly string[] {
  const [section, , member] = path
  if (section === undefined) return Object.keys(documentShape)
  if (section === 'defaults') return Object.keys(limitShape)
  if (path.length === 2) return Object.keys(MEMBERS[String(section)] ?? {})
  const last = path.at(-1)
  if (path.length === 3 && section === 'tables') {
    const shape = TABLE_MEMBERS[String(member)]
    if (shape !== undefined) return Object.keys(shape)
  }
  if (member === 'relations') return Object.keys(relationShape)
  if (last === 'value' || last === 'values' || path.at(-2) === 'preset') return Object.keys(claimShape)
  if (isMapping(value) && 'parent' in value) return Object.keys(parentShape)
  const op = isMapping(value) ? value['op'] : undefined
  if (op === 'in') return Object.keys(filterShapes.values)
  if (op === 'is_null' || op === 'not_null') return Object.keys(filterShapes.none)
  const keys = Object.keys(filterShapes.value)
  // Without an operator that is one, any filter may be meant.
  return FILTER_OPS.some((known) => known === op) ? keys : [...keys, 'values', ...Object.keys(parentShape)]
}
