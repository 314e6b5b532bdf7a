import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValidatedCall } from '../../src/core/plan.js'
import type { CompiledStatement } from '../../src/core/statement.js'
import type { Dialect } from '../../src/engines/engine.js'
import { mysqlDialect } from '../../src/engines/mysql/dialect.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { sqlserverDialect } from '../../src/engines/sqlserver/dialect.js'
import { MYSQL_CALL_CASES, POSTGRES_CALL_CASES, SQLSERVER_CALL_CASES } from './call-cases.js'
import { planCases } from './cases.js'
import { type GoldenCatalog, MYSQL_CATALOG, POSTGRES_CATALOG, SQLSERVER_CATALOG } from './catalogs.js'
import { mutationCases } from './mutation-cases.js'
import { MYSQL } from './mysql.js'
import { MYSQL_CALLS } from './mysql-calls.js'
import { MYSQL_MUTATIONS } from './mysql-mutations.js'
import { type Golden, POSTGRES } from './postgres.js'
import { type GoldenCalls, POSTGRES_CALLS } from './postgres-calls.js'
import { type GoldenMutations, POSTGRES_MUTATIONS } from './postgres-mutations.js'
import { SQLSERVER } from './sqlserver.js'
import { SQLSERVER_CALLS } from './sqlserver-calls.js'
import { SQLSERVER_MUTATIONS } from './sqlserver-mutations.js'

/** Every engine that is served, with its expectations. An engine is not served before it has one for every case. */
const ENGINES: readonly {
  readonly dialect: Dialect
  readonly catalog: GoldenCatalog
  readonly callCases: ReadonlyMap<string, ValidatedCall>
  readonly golden: Golden
  readonly mutations: GoldenMutations
  readonly calls: GoldenCalls
}[] = [
  {
    dialect: postgresDialect,
    catalog: POSTGRES_CATALOG,
    callCases: POSTGRES_CALL_CASES,
    golden: POSTGRES,
    mutations: POSTGRES_MUTATIONS,
    calls: POSTGRES_CALLS,
  },
  {
    dialect: mysqlDialect,
    catalog: MYSQL_CATALOG,
    callCases: MYSQL_CALL_CASES,
    golden: MYSQL,
    mutations: MYSQL_MUTATIONS,
    calls: MYSQL_CALLS,
  },
  {
    dialect: sqlserverDialect,
    catalog: SQLSERVER_CATALOG,
    callCases: SQLSERVER_CALL_CASES,
    golden: SQLSERVER,
    mutations: SQLSERVER_MUTATIONS,
    calls: SQLSERVER_CALLS,
  },
]

const sql = ({ text, params }: CompiledStatement) => ({ text, params })
const names = ({ columns }: CompiledStatement) => columns.map(({ name }) => name)

for (const { dialect, catalog, callCases, golden, mutations, calls } of ENGINES) {
  const cases = planCases(catalog)
  const changes = mutationCases(catalog)

  test(`${dialect.engine} has an expectation for every plan shape and for no other`, () => {
    assert.deepEqual(Object.keys(golden).sort(), [...cases.keys()].sort())
    assert.deepEqual(Object.keys(mutations).sort(), [...changes.keys()].sort())
    assert.deepEqual(Object.keys(calls).sort(), [...callCases.keys()].sort())
  })

  for (const [name, plan] of cases) {
    test(`${dialect.engine}: ${name}`, () => {
      assert.deepEqual(sql(dialect.compile(plan)), golden[name])
    })
  }

  for (const [name, plan] of changes) {
    test(`${dialect.engine}: ${name}`, () => {
      const { lock, write, readBack, maxAffectedRows, dryRun } = dialect.compileMutation(plan)
      const compiled = {
        ...(lock === undefined ? {} : { lock: sql(lock) }),
        write: sql(write),
        ...(readBack === undefined ? {} : { readBack: sql(readBack) }),
      }
      assert.deepEqual(compiled, mutations[name])
      const returned = plan.returning.map(({ agentName }) => agentName)
      assert.deepEqual(names(write), returned)
      for (const read of [lock, readBack]) assert.deepEqual(read === undefined ? returned : names(read), returned)
      assert.deepEqual([maxAffectedRows, dryRun], [plan.limits.maxAffectedRows, plan.plan.dryRun])
    })
  }

  for (const [name, plan] of callCases) {
    test(`${dialect.engine}: ${name}`, () => {
      const { statement, cells, sets, effect, dryRun, rowCap } = dialect.compileCall(plan)
      const compiled = {
        ...sql(statement),
        columns: names(statement),
        ...(cells === undefined ? {} : { cells }),
        ...(sets === undefined ? {} : { sets }),
      }
      assert.deepEqual(compiled, calls[name])
      assert.deepEqual([effect, dryRun, rowCap], [plan.effect, plan.plan.dryRun, plan.limits.rowCap])
    })
  }
}
