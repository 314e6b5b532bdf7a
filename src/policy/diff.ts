import { READ_OPERATIONS, type TableOperation, WRITE_OPERATIONS } from '../core/access.js'
import type { CallLimits } from '../core/plan.js'
import { qualifiedName, type SchemaModel } from '../core/schema-model.js'
import { callerRights } from './caller-rights.js'
import { type CompileOptions, compileDocument } from './compile-document.js'
import { type CompiledPolicy, includes } from './compiled-policy.js'
import {
  type EffectiveObjects,
  type EffectiveOperation,
  type EffectiveProcedure,
  type EffectiveTable,
  effectiveObjects,
} from './effective-rights.js'
import { LIMIT_NAMES } from './explain-limits.js'
import type { PolicyDocument } from './policy-document.js'
import { compareRows, rowSetWords } from './row-sets.js'

/** A policy with the database that it is about. */
export interface PolicySide {
  readonly document: PolicyDocument
  readonly schema: SchemaModel
  /** `known`: absent for a document that is confirmed by being applied. */
  readonly options: CompileOptions
}

/** Somebody with roles, as they hold on the connector. */
export interface DiffIdentity {
  readonly name: string
  readonly roles: readonly string[]
}

export type ChangedOperation = TableOperation | 'call'

/** What has changed of an object. `before` and `after` are what held and what will hold. */
export type Changed =
  /** The operation as a whole, with the columns that it names and, of a table, the rows that it touches. */
  | { readonly what: 'access'; readonly columns: readonly string[]; readonly rows?: string }
  | { readonly what: 'columns'; readonly columns: readonly string[] }
  /** Columns that a mutation gives back. */
  | { readonly what: 'returned'; readonly columns: readonly string[] }
  | {
      readonly what: 'rows'
      readonly rows: 'more' | 'fewer' | 'other'
      readonly before: string
      readonly after: string
    }
  | { readonly what: 'limit'; readonly limit: string; readonly before: number; readonly after: number }
  /** A value that is written whatever the caller says; absent: there is none. */
  | { readonly what: 'preset'; readonly column: string; readonly before?: string; readonly after?: string }
  /** The columns by which a row is asked for. */
  | { readonly what: 'key'; readonly columns: readonly string[] }
  /** The `<t>` of the tools of a table, or the tool of a procedure. */
  | { readonly what: 'tool'; readonly tool: string }
  /** A foreign key that one of the two has and the other has not. One that both have goes and comes with its columns. */
  | { readonly what: 'relation'; readonly relation: string }
  /** Of a role: that the table does not exist for whoever has it, whatever other roles grant. Lost is what is denied. */
  | { readonly what: 'denial' }
  /** That a procedure may write, and that a call of it can be tried and undone. */
  | { readonly what: 'write_effect' | 'dry_run' }

/** One thing that somebody gains or loses. Something that is replaced is lost and gained. */
export interface PolicyChange {
  readonly kind: 'gained' | 'lost'
  /** `roles`: of an identity, those that it was judged with. */
  readonly subject: { readonly kind: 'role' | 'identity'; readonly name: string; readonly roles?: readonly string[] }
  readonly object: { readonly kind: 'table' | 'procedure'; readonly name: string }
  /** Those that it holds for alike, reads first; empty where it is about all of them. */
  readonly operations: readonly ChangedOperation[]
  readonly changed: Changed
}

/** A change of one operation, before those of several operations that are alike become one. */
interface Single {
  readonly kind: PolicyChange['kind']
  readonly operation?: ChangedOperation
  readonly changed: Changed
}

const OPERATIONS: readonly ChangedOperation[] = [...READ_OPERATIONS, ...WRITE_OPERATIONS, 'call']

/**
 * What becomes visible, readable, aggregatable, writable and callable, or ceases to be, and for whom: for each role alone,
 * and for each identity what its roles do not say already. Compared are the rights that the policy engine itself works out,
 * so that a text which says the same in other words gives nothing. By subject and object.
 */
export function diffPolicies(
  before: PolicySide,
  after: PolicySide,
  identities: readonly DiffIdentity[] = [],
): readonly PolicyChange[] {
  const [old, young] = [compiledSide(before), compiledSide(after)]
  const roles = [...new Set([...old.roles.keys(), ...young.roles.keys()])].sort()
  const byRole = new Map(
    roles.map((role) => {
      const subject = { kind: 'role', name: role } as const
      return [role, [...changesOf(old, young, subject, [role]), ...denialChanges(old, young, subject)]] as const
    }),
  )
  const ofIdentities = [...identities]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, roles: held }) => {
      const told = new Set(held.flatMap((role) => (byRole.get(role) ?? []).map(withoutSubject)))
      const subject = { kind: 'identity', name, roles: held } as const
      return changesOf(old, young, subject, held).filter((change) => !told.has(withoutSubject(change)))
    })
    // One that is compared with several sets of roles, because nobody knows its own, is told each change once.
    .filter(isFirst(({ subject, ...change }) => JSON.stringify([subject.name, change])))
  return [...byRole.values(), ofIdentities].flat()
}

