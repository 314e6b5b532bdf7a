import type { Column, Table } from '../core/schema-model.js'
import type { PolicyFilter } from './policy-document.js'
import { type FindingKind, type Findings, quoted } from './policy-finding.js'
import { compileFilter, type RowFilter } from './row-filter.js'

/** Resolves what the policy says about the columns of one table; a rule about one that it does not find withholds the table. */
export class ColumnResolver {
  readonly name: string
  readonly table: Table
  readonly findings: Findings
  readonly byName: ReadonlyMap<string, number>
  readonly confirmed: readonly boolean[]

  constructor(
    name: string,
    table: Table,
    findings: Findings,
    columns: { readonly positions: ReadonlyMap<string, number>; readonly confirmed: readonly boolean[] },
  ) {
    this.name = name
    this.table = table
    this.findings = findings
    this.byName = columns.positions
    this.confirmed = columns.confirmed
  }

  /** `rule`: where the policy names them, for the operator. */
  positions(columns: readonly string[] | undefined, rule: string): ReadonlySet<number> {
    const found = new Set<number>()
    for (const column of columns ?? []) {
      const position = this.#position(column, rule)
      if (position !== undefined) found.add(position)
    }
    return found
  }

  filters(filters: readonly PolicyFilter[], rule: string): readonly RowFilter[] {
    const compiled: RowFilter[] = []
    for (const filter of filters) {
      const column = this.confirmedColumn(filter.column, rule)
      if (column === undefined) continue
      const result = compileFilter(filter, column)
      if (result.ok) compiled.push(result.value)
      else this.unusable(result.error.kind, column, rule, result.error.text)
    }
    return compiled
  }

  /** A column that a rule acts on by itself: unless it is there and still the same, nobody may use the table. */
  confirmedColumn(name: string, rule: string): Column | undefined {
    const position = this.#position(name, rule)
    const column = position === undefined ? undefined : this.table.columns[position]
    if (position === undefined || column === undefined) return undefined
    if (this.confirmed[position] === true) return column
    const text = `${rule} uses column ${quoted(column.name)} of ${quoted(this.name)}, which is not the column it was when the policy was applied; the table is withheld until it is applied again.`
    this.findings.withhold({ kind: 'column_changed', table: this.name, column: column.name, text })
    return undefined
  }

  /** Columns that a grant lists: of one that is not there the grant is void, and the table is served without it. */
  listed(columns: readonly string[], rule: string): ReadonlySet<number> {
    const found = new Set<number>()
    for (const column of columns) {
      const position = this.byName.get(column)
      if (position === undefined) {
        const text = `${rule} names column ${quoted(column)}, which ${quoted(this.name)} does not have; it is void.`
        const hint = this.findings.suggestion(column, this.byName.keys())
        this.findings.void({ kind: 'column_unknown', table: this.name, column, text: text + hint })
      } else found.add(position)
    }
    return found
  }

  /** `text`: why the rule cannot be held as it is written. */
  unusable(kind: FindingKind, column: Column, rule: string, text: string): void {
    const whole = `In ${rule}, column ${quoted(column.name)} of ${quoted(this.name)}: ${text}; the table is withheld.`
    this.findings.withhold({ kind, table: this.name, column: column.name, text: whole })
  }

  #position(column: string, rule: string): number | undefined {
    const position = this.byName.get(column)
    if (position !== undefined) return position
    const text = `${rule} names column ${quoted(column)}, which ${quoted(this.name)} does not have; the table is withheld.`
    const hint = this.findings.suggestion(column, this.byName.keys())
    this.findings.withhold({ kind: 'column_unknown', table: this.name, column, text: text + hint })
    return undefined
  }
}
