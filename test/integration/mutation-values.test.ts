import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { ValidatedMutation, ValidatedPlan } from '../../src/core/plan.js'
import type { Column, Table } from '../../src/core/schema-model.js'
import { coerceValue, coerceWrite } from '../../src/core/value.js'
import { Cancellation, type Dialect, type MutationEnd, type Rows } from '../../src/engines/engine.js'
import { DIALECTS } from '../support/dialects.js'
import { tableNamed, testDriver } from '../support/driver.js'
import { readBack, writerOn } from '../support/left-out.js'
import { MYSQL_TARGETS, type MysqlTarget } from '../support/mariadb.js'
import { mysqlSamples } from '../support/mysql-samples.js'
import { filter, getPlan, searchPlan, validatedMutation, validatedPlan } from '../support/plans.js'
import { EMBEDDED, POSTGRES_TARGETS, type PostgresTarget } from '../support/postgres.js'
import { postgresSamples } from '../support/postgres-samples.js'
import { insertLiteral, keyTableName, type SampleValues, sampleTables } from '../support/sample-values.js'
import { SQLSERVER_TARGETS, type SqlserverTarget } from '../support/sqlserver.js'
import { sqlserverSamples } from '../support/sqlserver-samples.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'

interface Started {
  readonly server: TestServer
  readonly samples: SampleValues
  readonly respellsJson: boolean
  /** What is made of the tables before the logins may use them. */
  readonly after?: string
  readonly login?: (db: TestDatabase) => ReturnType<TestDatabase['writer']>
  /** What the server does not do, where it is not the product itself. */
  readonly lacks?: readonly string[]
}

interface Subject {
  readonly label: string
  readonly engine: TestServer['engine']
  start(): Promise<Started>
}

function onPostgres({ label, start }: PostgresTarget): Subject {
  return {
    label,
    engine: 'postgres',
    start: async () => {
      const server = await start()
      const samples = postgresSamples(server.version >= 140_000 ? 'int4multirange' : 'text')
      return { server, samples, respellsJson: false }
    },
  }
}

function onMysql({ label, start }: MysqlTarget): Subject {
  return {
    label,
    engine: 'mysql',
    start: async () => {
      const server = await start()
      // MySQL itself keeps no text of a document, so that nobody can be sure it is the one that is there.
      return { server, samples: mysqlSamples(server), respellsJson: server.product === 'mysql' }
    },
  }
}

function onSqlserver({ label, start }: SqlserverTarget): Subject {
  return {
    label,
    engine: 'sqlserver',
    start: async () => {
      const server = await start()
      const samples = sqlserverSamples(server)
      const common = { server, samples, respellsJson: false }
      const lacks = [
        ...(server.genuine ? [] : ['the seventh digit of a second', 'names of every character', 'numbers of errors']),
        ...(server.collates ? [] : ['a collation to cut texts by']),
        ...(server.writesBytes ? [] : ['bytes as their digits']),
      ]
      const tables = ['samples', ...samples.columns.flatMap(({ key }, i) => (key ? [keyTableName(i)] : []))]
      return { ...common, after: readBack(server, tables), login: (db) => writerOn(server, db), lacks }
    },
  }
}

const SUBJECTS: readonly Subject[] = [
  ...POSTGRES_TARGETS.map(onPostgres),
  ...MYSQL_TARGETS.map(onMysql),
  ...SQLSERVER_TARGETS.map(onSqlserver),
]

const LIMITS = { timeoutMs: 20_000, acquireTimeoutMs: 20_000, bytesMax: 10_000_000 }

const rowsOf = (end: MutationEnd): Rows => (end.kind === 'written' || end.kind === 'unchanged' ? end.rows : [])

function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((candidate) => candidate.name === name)
  assert.ok(column, `no column ${name}`)
  return column
}

