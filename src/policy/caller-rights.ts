import {
  type EffectiveRights,
  type ProcedureAccess,
  type ReadOperation,
  type Relation,
  type TableAccess,
  type TableOperation,
  WRITE_OPERATIONS,
  type WriteAccess,
  type WriteOperation,
} from '../core/access.js'
import { ENGINE_CAPABILITIES } from '../core/engine-capabilities.js'
import type { CallLimits } from '../core/plan.js'
import type { ForeignKey, Identifier } from '../core/schema-model.js'
import {
  callLimits,
  columnAt,
  EMPTY_VIEW,
  groupSize,
  groupsOf,
  type Visible,
  viewOf,
  visible,
} from './caller-columns.js'
import {
  type CallerWrite,
  callerWrite,
  isNamed,
  type ReadGround,
  type WriteSights,
  writeSights,
} from './caller-writes.js'
import type { Comment } from './comment-mentions.js'
import {
  type ColumnView,
  type CompiledIdentity,
  type CompiledPolicy,
  type CompiledProcedure,
  type CompiledRole,
  type CompiledTable,
  includes,
  type TableFilters,
} from './compiled-policy.js'
import { parentLookup } from './parent-rows.js'
import type { RowFilter, ScopeGround } from './row-filter.js'

/** What the policy gives to everybody with one set of roles and one override. Depends on no claim. */
export interface CallerRights {
  readonly rights: EffectiveRights
  readonly tables: ReadonlyMap<CompiledTable, CallerTable>
  /** By the catalog's own id. */
  readonly procedures: ReadonlyMap<string, ProcedureAccess>
  /** Rows of tables that row filters lead to, whether or not the caller may read them. */
  readonly parentOf: ScopeGround['parentOf']
}

export interface CallerTable {
  readonly access: TableAccess
  readonly views: Readonly<Record<ReadOperation, ColumnView>>
  readonly writes: Readonly<Partial<Record<WriteOperation, CallerWrite>>>
  readonly filters: TableFilters
  readonly softDeleteColumn: Identifier | undefined
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
  readonly writes: WriteSights
}

/** Works out everything for one set of roles; linear in tables and columns. `roles`: those of the policy, each once. */
export function callerRights(
  policy: CompiledPolicy,
  key: string,
  roles: readonly CompiledRole[],
  identity: CompiledIdentity | undefined,
): CallerRights {
  const sights = new Map<CompiledTable, Sight>()
  for (const table of policy.tables) {
    const sight = sightOf(table, roles, identity)
    if (sight !== undefined) sights.set(table, sight)
  }
  const mentions = mentionCheck(sights, policy)
  const tables = new Map<CompiledTable, CallerTable>()
  for (const sight of sights.values())
    tables.set(sight.table, callerTable(sight, { sights, mentions, policy, identity }))
  const accesses = [...tables.values()].map(({ access }) => access)
  const byToolBase = new Map(accesses.map((access) => [access.toolBase, access]))
  const procedures = policy.procedures.flatMap((procedure) => {
    const callers = roles.filter((role) => includes(role.calls, procedure))
    const withheld = callers.length === 0 || (procedure.effect === 'write' && identity?.readOnly === true)
    if (withheld) return []
    const dryRun = procedure.routine.kind === 'function' || ENGINE_CAPABILITIES[policy.schema.engine].procedureDryRun
    return [{ ...procedureAccess(procedure, mentions, callLimits(policy, procedure, callers, identity)), dryRun }]
  })
  return {
    rights: { key, tables: accesses, byToolBase, procedures },
    tables,
    procedures: new Map(procedures.map((access) => [access.routine.catalogId, access])),
    parentOf: parentLookup(policy, roles),
  }
}

function procedureAccess(
  procedure: CompiledProcedure,
  mentions: MentionCheck,
  limits: CallLimits,
): Omit<ProcedureAccess, 'dryRun'> {
  const { routine, tool, effect, comment, parameters, fields, setColumns } = procedure
  return {
    routine,
    tool,
    effect,
    ...(comment !== undefined && mentions(comment) ? { comment: comment.text } : {}),
    parameters,
    ...(fields === undefined ? {} : { fields }),
    ...(setColumns === undefined ? {} : { setColumns }),
    limits,
  }
}

/** Undefined where nothing is granted, or nothing would be seen or changed: the table does not exist for the caller. */
function sightOf(
  table: CompiledTable,
  roles: readonly CompiledRole[],
  identity: CompiledIdentity | undefined,
): Sight | undefined {
  if (roles.some((role) => includes(role.denies, table))) return undefined
  const readers = roles.filter((role) => includes(role.reads, table))
  const aggregators =
    table.aggregable === undefined
      ? []
      : roles.filter((role) => includes(role.reads, table) || includes(role.aggregates, table))
  const read = visible(table, table.shown, readers)
  const aggregate = visible(table, table.aggregable ?? [], aggregators)
  const writes = writeSights(table, roles, identity)
  if (!read.includes(true) && !aggregate.includes(true) && Object.keys(writes).length === 0) return undefined
  return { table, readers, aggregators, read, aggregate, writes }
}

