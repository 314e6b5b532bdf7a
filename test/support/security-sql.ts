import { createHash } from 'node:crypto'
import type { EngineName } from '../../src/core/schema-model.js'
import { forEngine, type PerEngine } from './engines.js'
import type { TestDatabase } from './test-server.js'

/** A policy as an engine reads it: a connector with one schema takes its tables' names alone, and only PostgreSQL's is `public`. */
export function policyFor(engine: EngineName, policy: string): string {
  return engine === 'postgres' ? policy : policy.replace(/\bpublic\./g, '')
}

/** The text for a column that holds any text and may be a key: only PostgreSQL wants no length there. */
export function keyText(engine: EngineName): string {
  return forEngine({ postgres: 'text', mysql: 'varchar(191)', sqlserver: 'nvarchar(191)' }, engine)
}

/** MySQL's: `a` is not `A` and not `a` with a space after it. Each product has a name of its own for it, and reads only that. */
export const EXACT_COLLATION = '/*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */'

/** SQL Server's: `a` is not `A`. A space after it is nothing to any of its collations. */
export const BINARY_COLLATION = 'COLLATE Latin1_General_100_BIN2'

/** As `keyText`, for a column in which two texts are equal only where they are the same, as far as the engine has that. */
export function exactText(engine: EngineName): string {
  return forEngine(
    {
      postgres: 'text',
      mysql: `varchar(191) ${EXACT_COLLATION}`,
      sqlserver: `nvarchar(191) ${BINARY_COLLATION}`,
    },
    engine,
  )
}

/** The text of any length for a column that is no key. */
export function longText(engine: EngineName): string {
  return forEngine({ postgres: 'text', mysql: 'text', sqlserver: 'nvarchar(max)' }, engine)
}

/** A table of the whole numbers between the two, both included, in its column `i`: stands in a FROM. At most 4096 numbers. */
export function numbers(engine: EngineName, from: number, to: number): string {
  if (engine === 'postgres') return `generate_series(${from}, ${to}) AS s (i)`
  if (to - from >= 4096) throw new Error('numbers: at most 4096 of them')
  if (engine === 'sqlserver') {
    // Three digits of base sixteen: what counts up is stopped there after a hundred recursions, and stands in no FROM.
    const digits = `(VALUES ${Array.from({ length: 16 }, (_, digit) => `(${digit})`).join(', ')})`
    return `(SELECT i FROM (SELECT ${from} + a.d + b.d * 16 + c.d * 256 AS i
      FROM ${digits} AS a (d) CROSS JOIN ${digits} AS b (d) CROSS JOIN ${digits} AS c (d)) AS n WHERE i <= ${to}) AS s`
  }
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
  sqlserver: async (database) => {
    // Bytes as their digits: not every server that speaks the protocol has them in JSON.
    const columns = await database.query(
      `SELECT t.name, QUOTENAME(t.name), QUOTENAME(c.name), TYPE_NAME(c.system_type_id)
       FROM sys.tables t JOIN sys.columns c ON c.object_id = t.object_id
       WHERE t.is_ms_shipped = 0 AND SCHEMA_NAME(t.schema_id) = 'dbo' ORDER BY t.name, c.column_id`,
    )
    const tables = new Map<string, { readonly quoted: string; readonly cells: string[] }>()
    for (const [name, quoted, column, type] of columns) {
      const table = tables.get(name ?? '') ?? { quoted: quoted ?? '', cells: [] }
      const cell = /binary/.test(type ?? '') ? `CONVERT(varchar(max), ${column}, 2)` : column
      table.cells.push(`${cell} AS c${table.cells.length}`)
      tables.set(name ?? '', table)
    }
    const sums: string[] = []
    for (const [name, { quoted, cells }] of tables) {
      const [row] = await database.query(
        `SELECT CONVERT(nvarchar(max),
           (SELECT ${cells.join(', ')} FROM ${quoted} ORDER BY 1 FOR JSON PATH, INCLUDE_NULL_VALUES))`,
      )
      sums.push(
        `${name} ${createHash('sha256')
          .update(row?.[0] ?? '')
          .digest('hex')}`,
      )
    }
    return sums.join('\n')
  },
}