async function ground(t: TestContext, subject: Subject) {
  const { server, samples, respellsJson, after = '', login, lacks = [] } = await subject.start()
  for (const lack of lacks) t.diagnostic(`the ${subject.label} server lacks ${lack}`)
  const db = await server.createDatabase(sampleTables(samples) + after)
  const dialect = DIALECTS.find(({ engine }) => engine === subject.engine)?.dialect
  assert.ok(dialect)
  const driver = testDriver(t, login === undefined ? db.writer() : login(db))
  const schema = await driver.schema()
  const mutate = async (mutation: ValidatedMutation, label: string): Promise<MutationEnd> => {
    const { outcome } = await driver.mutate(mutation)
    assert.ok(outcome.ok, `${label}: ${JSON.stringify(outcome)}`)
    return outcome.value
  }
  const read = async (plan: ValidatedPlan, label: string): Promise<Rows> => {
    const { outcome } = await driver.driver.execute(dialect.compile(plan), {
      ...LIMITS,
      cancellation: new Cancellation(),
    })
    assert.ok(outcome.ok, `${label}: ${JSON.stringify(outcome)}`)
    return outcome.value
  }
  return { db, dialect, driver, schema, samples, respellsJson, mutate, read, table: tableNamed(schema, 'samples') }
}

type Served = Awaited<ReturnType<typeof ground>>

/** The JSON that a caller is shown of a cell, and what it may send back for it. */
function shown(
  dialect: Dialect,
  { name, type }: Column,
  text: string,
  label: string,
): readonly [json: unknown, sent: string] {
  const { json } = dialect.encodeCell({ name, type }, text)
  const value: unknown = JSON.parse(json)
  const sent = coerceWrite(type, JSON.parse(json))
  assert.ok(sent.ok, `${label} is shown as ${json} and not taken back: ${JSON.stringify(sent)}`)
  if (type.equality && type.logical !== 'array') assert.deepEqual(coerceValue(type, value), sent, label)
  return [value, sent.value]
}

/** Creates the row that has the value for its key, and then does everything with it by the key as it was shown. */
async function useAsKey({ dialect, mutate, read }: Served, table: Table, sent: unknown, label: string): Promise<void> {
  const column = columnOf(table, 'v')
  const value = coerceWrite(column.type, sent)
  assert.ok(value.ok, label)
  const returning = ['v', 'note']
  const made = { values: { v: value.value, note: 'made' }, returning }
  const text = rowsOf(await mutate(validatedMutation(table, 'create', made), label))[0]?.[0]
  assert.ok(typeof text === 'string', label)
  const [json, key] = shown(dialect, column, text, label)
  assert.deepEqual(json, sent, label)

  const got = await read(validatedPlan(table, getPlan(table, { v: key }, returning)), label)
  assert.deepEqual(got, [[text, 'made']], label)
  for (const values of [{ note: 'changed' }, { v: key, note: 'kept' }]) {
    const changed = await mutate(validatedMutation(table, 'update', { key: { v: key }, values, returning }), label)
    assert.deepEqual(changed, { kind: 'written', rows: [[text, values.note]], affected: 1 }, label)
  }
  const found = async (op: Parameters<typeof filter>[1], operand: string | readonly string[]): Promise<number> => {
    const plan = searchPlan(table, { columns: ['v'], filters: [filter('v', op, operand)] })
    return (await read(validatedPlan(table, plan), label)).length
  }
  assert.deepEqual([await found('eq', key), await found('neq', key)], [1, 0], label)
  assert.deepEqual([await found('in', [key]), await found('in', [])], [1, 0], label)
  if (!column.type.ordered) return
  const compared = [await found('gte', key), await found('lte', key), await found('gt', key), await found('lt', key)]
  assert.deepEqual(compared, [1, 1, 0, 0], label)
}

