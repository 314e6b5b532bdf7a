import type { EffectiveRights, ReadOperation, Relation, TableAccess } from '../core/access.js'
import { CELL_CHARS_MAX, PAGE_SIZE, QUERY_TIMEOUT_MS, RESPONSE_CHARS_MAX, ROW_CAP } from '../core/limits.js'
import type { CallLimits } from '../core/plan.js'
import type { Column, ForeignKey, Identifier } from '../core/schema-model.js'
import type { Comment } from './comment-mentions.js'
import {
  type ColumnView,
  type CompiledIdentity,
  type CompiledPolicy,
  type CompiledRole,
  type CompiledTable,
  includes,
} from './compiled-policy.js'
import type { PolicyLimits } from './policy-document.js'
import type { RowFilter } from './row-filter.js'

/** What the policy gives to everybody with one set of roles and one override. Depends on no claim. */
export interface CallerRights {
  readonly rights: EffectiveRights
  readonly tables: ReadonlyMap<CompiledTable, CallerTable>
}

export interface CallerTable {
  readonly access: TableAccess
  readonly views: Readonly<Record<ReadOperation, ColumnView>>
  /** The table's own row filters: every one holds for every caller. */
  readonly filters: readonly RowFilter[]
  /** The granting roles' row filters, one group a role; undefined where a granting role sees all rows. */
  readonly groups: Readonly<Record<ReadOperation, readonly (readonly RowFilter[])[] | undefined>>
}

/** One table before comments and relations, which depend on what the caller sees of other tables. */
interface Sight {
  readonly table: CompiledTable
  readonly readers: readonly CompiledRole[]
  readonly aggregators: readonly CompiledRole[]
  readonly read: Visible
  readonly aggregate: Visible
}

/** By position in `table.columns`. */
type Visible = readonly boolean[]

/** Distinct views of one table that are kept; more than there are sensible combinations of masks. */
const VIEWS_KEPT_MAX = 64
const EMPTY_VIEW: ColumnView = { byAgentName: new Map(), byName: new Map() }

/** Works out everything for one set of roles; linear in tables and columns. `roles`: those of the policy, each once. */
export function callerRights(
  policy: CompiledPolicy,
  key: string,
  roles: readonly CompiledRole[],
  identity: CompiledIdentity | undefined,
): CallerRights {
  const sights = new Map<CompiledTable, Sight>()
  for (const table of policy.tables) {
    const sight = sightOf(table, roles)
    if (sight !== undefined) sights.set(table, sight)
  }
  const tables = new Map<CompiledTable, CallerTable>()
  for (const sight of sights.values()) tables.set(sight.table, callerTable(sight, sights, policy, identity))
  const accesses = [...tables.values()].map(({ access }) => access)
  const byToolBase = new Map(accesses.map((access) => [access.toolBase, access]))
  return { rights: { key, tables: accesses, byToolBase }, tables }
}

/** Undefined where nothing is granted or nothing would be seen: such a table does not exist for the caller. */
function sightOf(table: CompiledTable, roles: readonly CompiledRole[]): Sight | undefined {
  if (roles.some((role) => includes(role.denies, table))) return undefined
  const readers = roles.filter((role) => includes(role.reads, table))
  const aggregators =
    table.aggregable === undefined
      ? []
      : roles.filter((role) => includes(role.reads, table) || includes(role.aggregates, table))
  const read = visible(table, table.shown, readers)
  const aggregate = visible(table, table.aggregable ?? [], aggregators)
  if (!read.includes(true) && !aggregate.includes(true)) return undefined
  return { table, readers, aggregators, read, aggregate }
}

/**
 * A column is usable when a granting role without a row filter shows it, or when every granting role shows it: otherwise
 * a role that shows it for some rows would show it for rows that came through another.
 */
function visible(table: CompiledTable, base: Visible, granting: readonly CompiledRole[]): Visible {
  if (granting.length === 0) return []
  const shows = (role: CompiledRole, position: number) => role.masks.get(table)?.has(position) !== true
  if (granting.every((role) => !role.masks.has(table))) return base
  const unfiltered = granting.filter((role) => !role.filters.has(table))
  return base.map(
    (shown, position) =>
      shown && (unfiltered.some((role) => shows(role, position)) || granting.every((role) => shows(role, position))),
  )
}

function callerTable(
  sight: Sight,
  sights: ReadonlyMap<CompiledTable, Sight>,
  policy: CompiledPolicy,
  identity: CompiledIdentity | undefined,
): CallerTable {
  const { table, readers, aggregators } = sight
  const key = sight.read.length > 0 && table.key.every((position) => sight.read[position] === true) ? table.key : []
  const operations = new Set<ReadOperation>()
  if (key.length > 0) operations.add('get')
  if (sight.read.includes(true)) operations.add('search')
  if (sight.aggregate.includes(true)) operations.add('aggregate')
  const mentions = mentionCheck(sights, policy)
  const commentShown = table.columnComments.map((comment) => comment !== undefined && mentions(table, comment))
  const search = viewOf(table, sight.read, commentShown)
  const views = {
    get: operations.has('get') ? search : EMPTY_VIEW,
    search,
    aggregate: viewOf(table, sight.aggregate, commentShown),
  }
  const comment = table.comment !== undefined && mentions(table, table.comment) ? table.comment.text : undefined
  const granting = [...new Set([...readers, ...aggregators])]
  const access: TableAccess = {
    table: table.table,
    toolBase: table.toolBase,
    ...(comment === undefined ? {} : { comment }),
    key: key.flatMap((position) => search.byName.get(columnAt(table, position).name) ?? []),
    operations,
    columns: { get: views.get.byAgentName, search: search.byAgentName, aggregate: views.aggregate.byAgentName },
    relations: relationsOf(sight, sights, policy),
    limits: callLimits(policy, table, granting, identity),
  }
  const readGroups = groupsOf(table, readers)
  const groups = { get: readGroups, search: readGroups, aggregate: groupsOf(table, aggregators) }
  return { access, views, filters: table.filters, groups }
}

