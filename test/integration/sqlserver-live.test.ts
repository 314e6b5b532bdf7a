import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SQLSERVER_TARGETS, sqlserverTarget } from '../support/sqlserver.js'
import { batchesOf } from '../support/sqlserver-server.js'

/** How a test file asks for a server of this engine, alone or among the others. */
const LIVE = /\b(?:SQLSERVER|ENGINE|WHOLE_PATH)_TARGETS\b/

function liveFiles(): readonly string[] {
  const tests = fileURLToPath(new URL('..', import.meta.url))
  return readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js') && !name.endsWith('sqlserver-live.test.js'))
    .filter((name) => LIVE.test(readFileSync(`${tests}/${name}`, 'utf8')))
    .sort()
}

test('tests that no server of SQL Server is there for are counted aloud', (t: TestContext) => {
  const files = liveFiles()
  assert.ok(files.length > 0)
  if (SQLSERVER_TARGETS.length > 0) return t.diagnostic(`SQL SERVER: ${files.length} test files run on it as well`)
  t.diagnostic(
    `SQL SERVER IS NOT TESTED LIVE: ${files.length} test files ran without it, since RUNKU_TEST_SQLSERVER_URL names no server ` +
      '(sqlserver://user:password@host:port, or docker)',
  )
  for (const file of files) t.diagnostic(`without SQL Server: ${file}`)
})

test('an address that is none of SQL Server is refused, saying what was expected', async () => {
  for (const wanted of ['mysql://sa:x@h', 'sqlserver://h', 'yes']) {
    await assert.rejects(async () => sqlserverTarget(wanted).start(), /sqlserver:\/\/user:password@host:port/)
  }
})

test('setup is sent in batches that end at lines of their own', () => {
  assert.deepEqual(batchesOf('SELECT 1\nGO\n\ngo \nSELECT 2 -- GO\n'), ['SELECT 1\n', '\nSELECT 2 -- GO\n'])
  assert.deepEqual(batchesOf(' \n'), [])
})
