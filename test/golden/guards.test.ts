import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledStatement } from '../../src/core/statement.js'
import { DIALECTS } from '../support/dialects.js'
import { type GoldenCatalog, MYSQL_CATALOG, POSTGRES_CATALOG, SQLSERVER_CATALOG } from './catalogs.js'
import { guardCases } from './guard-cases.js'
import { GUARDS } from './guards.js'

const CATALOGS = {
  postgres: POSTGRES_CATALOG,
  mysql: MYSQL_CATALOG,
  sqlserver: SQLSERVER_CATALOG,
} as const satisfies Readonly<Record<string, GoldenCatalog>>

const textsOf = (...statements: readonly (CompiledStatement | undefined)[]): readonly string[] =>
  statements.flatMap((statement) => (statement === undefined ? [] : [statement.text]))

for (const { dialect, engine } of DIALECTS) {
  const { reads, mutations } = guardCases(CATALOGS[engine])

  test(`${engine}: a read makes sure of every column it names, and of its table, in the same statement or before it`, () => {
    const texts = new Map([...reads].map(([name, plan]) => [name, dialect.compile(plan)]))
    const compiled = [...texts].map(([name, statement]) => [name, textsOf(statement.guard, statement)] as const)
    assert.deepEqual(Object.fromEntries(compiled), GUARDS[engine].reads)
  })

  test(`${engine}: a mutation does so before it writes`, () => {
    const compiled = [...mutations].map(([name, plan]) => {
      const { guard, lock, write, readBack } = dialect.compileMutation(plan)
      return [name, textsOf(guard, lock, write, readBack)] as const
    })
    assert.deepEqual(Object.fromEntries(compiled), GUARDS[engine].mutations)
  })
}
