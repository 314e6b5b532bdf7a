import {
  type EffectiveRights,
  type ProcedureAccess,
  READ_OPERATIONS,
  type TableAccess,
  type TableOperation,
  WRITE_OPERATIONS,
} from '../core/access.js'
import { unreachable } from '../core/assert.js'
import type { Column } from '../core/schema-model.js'
import { filterOpsFor, type ReadTarget, type ToolTarget, type WriteTarget } from '../core/tool-grammar.js'
import { parseToolName, SCHEMA_OVERVIEW } from './tool-names.js'

export type { PlanTarget, ToolTarget } from '../core/tool-grammar.js'

/** The operation on the table as the caller has it, or undefined: what is listed and what can be called are one answer. */
export function tableTarget(access: TableAccess, operation: TableOperation): ReadTarget | WriteTarget | undefined {
  if (!access.operations.has(operation)) return undefined
  switch (operation) {
    case 'get':
      return spellable(access.key) && access.columns.get.size > 0 ? { operation, access } : undefined
    case 'search':
      return access.columns.search.size > 0 ? { operation, access } : undefined
    case 'aggregate':
      // Rows can be counted where no column may be named.
      return { operation, access }
    case 'create': {
      const write = access.writes.create
      return write && { operation, access, write }
    }
    case 'update': {
      const write = access.writes.update
      return write && spellable(write.key) && write.columns.size > 0 ? { operation, access, write } : undefined
    }
    case 'soft_delete': {
      const write = access.writes.soft_delete
      return write && spellable(write.key) ? { operation, access, write } : undefined
    }
    default:
      return unreachable(operation)
  }
}

/** A key of a type without a text form, such as an array, could be in no call. */
function spellable(key: readonly Column[]): boolean {
  return key.length > 0 && key.every((column) => filterOpsFor(column.type).includes('eq'))
}

/** The caller's tools of the table, in the order they are listed. */
export function tableTargets(access: TableAccess): readonly (ReadTarget | WriteTarget)[] {
  return [...READ_OPERATIONS, ...WRITE_OPERATIONS].flatMap((operation) => tableTarget(access, operation) ?? [])
}

/** A tool of one of the caller's tables. */
function tableTool(rights: EffectiveRights, tool: string): ReadTarget | WriteTarget | undefined {
  const parsed = parseToolName(tool)
  const access = parsed && rights.byToolBase.get(parsed.toolBase)
  return parsed && access && tableTarget(access, parsed.operation)
}

/** The caller's procedures, each under a name that no other of its tools has. */
export function callableProcedures(rights: EffectiveRights): readonly ProcedureAccess[] {
  const taken = new Set<string>([SCHEMA_OVERVIEW])
  return rights.procedures.filter(({ tool }) => {
    if (taken.has(tool) || tableTool(rights, tool) !== undefined) return false
    taken.add(tool)
    return true
  })
}

/** What a call of `tool` is about, or undefined where the caller has no such tool, whether or not the table exists. */
export function resolveTarget(rights: EffectiveRights, tool: string): ToolTarget | undefined {
  if (tool === SCHEMA_OVERVIEW) return { operation: 'schema_overview', rights }
  const target = tableTool(rights, tool)
  if (target !== undefined) return target
  const procedure = rights.procedures.find((candidate) => candidate.tool === tool)
  return procedure && { operation: 'call', procedure }
}
