import { z } from 'zod'
import {
  IN_VALUES_MAX,
  QUERY_TIMEOUT_MAX_MS,
  RESPONSE_CHARS_CEILING,
  ROW_CAP_MAX,
  VALUE_CHARS_MAX,
} from '../core/limits.js'
import { nearest } from '../core/names.js'
import { FILTER_OPS, type FilterOp } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import {
  bareRecord,
  type PolicyFault,
  type PolicyPath,
  type PolicyTree,
  pathText,
  readPolicyJson,
  readPolicyText,
} from './policy-text.js'

export { type PolicyFault, policyFaultText } from './policy-text.js'

/**
 * A policy as its author wrote it, checked in itself but against no database. Plain data: `JSON.stringify` gives the text
 * that the admin store keeps, in the same grammar, and it crosses threads. Records by name hold names that an author
 * chose (`constructor` may be one): read them with `Object.entries`, never by a name from elsewhere.
 */
export interface PolicyDocument {
  readonly version: 1
  readonly defaults: PolicyLimits
  readonly tables: Readonly<Record<string, TablePolicy>>
  readonly roles: Readonly<Record<string, RolePolicy>>
  readonly identities: Readonly<Record<string, IdentityPolicy>>
}

/** Limits in the policy's spelling; the unit is last in each name, characters and rows where there is none. */
export interface PolicyLimits {
  readonly row_cap?: number
  readonly page_size?: number
  readonly query_timeout_ms?: number
  readonly response_chars_max?: number
  readonly cell_chars_max?: number
}

export type PolicyLiteral = string | number | boolean
export interface ClaimSource {
  readonly claim: string
}

export type PolicyFilter =
  | {
      readonly column: string
      readonly op: Exclude<FilterOp, 'in' | 'is_null' | 'not_null'>
      readonly value: PolicyLiteral | ClaimSource
    }
  | { readonly column: string; readonly op: 'in'; readonly values: readonly PolicyLiteral[] | ClaimSource }
  | { readonly column: string; readonly op: 'is_null' | 'not_null' }

export interface RelationPolicy {
  readonly columns: readonly string[]
  /** `schema.table`. */
  readonly references: string
  /** Default: the key of the table that is referenced. */
  readonly referenced_columns?: readonly string[]
}

export interface TablePolicy extends PolicyLimits {
  readonly tool_name?: string
  /** Never beside `columns`. */
  readonly mask?: readonly string[]
  readonly columns?: readonly string[]
  readonly key?: readonly string[]
  /** Foreign keys that the catalog does not declare, by a name for each. */
  readonly relations?: Readonly<Record<string, RelationPolicy>>
  readonly row_filter?: readonly PolicyFilter[]
  readonly aggregate?: boolean | { readonly columns: readonly string[] }
}

/** Tables are named as under `tables:`; `*` stands for all of those. */
export interface RolePolicy extends PolicyLimits {
  readonly read?: readonly string[]
  readonly aggregate?: readonly string[]
  readonly deny?: readonly string[]
  readonly mask?: Readonly<Record<string, readonly string[]>>
  readonly row_filter?: Readonly<Record<string, readonly PolicyFilter[]>>
}

export interface IdentityPolicy extends PolicyLimits {
  readonly read_only?: boolean
}

/** What a connector without a policy serves: nothing, to nobody. */
export const EMPTY_POLICY: PolicyDocument = {
  version: 1,
  defaults: {},
  tables: bareRecord<TablePolicy>([]),
  roles: bareRecord<RolePolicy>([]),
  identities: bareRecord<IdentityPolicy>([]),
}

const NAME_CHARS_MAX = 512

const wholeNumber = (max: number) => {
  const error = `a whole number from 1 to ${max}`
  return z.int({ error }).min(1, { error }).max(max, { error })
}

