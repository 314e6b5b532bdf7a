import type { Column, EngineName, Table } from '../core/schema-model.js'
import { parentRule } from './parent-rule.js'
import type { ParentFilter, PolicyFilter } from './policy-document.js'
import { type FindingKind, type Findings, quoted } from './policy-finding.js'
import type { PolicyPath } from './policy-tree.js'
import { compileFilter, type ParentRule, type RowFilter } from './row-filter.js'

/** Where the policy names columns: for a sentence, and as the place in the document. */
export interface Rule {
  readonly text: string
  readonly path: PolicyPath
}

export function roleRule(role: string, part: 'mask' | 'row_filter', table: string): Rule {
  return { text: `roles.${role}.${part}`, path: ['roles', role, part, table] }
}

/** Resolves what the policy says about the columns of one table; a rule about one that it does not find withholds the table. */
export class ColumnResolver {
  readonly name: string
  readonly table: Table
  readonly findings: Findings
  readonly byName: ReadonlyMap<string, number>
  readonly confirmed: readonly boolean[]
  readonly engine: EngineName

  constructor(
    name: string,
    table: Table,
    findings: Findings,
    columns: {
      readonly positions: ReadonlyMap<string, number>
      readonly confirmed: readonly boolean[]
      readonly engine: EngineName
    },
  ) {
    this.name = name
    this.table = table
    this.findings = findings
    this.byName = columns.positions
    this.confirmed = columns.confirmed
    this.engine = columns.engine
  }

  /** A rule that stands under the table itself. */
  rule(...parts: readonly string[]): Rule {
    return { text: parts.join('.'), path: ['tables', this.name, ...parts] }
  }

  /** `rule`: where the policy lists them. */
  positions(columns: readonly string[] | undefined, rule: Rule): ReadonlySet<number> {
    const found = new Set<number>()
    for (const [index, column] of (columns ?? []).entries()) {
      const position = this.#position(column, within(rule, index))
      if (position !== undefined) found.add(position)
    }
    return found
  }

  filters(filters: readonly PolicyFilter[], rule: Rule): readonly RowFilter[] {
    const compiled: RowFilter[] = []
    for (const [index, filter] of filters.entries()) {
      if ('parent' in filter) {
        compiled.push(...this.#parent(filter, within(rule, index, 'parent')))
        continue
      }
      const column = this.confirmedColumn(filter.column, within(rule, index, 'column'))
      if (column === undefined) continue
      const result = compileFilter(filter, column, this.engine)
      if (result.ok) compiled.push(result.value)
      else this.unusable(result.error.kind, column, within(rule, index), result.error.text)
    }
    return compiled
  }

  /** None where the columns are not those of one key. What the key leads to is settled once every table is known. */
  #parent({ parent }: ParentFilter, rule: Rule): readonly ParentRule[] {
    const columns = parent.map((name, index) => this.confirmedColumn(name, within(rule, index)))
    if (columns.includes(undefined)) return []
    const found = parentRule(this.table, parent)
    if (found.ok) return [found.value]
    const text = `In ${rule.text}, { parent: [${parent.map(quoted).join(', ')}] } of ${quoted(this.name)}: ${found.error.text}; the table is withheld.`
    const hint = this.findings.suggestion(parent.join(', '), found.error.near)
    this.findings.withhold({ kind: 'parent_unusable', table: this.name, path: rule.path, text: text + hint })
    return []
  }

  /** A column that a rule acts on by itself: unless it is there and still the same, nobody may use the table. */
  confirmedColumn(name: string, rule: Rule): Column | undefined {
    const position = this.#position(name, rule)
    const column = position === undefined ? undefined : this.table.columns[position]
    if (position === undefined || column === undefined) return undefined
    if (this.confirmed[position] === true) return column
    const text = `${rule.text} uses column ${quoted(column.name)} of ${quoted(this.name)}, which is not the column it was when the policy was applied; the table is withheld until it is applied again.`
    this.findings.withhold({ kind: 'column_changed', table: this.name, column: column.name, path: rule.path, text })
    return undefined
  }

  /** Columns that a grant lists: of one that is not there the grant is void, and the table is served without it. */
  listed(columns: readonly string[], rule: Rule): ReadonlySet<number> {
    const found = new Set<number>()
    for (const [index, column] of columns.entries()) {
      const position = this.byName.get(column)
      if (position === undefined) {
        const { path } = within(rule, index)
        const text = `${rule.text} names column ${quoted(column)}, which ${quoted(this.name)} does not have; it is void.`
        const hint = this.findings.suggestion(column, this.byName.keys())
        this.findings.void({ kind: 'column_unknown', table: this.name, column, path, text: text + hint })
      } else found.add(position)
    }
    return found
  }

  /** `text`: why the rule cannot be held as it is written. */
  unusable(kind: FindingKind, column: Column, rule: Rule, text: string): void {
    const whole = `In ${rule.text}, column ${quoted(column.name)} of ${quoted(this.name)}: ${text}; the table is withheld.`
    this.findings.withhold({ kind, table: this.name, column: column.name, path: rule.path, text: whole })
  }

  #position(column: string, rule: Rule): number | undefined {
    const position = this.byName.get(column)
    if (position !== undefined) return position
    const text = `${rule.text} names column ${quoted(column)}, which ${quoted(this.name)} does not have; the table is withheld.`
    const hint = this.findings.suggestion(column, this.byName.keys())
    this.findings.withhold({ kind: 'column_unknown', table: this.name, column, path: rule.path, text: text + hint })
    return undefined
  }
}

/** The same rule, at a place within it. */
export function within({ text, path }: Rule, ...parts: PolicyPath): Rule {
  return { text, path: [...path, ...parts] }
}
