import {
  type EffectiveRights,
  type ProcedureAccess,
  READ_OPERATIONS,
  type ReadOperation,
  type Relation,
  type TableAccess,
  type TableOperation,
  WRITE_OPERATIONS,
  type WriteAccess,
  type WriteOperation,
} from '../../src/core/access.js'
import { agentColumnName, toolBaseName } from '../../src/core/names.js'
import type { CallLimits } from '../../src/core/plan.js'
import {
  type Column,
  catalogName,
  type ResultField,
  type RoutineParameter,
  type RoutineResult,
  type Table,
  type ValueType,
} from '../../src/core/schema-model.js'
import { type CallTarget, filterOpsFor, type ReadTarget, type WriteTarget } from '../../src/core/tool-grammar.js'

/** Rights as the policy would work them out, for tests of what is built on them. */

export interface AccessParts {
  /** Names of columns that the caller may not see. */
  readonly hide?: readonly string[]
  /** Default: all reads. */
  readonly operations?: readonly TableOperation[]
  /** Names of columns that a mutation may set; default: all visible ones that can be written. */
  readonly writable?: readonly string[]
  readonly limits?: Partial<CallLimits>
  readonly comment?: string
  readonly relations?: readonly Relation[]
}

export const ALL_OPERATIONS: readonly TableOperation[] = [...READ_OPERATIONS, ...WRITE_OPERATIONS]

const LIMITS: CallLimits = {
  rowCap: 200,
  pageSize: 50,
  queryTimeoutMs: 5_000,
  responseCharsMax: 24_000,
  cellCharsMax: 4_000,
  maxAffectedRows: 1,
  minGroupSize: 1,
  indexRequiredAboveRows: 1_000_000,
}

export function accessOf(table: Table, parts: AccessParts = {}): TableAccess {
  const hidden = new Set(parts.hide ?? [])
  const operations = new Set(parts.operations ?? READ_OPERATIONS)
  const visible = table.columns.filter((column) => !hidden.has(column.name))
  const byName = byAgentName(visible)
  const whole = visible.filter((column) => table.primaryKey.includes(column.name))
  const key = whole.length === table.primaryKey.length ? whole : []
  const writable = visible.filter(
    ({ name, generated }) =>
      (parts.writable?.includes(name) ?? true) && generated !== 'always' && generated !== 'computed',
  )
  const writes = WRITE_OPERATIONS.filter((operation) => operations.has(operation)).map(
    (operation) => [operation, writeOf(operation, writable, key, visible)] as const,
  )
  return {
    table,
    toolBase: toolBaseName(table.ref.name),
    ...(parts.comment === undefined ? {} : { comment: parts.comment }),
    key,
    operations,
    columns: { get: byName, search: byName, aggregate: byName },
    writes: Object.fromEntries(writes),
    relations: parts.relations ?? [],
    limits: { ...LIMITS, ...parts.limits },
  }
}

function byAgentName(columns: readonly Column[]): ReadonlyMap<string, Column> {
  return new Map(columns.map((column) => [column.agentName, column]))
}

function writeOf(
  operation: WriteOperation,
  writable: readonly Column[],
  key: readonly Column[],
  visible: readonly Column[],
): WriteAccess {
  const creating = operation === 'create'
  const needed = writable.filter(({ nullable, hasDefault, generated }) => {
    return creating && !nullable && !hasDefault && generated === 'no'
  })
  const comparable = creating ? [] : visible.filter(({ type }) => filterOpsFor(type).includes('eq'))
  return {
    columns: byAgentName(operation === 'soft_delete' ? [] : writable),
    required: new Set(needed.map((column) => column.agentName)),
    key: creating ? [] : key,
    expectable: byAgentName(comparable),
    returning: visible,
  }
}

export function rightsOf(...tables: readonly TableAccess[]): EffectiveRights {
  const ordered = [...tables].sort((a, b) => (a.toolBase < b.toolBase ? -1 : 1))
  const byToolBase = new Map(ordered.map((access) => [access.toolBase, access]))
  return { key: 'test', tables: ordered, byToolBase, procedures: [] }
}

export function withProcedures(rights: EffectiveRights, ...procedures: readonly ProcedureAccess[]): EffectiveRights {
  return { ...rights, procedures }
}

export function targetOf(operation: ReadOperation, access: TableAccess): ReadTarget {
  return { operation, access }
}

/** Throws where the access has no such mutation. */
export function writeTarget(operation: WriteOperation, access: TableAccess): WriteTarget {
  const write = access.writes[operation]
  if (write === undefined) throw new Error(`no ${operation}`)
  return { operation, access, write }
}

export interface ProcedureParts {
  readonly effect?: 'read' | 'write'
  /** In order; a `?` after the name gives a default. */
  readonly parameters?: Readonly<Record<string, ValueType>>
  readonly result?: RoutineResult
  readonly fields?: readonly ResultField[]
  readonly comment?: string
  readonly limits?: Partial<CallLimits>
}

export function fieldOf(name: string, type: ValueType): ResultField {
  return { name: catalogName(name), agentName: agentColumnName(name), type }
}

export function procedureOf(tool: string, parts: ProcedureParts = {}): ProcedureAccess {
  const parameters = Object.entries(parts.parameters ?? {}).map(([key, type]): RoutineParameter => {
    const name = key.replace(/\?$/, '')
    return {
      name: catalogName(name),
      agentName: agentColumnName(name),
      mode: 'in',
      type,
      hasDefault: key.endsWith('?'),
    }
  })
  return {
    routine: {
      ref: { schema: catalogName('public'), name: catalogName(tool) },
      catalogId: '4711',
      kind: 'function',
      signature: parameters.map(({ type }) => type.native).join(', '),
      declaredReadOnly: parts.effect === 'read',
      securityDefiner: false,
      parameters,
      result: parts.result ?? { kind: 'void' },
    },
    tool,
    effect: parts.effect ?? 'write',
    ...(parts.comment === undefined ? {} : { comment: parts.comment }),
    parameters,
    ...(parts.fields === undefined ? {} : { fields: parts.fields }),
    dryRun: true,
    limits: { ...LIMITS, ...parts.limits },
  }
}

export function callTarget(procedure: ProcedureAccess): CallTarget {
  return { operation: 'call', procedure }
}
