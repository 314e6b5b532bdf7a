import { type Identifier, qualifiedName, type Routine, type TableRead } from '../core/schema-model.js'
import {
  type CompiledPolicy,
  type CompiledProcedure,
  type CompiledRole,
  type CompiledTable,
  includes,
} from './compiled-policy.js'
import { type Findings, quoted } from './policy-finding.js'

/** Columns that a warning names before it says how many more there are. */
const COLUMNS_NAMED_MAX = 5

/** Columns of one table that an object reads although the policy hides them. */
interface HiddenRead {
  readonly table: CompiledTable
  readonly columns: readonly Identifier[]
  /** Absent: from everybody; else from those with this role alone. */
  readonly role?: CompiledRole
  /** The catalog tells no columns apart. */
  readonly unsure: boolean
}

/**
 * A mask is about one table: a view or a routine that reads the column shows what it likes of it. Warns of each that the
 * policy exposes, as far as the catalog tells what it reads; never refuses, since its author may have seen to it. `procedures`:
 * by the names that the policy gives them.
 */
export function warnOfLineage(
  policy: CompiledPolicy,
  procedures: ReadonlyMap<string, CompiledProcedure>,
  findings: Findings,
): void {
  for (const table of policy.tables) {
    const name = qualifiedName(table.table.ref)
    for (const hidden of hiddenReads(policy, table.table.reads ?? [])) {
      const columns = hidden.columns.filter((column) => !hidesToo(table, column, hidden.role))
      if (columns.length === 0 || !isReadableBy(table, hidden.role)) continue
      findings.warn({ kind: 'reads_hidden_column', table: name, text: sentence(name, { ...hidden, columns }) })
    }
  }
  for (const [name, procedure] of procedures) {
    for (const hidden of hiddenReads(policy, procedure.routine.reads ?? [])) {
      if (hidden.role !== undefined && !includes(hidden.role.calls, procedure)) continue
      const text = sentence(name, hidden)
      findings.procedure(name, { kind: 'reads_hidden_column', severity: 'warning', withholds: false, text })
    }
  }
  if (hidesAnything(policy)) warnOfUnknown(policy, procedures, findings)
}

function hidesAnything({ tables, roles }: CompiledPolicy): boolean {
  return tables.some(({ shown }) => shown.includes(false)) || [...roles.values()].some(({ masks }) => masks.size > 0)
}

/** Of a view without a word on what it reads nothing is said: on some servers that is every view of a login that may only read. */
function warnOfUnknown(
  policy: CompiledPolicy,
  procedures: ReadonlyMap<string, CompiledProcedure>,
  findings: Findings,
): void {
  for (const { table } of policy.tables) {
    if (table.readsUnsure !== true) continue
    const name = qualifiedName(table.ref)
    findings.warn({ kind: 'reads_unknown', table: name, text: unknownSentence(name, readsUnknown(table) ?? '') })
  }
  for (const [name, { routine }] of procedures) {
    const why = readsUnknown(routine)
    if (why === undefined) continue
    const text = unknownSentence(name, why)
    findings.procedure(name, { kind: 'reads_unknown', severity: 'warning', withholds: false, text })
  }
}

/** Why nobody can say what all it reads; undefined where that is known. */
export function readsUnknown({ reads, readsUnsure }: Pick<Routine, 'reads' | 'readsUnsure'>): string | undefined {
  if (reads === undefined) return 'its body is not read'
  return readsUnsure === true ? 'it runs text that it puts together, or calls what is not read' : undefined
}

function unknownSentence(name: string, why: string): string {
  return `${quoted(name)} may read what the policy hides: ${why}; see that it does not give it away.`
}

/** What the reads touch of what the policy hides: from everybody, and from single roles beyond that. */
function hiddenReads(policy: CompiledPolicy, reads: readonly TableRead[]): readonly HiddenRead[] {
  return reads.flatMap((read): readonly HiddenRead[] => {
    const table = policy.find(read.table)
    // A table that the policy does not name has no masks: whoever exposes a view of it means just that.
    if (table === undefined) return []
    const unsure = read.columns === 'all'
    const touched = new Set<string>(unsure ? table.positions.keys() : read.columns)
    const among = (hides: (position: number) => boolean) =>
      table.table.columns.flatMap(({ name }, position) => (touched.has(name) && hides(position) ? [name] : []))
    const fromAll = among((position) => table.shown[position] !== true)
    const found: HiddenRead[] = fromAll.length === 0 ? [] : [{ table, columns: fromAll, unsure }]
    for (const role of policy.roles.values()) {
      const masked = role.masks.get(table)
      if (masked === undefined) continue
      const columns = among((position) => table.shown[position] === true && masked.has(position))
      if (columns.length > 0) found.push({ table, columns, role, unsure })
    }
    return found
  })
}

/** Whoever hides a column of that name in the view as well has seen to it. */
function hidesToo(view: CompiledTable, column: Identifier, role: CompiledRole | undefined): boolean {
  const position = view.positions.get(column)
  if (position === undefined) return false
  return view.shown[position] !== true || role?.masks.get(view)?.has(position) === true
}

function isReadableBy(view: CompiledTable, role: CompiledRole | undefined): boolean {
  if (role === undefined) return true
  return !includes(role.denies, view) && (includes(role.reads, view) || includes(role.aggregates, view))
}

function sentence(name: string, { table, columns, role, unsure }: HiddenRead): string {
  const named = columns.slice(0, COLUMNS_NAMED_MAX).map(quoted).join(', ')
  const more = columns.length > COLUMNS_NAMED_MAX ? ` and ${columns.length - COLUMNS_NAMED_MAX} more` : ''
  const whom = role === undefined ? '' : ` from role ${quoted(role.name)}`
  const verb = unsure ? 'takes whole rows of' : 'reads'
  const what = unsure
    ? quoted(qualifiedName(table.table.ref))
    : `${named}${more} of ${quoted(qualifiedName(table.table.ref))}`
  const hidden = unsure
    ? `, of which ${named}${more} ${columns.length === 1 ? 'is' : 'are'} hidden${whom}`
    : `, which the policy hides${whom}`
  return `${quoted(name)} ${verb} ${what}${hidden}; a mask does not reach into it, so see that it does not give the column away.`
}
