import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { coerceWrite } from '../../src/core/value.js'
import type { MutationEnd, Rows } from '../../src/engines/engine.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { filter, getPlan, searchPlan, validatedMutation, validatedPlan } from '../support/plans.js'
import { EMBEDDED, POSTGRES_TARGETS } from '../support/postgres.js'
import { tableNamed, testDriver } from '../support/postgres-driver.js'

const SETUP = `
CREATE SCHEMA other;
CREATE TYPE other."Mood" AS ENUM ('ok', 'b"ad', '😀 great');
CREATE DOMAIN other.code AS varchar(8) CHECK (VALUE <> 'refused');
CREATE DOMAIN other.feeling AS other."Mood";
CREATE DOMAIN other.price AS numeric(8,2) CHECK (VALUE >= 0);
CREATE DOMAIN other.tags AS text[];
CREATE TYPE other.pair AS (x integer, y text);
CREATE COLLATION other.folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE samples (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  n2 int2, n4 int4, n8 int8, dec numeric, dec2 numeric(12,3), f4 float4, f8 float8,
  t text, vc varchar(40), bc char(5), nm name, folded text COLLATE other.folded,
  flag boolean, ts timestamp, ts3 timestamp(3), tstz timestamptz, d date, tm time, tmtz timetz, iv interval,
  u uuid, js json, jb jsonb, bin bytea,
  mood other."Mood", feeling other.feeling, code other.code, price other.price, tags other.tags,
  ints int[], texts text[], decs numeric[], bins bytea[], stamps timestamptz[], moods other."Mood"[], jsons jsonb[],
  boxes box[], pair other.pair, span int4range, spans int4multirange_or_text, address inet, net cidr, mac macaddr,
  at_point point, doc xml, bits bit(3), vbits varbit, words tsvector, cash money, cls regclass, ch "char"
);
`

/** The JSON that a caller sends for each column, which is the JSON that a caller is shown. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  n2: [-32768, 0, 32767],
  n4: [2147483647],
  n8: ['9007199254740993', '-9223372036854775808', 5],
  dec: ['12345678901234567890.123456789', '1.50', 'NaN', '0.0000'],
  dec2: ['-123456789.125'],
  f4: [0.1, 16777216, 'NaN'],
  f8: [0.1, 5e-324, 1.7976931348623157e308, '-Infinity'],
  t: ['', 'é 😀 "q" \\ \' $1 {a,b} \n\t', 'NULL', 'null', 'x'.repeat(3000)],
  vc: ['x'.repeat(40)],
  bc: ['ab   '],
  nm: ['name'],
  folded: ['Straße'],
  flag: [true, false],
  ts: ['2024-05-31T10:00:00.123456', 'infinity', '0044-03-15T10:00:00 BC'],
  ts3: ['2024-05-31T10:00:00.123'],
  tstz: ['2024-05-31T10:00:00.123456Z', '-infinity'],
  d: ['2024-02-29', '0044-03-15 BC'],
  tm: ['24:00:00', '10:11:12.5'],
  tmtz: ['10:00:00.25-02:00', '10:00:00Z'],
  iv: ['P1Y2M-3DT4H5M6.7S', 'PT0S'],
  u: ['7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  js: [{ a: [1, 'x', null], b: 1.5 }, [], 'text', '[1.10,9007199254740993]', true, 0, '{"a":12345678901234567890}'],
  jb: [{ a: [1, 'x', null] }, 'text', '"[1]"', false],
  bin: ['', 'AAH/', Buffer.from('any bytes \0 at all').toString('base64')],
  mood: ['ok', 'b"ad', '😀 great'],
  feeling: ['b"ad'],
  code: ['eightchr'],
  price: ['12.50'],
  tags: [['a', null, '']],
  ints: [
    [],
    [1, null, -3],
    [
      [1, 2],
      [3, 4],
    ],
  ],
  texts: [
    ['a,b', '"q"', '\\', '{}', 'NULL', '', null, 'é😀'],
    [['a'], ['b']],
  ],
  decs: [['1.50', '12345678901234567890.1']],
  bins: [['AAH/', '', null]],
  stamps: [['2024-05-31T10:00:00Z', null]],
  moods: [['b"ad', 'ok', null]],
  jsons: [[{ a: 1 }, 'text', 5, null]],
  boxes: [['(1,1),(0,0)', '(2,2),(0,0)']],
  pair: ['(1,"a,b")'],
  span: ['[1,5)', 'empty'],
  address: ['10.0.0.1', '::1/64'],
  net: ['10.0.0.0/8'],
  mac: ['08:00:2b:01:02:03'],
  at_point: ['(1.5,-2)'],
  doc: ['<a>1 &amp; 2</a>'],
  bits: ['101'],
  vbits: ['1011011'],
  words: ["'a':1 'b':2"],
  cash: ['$1.50'],
  cls: ['pg_class'],
  ch: ['x'],
}

/** Sent, and shown another way: what the type itself makes of it. */
const TURNED: readonly (readonly [column: string, sent: unknown, shown: unknown])[] = [
  ['dec2', '1', '1.000'],
  ['bc', 'ab', 'ab   '],
  ['tstz', '2024-05-31T12:00:00+02:00', '2024-05-31T10:00:00Z'],
  ['js', '{ "a" : 1 }', { a: 1 }],
  ['jb', '{"__proto__":1}', JSON.parse('{"__proto__":1}')],
]

