import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forEngine } from '../support/engines.js'
import { MYSQL_TARGETS } from '../support/mariadb.js'
import { POSTGRES_TARGETS } from '../support/postgres.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { policyFor } from '../support/security-sql.js'

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
  // Texts have neither `min` nor `max` there: of equal ones nothing says which it would give.
  sqlserver: [],
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

for (const target of [...POSTGRES_TARGETS, ...MYSQL_TARGETS]) {
  describe(`extremes of text on the ${target.label} server`, () => {
    test('an extreme is what the order puts first, whatever looks different or is not seen', async (t) => {
      const server = await target.start()
      const types = forEngine<readonly string[]>(COLLATIONS, target.engine)
      const quote = (text: string) => `'${text.replaceAll("'", "''")}'`
      const columns = types.map((type, i) => `c${i} ${type}`)
      const rows = GROUPS.flatMap((texts, group) => texts.map((text) => ({ group, text })))
      const tuples = rows.map(({ group, text }, id) => `(${[id, group, ...types.map(() => quote(text))].join(', ')})`)
      const db = await server.createDatabase(
        `${forEngine(BEFORE, target.engine)}
         CREATE TABLE words (id int PRIMARY KEY, part int NOT NULL, ${columns.join(', ')});
         INSERT INTO words VALUES ${tuples.join(', ')}`,
      )
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
