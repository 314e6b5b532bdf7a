import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { SHOP_ROWS, SHOP_SCHEMA } from './shop.js'
import type { ThrowawayPostgres } from './throwaway-postgres.js'

const READER = 'runku_reader'

/** Fills the database and gives the address of a login that can read it and nothing else. */
export async function fillShop(database: ThrowawayPostgres): Promise<string> {
  const { host, port, user, password } = database
  const admin = new Client({ host, port, user, password, database: 'postgres', ssl: false })
  await admin.connect()
  await admin.query('CREATE DATABASE shop')
  await admin.end()
  const shop = new Client({ host, port, user, password, database: 'shop', ssl: false })
  await shop.connect()
  await shop.query(SHOP_SCHEMA)
  await shop.query(SHOP_ROWS)
  const secret = randomBytes(18).toString('hex')
  await shop.query(`CREATE ROLE ${READER} LOGIN PASSWORD '${secret}'`)
  await shop.query(
    `GRANT USAGE ON SCHEMA public TO ${READER}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${READER}`,
  )
  await shop.end()
  return `postgres://${READER}:${secret}@${host}:${port}/shop`
}
