import { PARENT_LEVELS_MAX } from '../core/limits.js'
import { type Column, type LogicalType, qualifiedName, type Table, type ValueType } from '../core/schema-model.js'
import { type Rule, roleRule, within } from './column-resolver.js'
import type { TableDraft } from './compile-table.js'
import { parentRule } from './parent-rule.js'
import type { PolicyDocument, PolicyFilter } from './policy-document.js'
import { type Findings, quoted } from './policy-finding.js'
import type { ParentRule } from './row-filter.js'

/** A row filter by which the rows of one table hang on those of another. */
interface Step {
  readonly child: TableDraft
  /** The parent as the policy names it. */
  readonly parent: string
  readonly key: ParentRule
  readonly rule: Rule
}

type Drafts = ReadonlyMap<string, TableDraft>

/** Tables whose rows hang on others, by a filter of their own or of a role. */
export function tablesWithParents({ tables, roles }: PolicyDocument): ReadonlySet<string> {
  const lists = [
    ...Object.entries(tables).map(([name, { row_filter = [] }]) => [name, row_filter] as const),
    ...Object.values(roles).flatMap(({ row_filter = {} }) => Object.entries(row_filter)),
  ]
  return new Set(lists.flatMap(([name, list]) => (list.some((filter) => 'parent' in filter) ? [name] : [])))
}

/**
 * Withholds every table with a row filter that leads to no table which is served, in a circle, or too far. Comes once tables and
 * roles are drafted: whatever withholds a table withholds those that hang on it, since its filters no longer hold.
 */
export function withholdBrokenParents(document: PolicyDocument, drafts: Drafts, findings: Findings): void {
  const steps = stepsOf(document, drafts)
  if (steps.length === 0) return
  const sound = steps.filter((step) => leadsToTable(step, document, drafts, findings))
  withholdCircles(sound, findings)
  withholdFollowers(sound, findings)
}

function stepsOf({ tables, roles }: PolicyDocument, drafts: Drafts): readonly Step[] {
  const stepsIn = (table: string, list: readonly PolicyFilter[] = [], rule: Rule): readonly Step[] => {
    const child = drafts.get(table)
    if (child === undefined) return []
    return list.flatMap((filter, index) => {
      const key = 'parent' in filter ? parentRule(child.table, filter.parent) : undefined
      if (key?.ok !== true) return []
      const place = within(rule, index, 'parent')
      return [{ child, parent: qualifiedName(key.value.references), key: key.value, rule: place }]
    })
  }
  return [
    ...Object.entries(tables).flatMap(([name, { row_filter }]) =>
      stepsIn(name, row_filter, { text: 'row_filter', path: ['tables', name, 'row_filter'] }),
    ),
    ...Object.entries(roles).flatMap(([role, { row_filter = {} }]) =>
      Object.entries(row_filter).flatMap(([table, list]) => stepsIn(table, list, roleRule(role, 'row_filter', table))),
    ),
  ]
}

/** Whether the parent is one of the policy's, found by columns that are still what they were and can be compared. */
function leadsToTable(step: Step, document: PolicyDocument, drafts: Drafts, findings: Findings): boolean {
  const { parent, key } = step
  const draft = drafts.get(parent)
  const { references } = key
  // A name with a dot in it may be spelt like another table's with its schema.
  const isIt = draft?.table.ref.schema === references.schema && draft.table.ref.name === references.name
  if (draft === undefined || !isIt) {
    // One that stands there and is not in the database, or is in it twice, has a finding of its own.
    if (draft === undefined && (Object.hasOwn(document.tables, parent) || findings.withheld.has(parent))) return true
    const hint = findings.suggestion(parent, Object.keys(document.tables))
    const cure = hint === '' ? ' Name it there; a role need not grant it.' : hint
    unusable(step, findings, `it leads to ${quoted(parent)}, which does not stand under tables`, cure)
    return false
  }
  const fault = keyFault(step, draft)
  if (fault !== undefined) unusable(step, findings, fault)
  return fault === undefined
}

