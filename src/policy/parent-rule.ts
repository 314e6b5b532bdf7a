import { fail, ok, type Result } from '../core/result.js'
import { type ForeignKey, qualifiedName, type Table } from '../core/schema-model.js'
import { quoted } from './policy-finding.js'
import type { ParentRule } from './row-filter.js'

/** Keys that a finding names. */
const KEYS_NAMED_MAX = 5

/** Why columns are no way to a parent: a phrase for the operator, and the columns of keys that could be meant. */
interface ParentFault {
  readonly text: string
  readonly near: readonly string[]
}

/** The foreign key of exactly these columns, in any order: of the catalog, or of the policy's own `relations`. */
export function parentRule(table: Table, columns: readonly string[]): Result<ParentRule, ParentFault> {
  const wanted = new Set(columns)
  const keys = table.foreignKeys.filter(
    (key) => key.columns.length === wanted.size && key.columns.every((column) => wanted.has(column)),
  )
  const [found, ...others] = keys
  if (found === undefined) {
    const near = table.foreignKeys.map((key) => key.columns.join(', '))
    const there =
      near.length === 0 ? 'there is none' : `there are ${near.slice(0, KEYS_NAMED_MAX).map(quoted).join('; ')}`
    return fail({
      text: `no foreign key, and no relation of the policy, has exactly these columns, and ${there}`,
      near,
    })
  }
  const other = others.find((key) => pairsOf(key) !== pairsOf(found))
  if (other !== undefined) {
    const text = `both ${described(found)} and ${described(other)} have exactly these columns, so that which parent is meant cannot be told`
    return fail({ text, near: [] })
  }
  const { references, referencedColumns } = found
  return ok({ kind: 'parent', columns: found.columns, references, referencedColumns })
}

/** Equal for keys that lead to the same row. */
function pairsOf({ columns, references, referencedColumns }: ForeignKey): string {
  const pairs = columns.map((column, index) => JSON.stringify([column, referencedColumns[index] ?? '']))
  return JSON.stringify([references.schema, references.name, pairs.sort()])
}

function described({ name, references, referencedColumns }: ForeignKey): string {
  return `${quoted(name)} to ${quoted(qualifiedName(references))} (${referencedColumns.map(quoted).join(', ')})`
}
