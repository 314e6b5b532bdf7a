import {
  CELL_CHARS_MAX,
  MAX_AFFECTED_ROWS,
  MIN_GROUP_SIZE,
  PAGE_SIZE,
  QUERY_TIMEOUT_MS,
  REQUIRE_INDEX_ABOVE_ROWS,
  RESPONSE_CHARS_MAX,
  ROW_CAP,
} from '../../src/core/limits.js'
import type {
  AggregatePlan,
  CallLimits,
  Filter,
  FilterOp,
  GetPlan,
  Guard,
  MutationPlan,
  PlanValue,
  QueryPlan,
  Scope,
  SearchPlan,
  ValidatedCall,
  ValidatedMutation,
  ValidatedPlan,
  WriteValue,
} from '../../src/core/plan.js'
import { type Column, catalogName, type Identifier, type Routine, type Table } from '../../src/core/schema-model.js'

const LIMITS: CallLimits = {
  rowCap: ROW_CAP,
  pageSize: PAGE_SIZE,
  queryTimeoutMs: QUERY_TIMEOUT_MS,
  responseCharsMax: RESPONSE_CHARS_MAX,
  cellCharsMax: CELL_CHARS_MAX,
  maxAffectedRows: MAX_AFFECTED_ROWS,
  minGroupSize: MIN_GROUP_SIZE,
  indexRequiredAboveRows: REQUIRE_INDEX_ABOVE_ROWS,
}

export interface Validation {
  /** Names of hidden columns. */
  readonly hidden?: readonly string[]
  readonly scope?: Scope
  readonly limits?: Partial<CallLimits>
  readonly guard?: Guard
}

/** What the policy would give for the plan. Compilation is tested without a policy, so the brand is put on by hand here. */
export function validatedPlan(table: Table, plan: QueryPlan, validation: Validation = {}): ValidatedPlan {
  const hidden = new Set(validation.hidden)
  const visible = new Map<Identifier, Column>()
  for (const column of table.columns) if (!hidden.has(column.name)) visible.set(column.name, column)
  const parts = {
    plan,
    table,
    visible,
    scope: validation.scope ?? { all: [] },
    limits: { ...LIMITS, ...validation.limits },
    ...(validation.guard === undefined ? {} : { guard: validation.guard }),
  }
  // Only `PolicyEngine.validate` may make one in the product; its tests prove what it refuses.
  return parts as unknown as ValidatedPlan
}

/** A filter from loose parts; `value` is an array for `in` and absent for the tests of NULL. */
export function filter(column: string, op: FilterOp, value?: string | readonly string[]): Filter {
  const name = catalogName(column)
  if (op === 'is_null' || op === 'not_null') return { column: name, op }
  if (op === 'in') return { column: name, op, values: typeof value === 'string' ? [value] : (value ?? []) }
  return { column: name, op, value: typeof value === 'string' ? value : '' }
}

export function getPlan(table: Table, key: Readonly<Record<string, string>>, columns: readonly string[]): GetPlan {
  return {
    kind: 'get',
    table: table.ref,
    key: Object.entries(key).map(([column, value]) => ({ column: catalogName(column), op: 'eq', value })),
    columns: columns.map(catalogName),
  }
}

/** `order` takes `name` or `-name` for descending. */
export function searchPlan(
  table: Table,
  parts: {
    readonly columns: readonly string[]
    readonly filters?: readonly Filter[]
    readonly order?: readonly string[]
    readonly limit?: number
  },
): SearchPlan {
  return {
    kind: 'search',
    table: table.ref,
    columns: parts.columns.map(catalogName),
    filters: parts.filters ?? [],
    order: (parts.order ?? []).map((text) => ({
      column: catalogName(text.replace(/^-/, '')),
      direction: text.startsWith('-') ? 'desc' : 'asc',
    })),
    limit: parts.limit ?? 10,
  }
}

export function aggregatePlan(
  table: Table,
  parts: {
    readonly metrics: readonly { readonly fn: AggregatePlan['metrics'][number]['fn']; readonly column?: string }[]
    readonly groupBy?: readonly string[]
    readonly filters?: readonly Filter[]
    readonly order?: AggregatePlan['order']
    readonly limit?: number
  },
): AggregatePlan {
  return {
    kind: 'aggregate',
    table: table.ref,
    metrics: parts.metrics.map(({ fn, column }) =>
      column === undefined ? { fn, as: fn } : { fn, column: catalogName(column), as: `${fn}_${column}` },
    ),
    groupBy: (parts.groupBy ?? []).map(catalogName),
    filters: parts.filters ?? [],
    order: parts.order ?? [],
    limit: parts.limit ?? 10,
  }
}

