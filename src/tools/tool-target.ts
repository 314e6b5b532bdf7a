import type { EffectiveRights, ReadOperation, TableAccess } from '../core/access.js'
import { unreachable } from '../core/assert.js'
import type { Column } from '../core/schema-model.js'
import { filterOpsFor, type ToolTarget } from '../core/tool-grammar.js'
import { parseToolName, SCHEMA_OVERVIEW } from './tool-names.js'

export type { PlanTarget, ToolTarget } from '../core/tool-grammar.js'

/** Whether the caller has the tool: what is listed and what can be called are one answer. */
export function hasTool(access: TableAccess, operation: ReadOperation): boolean {
  if (!access.operations.has(operation)) return false
  switch (operation) {
    case 'get':
      return access.key.length > 0 && access.key.every(takesEquality) && access.columns.get.size > 0
    case 'search':
      return access.columns.search.size > 0
    case 'aggregate':
      // Rows can be counted where no column may be named.
      return true
    default:
      return unreachable(operation)
  }
}

/** A key of a type without a text form, such as an array, could be in no call. */
function takesEquality(column: Column): boolean {
  return filterOpsFor(column.type).includes('eq')
}

/** What a call of `tool` is about, or undefined where the caller has no such tool, whether or not the table exists. */
export function resolveTarget(rights: EffectiveRights, tool: string): ToolTarget | undefined {
  if (tool === SCHEMA_OVERVIEW) return { operation: 'schema_overview', rights }
  const parsed = parseToolName(tool)
  if (parsed === undefined) return undefined
  const access = rights.byToolBase.get(parsed.toolBase)
  if (access === undefined || !hasTool(access, parsed.operation)) return undefined
  return { operation: parsed.operation, access }
}