/** Why the parent cannot be found by the key, as a phrase for the operator. */
function keyFault({ child, parent, key }: Step, draft: TableDraft): string | undefined {
  for (const [index, column] of key.referencedColumns.entries()) {
    const position = draft.positions.get(column)
    const referenced = position === undefined ? undefined : draft.table.columns[position]
    if (position === undefined || referenced === undefined) {
      return `it leads to a column of ${quoted(parent)} that the login does not see`
    }
    if (draft.confirmed[position] !== true) {
      return `column ${quoted(column)} of ${quoted(parent)} is not the column it was when the policy was applied`
    }
    const own = columnOf(child.table, key.columns[index])
    if (own !== undefined && !goTogether(own.type, referenced.type)) {
      return `column ${quoted(own.name)} (${own.type.native}) cannot be compared with ${quoted(column)} (${referenced.type.native}) of ${quoted(parent)}`
    }
  }
  return undefined
}

function columnOf(table: Table, name: string | undefined): Column | undefined {
  return table.columns.find((column) => column.name === name)
}

const NUMBERS: ReadonlySet<LogicalType> = new Set(['integer', 'bigint', 'decimal', 'float'])

/** A key of the catalog always joins such types; a relation joins what its author wrote. */
function goTogether(own: ValueType, other: ValueType): boolean {
  if (!own.equality || !other.equality) return false
  if (own.collation !== undefined && other.collation !== undefined && own.collation !== other.collation) return false
  if (isNumber(own) && isNumber(other)) return true
  if (own.logical !== other.logical) return false
  return own.logical === 'text' || own.native === other.native || !DISTINCT.has(own.logical)
}

/** Types of which each is only compared with itself. */
const DISTINCT: ReadonlySet<LogicalType> = new Set(['enum', 'array', 'unknown', 'json'])

/** Where an engine has no booleans, a number stands in. */
function isNumber({ logical, range }: ValueType): boolean {
  return NUMBERS.has(logical) || (logical === 'boolean' && range !== undefined)
}

function unusable({ child, rule }: Step, findings: Findings, why: string, hint = ''): void {
  const text = `In ${rule.text}, the parent filter of ${quoted(child.name)}: ${why}; the table is withheld.${hint}`
  findings.withhold({ kind: 'parent_unusable', table: child.name, path: rule.path, text })
}

/** Roles are not told apart: a caller may have several, and a filter of each. */
function withholdCircles(steps: readonly Step[], findings: Findings): void {
  const byChild = new Map<string, Step[]>()
  for (const step of steps) byChild.set(step.child.name, [...(byChild.get(step.child.name) ?? []), step])
  const seen = new Set<string>()
  for (const [name, [first]] of byChild) {
    const way = wayFrom(name, byChild)
    if (first === undefined || way === undefined || seen.has(name)) continue
    seen.add(name)
    const names = way.map(quoted).join(' to ')
    const why = way.at(-1) === way[0] ? 'in a circle' : `further than ${PARENT_LEVELS_MAX} tables`
    unusable(first, findings, `it leads ${why}, from ${names}`)
  }
}

/** The way that comes back to its start, else one that passes the limit; undefined where there is neither. */
function wayFrom(start: string, byChild: ReadonlyMap<string, readonly Step[]>): readonly string[] | undefined {
  let tooLong: readonly string[] | undefined
  const pending: (readonly string[])[] = [[start]]
  const reached = new Set<string>()
  for (let way = pending.shift(); way !== undefined; way = pending.shift()) {
    for (const { parent } of byChild.get(way.at(-1) ?? '') ?? []) {
      const longer = [...way, parent]
      if (parent === start) return longer
      if (longer.length > PARENT_LEVELS_MAX + 1) {
        tooLong ??= longer
        continue
      }
      // Shortest ways come first, and the same place by a way as long leads no further.
      const state = `${longer.length} ${parent}`
      if (reached.has(state)) continue
      reached.add(state)
      pending.push(longer)
    }
  }
  return tooLong
}

function withholdFollowers(steps: readonly Step[], findings: Findings): void {
  for (let found = true; found; ) {
    found = false
    for (const { child, parent, rule } of steps) {
      if (findings.withheld.has(child.name) || !findings.withheld.has(parent)) continue
      const text = `In ${rule.text}, the parent filter of ${quoted(child.name)} leads to ${quoted(parent)}, which is withheld; so is the table.`
      findings.withhold({ kind: 'parent_withheld', table: child.name, path: rule.path, text })
      found = true
    }
  }
}