function compiledSide({ document, schema, options }: PolicySide): CompiledPolicy {
  return compileDocument(document, schema, options).policy
}

function isFirst<T>(keyOf: (item: T) => string): (item: T) => boolean {
  const seen = new Set<string>()
  return (item) => {
    const key = keyOf(item)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  }
}

function withoutSubject({ kind, object, operations, changed }: PolicyChange): string {
  return JSON.stringify([kind, object, operations, changed])
}

function changesOf(
  before: CompiledPolicy,
  after: CompiledPolicy,
  subject: PolicyChange['subject'],
  roles: readonly string[],
): readonly PolicyChange[] {
  const [old, young] = [objectsFor(before, subject, roles), objectsFor(after, subject, roles)]
  const tables = allNames(old.tables, young.tables).flatMap((name) =>
    merged(subject, { kind: 'table', name }, tableChanges(old.tables.get(name), young.tables.get(name))),
  )
  const procedures = allNames(old.procedures, young.procedures).flatMap((name) => {
    const changes = procedureChanges(old.procedures.get(name), young.procedures.get(name))
    return merged(subject, { kind: 'procedure', name }, changes)
  })
  return [...tables, ...procedures]
}

/** What a role takes from others shows in nothing that it has by itself. A table that one of the two does not have is told of as such. */
function denialChanges(
  before: CompiledPolicy,
  after: CompiledPolicy,
  subject: PolicyChange['subject'],
): readonly PolicyChange[] {
  const young = new Map(after.tables.map((table) => [qualifiedName(table.table.ref), table] as const))
  const [old, now] = [before.roles.get(subject.name), after.roles.get(subject.name)]
  return before.tables.flatMap((table): readonly PolicyChange[] => {
    const name = qualifiedName(table.table.ref)
    const same = young.get(name)
    if (same === undefined) return []
    const was = old !== undefined && includes(old.denies, table)
    const is = now !== undefined && includes(now.denies, same)
    if (was === is) return []
    const object = { kind: 'table', name } as const
    return [{ kind: is ? 'lost' : 'gained', subject, object, operations: [], changed: { what: 'denial' } }]
  })
}

function objectsFor(
  policy: CompiledPolicy,
  { kind, name }: PolicyChange['subject'],
  roles: readonly string[],
): EffectiveObjects {
  const held = [...new Set(roles)].sort().flatMap((role) => policy.roles.get(role) ?? [])
  const override = kind === 'identity' ? policy.identities.get(name) : undefined
  return effectiveObjects(callerRights(policy, '', held, override))
}

function allNames(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): readonly string[] {
  return [...new Set([...a.keys(), ...b.keys()])].sort()
}

/** Alike changes of several operations as one, in the order in which the first of each came. */
function merged(
  subject: PolicyChange['subject'],
  object: PolicyChange['object'],
  singles: readonly Single[],
): readonly PolicyChange[] {
  const groups = new Map<string, { readonly first: Single; readonly operations: Set<ChangedOperation> }>()
  for (const single of singles) {
    const key = JSON.stringify([single.kind, single.changed])
    const group = groups.get(key) ?? { first: single, operations: new Set<ChangedOperation>() }
    if (single.operation !== undefined) group.operations.add(single.operation)
    groups.set(key, group)
  }
  return [...groups.values()].map(({ first: { kind, changed }, operations }) => ({
    kind,
    subject,
    object,
    operations: OPERATIONS.filter((operation) => operations.has(operation)),
    changed,
  }))
}

function tableChanges(before: EffectiveTable | undefined, after: EffectiveTable | undefined): readonly Single[] {
  const operations = OPERATIONS.flatMap((operation) => {
    if (operation === 'call') return []
    const changes = operationChanges(before?.operations.get(operation), after?.operations.get(operation))
    return changes.map((change) => ({ ...change, operation }))
  })
  const changes = withoutEchoes(operations)
  if (before === undefined || after === undefined) return changes
  return [
    ...changes,
    ...replaced(before.toolBase, after.toolBase, (tool) => ({ what: 'tool', tool })),
    // Without a key there is no operation that asks for one, which is told of the operation.
    ...(before.key.length === 0 || after.key.length === 0
      ? []
      : replaced(before.key, after.key, (columns) => ({ what: 'key', columns }))),
    ...relationChanges(before.relations, after.relations),
  ]
}

function relationChanges(before: EffectiveTable['relations'], after: EffectiveTable['relations']): readonly Single[] {
  const only = (some: EffectiveTable['relations'], others: EffectiveTable['relations'], kind: Single['kind']) =>
    [...some.shown].flatMap((relation): readonly Single[] =>
      others.declared.has(relation) ? [] : [{ kind, changed: { what: 'relation', relation } }],
    )
  return [...only(before, after, 'lost'), ...only(after, before, 'gained')]
}

