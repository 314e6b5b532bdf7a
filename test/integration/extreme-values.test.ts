import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EngineName } from '../../src/core/schema-model.js'
import { forEngine } from '../support/engines.js'
import { MYSQL_TARGETS } from '../support/mariadb.js'
import { POSTGRES_TARGETS } from '../support/postgres.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { policyFor } from '../support/security-sql.js'
import { SQLSERVER_TARGETS } from '../support/sqlserver.js'

/** Texts that some collation takes for the same, and others that it sorts before or after because of what is not seen. */
const TEXTS = [
  ...[
    'b',
    'B',
    'bb',
    'á',
    'a',
    'A',
    'a ',
    'a  ',
    'a\t',
    'a\n',
    'a\nb',
    'a \n',
    'a!',
    'a\u0001',
    'ß',
    'ss',
    'z',
    'Z ',
    'z\t',
  ],
]
/** Sets of them, each a group: which one is first must not depend on the order they lie in. */
const GROUPS: readonly (readonly string[])[] = [
  TEXTS,
  [...TEXTS].reverse(),
  ['a', 'A'],
  ['A', 'a'],
  ['a', 'a\n'],
  ['a\n', 'a'],
  ['a ', 'a'],
  ['a', 'a!'],
  ['a', 'a \n'],
  ['z', 'z\t', 'Z'],
  ['', ' ', '\t'],
  ['á', 'a', 'A '],
]

const COLLATIONS = {
  postgres: ['text COLLATE "C"', 'text', 'text COLLATE folded', 'varchar(20) COLLATE "C"'],
  mysql: [
    ...['varchar(20) COLLATE utf8mb4_bin', 'varchar(20) COLLATE utf8mb4_general_ci', 'text COLLATE utf8mb4_unicode_ci'],
    ...[
      'varchar(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci',
      'varchar(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin',
    ],
    ...['varchar(20) CHARACTER SET utf16 COLLATE utf16_general_ci', 'char(20) COLLATE utf8mb4_general_ci'],
  ],
  // Texts have neither `min` nor `max` there: of equal ones nothing says which it would give. Groups show one of them.
  sqlserver: [
    ...['nvarchar(20) COLLATE Latin1_General_100_BIN2', 'nvarchar(20) COLLATE Latin1_General_CI_AS'],
    ...['nvarchar(20) COLLATE Latin1_General_CI_AI', 'varchar(20) COLLATE Latin1_General_CS_AS'],
  ],
} as const

const BEFORE = {
  postgres: `CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);`,
  mysql: '',
  sqlserver: '',
} as const

const ANYBODY = identity('anybody', ['all'])
const POLICY = `
version: 1
tables: { public.words: {} }
roles: { all: { read: ['*'] } }
`

async function rowsOf(path: RecordedPath, tool: string, args: unknown): Promise<readonly Record<string, unknown>[]> {
  const { code, body } = await path.call(ANYBODY, tool, args)
  assert.equal(code, 'OK', `${tool} ${JSON.stringify(args)}`)
  // The gateway's own making.
  const { structuredContent } = JSON.parse(`{${body}}`) as {
    readonly structuredContent: { readonly rows: readonly Record<string, unknown>[] }
  }
  return structuredContent.rows
}

/** Rows of every part, in the order that the part lists its texts: each column holds the same text. */
function filledWith(engine: EngineName): string {
  const types = forEngine<readonly string[]>(COLLATIONS, engine)
  const quote = (text: string) => `${engine === 'sqlserver' ? 'N' : ''}'${text.replaceAll("'", "''")}'`
  const columns = types.map((type, i) => `c${i} ${type}`)
  const rows = GROUPS.flatMap((texts, group) => texts.map((text) => ({ group, text })))
  const tuples = rows.map(({ group, text }, id) => `(${[id, group, ...types.map(() => quote(text))].join(', ')})`)
  return `${forEngine(BEFORE, engine)}
    CREATE TABLE words (id int PRIMARY KEY, part int NOT NULL, ${columns.join(', ')});
    INSERT INTO words VALUES ${tuples.join(', ')}`
}

