import { CELL_CHARS_MAX, PAGE_SIZE, QUERY_TIMEOUT_MS, RESPONSE_CHARS_MAX, ROW_CAP } from '../../src/core/limits.js'
import type {
  AggregatePlan,
  CallLimits,
  Filter,
  FilterOp,
  GetPlan,
  Plan,
  Scope,
  SearchPlan,
  ValidatedPlan,
} from '../../src/core/plan.js'
import { type Column, catalogName, type Identifier, type Table } from '../../src/core/schema-model.js'

const LIMITS: CallLimits = {
  rowCap: ROW_CAP,
  pageSize: PAGE_SIZE,
  queryTimeoutMs: QUERY_TIMEOUT_MS,
  responseCharsMax: RESPONSE_CHARS_MAX,
  cellCharsMax: CELL_CHARS_MAX,
}

export interface Validation {
  /** Names of hidden columns. */
  readonly hidden?: readonly string[]
  readonly scope?: Scope
  readonly limits?: Partial<CallLimits>
}

/** What the policy would give for the plan. Compilation is tested without a policy, so the brand is put on by hand here. */
export function validatedPlan(table: Table, plan: Plan, validation: Validation = {}): ValidatedPlan {
  const hidden = new Set(validation.hidden)
  const visible = new Map<Identifier, Column>()
  for (const column of table.columns) if (!hidden.has(column.name)) visible.set(column.name, column)
  const parts = {
    plan,
    table,
    visible,
    scope: validation.scope ?? { all: [] },
    limits: { ...LIMITS, ...validation.limits },
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
