import { STORE_MIGRATION_TIMEOUT_MS } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { MIGRATIONS, NO_STORE, newerStore, STORE_VERSION } from './migrations.js'
import { codeOf, type StoreClient } from './postgres-connection.js'
import type { StoreAddress } from './store-address.js'

/** The number of the lock that migrations take, beside one for the schema: "RUKU". */
const LOCK = 0x52554b55

/**
 * Brings a new or older store to this program's version, in one transaction. Of several instances that start at once one does it, and the
 * others wait for it. A store of this version is only read, so that its login needs no right to make anything. Gives the version that it
 * had: 0 for a new one, which is made only with `create`.
 */
export async function migratePostgres(
  client: StoreClient,
  address: StoreAddress,
  whereNone: 'create' | 'refuse',
): Promise<Result<{ readonly from: number }, string>> {
  const before = await readVersion(client, address)
  if (!before.ok) return before
  if (before.value === STORE_VERSION) return ok({ from: STORE_VERSION })
  if (before.value === 0 && whereNone === 'refuse') return fail(`the schema "${address.schema}": ${NO_STORE}`)
  try {
    return await upgrade(client, address)
  } catch (error) {
    const refused = refusal(error, address)
    if (refused === undefined) throw error
    return fail(refused)
  }
}

async function upgrade(client: StoreClient, address: StoreAddress): Promise<Result<{ readonly from: number }, string>> {
  const { schema } = address
  await client.query(
    `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = ${STORE_MIGRATION_TIMEOUT_MS}`,
  )
  await client.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [LOCK, schema])
  // Read again inside the lock: the other instance may have been first.
  const now = await readVersion(client, address)
  if (!now.ok || now.value === STORE_VERSION) {
    await client.query('ROLLBACK')
    return now.ok ? ok({ from: STORE_VERSION }) : now
  }
  // Even IF NOT EXISTS needs the right to create.
  const { rows } = await client.query('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema])
  if (rows.length === 0) await client.query(`CREATE SCHEMA "${schema}"`)
  await client.query(`SET LOCAL search_path TO "${schema}", pg_temp`)
  for (const { postgres } of MIGRATIONS.slice(now.value)) await client.query(postgres)
  await client.query(
    `INSERT INTO settings (name, value) VALUES ('schema', ${STORE_VERSION})
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
  await client.query('COMMIT')
  return ok({ from: now.value })
}

/** 0: there is none yet. The error says why the schema is left alone. */
async function readVersion(client: StoreClient, { schema }: StoreAddress): Promise<Result<number, string>> {
  const foreign = `the schema "${schema}" holds a table "settings" of another program: give the admin store a schema of its own`
  const tables = await client.query(
    `SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = 'settings'`,
    [schema],
  )
  if (tables.rows.length === 0) return ok(0)
  const columns = await client.query(
    `SELECT 1 FROM pg_catalog.pg_attribute WHERE attrelid = '"${schema}".settings'::regclass AND attname IN ('name', 'value')`,
  )
  if (columns.rows.length !== 2) return fail(foreign)
  const { rows } = await client.query<{ readonly version: string }>(
    `SELECT value::text AS version FROM "${schema}".settings WHERE name::text = 'schema'`,
  )
  const [row] = rows
  if (row === undefined) return fail(foreign)
  const version = Number(row.version)
  return version > STORE_VERSION ? fail(newerStore(version)) : ok(version)
}

function refusal(error: unknown, { user, schema, database }: StoreAddress): string | undefined {
  switch (codeOf(error)) {
    case '42501':
      return (
        `the login "${user}" may not make the admin store's tables in the schema "${schema}": ` +
        `run CREATE SCHEMA "${schema}" AUTHORIZATION "${user}", or GRANT CREATE ON DATABASE "${database}" TO "${user}"`
      )
    case '42P07':
    case '42710':
      return `the schema "${schema}" holds tables of another program: give the admin store a schema of its own`
    default:
      return undefined
  }
}
