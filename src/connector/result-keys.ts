import type { ResultKeys } from '../core/audit-entry.js'
import type { MutationPlan, ValidatedMutation } from '../core/plan.js'
import { qualifiedName, type Table } from '../core/schema-model.js'
import type { ResultColumn } from '../core/statement.js'
import { addressKey } from '../core/table-keys.js'
import type { Dialect, Rows } from '../engines/engine.js'

/** Rows as they came from the database, of which the entry keeps the keys. */
interface GivenRows {
  readonly table: Table
  readonly columns: readonly ResultColumn[]
  /** Which of `columns` are the key. */
  readonly keyCells: readonly number[]
  readonly rows: Rows
  /** How many of `rows` the caller got. */
  readonly count: number
  readonly dialect: Pick<Dialect, 'encodeCell'>
}

/** Types whose text is what tools show, so that it need not be made first. */
const AS_IT_CAME: ReadonlySet<string> = new Set(['integer', 'bigint', 'text'])

/** The value as a caller would write it: JSON's own text, or what stands between the quotes. */
function shownText(column: ResultColumn, cell: string, dialect: GivenRows['dialect']): string {
  if (AS_IT_CAME.has(column.type.logical)) return cell
  const { json } = dialect.encodeCell(column, cell)
  // A cell in quotes is one JSON string.
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}

/** One text for a key: its only value, or all of them as a JSON array. Nothing addresses a row by a NULL. */
function keyText(texts: readonly (string | undefined)[]): string | undefined {
  if (texts.includes(undefined)) return undefined
  return texts.length === 1 ? texts[0] : JSON.stringify(texts)
}

function keysOf({ columns, keyCells, rows, count, dialect }: GivenRows): readonly string[] {
  const keys: string[] = []
  for (const row of rows.slice(0, count)) {
    const texts = keyCells.map((i) => {
      const column = columns[i]
      const cell = row[i] ?? null
      return column === undefined || cell === null ? undefined : shownText(column, cell, dialect)
    })
    const key = keyText(texts)
    if (key !== undefined) keys.push(key)
  }
  return keys
}

type Told = { readonly resultKeys?: readonly ResultKeys[] }

function told(table: Table, keys: readonly string[]): Told {
  return keys.length === 0 ? {} : { resultKeys: [{ table: qualifiedName(table.ref), keys }] }
}

/** For the entry of a read: which rows were given. */
export function keysOfRows(given: GivenRows): Told {
  return told(given.table, keysOf(given))
}

function addressOf({ plan, table }: ValidatedMutation): string | undefined {
  if (plan.kind === 'create') return undefined
  const key = table.declaredKey ?? table.primaryKey
  return keyText(key.map((name) => plan.key.find(({ column }) => column === name)?.value))
}

/** For the intent of a mutation, and where its outcome is not known: the row that it names. */
export function keysNamed(mutation: ValidatedMutation<MutationPlan>): Told {
  const address = addressOf(mutation)
  return told(mutation.table, address === undefined ? [] : [address])
}

/** For the entry of a mutation: the rows that it gave back, and the one that it named, whose key it may have changed. */
export function keysOfMutation(
  mutation: ValidatedMutation<MutationPlan>,
  given: Omit<GivenRows, 'table' | 'keyCells'>,
): Told {
  const { table, returning } = mutation
  const key = addressKey(table, new Map(returning.map((column) => [column.name, column])))
  const names = given.columns.map(({ name }) => name)
  const keyCells = key?.map(({ agentName }) => names.indexOf(agentName))
  const keys = new Set(keyCells === undefined ? [] : keysOf({ ...given, table, keyCells }))
  const address = addressOf(mutation)
  if (address !== undefined) keys.add(address)
  return told(table, [...keys])
}