/** By column; a map where a name such as `__proto__` may be among them. */
type Named<V> = Readonly<Record<string, V>> | ReadonlyMap<string, V>
type NewValue = string | null | { readonly kind: 'now' }

function entriesOf<V>(named: Named<V> = {}): readonly (readonly [string, V])[] {
  return named instanceof Map ? [...named] : Object.entries(named)
}

/** What a mutation of a table is made of; column names are strings and must exist. */
export interface MutationParts {
  readonly key?: Readonly<Record<string, string>>
  /** What is written: text, null, or the time of the transaction. */
  readonly values?: Named<NewValue>
  readonly expected?: Named<string | null>
  readonly scope?: Scope
  /** Default: the scope. */
  readonly writtenScope?: Scope
  readonly returning?: readonly string[]
  readonly limits?: Partial<CallLimits>
  readonly dryRun?: boolean
  readonly guard?: Guard
}

/** What the policy would give for the mutation; see `validatedPlan`. */
export function validatedMutation(
  table: Table,
  kind: MutationPlan['kind'],
  parts: MutationParts = {},
): ValidatedMutation {
  const column = (name: string): Column => {
    const found = table.columns.find((candidate) => candidate.name === name)
    if (found === undefined) throw new Error(`no column ${name}`)
    return found
  }
  const written = (value: NewValue): WriteValue =>
    typeof value === 'object' && value !== null ? value : { kind: 'value', value }
  const key = Object.entries(parts.key ?? {}).map(([name, value]) => filter(name, 'eq', value))
  const scope = parts.scope ?? { all: [] }
  const validated = {
    plan: { kind, table: table.ref, key, values: [], expected: [], dryRun: parts.dryRun ?? false },
    table,
    writes: entriesOf(parts.values).map(([name, value]) => ({
      column: column(name),
      value: written(value),
    })),
    expected: entriesOf(parts.expected).map(([name, value]) => ({ column: column(name), value })),
    scope,
    writtenScope: parts.writtenScope ?? scope,
    returning: (parts.returning ?? table.columns.map(({ name }) => name)).map(column),
    key: table.primaryKey.map(column),
    ...(parts.guard === undefined ? {} : { guard: parts.guard }),
    limits: { ...LIMITS, ...parts.limits },
  }
  // Only `PolicyEngine.validateMutation` may make one in the product.
  return validated as unknown as ValidatedMutation
}

export interface CallParts {
  /** By position among the parameters that take a value. */
  readonly args?: Readonly<Record<number, PlanValue | null>>
  readonly effect?: 'read' | 'write'
  /** Names of the result columns let through; default: all. */
  readonly fields?: readonly string[]
  /** Columns of result sets that are let through; default: none. */
  readonly setColumns?: readonly string[]
  readonly limits?: Partial<CallLimits>
  readonly dryRun?: boolean
}

/** What the policy would give for the call; see `validatedPlan`. */
export function validatedCall(routine: Routine, parts: CallParts = {}): ValidatedCall {
  const { result } = routine
  const fields = result.kind === 'record' || result.kind === 'sets' ? result.fields : undefined
  const wanted = new Set(parts.fields ?? fields?.map(({ name }) => name))
  const validated = {
    plan: {
      kind: 'call',
      routine: routine.ref,
      catalogId: routine.catalogId,
      args: Object.entries(parts.args ?? {}).map(([position, value]) => ({ position: Number(position), value })),
      dryRun: parts.dryRun ?? false,
    },
    routine,
    effect: parts.effect ?? 'read',
    ...(fields === undefined ? {} : { fields: fields.filter(({ name }) => wanted.has(name)) }),
    ...(parts.setColumns === undefined ? {} : { setColumns: parts.setColumns }),
    limits: { ...LIMITS, ...parts.limits },
  }
  // Only `PolicyEngine.validateCall` may make one in the product.
  return validated as unknown as ValidatedCall
}
