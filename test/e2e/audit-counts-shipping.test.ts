import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  assertCounted,
  COUNTED_SETUP,
  countedFolder,
  load,
  startCounted,
  stopCounted,
} from '../support/counted-calls.js'
import { type GatewayFolder, readEntries } from '../support/gateway.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { type Answering, answer, drop, type Receiver, startReceiver } from '../support/ship-receiver.js'

describe('calls and entries are as many, counted, and the destination', () => {
  let database: TestDatabase

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(COUNTED_SETUP)
  })

  const shippingTo = (url: string) =>
    countedFolder(database, {
      audit: `{ stdout: false, buffer: { path: audit.sqlite, durability: normal }, shipper: { url: "${url}", batch_max: 50, interval_ms: 50, timeout_ms: 1000 } }`,
    })

  /** What a receiver keeps that knows batches by their ids, in order. */
  function keptBy({ requests }: Receiver): readonly string[] {
    const batches = new Map<string, readonly string[]>()
    for (const { headers, body } of requests) {
      const lines = body.split('\n').filter((line) => line.startsWith('{"seq":'))
      const id = String(headers['idempotency-key'])
      const before = batches.get(id)
      if (before === undefined) batches.set(id, lines)
      else assert.deepEqual(lines, before, 'a batch that comes again is the same')
    }
    return [...batches.values()].flat()
  }

  const seqs = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { readonly seq: number }).seq)

  /** Everything up to now has arrived once, in order. */
  async function allArrivesOnce(receiver: Receiver, folder: GatewayFolder): Promise<void> {
    const last = readEntries(folder.bufferFile).at(-1)?.seq ?? 0
    await eventually('all has arrived', () => (seqs(keptBy(receiver)).at(-1) ?? 0) >= last)
    const kept = keptBy(receiver)
    assert.deepEqual(
      seqs(kept),
      kept.map((_, index) => index + 1),
    )
  }

  test('that takes batches and then drops the connection costs no call anything', async () => {
    const receiver = await startReceiver(drop)
    const counted = await startCounted(await shippingTo(receiver.url))
    const { replies } = counted.tally
    await load(counted, 32, () => replies.size < 600, 'dropped')
    await eventually('it was tried', () => receiver.requests.length > 1)
    await stopCounted(counted)
    const { entries } = await assertCounted(counted, database)
    assert.equal(entries.length, replies.size)
    assert.ok([...replies.values()].every(({ status }) => status === 200))
    await receiver.close()
    await counted.folder.remove()
  })

  test('that is down for the whole run costs no call anything', async () => {
    const receiver = await startReceiver(answer(200))
    await receiver.close()
    const counted = await startCounted(await shippingTo(receiver.url))
    const { replies } = counted.tally
    await load(counted, 32, () => replies.size < 600, 'down')
    await stopCounted(counted)
    const { entries } = await assertCounted(counted, database)
    assert.equal(entries.length, replies.size)
    assert.ok([...replies.values()].every(({ status }) => status === 200))
    await counted.folder.remove()
  })

  test('whose acknowledgements are lost, over kill -9 too, ends with each entry once', async () => {
    // Each batch is taken, and its first acknowledgement lost.
    const seen = new Set<string>()
    const answering: Answering = (response, request, number) => {
      const id = String(request.headers['idempotency-key'])
      if (seen.has(id)) return answer(200)(response, request, number)
      seen.add(id)
      return drop(response, request, number)
    }
    const receiver = await startReceiver(answering)
    const folder = await shippingTo(receiver.url)
    const first = await startCounted(folder)
    const { tally } = first
    await load(
      first,
      16,
      () => {
        if (receiver.requests.length >= 2 && tally.replies.size > 100) first.gateway.child.kill('SIGKILL')
        return true
      },
      'first',
    )
    assert.equal(await first.gateway.exited, 'SIGKILL')
    const second = await startCounted(folder, tally)
    const goal = tally.replies.size + 200
    await load(second, 16, () => tally.replies.size < goal, 'second')
    await allArrivesOnce(receiver, folder)
    await stopCounted(second)
    await assertCounted(second, database)
    const repeated =
      receiver.requests.length - new Set(receiver.requests.map(({ headers }) => headers['idempotency-key'])).size
    assert.ok(repeated > 1, 'batches came again')
    await receiver.close()
    await folder.remove()
  })
})