function columnAt(table: CompiledTable, position: number): Column {
  const column = table.bare[position]
  if (column === undefined) throw new Error(`no column at ${position} of ${table.toolBase}`)
  return column
}

function groupsOf(
  table: CompiledTable,
  granting: readonly CompiledRole[],
): readonly (readonly RowFilter[])[] | undefined {
  const groups: (readonly RowFilter[])[] = []
  for (const role of granting) {
    const group = role.filters.get(table)
    if (group === undefined) return undefined
    groups.push(group)
  }
  return groups
}

/** Whether a comment names only columns that the caller sees in some operation. */
function mentionCheck(
  sights: ReadonlyMap<CompiledTable, Sight>,
  policy: CompiledPolicy,
): (table: CompiledTable, comment: Comment) => boolean {
  const seen = (table: CompiledTable | undefined, position: number) => {
    const sight = table && sights.get(table)
    return sight !== undefined && (sight.read[position] === true || sight.aggregate[position] === true)
  }
  return (table, comment) =>
    comment.own.every((position) => seen(table, position)) &&
    comment.foreign.every((mention) => seen(policy.tableOf.get(mention.table), mention.column))
}

/** Callers who see the same share one view, so that thousands of tables times many roles stay small. */
function viewOf(table: CompiledTable, shown: Visible, commentShown: readonly boolean[]): ColumnView {
  if (!shown.includes(true)) return EMPTY_VIEW
  const key = shown.map((is, position) => (is ? (commentShown[position] === true ? '2' : '1') : '0')).join('')
  const known = table.views.get(key)
  if (known !== undefined) return known
  const byAgentName = new Map<string, Column>()
  const byName = new Map<Identifier, Column>()
  for (const [position, is] of shown.entries()) {
    const column = (commentShown[position] === true ? table.commented : table.bare)[position]
    if (!is || column === undefined) continue
    byAgentName.set(column.agentName, column)
    byName.set(column.name, column)
  }
  const view = { byAgentName, byName }
  if (table.views.size >= VIEWS_KEPT_MAX) table.views.clear()
  table.views.set(key, view)
  return view
}

/** The foreign keys of the table itself whose every column, on both sides, the caller may read. */
function relationsOf(
  sight: Sight,
  sights: ReadonlyMap<CompiledTable, Sight>,
  policy: CompiledPolicy,
): readonly Relation[] {
  return sight.table.table.foreignKeys.flatMap((foreignKey) => {
    const target = policy.find(foreignKey.references)
    const targetSight = target && sights.get(target)
    return targetSight === undefined ? [] : (relationOf(sight, targetSight, foreignKey) ?? [])
  })
}

function relationOf(sight: Sight, target: Sight, foreignKey: ForeignKey): Relation | undefined {
  const columns = readableNames(sight, foreignKey.columns)
  const referencedColumns = readableNames(target, foreignKey.referencedColumns)
  if (columns === undefined || referencedColumns === undefined) return undefined
  return { columns, references: target.table.toolBase, referencedColumns }
}

/** Agent-facing names, or undefined when the caller may not read one of them. */
function readableNames(sight: Sight, names: readonly Identifier[]): readonly string[] | undefined {
  const readable: string[] = []
  for (const name of names) {
    const position = sight.table.positions.get(name)
    if (position === undefined || sight.read[position] !== true) return undefined
    readable.push(columnAt(sight.table, position).agentName)
  }
  return readable
}

/**
 * The most specific limit wins: the identity's, else its roles', else the table's, else the policy's default, else the
 * gateway's own. With several granting roles the largest wins, where a role that sets none counts with what it would have
 * alone: another role never takes away.
 */
export function callLimits(
  policy: CompiledPolicy,
  table: CompiledTable | undefined,
  granting: readonly CompiledRole[],
  identity: CompiledIdentity | undefined,
): CallLimits {
  const limit = (name: keyof PolicyLimits, own: number): number => {
    const base = table?.limits[name] ?? policy.defaults[name] ?? own
    const byRoles = granting.length === 0 ? base : Math.max(...granting.map((role) => role.limits[name] ?? base))
    return identity?.limits[name] ?? byRoles
  }
  const rowCap = limit('row_cap', ROW_CAP)
  return {
    rowCap,
    pageSize: Math.min(limit('page_size', PAGE_SIZE), rowCap),
    queryTimeoutMs: limit('query_timeout_ms', QUERY_TIMEOUT_MS),
    responseCharsMax: limit('response_chars_max', RESPONSE_CHARS_MAX),
    cellCharsMax: limit('cell_chars_max', CELL_CHARS_MAX),
  }
}
