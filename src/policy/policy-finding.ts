import { cleanText, nearest } from '../core/names.js'
import type { PolicyPath } from './policy-tree.js'

export type FindingKind =
  | 'table_unknown'
  | 'table_ambiguous'
  | 'table_changed'
  | 'table_named_twice'
  | 'column_unknown'
  | 'column_new'
  | 'column_changed'
  | 'column_name_clash'
  | 'filter_unusable'
  | 'literal_unusable'
  | 'parent_unusable'
  | 'parent_withheld'
  | 'key_unusable'
  | 'relation_unusable'
  | 'tool_name_clash'
  | 'rule_without_grant'
  | 'grant_without_section'
  | 'preset_unusable'
  | 'soft_delete_unusable'
  | 'soft_delete_nullable'
  | 'column_not_writable'
  | 'table_not_writable'
  | 'write_without_key'
  | 'create_incomplete'
  | 'procedure_unknown'
  | 'procedure_ambiguous'
  | 'procedure_named_twice'
  | 'procedure_unusable'
  | 'result_column_unknown'
  | 'result_column_repeated'
  | 'effect_unproven'
  | 'reads_hidden_column'
  | 'reads_unknown'
  | 'variable_unknown'
  | 'variable_misspelt'
  | 'group_size_with_reads'

/**
 * Where a policy and the database it is used with disagree. For operators: it may name anything, so it never reaches a
 * caller. An `error` refuses the document when it is applied; at load it is drift, and what it concerns is withheld.
 */
export interface PolicyFinding {
  readonly kind: FindingKind
  readonly severity: 'error' | 'warning'
  /** The part of the document that names what it is about. */
  readonly section: 'tables' | 'procedures'
  /** The table, or procedure, as the policy spells it, with its schema where the policy leaves it to the connector. */
  readonly table: string
  /** The place in the document, as deep as it is known, with tables and procedures as in `table`. */
  readonly path: PolicyPath
  /** Whether the table, or procedure, does not exist for anybody because of it. */
  readonly withholds: boolean
  readonly column?: string
  /** A whole sentence, suggestion included. */
  readonly text: string
}

/** Without a path it is about the table, or the procedure, as a whole. */
type Placed<T> = T & Partial<Pick<PolicyFinding, 'path'>>
type TableFinding = Placed<Omit<PolicyFinding, 'severity' | 'section' | 'withholds' | 'path'>>
type ProcedureFinding = Placed<Omit<PolicyFinding, 'section' | 'table' | 'path'>>

/** A suggestion compares with every name there is; a policy for another database would otherwise take minutes to judge. */
const SUGGESTIONS_MAX = 100
const NAME_CHARS_MAX = 128

/** Collects findings while a policy is compiled, and remembers which tables they withhold. */
export class Findings {
  readonly list: PolicyFinding[] = []
  readonly withheld = new Set<string>()
  #suggestions = 0

  /** The table does not exist for anybody. */
  withhold(finding: TableFinding): void {
    this.withheld.add(finding.table)
    this.#table(finding, 'error', true)
  }

  /** What the finding is about does not exist, and the table is served without it. */
  void(finding: TableFinding): void {
    this.#table(finding, 'error', false)
  }

  warn(finding: TableFinding): void {
    this.#table(finding, 'warning', false)
  }

  /** About a procedure; `withholds`: it does not exist for anybody. */
  procedure(name: string, finding: ProcedureFinding): void {
    this.list.push({ path: ['procedures', name], ...finding, section: 'procedures', table: name })
  }

  #table(finding: TableFinding, severity: PolicyFinding['severity'], withholds: boolean): void {
    this.list.push({ path: ['tables', finding.table], ...finding, section: 'tables', severity, withholds })
  }

  /** A sentence to append, or nothing where no name is near. */
  suggestion(name: string, candidates: Iterable<string>): string {
    if (this.#suggestions >= SUGGESTIONS_MAX) return ''
    this.#suggestions += 1
    const near = nearest(name, candidates)
    return near === undefined ? '' : ` Did you mean ${quoted(near)}?`
  }
}

export function quoted(name: string): string {
  return JSON.stringify(cleanText(name, NAME_CHARS_MAX))
}
