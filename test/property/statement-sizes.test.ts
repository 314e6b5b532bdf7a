import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MYSQL_PARAMS_MAX, POSTGRES_PARAMS_MAX, SQLSERVER_PARAMS_MAX } from '../../src/core/limits.js'
import type { ValueType } from '../../src/core/schema-model.js'
import type { CompiledStatement } from '../../src/core/statement.js'
import { DIALECTS } from '../support/dialects.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { filter, searchPlan, validatedMutation, validatedPlan } from '../support/plans.js'
import { TYPES, tableOf } from '../support/schema.js'
import { SQLSERVER_TYPES } from '../support/sqlserver-types.js'

const PARAMS_MAX = { postgres: POSTGRES_PARAMS_MAX, mysql: MYSQL_PARAMS_MAX, sqlserver: SQLSERVER_PARAMS_MAX }

const ENGINES = {
  postgres: { key: TYPES.integer, text: TYPES.text },
  mysql: { key: MYSQL_TYPES.int, text: MYSQL_TYPES.folded },
  sqlserver: { key: SQLSERVER_TYPES.int, text: SQLSERVER_TYPES.greek },
}

function wideTable({ key, text }: { readonly key: ValueType; readonly text: ValueType }, width: number) {
  const columns = Object.fromEntries(Array.from({ length: width }, (_, index) => [`c${index}?`, text]))
  return tableOf('t', { columns: { id: key, ...columns }, primaryKey: ['id'] })
}

const lists = (count: number, length: number) =>
  Array.from({ length: count }, (_, list) =>
    filter(
      'c0',
      'in',
      Array.from({ length }, (_, i) => `ά${list}.${i}`),
    ),
  )

for (const { dialect, engine } of DIALECTS) {
  const judged = (statements: readonly (CompiledStatement | undefined)[]) => {
    for (const statement of statements) {
      if (statement === undefined) continue
      assert.equal(statement.tooLarge !== undefined, statement.params.length > PARAMS_MAX[engine])
    }
  }

  test(`a statement of any size compiles on ${engine}, and says so where it is more than the engine takes`, () => {
    const sizes = fc.record({
      width: fc.integer({ min: 1, max: 1_100 }),
      count: fc.integer({ min: 0, max: 70 }),
      length: fc.constantFrom(1, 16, 17, 1_000),
    })
    fc.assert(
      fc.property(sizes, ({ width, count, length }) => {
        const table = wideTable(ENGINES[engine], width)
        const scope = { all: lists(count, length) }
        const plan = searchPlan(table, { columns: ['id'], filters: lists(Math.min(count, 50), length) })
        judged([dialect.compile(validatedPlan(table, plan, { scope }))])
        const values = Object.fromEntries(Array.from({ length: width }, (_, index) => [`c${index}`, 'ά']))
        const parts = { key: { id: '1' }, values, scope, returning: ['id'] }
        for (const kind of ['create', 'update'] as const) {
          const { lock, write, readBack, guard } = dialect.compileMutation(validatedMutation(table, kind, parts))
          judged([lock, write, readBack, guard])
        }
      }),
      { numRuns: 12 },
    )
  })
}

test('800 texts of an unknown code page and three lists of 902 values are written in one statement on SQL Server', () => {
  const dialect = DIALECTS.find(({ engine }) => engine === 'sqlserver')?.dialect
  assert.ok(dialect !== undefined)
  const table = wideTable(ENGINES.sqlserver, 800)
  const values = Object.fromEntries(Array.from({ length: 800 }, (_, index) => [`c${index}`, 'ά']))
  const parts = { key: { id: '1' }, values, scope: { all: lists(3, 902) }, returning: ['id'] }
  for (const kind of ['create', 'update'] as const) {
    const { lock, write } = dialect.compileMutation(validatedMutation(table, kind, parts))
    assert.deepEqual([lock?.tooLarge, write.tooLarge], [undefined, undefined])
  }
})
