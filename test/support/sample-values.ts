import type { TestDatabase } from './test-server.js'

/** A column of one type, and values as a caller sends them, which is how a caller is shown them. */
export interface SampleColumn {
  readonly name: string
  readonly native: string
  readonly values: readonly unknown[]
  /** Whether rows can be told apart by it: then there is a table whose key it is. */
  readonly key: boolean
}

/** One engine's types, each with the values that some step on the way has lost at some time. */
export interface SampleValues {
  /** What the columns' types need. */
  readonly before: string
  readonly columns: readonly SampleColumn[]
  /** Constraints of the table of all columns. */
  readonly checks: readonly string[]
  /** Sent, and shown another way: what the type itself makes of it. */
  readonly turned: readonly (readonly [column: string, sent: unknown, shown: unknown])[]
  /** What the type does not take. */
  readonly refused: readonly (readonly [column: string, value: string, code: string])[]
  /** The server's own literals, and what is shown of them. */
  readonly literals: readonly (readonly [column: string, literal: string, shown: unknown])[]
  /** Columns that hold a time, and a query that gives `1` or `t` for each pair that the same moment was written to. */
  readonly times: { readonly columns: readonly string[]; readonly agree: string }
  /** Runs before a literal is inserted: what the gateway's sessions take, not every session does. */
  readonly lenient: string
  readonly identity: string
  readonly quoted: (name: string) => string
}

/** Columns from loose parts. A name with a `#` behind it is a key as well. */
export function sampleColumns(
  columns: readonly (readonly [name: string, native: string, values: readonly unknown[]])[],
): readonly SampleColumn[] {
  return columns.map(([name, native, values]) => ({
    name: name.replace(/#$/, ''),
    native,
    values,
    key: name.endsWith('#'),
  }))
}

export function keyTableName(column: number): string {
  return `key_${column}`
}

/** A table of all columns, and one for each that is a key. */
export function sampleTables({ before, columns, checks, identity, quoted }: SampleValues): string {
  const all = columns.map(({ name, native }) => `${quoted(name)} ${native} NULL`)
  const keyed = columns.map(({ native, key }, i) =>
    key ? `CREATE TABLE ${keyTableName(i)} (v ${native} NOT NULL PRIMARY KEY, note varchar(20))` : '',
  )
  const tables = [`CREATE TABLE samples (${[`id ${identity} PRIMARY KEY`, ...all, ...checks].join(', ')})`, ...keyed]
  return [before, ...tables].filter((sql) => sql !== '').join(';\n')
}

/** Inserts one row with the literal, as the superuser; gives its id. */
export async function insertLiteral(
  db: TestDatabase,
  { quoted, lenient }: SampleValues,
  column: string,
  literal: string,
): Promise<string> {
  await db.query(`${lenient}INSERT INTO samples (${quoted(column)}) VALUES (${literal})`)
  return (await db.query('SELECT MAX(id) FROM samples'))[0]?.[0] ?? ''
}
