import type { ReadOperation } from '../core/access.js'

export const SCHEMA_OVERVIEW = 'schema_overview'

/** What stands around the table in the name of each operation's tool. */
const FRAMES: Readonly<Record<ReadOperation, readonly [before: string, after: string]>> = {
  get: ['get_', '_by_pk'],
  search: ['search_', ''],
  aggregate: ['aggregate_', ''],
}

export function toolName(operation: ReadOperation, toolBase: string): string {
  const [before, after] = FRAMES[operation]
  return `${before}${toolBase}${after}`
}

/**
 * The operation and table of a tool's name. The start alone decides the operation and only that operation's own ending is
 * taken off, so `search_x_by_pk` is the search of a table `x_by_pk`.
 */
export function parseToolName(
  name: string,
): { readonly operation: ReadOperation; readonly toolBase: string } | undefined {
  for (const operation of OPERATIONS) {
    const [before, after] = FRAMES[operation]
    if (!name.startsWith(before) || !name.endsWith(after)) continue
    const toolBase = name.slice(before.length, name.length - after.length)
    if (toolBase !== '' && toolName(operation, toolBase) === name) return { operation, toolBase }
  }
  return undefined
}

const OPERATIONS: readonly ReadOperation[] = ['get', 'search', 'aggregate']