const rowsOf = (end: MutationEnd): Rows => (end.kind === 'written' || end.kind === 'unchanged' ? end.rows : [])

for (const target of POSTGRES_TARGETS) {
  describe(`written values on the ${target.label} server`, () => {
    async function ground(t: Parameters<typeof testDriver>[0]) {
      const server = await target.start()
      const multirange = server.version >= 140_000 ? 'int4multirange' : 'text'
      const db = await server.createDatabase(SETUP.replace('int4multirange_or_text', multirange))
      const driver = testDriver(t, db.writer())
      return { db, ...driver, samples: tableNamed(await driver.schema(), 'samples') }
    }

    test('every value that is written is read back as it was sent, found by itself, and then no change', async (t) => {
      const { samples, mutate, run } = await ground(t)
      assert.deepEqual(
        samples.columns
          .map(({ name }) => name as string)
          .filter((name) => !(name in VALUES) && !['id', 'spans'].includes(name)),
        [],
        'every column has values',
      )
      const cases = Object.entries(VALUES).flatMap(([name, all]) => all.map((value) => [name, value, value] as const))
      for (const [name, sent, shown] of [...cases, ...TURNED]) {
        const column = samples.columns.find((candidate) => candidate.name === name)
        assert.ok(column)
        const label = `${name} ${JSON.stringify(sent)}`
        const value = coerceWrite(column.type, sent)
        assert.ok(value.ok, `${label}: ${JSON.stringify(value)}`)
        const values = { [name]: value.value }
        const created = await mutate(validatedMutation(samples, 'create', { values, returning: ['id', name] }))
        assert.ok(created.outcome.ok, `${label}: ${JSON.stringify(created)}`)
        const [id, text] = rowsOf(created.outcome.value)[0] ?? []
        assert.ok(typeof id === 'string' && typeof text === 'string', label)
        const json = postgresDialect.encodeCell({ name, type: column.type }, text).json
        assert.deepEqual(JSON.parse(json), shown, label)

        const again = coerceWrite(column.type, JSON.parse(json))
        assert.ok(again.ok, label)
        const key = { id }
        const same = { key, values: { [name]: again.value }, expected: { [name]: again.value }, returning: [name] }
        const unchanged = await mutate(validatedMutation(samples, 'update', same))
        assert.deepEqual(
          unchanged.outcome.ok ? unchanged.outcome.value : unchanged,
          { kind: 'unchanged', rows: [[text]] },
          label,
        )
        if (column.type.equality && column.type.logical !== 'array') {
          const found = searchPlan(samples, {
            columns: ['id'],
            filters: [filter(name, 'eq', again.value), filter('id', 'eq', id)],
          })
          const statement = postgresDialect.compile(validatedPlan(samples, found))
          const result = await run(statement.text, statement.params)
          assert.deepEqual(result.ok ? result.value.rows : result, [[id]], label)
        }
      }
    })

    test('NULL is written into every column, and is then what it holds', async (t) => {
      const { samples, mutate } = await ground(t)
      const names = samples.columns.map(({ name }) => name as string).filter((name) => name !== 'id')
      const values = Object.fromEntries(names.map((name) => [name, null]))
      const created = await mutate(validatedMutation(samples, 'create', { values, returning: ['id'] }))
      assert.ok(created.outcome.ok)
      const id = rowsOf(created.outcome.value)[0]?.[0] ?? ''
      const same = await mutate(
        validatedMutation(samples, 'update', { key: { id }, values, expected: values, returning: names }),
      )
      assert.deepEqual(same.outcome, { ok: true, value: { kind: 'unchanged', rows: [names.map(() => null)] } })
    })

    test('now becomes the time of the transaction in every type that holds one', async (t) => {
      const { db, samples, mutate } = await ground(t)
      const now = { kind: 'now' } as const
      const values = { ts: now, ts3: now, tstz: now, d: now, tm: now, tmtz: now }
      const created = await mutate(validatedMutation(samples, 'create', { values, returning: ['id'] }))
      assert.ok(created.outcome.ok)
      assert.deepEqual(
        await db.query(`SELECT ts = tstz AT TIME ZONE 'UTC', d = (tstz AT TIME ZONE 'UTC')::date,
                               tm = (tstz AT TIME ZONE 'UTC')::time, tmtz = (tstz AT TIME ZONE 'UTC')::time AT TIME ZONE 'UTC'
                        FROM samples`),
        [['t', 't', 't', 't']],
      )
    })

    test('what a type or a domain does not take is refused, not cut', async (t) => {
      const { db, samples, mutate } = await ground(t)
      const cases = [
        ['vc', 'x'.repeat(41), 'DB_VALUE'],
        ['bc', 'abcdef', 'DB_VALUE'],
        ['code', 'refused', 'DB_CONSTRAINT'],
        ['price', '-1', 'DB_CONSTRAINT'],
        ['bits', '1', 'DB_VALUE'],
        ['dec2', '1234567890', 'DB_VALUE'],
        ['ints', '[["1"],["2","3"]]', 'DB_VALUE'],
        ['doc', '<a>', 'DB_VALUE'],
      ] as const
      for (const [name, value, code] of cases) {
        const created = await mutate(validatedMutation(samples, 'create', { values: { [name]: value } }))
        assert.equal(created.outcome.ok ? 'OK' : created.outcome.error.code, code, name)
      }
      assert.deepEqual(await db.query('SELECT count(*) FROM samples'), [['0']])
    })
  })
}

