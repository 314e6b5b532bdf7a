import type { EngineName } from '../../src/core/schema-model.js'
import { forEngine, type PerEngine } from './engines.js'
import type { TestDatabase } from './test-server.js'

/** A policy as an engine reads it: a connector with one schema takes its tables' names alone, and MySQL's schema is the database. */
export function policyFor(engine: EngineName, policy: string): string {
  return engine === 'mysql' ? policy.replace(/\bpublic\./g, '') : policy
}

/** The text for a column that holds any text and may be a key: MySQL wants a length there. */
export function keyText(engine: EngineName): string {
  return forEngine({ postgres: 'text', mysql: 'varchar(191)' }, engine)
}

/** MySQL's: `a` is not `A` and not `a` with a space after it. Each product has a name of its own for it, and reads only that. */
export const EXACT_COLLATION = '/*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */'

/** As `keyText`, for a column in which two texts are equal only where they are the same. */
export function exactText(engine: EngineName): string {
  return forEngine({ postgres: 'text', mysql: `varchar(191) ${EXACT_COLLATION}` }, engine)
}

/** A table of the whole numbers between the two, both included, in its column `i`: stands in a FROM. At most 4096 numbers. */
export function numbers(engine: EngineName, from: number, to: number): string {
  if (engine === 'postgres') return `generate_series(${from}, ${to}) AS s (i)`
  if (to - from >= 4096) throw new Error('numbers: at most 4096 of them')
  // Doubling takes twelve steps, where counting up would pass the servers' limit of 1000 recursions.
  return `(WITH RECURSIVE doubled (i, step) AS (
    SELECT ${from}, 1 UNION ALL
    SELECT i + step * bit, step * 2 FROM doubled CROSS JOIN (SELECT 0 AS bit UNION ALL SELECT 1) AS bits WHERE step < 4096
  ) SELECT i FROM doubled WHERE step = 4096 AND i <= ${to}) AS s`
}

/** One digest a table over every row of every table, by the database's own means. */
export function checksumOf(database: TestDatabase): Promise<string> {
  return forEngine(CHECKSUMS, database.engine)(database)
}

const CHECKSUMS: PerEngine<(database: TestDatabase) => Promise<string>> = {
  postgres: async (database) => {
    const tables = await database.query(
      `SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    )
    const sums: string[] = []
    for (const [name] of tables) {
      const rows = await database.query(
        `SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM ${name} AS t`,
      )
      sums.push(`${name} ${rows[0]?.[0]}`)
    }
    return sums.join('\n')
  },
  mysql: async (database) => {
    const tables = await database.query(
      `SELECT CONCAT('\`', REPLACE(TABLE_NAME, '\`', '\`\`'), '\`') FROM information_schema.TABLES
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME`,
    )
    const sums = await database.query(`CHECKSUM TABLE ${tables.map(([name]) => name).join(', ')} EXTENDED`)
    return sums.map(([name, sum]) => `${name?.slice(database.name.length + 1)} ${sum}`).join('\n')
  },
}
