import {
  type EffectiveRights,
  READ_OPERATIONS,
  type ReadOperation,
  type Relation,
  type TableAccess,
} from '../../src/core/access.js'
import { toolBaseName } from '../../src/core/names.js'
import type { CallLimits } from '../../src/core/plan.js'
import type { Column, Table } from '../../src/core/schema-model.js'
import type { PlanTarget } from '../../src/core/tool-grammar.js'

/** Rights as the policy would work them out, for tests of what is built on them. */

export interface AccessParts {
  /** Names of columns that the caller may not see. */
  readonly hide?: readonly string[]
  readonly operations?: readonly ReadOperation[]
  readonly limits?: Partial<CallLimits>
  readonly comment?: string
  readonly relations?: readonly Relation[]
}

const LIMITS: CallLimits = {
  rowCap: 200,
  pageSize: 50,
  queryTimeoutMs: 5_000,
  responseCharsMax: 24_000,
  cellCharsMax: 4_000,
}

export function accessOf(table: Table, parts: AccessParts = {}): TableAccess {
  const hidden = new Set(parts.hide ?? [])
  const visible = table.columns.filter((column) => !hidden.has(column.name))
  const byName: ReadonlyMap<string, Column> = new Map(visible.map((column) => [column.agentName, column]))
  const key = visible.filter((column) => table.primaryKey.includes(column.name))
  const whole = key.length === table.primaryKey.length
  return {
    table,
    toolBase: toolBaseName(table.ref.name),
    ...(parts.comment === undefined ? {} : { comment: parts.comment }),
    key: whole ? key : [],
    operations: new Set(parts.operations ?? READ_OPERATIONS),
    columns: { get: byName, search: byName, aggregate: byName },
    relations: parts.relations ?? [],
    limits: { ...LIMITS, ...parts.limits },
  }
}

export function rightsOf(...tables: readonly TableAccess[]): EffectiveRights {
  const ordered = [...tables].sort((a, b) => (a.toolBase < b.toolBase ? -1 : 1))
  return { key: 'test', tables: ordered, byToolBase: new Map(ordered.map((access) => [access.toolBase, access])) }
}

export function targetOf(operation: ReadOperation, access: TableAccess): PlanTarget {
  return { operation, access }
}
