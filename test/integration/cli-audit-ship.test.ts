import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { AuditMailbox } from '../../src/threads/audit-mailbox.js'
import { assertWholeChain, auditRecord, bufferAt, readBuffer, trailSettings } from '../support/audit-records.js'
import { answer, startReceiver } from '../support/ship-receiver.js'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'runku-ship-'))
after(() => rmSync(root, { recursive: true }))
let files = 0

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `runku audit ship` beside this process, which may be what it ships to. */
function ship(buffer: string, configFile: string): Promise<Ended> {
  return new Promise((resolve) => {
    const args = [MAIN, 'audit', 'ship', '--buffer', buffer, '--config', configFile, '--json']
    execFile(process.execPath, args, { cwd: root }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

function config(audit: string): string {
  const file = join(root, `config-${files++}.yaml`)
  writeFileSync(file, `audit:\n${audit}`)
  return file
}

function shippingTo(url: string): string {
  return config(`  buffer: { path: own.sqlite }\n  shipper: { url: "${url}?key=hidden", batch_max: 10 }\n`)
}

async function appendTo(path: string, count: number): Promise<AuditMailbox> {
  const started = await AuditMailbox.start(trailSettings({ buffer: bufferAt(path) }), {
    observe: () => {},
    nowMs: () => performance.now(),
  })
  assert.ok(started.ok)
  const ids = Array.from({ length: count }, (_, i) => `e-${i}`)
  await Promise.all(ids.map((id) => new Promise((resolve) => started.value.append(auditRecord(id), resolve))))
  return started.value
}

test('an orphaned buffer is shipped whole, with an entry about it, and a second time there is nothing left', async () => {
  const path = join(root, 'orphan.sqlite')
  await (await appendTo(path, 25)).stop()
  const receiver = await startReceiver(answer(200))
  const configFile = shippingTo(receiver.url)
  const first = await ship(path, configFile)
  assert.equal(first.code, 0, first.err)
  const content = readBuffer(path)
  assertWholeChain(content)
  assert.match(content.lines.at(-1) ?? '', /"tool":"adopted","operation":"audit".*"from_seq":1,"to_seq":25/)
  const lines = () =>
    receiver.requests.flatMap(({ body }) => body.split('\n').filter((line) => line.startsWith('{"seq":')))
  assert.deepEqual(lines(), content.lines)
  assert.deepEqual(JSON.parse(first.out), {
    instance: instanceOf(content.lines),
    delivered: 26,
    refused: 0,
    tampered: [],
  })
  const second = await ship(path, configFile)
  assert.equal((JSON.parse(second.out) as { delivered: number }).delivered, 0)
  assert.equal(lines().length, 26)
  await receiver.close()
})

function instanceOf(lines: readonly string[]): string {
  return (JSON.parse(lines[0] ?? '') as { instance: string }).instance
}

test('a buffer that a gateway uses is left to it', async () => {
  const path = join(root, 'used.sqlite')
  const gateway = await appendTo(path, 1)
  const ended = await ship(path, shippingTo('http://127.0.0.1:9/'))
  await gateway.stop()
  assert.equal(ended.code, 1)
  assert.match(ended.err, /is in use by another running gateway/)
})

test('what is not there is not made, and without a shipper there is nowhere to ship to', async () => {
  const missing = join(root, 'missing.sqlite')
  assert.match((await ship(missing, shippingTo('http://127.0.0.1:9/'))).err, /there is no buffer at/)
  assert.equal(existsSync(missing), false)
  const ended = await ship(missing, config('  stdout: true\n'))
  assert.equal(ended.code, 1)
  assert.match(ended.err, /the configuration has no audit.shipper/)
})

test('a destination that takes nothing is told of after some attempts, and what was not delivered is left', async () => {
  const path = join(root, 'left.sqlite')
  await (await appendTo(path, 15)).stop()
  const receiver = await startReceiver((...given) => answer(given[2] === 0 ? 200 : 503)(...given))
  const ended = await ship(path, shippingTo(receiver.url))
  await receiver.close()
  assert.equal(ended.code, 1)
  assert.match(ended.err, /it answers HTTP 503/)
  assert.match(ended.err, /10 entries were delivered, those from 11 on are left/)
  assert.doesNotMatch(ended.err, /hidden/)
})