/** What a mutation gives back follows from what `get` shows: said once, of `get`. */
function withoutEchoes(changes: readonly Single[]): readonly Single[] {
  const ofGet = changes.filter(({ operation, changed }) => operation === 'get' && 'columns' in changed)
  return changes.flatMap((change) => {
    const { changed, kind } = change
    if (changed.what !== 'returned') return [change]
    const told = new Set(
      ofGet.flatMap((each) => (each.kind === kind && 'columns' in each.changed ? each.changed.columns : [])),
    )
    const columns = changed.columns.filter((column) => !told.has(column))
    return columns.length === 0 ? [] : [{ ...change, changed: { ...changed, columns } }]
  })
}

/** Equal, or one is lost and the other gained. */
function replaced<T>(before: T, after: T, changed: (value: T) => Changed): readonly Single[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  return [
    { kind: 'lost', changed: changed(before) },
    { kind: 'gained', changed: changed(after) },
  ]
}

function operationChanges(
  before: EffectiveOperation | undefined,
  after: EffectiveOperation | undefined,
): readonly Single[] {
  if (before === undefined) return after === undefined ? [] : [{ kind: 'gained', changed: accessOf(after) }]
  if (after === undefined) return [{ kind: 'lost', changed: accessOf(before) }]
  return [
    ...columnChanges('columns', before.columns, after.columns),
    ...columnChanges('returned', before.returned, after.returned),
    ...rowChanges(before, after),
    ...presetChanges(before.presets, after.presets),
    ...limitChanges(before.limits, after.limits),
  ]
}

function accessOf({ columns, rows }: EffectiveOperation): Changed {
  return { what: 'access', columns, rows: rowSetWords(rows) }
}

function columnChanges(
  what: 'columns' | 'returned',
  before: readonly string[],
  after: readonly string[],
): readonly Single[] {
  const lost = before.filter((column) => !after.includes(column))
  const gained = after.filter((column) => !before.includes(column))
  return [
    ...(lost.length === 0 ? [] : [{ kind: 'lost', changed: { what, columns: lost } } as const]),
    ...(gained.length === 0 ? [] : [{ kind: 'gained', changed: { what, columns: gained } } as const]),
  ]
}

function rowChanges(before: EffectiveOperation, after: EffectiveOperation): readonly Single[] {
  const rows = compareRows(before.rows, after.rows)
  if (rows === 'same') return []
  const changed: Changed = { what: 'rows', rows, before: rowSetWords(before.rows), after: rowSetWords(after.rows) }
  const kinds = rows === 'more' ? (['gained'] as const) : rows === 'fewer' ? (['lost'] as const) : BOTH
  return kinds.map((kind) => ({ kind, changed }))
}

const BOTH = ['lost', 'gained'] as const

/** A column that is preset is taken from the caller; one that is preset to something else, likewise, and given back. */
function presetChanges(before: EffectiveOperation['presets'], after: EffectiveOperation['presets']): readonly Single[] {
  return allNames(before, after).flatMap((column): readonly Single[] => {
    const [old, young] = [before.get(column), after.get(column)]
    if (old === young) return []
    const changed: Changed = {
      what: 'preset',
      column,
      ...(old === undefined ? {} : { before: old }),
      ...(young === undefined ? {} : { after: young }),
    }
    const kinds = young === undefined ? (['gained'] as const) : old === undefined ? (['lost'] as const) : BOTH
    return kinds.map((kind) => ({ kind, changed }))
  })
}

/** Of these a lower value gives more. */
const LOWER_IS_MORE: ReadonlySet<keyof CallLimits> = new Set(['minGroupSize'])

function limitChanges(before: CallLimits, after: CallLimits): readonly Single[] {
  // The keys of the table are those of the limits, which its type sees to.
  return (Object.keys(LIMIT_NAMES) as (keyof CallLimits)[]).flatMap((name): readonly Single[] => {
    const [old, young] = [before[name], after[name]]
    if (old === young) return []
    const kind = young > old === LOWER_IS_MORE.has(name) ? 'lost' : 'gained'
    return [{ kind, changed: { what: 'limit', limit: LIMIT_NAMES[name], before: old, after: young } }]
  })
}

function procedureChanges(
  before: EffectiveProcedure | undefined,
  after: EffectiveProcedure | undefined,
): readonly Single[] {
  const changes = procedureSingles(before, after)
  return changes.map((change) => ({ ...change, operation: 'call' }))
}

function procedureSingles(
  before: EffectiveProcedure | undefined,
  after: EffectiveProcedure | undefined,
): readonly Single[] {
  if (before === undefined) {
    return after === undefined ? [] : [{ kind: 'gained', changed: { what: 'access', columns: after.columns } }]
  }
  if (after === undefined) return [{ kind: 'lost', changed: { what: 'access', columns: before.columns } }]
  return [
    ...columnChanges('columns', before.columns, after.columns),
    ...flagChange(before.effect === 'write', after.effect === 'write', 'write_effect'),
    ...flagChange(before.dryRun, after.dryRun, 'dry_run'),
    ...replaced(before.tool, after.tool, (tool) => ({ what: 'tool', tool })),
    ...limitChanges(before.limits, after.limits),
  ]
}

function flagChange(before: boolean, after: boolean, what: 'write_effect' | 'dry_run'): readonly Single[] {
  return before === after ? [] : [{ kind: after ? 'gained' : 'lost', changed: { what } }]
}