const limitShape = {
  row_cap: wholeNumber(ROW_CAP_MAX).exactOptional(),
  page_size: wholeNumber(ROW_CAP_MAX).exactOptional(),
  query_timeout_ms: wholeNumber(QUERY_TIMEOUT_MAX_MS).exactOptional(),
  response_chars_max: wholeNumber(RESPONSE_CHARS_CEILING).exactOptional(),
  cell_chars_max: wholeNumber(RESPONSE_CHARS_CEILING).exactOptional(),
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

const LITERAL = `text, a number, true or false; text has at most ${VALUE_CHARS_MAX} characters and no \${vars.…}`
/** Variables are not filled in, and a filter that compares with the text of one would silently match nothing. */
const literal = z.union(
  [
    z.string().refine((text) => text.length <= VALUE_CHARS_MAX && !text.includes('${vars.'), { error: LITERAL }),
    z.number(),
    z.boolean(),
  ],
  { error: LITERAL },
)
const claim = z.strictObject({ claim: name('a claim name') })
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
    value: z.string({ error: 'a pattern as text; a claim is a value and cannot be one' }),
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

const filter = z.discriminatedUnion(
  'op',
  [strict(filterShapes.value), strict(filterShapes.pattern), strict(filterShapes.values), strict(filterShapes.none)],
  { error: (issue) => (issue.code === 'invalid_union' ? filterError : 'a filter such as { column, op, value }') },
)
const filterList = listOf(filter, 'filters { column, op, value }')

const relationShape = {
  columns: columnList,
  references: name('a table as schema.table'),
  referenced_columns: columnList.exactOptional(),
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
  ...limitShape,
}

const roleShape = {
  read: tableList.exactOptional(),
  aggregate: tableList.exactOptional(),
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
  roles: named(strict(roleShape), 'role names to their grants').default(bareRecord<never>([])),
  identities: named(strict(identityShape), 'identity names to their settings').default(bareRecord<never>([])),
}

const documentSchema = strict(documentShape)

/** YAML or JSON as an author writes it, to a document, or everything that is wrong with it. */
export function parsePolicy(text: string): Result<PolicyDocument, readonly PolicyFault[]> {
  const tree = readPolicyText(text)
  return tree.ok ? checked(tree.value) : tree
}

/** The document back from the JSON text that the admin store keeps; the same checks, without the cost of YAML. */
export function policyFromJson(text: string): Result<PolicyDocument, readonly PolicyFault[]> {
  const tree = readPolicyJson(text)
  return tree.ok ? checked(tree.value) : tree
}

function checked(tree: PolicyTree): Result<PolicyDocument, readonly PolicyFault[]> {
  const parsed = documentSchema.safeParse(tree.value)
  if (!parsed.success) return fail(parsed.error.issues.flatMap((issue) => faultsOf(issue, tree)))
  const document: PolicyDocument = parsed.data
  const faults = [...tableFaults(document, tree), ...roleFaults(document, tree)]
  return faults.length > 0 ? fail(faults) : ok(document)
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(root: unknown, path: PolicyPath): unknown {
  let value = root
  for (const part of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined
  return value
}

function faultsOf(issue: z.core.$ZodIssue, tree: PolicyTree): readonly PolicyFault[] {
  const { path } = issue
  const at = (where: PolicyPath) => ({ line: tree.lineOf(where), path: pathText(where) })
  const value = valueAt(tree.value, path)
  if (issue.code === 'unrecognized_keys') {
    const keys = keysAt(path, value)
    return issue.keys.map((key) => ({
      ...at([...path, key]),
      problem: 'unknown key',
      expected: `one of ${keys.join(', ')}`,
      ...hint(nearest(key, keys)),
    }))
  }
  const suggestion = path.at(-1) === 'op' && typeof value === 'string' ? nearest(value, FILTER_OPS) : undefined
  const problem = value === undefined ? 'missing' : 'does not fit'
  return [{ ...at(path), problem, expected: issue.message, ...hint(suggestion) }]
}

function hint(suggestion: string | undefined): { readonly suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion }
}

/** The keys that a mapping at this place takes. */
function keysAt(path: PolicyPath, value: unknown): readonly string[] {
  const [section, , member] = path
  if (section === undefined) return Object.keys(documentShape)
  if (section === 'defaults') return Object.keys(limitShape)
  if (section === 'identities') return Object.keys(identityShape)
  if (path.length === 2) return Object.keys(section === 'tables' ? tableShape : roleShape)
  if (member === 'aggregate') return ['columns']
  if (member === 'relations') return Object.keys(relationShape)
  const last = path.at(-1)
  if (last === 'value' || last === 'values') return ['claim']
  const op = isMapping(value) ? value['op'] : undefined
  if (op === 'in') return Object.keys(filterShapes.values)
  return Object.keys(op === 'is_null' || op === 'not_null' ? filterShapes.none : filterShapes.value)
}

function tableFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  const faults: PolicyFault[] = []
  for (const [tableName, policy] of Object.entries(document.tables)) {
    const path = ['tables', tableName]
    const fault = (problem: string, expected: string, where: PolicyPath = path) =>
      faults.push({ line: tree.lineOf(where), path: pathText(where), problem, expected })
    if (!/^.+\..+$/s.test(tableName)) fault('a table without its schema', 'schema.table, such as public.customers')
    if (policy.mask !== undefined && policy.columns !== undefined) {
      fault('both mask and columns', 'mask (what to hide) or columns (all that is shown), not both', [...path, 'mask'])
    }
  }
  return faults
}

/** Every table that a role names must stand under `tables:`, or a slip of the pen would grant nothing, or deny nothing. */
function roleFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  const known = Object.keys(document.tables)
  const knownSet = new Set(known)
  const faults: PolicyFault[] = []
  const check = (named: string, where: PolicyPath) => {
    if (knownSet.has(named)) return
    faults.push({
      line: tree.lineOf(where),
      path: pathText(where),
      problem: `no such table under tables: ${JSON.stringify(named)}`,
      expected: 'a table that stands under tables',
      ...hint(nearest(named, known)),
    })
  }
  for (const [roleName, role] of Object.entries(document.roles)) {
    for (const grant of ['read', 'aggregate', 'deny'] as const) {
      for (const [index, named] of (role[grant] ?? []).entries()) {
        if (named !== '*') check(named, ['roles', roleName, grant, index])
      }
    }
    for (const part of ['mask', 'row_filter'] as const) {
      for (const named of Object.keys(role[part] ?? {})) check(named, ['roles', roleName, part, named])
    }
  }
  return faults
}