for (const target of [...POSTGRES_TARGETS, ...MYSQL_TARGETS]) {
  describe(`extremes of text on the ${target.label} server`, () => {
    test('an extreme is what the order puts first, whatever looks different or is not seen', async (t) => {
      const server = await target.start()
      const types = forEngine<readonly string[]>(COLLATIONS, target.engine)
      const db = await server.createDatabase(filledWith(target.engine))
      const path = await openPath({ settings: db.reader(), policy: policyFor(target.engine, POLICY) })
      t.after(() => path.close())
      for (const [i, type] of types.entries()) {
        const column = `c${i}`
        const ids = async (group: number, value: unknown) => {
          const filters = [
            { column: 'part', op: 'eq', value: group },
            { column, op: 'eq', value },
          ]
          return (await rowsOf(path, 'search_words', { filters, columns: ['id'] })).map(({ id }) => id)
        }
        const metrics = [
          { fn: 'min', column, as: 'min' },
          { fn: 'max', column, as: 'max' },
        ]
        for (const found of await rowsOf(path, 'aggregate_words', { metrics, group_by: ['part'] })) {
          const group = Number(found['part'])
          for (const [fn, direction] of [
            ['min', 'asc'],
            ['max', 'desc'],
          ] as const) {
            const label = `${fn} of ${type} in ${JSON.stringify(GROUPS[group])} is ${JSON.stringify(found[fn])}`
            const order = { order_by: [{ column, direction }], columns: [column], limit: 1 }
            const filters = [{ column: 'part', op: 'eq', value: group }]
            const [first] = await rowsOf(path, 'search_words', { ...order, filters })
            const same = await ids(group, found[fn])
            assert.ok(same.length > 0, label)
            assert.deepEqual(same, await ids(group, first?.[column]), `${label}, but first is ${JSON.stringify(first)}`)
          }
        }
        // Of equal ones it is the same, in whatever order they lie; on PostgreSQL none of these are equal but by a collation of ICU.
        if (type.includes('folded')) continue
        const of = (group: number) =>
          rowsOf(path, 'aggregate_words', { metrics, filters: [{ column: 'part', op: 'eq', value: group }] })
        assert.deepEqual(await of(0), await of(1), type)
        assert.deepEqual(await of(2), await of(3), type)
        assert.deepEqual(await of(4), await of(5), type)
      }
    })
  })
}

for (const target of SQLSERVER_TARGETS) {
  describe(`texts that are equal and look different on the ${target.label} server`, () => {
    test('there are no extremes of them, and a group shows one of its own, the same in whatever order they lie', async (t) => {
      const server = await target.start()
      const types = forEngine<readonly string[]>(COLLATIONS, 'sqlserver')
      const db = await server.createDatabase(filledWith('sqlserver'))
      const path = await openPath({ settings: db.reader(), policy: policyFor('sqlserver', POLICY) })
      t.after(() => path.close())
      for (const [i, type] of types.entries()) {
        const column = `c${i}`
        const of = async (part: number) => {
          const filters = [{ column: 'part', op: 'eq', value: part }]
          const metrics = [{ fn: 'count', as: 'n' }]
          const groups = await rowsOf(path, 'aggregate_words', { metrics, group_by: [column], filters, limit: 50 })
          return { filters, groups }
        }
        for (const fn of ['min', 'max']) {
          const { code } = await path.call(ANYBODY, 'aggregate_words', { metrics: [{ fn, column, as: 'm' }] })
          assert.match(code, /^ARGUMENT_/, `${fn} of ${type}`)
        }
        for (const part of GROUPS.keys()) {
          const { filters, groups } = await of(part)
          let rows = 0
          for (const { [column]: shown, n } of groups) {
            const label = `${JSON.stringify(shown)} of ${type} in ${JSON.stringify(GROUPS[part])}`
            const same = await rowsOf(path, 'search_words', {
              filters: [...filters, { column, op: 'eq', value: shown }],
              columns: ['id', column],
              limit: 50,
            })
            assert.equal(same.length, n, label)
            assert.ok(
              same.some((row) => row[column] === shown),
              label,
            )
            rows += same.length
          }
          assert.equal(rows, GROUPS[part]?.length, `${type}, part ${part}: no row is in two groups`)
        }
        const shownIn = async (part: number) => (await of(part)).groups.map(({ [column]: shown }) => shown).sort()
        assert.deepEqual(await shownIn(0), await shownIn(1), type)
        assert.deepEqual(await shownIn(2), await shownIn(3), type)
        assert.deepEqual(await shownIn(4), await shownIn(5), type)
      }
    })
  })
}
