import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { chainKeys } from '../../src/audit/chain.js'
import { Outbox } from '../../src/audit/outbox.js'
import { deliver, type ShipRequest } from '../../src/audit/ship/deliver.js'
import { spawnShipWorker, startShipper } from '../../src/audit/ship/ship-thread.js'
import { fail } from '../../src/core/result.js'
import type { Observation } from '../../src/observe/observation.js'
import { auditRecord, bufferAt, until } from '../support/audit-records.js'
import { selfSignedCertificate } from '../support/certificate.js'
import { answer, hang, startReceiver } from '../support/ship-receiver.js'

const root = mkdtempSync(join(tmpdir(), 'runku-ship-'))
after(() => rmSync(root, { recursive: true }))
const KEYS = chainKeys(Buffer.alloc(32, 1))

test('a shipping thread that dies is started again, and the entries go out', async () => {
  const receiver = await startReceiver(answer(200))
  const bufferPath = join(root, 'audit.db')
  const opened = Outbox.open({
    ...bufferAt(bufferPath),
    keys: KEYS,
    keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    intentsAreLost: true,
    ships: true,
    nowMs: Date.now,
    newInstance: () => '095b44a44361a001',
  })
  assert.ok(opened.ok)
  const outbox = opened.value
  assert.ok(outbox.append([auditRecord('a'), auditRecord('b')]).ok)
  const observations: Observation[] = []
  let threads = 0
  const shipper = startShipper({
    settings: {
      url: receiver.url,
      headers: [],
      format: 'ndjson',
      gzip: false,
      batchMax: 10,
      intervalMs: 50,
      timeoutMs: 1_000,
    },
    bufferPath,
    ledger: outbox.shipBook(),
    keys: KEYS,
    lastSeq: 2,
    nowMs: Date.now,
    observe: (observation) => observations.push(observation),
    spawn: (start) => {
      threads += 1
      if (threads > 1) return spawnShipWorker(start)
      return new Worker('throw new Error("broken")', {
        eval: true,
        workerData: start,
        transferList: [start.port],
      })
    },
  })
  await until('delivery', () => shipper.position === 2)
  assert.equal(shipper.failures, 1)
  await until('recovery', () => !shipper.failing)
  assert.deepEqual(observations, [
    {
      kind: 'audit.sink_failing',
      sink: 'shipper',
      detail: `${receiver.url}: the thread that ships ended: broken`,
    },
    { kind: 'audit.sink_recovered', sink: 'shipper' },
  ])
  await shipper.stop()
  outbox.close()
  await receiver.close()
})

test('an address that protects nothing is warned of when shipping begins, without what may be secret in it', async () => {
  const observations: Observation[] = []
  const shipper = startShipper({
    settings: {
      url: 'http://logs.example.com/in?token=secret',
      headers: [],
      format: 'json',
      gzip: true,
      batchMax: 10,
      intervalMs: 50,
      timeoutMs: 1_000,
    },
    bufferPath: join(root, 'none.db'),
    ledger: { instance: 'i', state: () => ({ position: 0, batch: undefined }), change: () => fail('nothing is kept') },
    keys: KEYS,
    lastSeq: 0,
    nowMs: Date.now,
    observe: (observation) => observations.push(observation),
    spawn: (start) =>
      new Worker('setInterval(() => {}, 1_000)', { eval: true, workerData: start, transferList: [start.port] }),
  })
  await shipper.stop()
  assert.deepEqual(observations, [
    {
      kind: 'audit.ship_unprotected',
      url: 'http://logs.example.com/in',
      detail: 'entries and headers travel unencrypted: use https',
    },
  ])
})

describe('an attempt', () => {
  const never = new AbortController().signal

  function request(url: string, timeoutMs = 5_000): ShipRequest {
    return {
      url,
      headers: [['X-Token', 'secret']],
      contentType: 'text/plain',
      id: 'i-1-1',
      body: 'x',
      gzip: false,
      timeoutMs,
      answerBytesMax: 1_000,
    }
  }

  test('reads no more of an answer than it was told to', async () => {
    const receiver = await startReceiver(answer(200, 'y'.repeat(1_000_000)))
    const attempt = await deliver(request(receiver.url), never)
    assert.deepEqual(attempt, { kind: 'answered', status: 200, retryAfter: undefined, text: undefined })
    await receiver.close()
  })

  test('ends when the answer does not', async () => {
    const halves = await startReceiver((response) => void response.writeHead(200).write('{'))
    const silent = await startReceiver(hang)
    for (const { url } of [halves, silent]) {
      assert.deepEqual(await deliver(request(url, 100), never), {
        kind: 'unanswered',
        reason: 'no answer within 100 ms',
      })
    }
    await halves.close()
    await silent.close()
  })

  test('follows no redirect', async () => {
    const target = await startReceiver(answer(200))
    const receiver = await startReceiver(answer(307, '', { location: target.url }))
    const attempt = await deliver(request(receiver.url), never)
    assert.equal(attempt.kind === 'answered' ? attempt.status : 0, 307)
    assert.equal(target.requests.length, 0)
    await receiver.close()
    await target.close()
  })

  test('at a name or a port where nobody is fails with the reason', async () => {
    const unknown = await deliver(request('http://nobody.invalid/'), never)
    assert.match(
      unknown.kind === 'unanswered' ? unknown.reason : '',
      /^its name (is not known|cannot be looked up) \(E/,
    )
    const receiver = await startReceiver(hang)
    await receiver.close()
    assert.deepEqual(await deliver(request(receiver.url), never), {
      kind: 'unanswered',
      reason: 'it refuses connections (ECONNREFUSED)',
    })
  })

  test('does not trust a certificate that nobody vouches for', async () => {
    const { certificate: cert, key } = selfSignedCertificate()
    const server = createServer({ cert, key }, (_request, response) => void response.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // A listening TCP server has an address of this kind.
    const { port } = server.address() as AddressInfo
    const attempt = await deliver(request(`https://127.0.0.1:${port}/`), never)
    assert.match(attempt.kind === 'unanswered' ? attempt.reason : '', /CERT|SIGNED/)
    server.close()
  })
})