test('a type of an extension is compared as itself, not as the text it looks like', async (t) => {
  const server = await EMBEDDED.start()
  const available = await server.query(`SELECT name FROM pg_available_extensions WHERE name = 'citext'`)
  for (const target of available.length > 0 ? [EMBEDDED] : POSTGRES_TARGETS.slice(1)) {
    const db = await (await target.start()).createDatabase(
      `CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext;
       CREATE TABLE folk (id int PRIMARY KEY, email ext.citext); INSERT INTO folk VALUES (1, 'Ann@example.com')`,
    )
    const { mutate, schema, run } = testDriver(t, db.writer())
    const folk = tableNamed(await schema(), 'folk')
    const change = (email: string, expected: string) =>
      mutate(
        validatedMutation(folk, 'update', {
          key: { id: '1' },
          values: { email },
          expected: { email: expected },
          returning: ['email'],
        }),
      )
    const same = await change('Ann@example.com', 'ANN@example.com')
    assert.deepEqual(same.outcome, { ok: true, value: { kind: 'unchanged', rows: [['Ann@example.com']] } })
    const other = await change('ann@example.com', 'ANN@EXAMPLE.com')
    assert.deepEqual(other.outcome, { ok: true, value: { kind: 'written', rows: [['ann@example.com']], affected: 1 } })
    const { text, params } = postgresDialect.compile(validatedPlan(folk, getPlan(folk, { id: '1' }, ['email'])))
    const read = await run(text, params)
    assert.deepEqual(read.ok && read.value.rows, [['ann@example.com']])
  }
})