/** What one table's rights are worked out from beside its own sight. */
interface Surroundings {
  readonly sights: ReadonlyMap<CompiledTable, Sight>
  readonly mentions: MentionCheck
  readonly policy: CompiledPolicy
  readonly identity: CompiledIdentity | undefined
}

function callerTable(sight: Sight, surroundings: Surroundings): CallerTable {
  const { table, readers, aggregators } = sight
  const { sights, mentions, policy } = surroundings
  const key = sight.read.length > 0 && table.key.every((position) => sight.read[position] === true) ? table.key : []
  const commentShown = table.columnComments.map((comment) => comment !== undefined && mentions(comment, table))
  const search = viewOf(table, sight.read, commentShown)
  const get = key.length > 0 ? search : EMPTY_VIEW
  const views = { get, search, aggregate: viewOf(table, sight.aggregate, commentShown) }
  const writes = callerWrites(sight, { readers, get, commentShown }, surroundings)
  const comment = table.comment !== undefined && mentions(table.comment, table) ? table.comment.text : undefined
  const access: TableAccess = {
    table: table.table,
    toolBase: table.toolBase,
    ...(comment === undefined ? {} : { comment }),
    key: key.flatMap((position) => search.byName.get(columnAt(table, position).name) ?? []),
    operations: operationsOf(sight, key),
    columns: { get: get.byAgentName, search: search.byAgentName, aggregate: views.aggregate.byAgentName },
    writes: writeAccesses(writes),
    relations: relationsOf(sight, sights, policy),
    limits: tableLimits(sight, writes, surroundings),
  }
  const readGroups = groupsOf(table, readers)
  const groups = { get: readGroups, search: readGroups, aggregate: groupsOf(table, aggregators) }
  return { access, views, writes, filters: table.filters, softDeleteColumn: table.softDeleteColumn, groups }
}

function operationsOf(sight: Sight, key: readonly number[]): ReadonlySet<TableOperation> {
  const operations = new Set<TableOperation>()
  if (key.length > 0) operations.add('get')
  if (sight.read.includes(true)) operations.add('search')
  if (sight.aggregate.includes(true)) operations.add('aggregate')
  for (const operation of WRITE_OPERATIONS) if (sight.writes[operation] !== undefined) operations.add(operation)
  return operations
}

function callerWrites(sight: Sight, reads: ReadGround, { policy, identity }: Surroundings): CallerTable['writes'] {
  const { table } = sight
  const writes: Partial<Record<WriteOperation, CallerWrite>> = {}
  for (const operation of WRITE_OPERATIONS) {
    const write = sight.writes[operation]
    if (write === undefined) continue
    const limits = callLimits(policy, table, write.writers, identity)
    writes[operation] = callerWrite(table, operation, write, reads, limits)
  }
  return writes
}

function writeAccesses(writes: CallerTable['writes']): TableAccess['writes'] {
  const accesses: Partial<Record<WriteOperation, WriteAccess>> = {}
  for (const operation of WRITE_OPERATIONS) {
    const write = writes[operation]
    if (write !== undefined) accesses[operation] = write.access
  }
  return accesses
}

/** Reads go by the roles that grant reads, affected rows by those that grant changes: neither widens the other. */
function tableLimits(sight: Sight, writes: CallerTable['writes'], { policy, identity }: Surroundings): CallLimits {
  const { table, readers, aggregators } = sight
  const ofWrites = WRITE_OPERATIONS.flatMap((operation) => writes[operation]?.limits ?? [])
  const maxAffectedRows = Math.max(...ofWrites.map((limits) => limits.maxAffectedRows))
  // Whoever reads a table aggregates it too, unless the table refuses aggregates.
  const reading = aggregators.length > 0 ? aggregators : readers
  const writing = WRITE_OPERATIONS.flatMap((operation) => sight.writes[operation]?.writers ?? [])
  const ofReads = {
    ...callLimits(policy, table, reading.length > 0 ? reading : writing, identity),
    minGroupSize: groupSize(policy, table, { granting: aggregators, visible: sight.aggregate }, identity),
  }
  return ofWrites.length === 0 ? ofReads : { ...ofReads, maxAffectedRows }
}

/** Whether a comment, of a table or of none, names only columns that the caller sees in some operation. */
type MentionCheck = (comment: Comment, table?: CompiledTable) => boolean

function mentionCheck(sights: ReadonlyMap<CompiledTable, Sight>, policy: CompiledPolicy): MentionCheck {
  const seen = (table: CompiledTable | undefined, position: number) => {
    const sight = table && sights.get(table)
    if (sight === undefined) return false
    if (sight.read[position] === true || sight.aggregate[position] === true) return true
    return WRITE_OPERATIONS.some((operation) => {
      const write = sight.writes[operation]
      return write !== undefined && isNamed(write, position)
    })
  }
  return (comment, table) =>
    comment.own.every((position) => seen(table, position)) &&
    comment.foreign.every((mention) => seen(policy.tableOf.get(mention.table), mention.column))
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