for (const subject of SUBJECTS) {
  describe(`written values on the ${subject.label} server`, () => {
    test('every value that is written is read back as it was sent, found by itself, and then no change', async (t) => {
      const { dialect, samples, respellsJson, mutate, read, table } = await ground(t, subject)
      assert.deepEqual(
        table.columns.map(({ name }) => name as string).filter((name) => name !== 'id'),
        samples.columns.map(({ name }) => name),
      )
      const cases = samples.columns.flatMap(({ name, values }) => values.map((value) => [name, value, value] as const))
      for (const [name, sent, expected] of [...cases, ...samples.turned]) {
        const column = columnOf(table, name)
        const label = `${name} ${JSON.stringify(sent)?.slice(0, 100)}`
        const value = coerceWrite(column.type, sent)
        assert.ok(value.ok, `${label}: ${JSON.stringify(value)}`)
        const values = new Map([[name, value.value]])
        const created = await mutate(validatedMutation(table, 'create', { values, returning: ['id', name] }), label)
        const [id, text] = rowsOf(created)[0] ?? []
        assert.ok(typeof id === 'string' && typeof text === 'string', label)
        const [json, again] = shown(dialect, column, text, label)
        assert.deepEqual(json, expected, label)

        const held = new Map([[name, again]])
        const parts = { key: { id }, values: held, expected: held, returning: [name] }
        const same = await mutate(validatedMutation(table, 'update', parts), label)
        const kind = respellsJson && column.type.logical === 'json' ? same.kind : 'unchanged'
        assert.deepEqual([same.kind, rowsOf(same)], [kind, [[text]]], label)
        if (column.type.equality && column.type.logical !== 'array') {
          const filters = [filter(name, 'eq', again), filter('id', 'eq', id)]
          const found = await read(validatedPlan(table, searchPlan(table, { columns: ['id'], filters })), label)
          assert.deepEqual(found, [[id]], label)
        }
      }
    })

    test('a value that was read is the key of its row: to get it, to find it, to change it', async (t) => {
      const served = await ground(t, subject)
      for (const [i, { name, values, key }] of served.samples.columns.entries()) {
        if (!key) continue
        const table = tableNamed(served.schema, keyTableName(i))
        assert.deepEqual(table.primaryKey, ['v'])
        for (const sent of values) {
          await useAsKey(served, table, sent, `${name} ${JSON.stringify(sent)?.slice(0, 100)}`)
          await served.db.query(`DELETE FROM ${keyTableName(i)}`)
        }
      }
    })

    test('NULL is written into every column, and is then what it holds', async (t) => {
      const { table, mutate } = await ground(t, subject)
      const names = table.columns.map(({ name }) => name as string).filter((name) => name !== 'id')
      const values = new Map(names.map((name) => [name, null]))
      const created = await mutate(validatedMutation(table, 'create', { values, returning: ['id'] }), 'create')
      const id = rowsOf(created)[0]?.[0] ?? ''
      const parts = { key: { id }, values, expected: values, returning: names }
      const same = await mutate(validatedMutation(table, 'update', parts), 'update')
      assert.deepEqual(same, { kind: 'unchanged', rows: [names.map(() => null)] })
    })

    test('now becomes the same moment in every type that holds one', async (t) => {
      const { db, samples, table, mutate } = await ground(t, subject)
      const values = new Map(samples.times.columns.map((name) => [name, { kind: 'now' } as const]))
      await mutate(validatedMutation(table, 'create', { values, returning: ['id'] }), 'now')
      const [agreed] = await db.query(samples.times.agree)
      assert.deepEqual(
        agreed,
        agreed?.map(() => '1'),
      )
      assert.deepEqual(await db.query('SELECT count(*) FROM samples'), [['1']])
    })

    test('what a type, a domain or a check does not take is refused, not bent', async (t) => {
      const { db, samples, table, driver } = await ground(t, subject)
      for (const [name, value, code] of samples.refused) {
        const { outcome } = await driver.mutate(
          validatedMutation(table, 'create', { values: new Map([[name, value]]), returning: ['id'] }),
        )
        assert.equal(outcome.ok ? 'OK' : outcome.error.code, code, `${name} ${value.slice(0, 60)}`)
      }
      assert.deepEqual(await db.query('SELECT count(*) FROM samples'), [['0']])
    })

    test('what others wrote is shown exactly, and found by what is shown', async (t) => {
      const { db, dialect, samples, table, read } = await ground(t, subject)
      for (const [name, literal, expected] of samples.literals) {
        const label = `${name} ${literal}`
        const column = columnOf(table, name)
        const id = await insertLiteral(db, samples, name, literal)
        const [row] = await read(validatedPlan(table, getPlan(table, { id }, [name])), label)
        const text = row?.[0]
        assert.ok(typeof text === 'string', label)
        assert.deepEqual(JSON.parse(dialect.encodeCell({ name, type: column.type }, text).json), expected, label)
        if (!column.type.equality) continue
        const [, sent] = shown(dialect, column, text, label)
        const filters = [filter(name, 'eq', sent), filter('id', 'eq', id)]
        const found = await read(validatedPlan(table, searchPlan(table, { columns: ['id'], filters })), label)
        assert.deepEqual(found, [[id]], label)
      }
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
    const { mutate, schema, cell } = testDriver(t, db.writer())
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
    assert.equal(await cell('SELECT email FROM public.folk'), 'ann@example.com')
  }
})
