import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { entriesIn, valueIn } from '../support/audit-buffers.js'
import { chainOf } from '../support/chain-of.js'
import {
  callTool,
  type GatewayFolder,
  post,
  prepareGateway,
  type RunningGateway,
  rpcCall,
  spawnGateway,
  startGateway,
} from '../support/gateway.js'
import { holdNotes } from '../support/hold.js'
import { HELD_CALL, NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'

const IDENTITIES = { reader: { roles: ['reader'] } }

function plan(database: TestDatabase, audit: string) {
  return {
    connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
    identities: IDENTITIES,
    audit,
  }
}

describe('the audit trail', () => {
  let database: TestDatabase

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
  })

  test('stdout carries one JSON line a call, the same text as in the buffer, and nothing else', async () => {
    const folder = await prepareGateway(plan(database, '{ stdout: true, buffer: { path: audit.sqlite } }'))
    const gateway = await spawnGateway(folder, ['notes'])
    const endpoint = gateway.endpoint('notes')
    const key = folder.keys['reader'] ?? ''
    const nasty = 'a\nb\u2028\u001b[31m"\\'
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        callTool(endpoint, key, n % 2 === 0 ? 'search_notes' : nasty, { limit: 1, columns: ['id'] }, `${nasty}${n}`),
      ),
    )
    await post(endpoint, undefined, rpcCall(1, { name: 'x' }))
    gateway.child.kill('SIGTERM')
    assert.equal(await gateway.exited, 0)
    await eventually('stdout is read to its end', () => gateway.stdout.length >= folder.trail().length)
    assert.deepEqual(
      gateway.stdout.map((line) => JSON.parse(line)),
      folder.trail(),
    )
    assert.equal(folder.entries().length, 41)
    for (const line of gateway.stdout) assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
    await folder.remove()
  })

  test('a reader of stdout that goes away takes nothing from the calls: the buffer keeps them', async () => {
    const folder = await prepareGateway(plan(database, '{ stdout: true, buffer: { path: audit.sqlite } }'))
    const gateway = await spawnGateway(folder, ['notes'])
    const endpoint = gateway.endpoint('notes')
    const key = folder.keys['reader'] ?? ''
    gateway.child.stdout?.destroy()
    for (let n = 0; n < 10; n++) {
      const answer = await callTool(endpoint, key, 'search_notes', { limit: 1 })
      assert.equal(answer.isError, false, answer.text)
    }
    await eventually('the operator is told', () => gateway.log.some(({ msg }) => msg === 'audit.stdout_closed'))
    gateway.child.kill('SIGTERM')
    assert.equal(await gateway.exited, 0)
    assert.equal(folder.entries().length, 10)
    await folder.remove()
  })

  test('that is to serve without it: reads are answered while entries wait, and health and metrics say so', async () => {
    const audit = '{ stdout: false, buffer: { path: audit.sqlite }, on_failure: degrade }'
    const folder = await prepareGateway(plan(database, audit))
    const running = await startGateway(folder)
    const endpoint = running.endpoint('notes')
    const key = folder.keys['reader'] ?? ''
    const search = () => callTool(endpoint, key, 'search_notes', { limit: 1, columns: ['id'] })
    const ready = async () => {
      const response = await fetch(`${running.gateway.adminUrl}/readyz`)
      const text = await response.text()
      return { status: response.status, text }
    }
    const metric = async (name: string) => {
      const text = await (await fetch(`${running.gateway.adminUrl}/metrics`)).text()
      return new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
    }
    assert.equal((await search()).isError, false)
    renameSync(folder.bufferFile, `${folder.bufferFile}.away`)
    for (let n = 0; n < 5; n++) assert.equal((await search()).isError, false)
    assert.deepEqual(await ready(), { status: 200, text: '{"status":"ready","degraded":["audit"]}' })
    assert.equal(await metric('runku_audit_degraded'), '1')
    assert.equal(await metric('runku_audit_available'), '0')
    const refused = await post(endpoint, undefined, rpcCall(1, { name: 'x' }))
    assert.equal(refused.status, 401)
    renameSync(`${folder.bufferFile}.away`, folder.bufferFile)
    await eventually('the gap is told of', () => running.observations.some(({ kind }) => kind === 'audit.gap'))
    assert.equal((await ready()).text, '{"status":"ready"}')
    assert.equal(await metric('runku_audit_degraded'), '0')
    await eventually('it is counted', async () => Number(await metric('runku_audit_buffer_entries')) >= 7)
    await running.stop()
    const entries = entriesIn(folder.bufferFile)
    assert.equal(entries.filter(({ tool }) => tool === 'search_notes').length, 6)
    assert.equal(entries.filter(({ tool }) => tool === 'gap').length, 1)
    assert.deepEqual(chainOf(folder.bufferFile), { lines: entries.length, faults: [] })
    await folder.remove()
  })

  test('bad keys from many addresses take their share of the buffer and no more, all are counted, and calls have room', async () => {
    const audit = '{ stdout: false, buffer: { path: audit.sqlite, bytes_max: 4194304, on_full: block } }'
    const folder = await prepareGateway({ ...plan(database, audit), server: 'trusted_proxies: [127.0.0.1]' })
    const running = await startGateway(folder)
    const endpoint = running.endpoint('notes')
    const badKey = `rk_aaaaaaaaaaaa_${'b'.repeat(43)}`
    let sent = 0
    const flood = async () => {
      while (sent < 1_600) {
        const headers = { 'x-forwarded-for': `10.${sent >> 8}.${sent & 255}.1` }
        sent += 1
        await post(endpoint, badKey, rpcCall(1, { name: 'search_notes' }), headers)
      }
    }
    await Promise.all(Array.from({ length: 16 }, flood))
    const answer = await callTool(endpoint, folder.keys['reader'] ?? '', 'search_notes', { limit: 1 })
    assert.equal(answer.isError, false, answer.text)
    const withheld = () => Number(valueIn(folder.bufferFile, 'SELECT total(count) FROM withheld'))
    await running.stop()
    const strangers = entriesIn(folder.bufferFile).filter(({ operation }) => operation === 'request')
    const bytes = strangers.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)
    assert.ok(bytes > 4_194_304 * 0.03 && bytes < 4_194_304 * 0.05, `${bytes}`)
    assert.equal(
      strangers.reduce((sum, { count = 1 }) => sum + count, withheld()),
      1_600,
    )
    assert.ok(strangers.some(({ address, count = 1 }) => address === undefined && count > 1))
    await folder.remove()
  })

  describe('that cannot be kept', () => {
    let folder: GatewayFolder
    let running: RunningGateway
    let endpoint: string
    let key: string

    before(async () => {
      folder = await prepareGateway(plan(database, '{ stdout: false, buffer: { path: audit.sqlite } }'))
      running = await startGateway(folder)
      endpoint = running.endpoint('notes')
      key = folder.keys['reader'] ?? ''
    })

    after(async () => {
      await running?.stop()
      await folder?.remove()
    })

    const search = () => callTool(endpoint, key, 'search_notes', { limit: 1, columns: ['id'] })
    const readiness = async () => (await fetch(`${running.gateway.adminUrl}/readyz`)).status

    /** Nothing is served while `broken` holds, and everything again afterwards. */
    async function refusesUntil(repair: () => void): Promise<void> {
      const hold = await holdNotes(database.reader())
      const first = await search()
      assert.match(first.text, /^AUDIT_UNAVAILABLE: /)
      assert.doesNotMatch(first.text, /"rows"/)
      // A call that reached the database now would wait there.
      const second = await callTool(endpoint, key, HELD_CALL.name, HELD_CALL.arguments)
      assert.match(second.text, /^AUDIT_UNAVAILABLE: /)
      const refused = await post(endpoint, undefined, rpcCall(1, { name: 'x' }))
      assert.equal(refused.status, 503)
      assert.ok(refused.headers.get('retry-after') !== null)
      assert.match(refused.text, /AUDIT_UNAVAILABLE/)
      assert.equal(await readiness(), 503)
      assert.equal((await fetch(`${running.gateway.adminUrl}/healthz`)).status, 200)
      repair()
      await eventually('it is ready again', async () => (await readiness()) === 200)
      assert.equal((await search()).isError, false)
      await hold.release()
    }

    test('because its file was replaced: calls are refused, nothing is served, and it goes on when the file is back', async () => {
      assert.equal((await search()).isError, false)
      renameSync(folder.bufferFile, `${folder.bufferFile}.away`)
      await refusesUntil(() => renameSync(`${folder.bufferFile}.away`, folder.bufferFile))
    })

    test('because another program holds its lock: the same, until the lock is released', async () => {
      const other = new Database(folder.bufferFile)
      other.exec('BEGIN IMMEDIATE')
      await refusesUntil(() => {
        other.exec('ROLLBACK')
        other.close()
      })
    })

    test('the chain has no gap afterwards', async () => {
      const kinds = running.observations.map(({ kind }) => kind)
      assert.equal(kinds.filter((kind) => kind === 'audit.unavailable').length, 2)
      assert.equal(kinds.filter((kind) => kind === 'audit.available').length, 2)
      await running.stop()
      const lines = folder.trail().length
      assert.ok(lines >= 3)
      assert.deepEqual(chainOf(folder.bufferFile), { lines, faults: [] })
    })
  })
})
