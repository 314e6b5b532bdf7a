import type { EngineName } from '../../src/core/schema-model.js'
import { forEngine, type PerEngine } from './engines.js'
import { keyText } from './security-sql.js'

/**
 * A table whose every hidden cell begins with `secret`, a table of the same shape of which everything is shown, and the
 * changes that give names to others.
 */

const ROWS = 40
/** Names of a table's columns in their order. */
const COLUMNS = ['id', 'tenant', 'note', 'ssn', 'spare'] as const

function tableSql(engine: EngineName, name: string): string {
  const text = keyText(engine)
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const tenant = i % 2 === 0 ? 'acme' : 'secret tenant'
    return `(${i}, '${tenant}', 'note ${i}', 'secret ${i}', 'spare ${i}')`
  })
  const [id, ...others] = COLUMNS
  const columns = others.map((column) => `${column} ${text}`).join(', ')
  return `CREATE TABLE ${name} (${id} int PRIMARY KEY, ${columns}); INSERT INTO ${name} VALUES ${rows.join(', ')};`
}

export function renamesSetup(engine: EngineName): string {
  return `${tableSql(engine, 'people')} ${tableSql(engine, 'staff')}`
}

/** `reader` sees no `ssn` of people; `tenant` does neither, and only the rows of acme; both see all of staff, and write. */
export const RENAMES_POLICY = `
version: 1
tables:
  public.people:
    mask: [ssn]
    create: { columns: [id, note] }
    update: { columns: [note] }
  public.staff: {}
roles:
  reader: { read: ['*'], create: [public.people], update: [public.people] }
  tenant:
    read: [public.people]
    mask: { public.people: [tenant] }
    row_filter: { public.people: [ { column: tenant, op: eq, value: acme } ] }
`

/** Gives the columns of people the names of others, all at once: `from` has the name `to` afterwards. */
export function renameColumns(engine: EngineName, names: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(names)
  const steps: readonly (readonly [string, string])[] = [
    ...pairs.map(([from], i) => [from, `passing_${i}`] as const),
    ...pairs.map(([, to], i) => [`passing_${i}`, to] as const),
  ]
  const written: PerEngine<() => string> = {
    postgres: () =>
      `BEGIN; ${steps.map(([from, to]) => `ALTER TABLE people RENAME COLUMN ${from} TO ${to}`).join('; ')}; COMMIT`,
    mysql: () => `ALTER TABLE people ${pairs.map(([from, to]) => `RENAME COLUMN ${from} TO ${to}`).join(', ')}`,
    sqlserver: () =>
      `BEGIN TRAN; ${steps.map(([from, to]) => `EXEC sp_rename 'people.${from}', '${to}', 'COLUMN'`).join('; ')}; COMMIT`,
  }
  return forEngine(written, engine)()
}

/** People takes the name of staff, and the other way round. */
export const SWAP_TABLES: PerEngine<string> = {
  postgres:
    'BEGIN; ALTER TABLE people RENAME TO passing; ALTER TABLE staff RENAME TO people; ALTER TABLE passing RENAME TO staff; COMMIT',
  mysql: 'RENAME TABLE people TO passing, staff TO people, passing TO staff',
  sqlserver:
    "BEGIN TRAN; EXEC sp_rename 'people', 'passing'; EXEC sp_rename 'staff', 'people'; EXEC sp_rename 'passing', 'staff'; COMMIT",
}

/** The note is dropped, and a column of its name holds the secret. */
export const REPLACE_COLUMN: PerEngine<string> = {
  postgres:
    'BEGIN; ALTER TABLE people DROP note; ALTER TABLE people ADD note text; UPDATE people SET note = ssn; COMMIT',
  mysql: 'ALTER TABLE people DROP note, ADD note varchar(191); UPDATE people SET note = ssn',
  sqlserver:
    "BEGIN TRAN; ALTER TABLE people DROP COLUMN note; ALTER TABLE people ADD note nvarchar(191); EXEC('UPDATE people SET note = ssn'); COMMIT",
}

export const CHANGE_TYPE: Readonly<Record<'postgres' | 'mysql', string>> = {
  postgres: 'ALTER TABLE people ALTER note TYPE varchar(100)',
  mysql: 'ALTER TABLE people MODIFY note text',
}
