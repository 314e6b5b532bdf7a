import { READ_OPERATIONS, type TableOperation, WRITE_OPERATIONS } from '../core/access.js'

export const SCHEMA_OVERVIEW = 'schema_overview'

/** What stands around the table in the name of each operation's tool. */
const FRAMES: Readonly<Record<TableOperation, readonly [before: string, after: string]>> = {
  get: ['get_', '_by_pk'],
  search: ['search_', ''],
  aggregate: ['aggregate_', ''],
  create: ['create_', ''],
  update: ['update_', '_by_pk'],
  soft_delete: ['soft_delete_', '_by_pk'],
}

export function toolName(operation: TableOperation, toolBase: string): string {
  const [before, after] = FRAMES[operation]
  return `${before}${toolBase}${after}`
}

/**
 * The operation and table of a tool's name. The start alone decides the operation and only that operation's own ending is
 * taken off, so `search_x_by_pk` is the search of a table `x_by_pk`.
 */
export function parseToolName(
  name: string,
): { readonly operation: TableOperation; readonly toolBase: string } | undefined {
  for (const operation of OPERATIONS) {
    const [before, after] = FRAMES[operation]
    if (!name.startsWith(before) || !name.endsWith(after)) continue
    const toolBase = name.slice(before.length, name.length - after.length)
    if (toolBase !== '' && toolName(operation, toolBase) === name) return { operation, toolBase }
  }
  return undefined
}

const OPERATIONS: readonly TableOperation[] = [...READ_OPERATIONS, ...WRITE_OPERATIONS]
