import { cleanText, nearest } from '../core/names.js'

export type FindingKind =
  | 'table_unknown'
  | 'table_ambiguous'
  | 'column_unknown'
  | 'column_new'
  | 'column_changed'
  | 'column_name_clash'
  | 'filter_unusable'
  | 'literal_unusable'
  | 'key_unusable'
  | 'relation_unusable'
  | 'tool_name_clash'
  | 'rule_without_grant'

/**
 * Where a policy and the database it is used with disagree. For operators: it may name anything, so it never reaches a
 * caller. An `error` refuses the document when it is applied; at load it is drift, and what it concerns is withheld.
 */
export interface PolicyFinding {
  readonly kind: FindingKind
  readonly severity: 'error' | 'warning'
  /** As the policy spells it. */
  readonly table: string
  readonly column?: string
  /** A whole sentence, suggestion included. */
  readonly text: string
}

/** A suggestion compares with every name there is; a policy for another database would otherwise take minutes to judge. */
const SUGGESTIONS_MAX = 100
const NAME_CHARS_MAX = 128

/** Collects findings while a policy is compiled, and remembers which tables they withhold. */
export class Findings {
  readonly list: PolicyFinding[] = []
  readonly withheld = new Set<string>()
  #suggestions = 0

  /** The table does not exist for anybody. */
  withhold(finding: Omit<PolicyFinding, 'severity'>): void {
    this.withheld.add(finding.table)
    this.list.push({ ...finding, severity: 'error' })
  }

  /** What the finding is about does not exist, and the table is served without it. */
  void(finding: Omit<PolicyFinding, 'severity'>): void {
    this.list.push({ ...finding, severity: 'error' })
  }

  warn(finding: Omit<PolicyFinding, 'severity'>): void {
    this.list.push({ ...finding, severity: 'warning' })
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
