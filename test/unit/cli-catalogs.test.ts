import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCatalogs } from '../../src/cli/catalogs.js'
import type { ConnectorConfig } from '../../src/config/config.js'
import { fail, ok } from '../../src/core/result.js'
import { schemaOf } from '../support/policy-schema.js'

test('catalogs of many connectors are read a few at a time, each is told of, and one that fails takes none along', async () => {
  // Only the id is looked at here.
  const connectors = Array.from({ length: 150 }, (_, i) => ({ id: `c${i}` }) as ConnectorConfig)
  let [open, most] = [0, 0]
  const catalogs = await readCatalogs(connectors, async ({ id }) => {
    open += 1
    most = Math.max(most, open)
    await new Promise((resolve) => setImmediate(resolve))
    open -= 1
    return id === 'c7' ? fail('no answer') : ok(schemaOf())
  })
  assert.deepEqual(
    catalogs.map(({ connector }) => connector.id),
    connectors.map(({ id }) => id),
  )
  assert.deepEqual(
    catalogs.filter(({ schema }) => !schema.ok).map(({ connector }) => connector.id),
    ['c7'],
  )
  assert.ok(most > 1 && most <= 8, `at most 8 at once: ${most}`)
})
