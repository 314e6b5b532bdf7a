import { WRITE_OPERATIONS, type WriteAccess, type WriteOperation } from '../core/access.js'
import type { CallLimits } from '../core/plan.js'
import type { Column } from '../core/schema-model.js'
import { filterOpsFor } from '../core/tool-grammar.js'
import { columnAt, EMPTY_VIEW, groupsOf, type Visible, viewOf, visible } from './caller-columns.js'
import {
  type ColumnView,
  type CompiledIdentity,
  type CompiledRole,
  type CompiledTable,
  type CompiledWrite,
  includes,
} from './compiled-policy.js'
import type { Preset } from './preset.js'
import type { RowFilter } from './row-filter.js'

/** One mutation as far as it depends on the roles alone. */
export interface WriteSight {
  readonly write: CompiledWrite
  readonly writers: readonly CompiledRole[]
  /** What the caller may set. */
  readonly columns: Visible
  /** The key where the caller may use the whole of it in this operation, else nothing. */
  readonly key: readonly number[]
}

export type WriteSights = Readonly<Partial<Record<WriteOperation, WriteSight>>>

/** One mutation of one table as one caller may use it, with what only the engine knows. */
export interface CallerWrite {
  readonly access: WriteAccess
  readonly columns: ColumnView
  readonly expectable: ColumnView
  /** Of the row that comes back: a new one's too, where the caller may use the whole of it. */
  readonly key: readonly Column[]
  readonly presets: readonly Preset[]
  /** As for reads, of the roles that grant this very operation. */
  readonly groups: readonly (readonly RowFilter[])[] | undefined
  readonly limits: CallLimits
}

/** The caller's reads of the table: by which roles, and what `get` shows. */
export interface ReadGround {
  readonly readers: readonly CompiledRole[]
  readonly get: ColumnView
  readonly commentShown: readonly boolean[]
}

/** A mutation exists where the table has it and a role grants it; nothing but its own columns and key decides further. */
export function writeSights(
  table: CompiledTable,
  roles: readonly CompiledRole[],
  identity: CompiledIdentity | undefined,
): WriteSights {
  const sights: Partial<Record<WriteOperation, WriteSight>> = {}
  if (identity?.readOnly === true) return sights
  for (const operation of WRITE_OPERATIONS) {
    const write = table.writes[operation]
    if (write === undefined) continue
    const writers = roles.filter((role) => includes(role.writes[operation], table))
    const sight = writers.length === 0 ? undefined : writeSight(table, operation, write, writers)
    if (sight !== undefined) sights[operation] = sight
  }
  return sights
}

function writeSight(
  table: CompiledTable,
  operation: WriteOperation,
  write: CompiledWrite,
  writers: readonly CompiledRole[],
): WriteSight | undefined {
  const usable = visible(table, table.shown, writers)
  const columns = write.columns.map((settable, position) => settable && usable[position] === true)
  const key = table.key.every((position) => usable[position] === true) ? table.key : []
  if (operation !== 'create' && key.length === 0) return undefined
  if (operation !== 'soft_delete' && !columns.includes(true)) return undefined
  if (!write.required.every((position) => columns[position] === true)) return undefined
  return { write, writers, columns, key }
}

/** Whether the mutation lets the caller know of a column, for comments that name one. */
export function isNamed({ columns, key }: WriteSight, position: number): boolean {
  return columns[position] === true || key.includes(position)
}

/**
 * Whether `get` finds every row that the mutation may touch. Where it does not, what the row held before, and holds now,
 * is not the caller's to ask for or to be given.
 */
function isReadable(table: CompiledTable, { writers }: WriteSight, readers: readonly CompiledRole[]): boolean {
  return readers.some((role) => !role.filters.has(table)) || writers.every((role) => readers.includes(role))
}

export function callerWrite(
  table: CompiledTable,
  operation: WriteOperation,
  sight: WriteSight,
  reads: ReadGround,
  limits: CallLimits,
): CallerWrite {
  const { write, writers, key } = sight
  const columns = viewOf(table, sight.columns, reads.commentShown)
  const readable = isReadable(table, sight, reads.readers) ? reads.get : EMPTY_VIEW
  const expectable = operation === 'create' ? EMPTY_VIEW : comparableOf(table, readable, reads)
  const keyColumns = viewOf(
    table,
    table.bare.map((_, position) => key.includes(position)),
    reads.commentShown,
  )
  const keyInOrder = columnsAt(table, key, keyColumns)
  const required = write.required.map((position) => columnAt(table, position).agentName)
  const access: WriteAccess = {
    columns: columns.byAgentName,
    required: new Set(required),
    key: operation === 'create' ? [] : keyInOrder,
    expectable: expectable.byAgentName,
    returning: table.bare.flatMap(({ name }) => readable.byName.get(name) ?? keyColumns.byName.get(name) ?? []),
  }
  const groups = groupsOf(table, writers)
  return { access, columns, expectable, key: keyInOrder, presets: write.presets, groups, limits }
}

function columnsAt(table: CompiledTable, positions: readonly number[], view: ColumnView): readonly Column[] {
  return positions.flatMap((position) => view.byName.get(columnAt(table, position).name) ?? [])
}

/** What the caller reads and could compare: `expected` is an equality. */
function comparableOf(table: CompiledTable, readable: ColumnView, reads: ReadGround): ColumnView {
  const shown = table.bare.map(({ name, type }) => readable.byName.has(name) && filterOpsFor(type).includes('eq'))
  return viewOf(table, shown, reads.commentShown)
}
