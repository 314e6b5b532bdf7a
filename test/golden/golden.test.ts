import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledStatement } from '../../src/core/statement.js'
import type { Dialect } from '../../src/engines/engine.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { CALL_CASES } from './call-cases.js'
import { CASES } from './cases.js'
import { MUTATION_CASES } from './mutation-cases.js'
import { type Golden, POSTGRES } from './postgres.js'
import { type GoldenCalls, POSTGRES_CALLS } from './postgres-calls.js'
import { type GoldenMutations, POSTGRES_MUTATIONS } from './postgres-mutations.js'

/** Every engine that is served, with its expectations. An engine is not served before it has one for every case. */
const ENGINES: readonly {
  readonly dialect: Dialect
  readonly golden: Golden
  readonly mutations: GoldenMutations
  readonly calls: GoldenCalls
}[] = [{ dialect: postgresDialect, golden: POSTGRES, mutations: POSTGRES_MUTATIONS, calls: POSTGRES_CALLS }]

const sql = ({ text, params }: CompiledStatement) => ({ text, params })
const names = ({ columns }: CompiledStatement) => columns.map(({ name }) => name)

for (const { dialect, golden, mutations, calls } of ENGINES) {
  test(`${dialect.engine} has an expectation for every plan shape and for no other`, () => {
    assert.deepEqual(Object.keys(golden).sort(), [...CASES.keys()].sort())
    assert.deepEqual(Object.keys(mutations).sort(), [...MUTATION_CASES.keys()].sort())
    assert.deepEqual(Object.keys(calls).sort(), [...CALL_CASES.keys()].sort())
  })

  for (const [name, plan] of CASES) {
    test(`${dialect.engine}: ${name}`, () => {
      assert.deepEqual(sql(dialect.compile(plan)), golden[name])
    })
  }

  for (const [name, plan] of MUTATION_CASES) {
    test(`${dialect.engine}: ${name}`, () => {
      const { lock, write, maxAffectedRows, dryRun } = dialect.compileMutation(plan)
      assert.deepEqual({ ...(lock === undefined ? {} : { lock: sql(lock) }), write: sql(write) }, mutations[name])
      const returned = plan.returning.map(({ agentName }) => agentName)
      assert.deepEqual(names(write), returned)
      assert.deepEqual(lock === undefined ? returned : names(lock), returned)
      assert.deepEqual([maxAffectedRows, dryRun], [plan.limits.maxAffectedRows, plan.plan.dryRun])
    })
  }

  for (const [name, plan] of CALL_CASES) {
    test(`${dialect.engine}: ${name}`, () => {
      const { statement, cells, effect, dryRun, rowCap } = dialect.compileCall(plan)
      const compiled = { ...sql(statement), columns: names(statement), ...(cells === undefined ? {} : { cells }) }
      assert.deepEqual(compiled, calls[name])
      assert.deepEqual([effect, dryRun, rowCap], [plan.effect, plan.plan.dryRun, plan.limits.rowCap])
    })
  }
}
