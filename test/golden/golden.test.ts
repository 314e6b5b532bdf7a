import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dialect } from '../../src/engines/engine.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { CASES } from './cases.js'
import { type Golden, POSTGRES } from './postgres.js'

/** Every engine that is served, with its expectations. An engine is not served before it has one for every case. */
const ENGINES: readonly { readonly dialect: Dialect; readonly golden: Golden }[] = [
  { dialect: postgresDialect, golden: POSTGRES },
]

for (const { dialect, golden } of ENGINES) {
  test(`${dialect.engine} has an expectation for every plan shape and for no other`, () => {
    assert.deepEqual(Object.keys(golden).sort(), [...CASES.keys()].sort())
  })

  for (const [name, plan] of CASES) {
    test(`${dialect.engine}: ${name}`, () => {
      const { text, params } = dialect.compile(plan)
      assert.deepEqual({ text, params }, golden[name])
    })
  }
}
