import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  assertCounted,
  COUNTED_SETUP,
  type CountedPlan,
  countedFolder,
  creation,
  load,
  SEARCH,
  startCounted,
  stopCounted,
  tallied,
} from '../support/counted-calls.js'
import { post, rpcCall } from '../support/gateway.js'
import { heldSession, holdNotes } from '../support/hold.js'
import { HELD_CALL } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { RawConnection } from '../support/raw-http.js'

describe('calls and entries are as many, counted,', () => {
  let database: TestDatabase

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(COUNTED_SETUP)
  })

  async function started(plan: CountedPlan = {}) {
    const folder = await countedFolder(database, plan)
    return startCounted(folder, undefined, plan.spawn)
  }

  test('of 256 clients at full load', async () => {
    const counted = await started()
    const { replies, sent } = counted.tally
    await load(counted, 256, () => sent.size < 2_000, 'many')
    await stopCounted(counted)
    assert.equal(replies.size, sent.size)
    const { entries, answered } = await assertCounted(counted, database)
    assert.equal(entries.length, answered)
    // The count itself: a reply that nothing tells of does not pass.
    sent.add('untold')
    replies.set('untold', { status: 200, text: '"row_count"' })
    await assert.rejects(assertCounted(counted, database), /answered without an entry/)
    await counted.folder.remove()
  })

  test('of clients that leave as soon as they have asked', async () => {
    const counted = await started()
    const { endpoint, key, folder, tally } = counted
    const { port, pathname } = new URL(endpoint)
    const leave = async (n: number) => {
      const id = `gone-${n}`
      const body = JSON.stringify(rpcCall(id, n % 2 === 0 ? SEARCH : creation(id)))
      const head = `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n`
      const connection = new RawConnection(Number(port))
      await connection.sent(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      connection.destroy()
      tally.sent.add(id)
    }
    await Promise.all([
      ...Array.from({ length: 200 }, (_, n) => leave(n)),
      load(counted, 8, () => tally.replies.size < 100, 'stayed'),
    ])
    const entriesOf = (prefix: string) => folder.entries().filter(({ request_id: id = '' }) => id.startsWith(prefix))
    await eventually('each call that arrived has ended', () => entriesOf('gone').length >= 200)
    await stopCounted(counted)
    const { entries } = await assertCounted(counted, database)
    assert.equal(entries.length, tally.sent.size)
    await folder.remove()
  })

  test('of bodies that are malformed or too large', async () => {
    const counted = await started()
    const { endpoint, key, folder, tally } = counted
    const bodies = [
      '{',
      '',
      '[]',
      '"x"',
      '{"jsonrpc":"2.0","id":1}',
      '\u0000',
      `"${'x'.repeat(1_100_000)}"`,
      '{"a":1,"a":2}',
    ]
    const refused: number[] = []
    const send = async (n: number) => {
      const { status } = await post(endpoint, key, bodies[n % bodies.length] ?? '')
      assert.ok(status >= 400 && status < 500, `${n} ${status}`)
      refused.push(status)
    }
    await Promise.all([
      ...Array.from({ length: 80 }, (_, n) => send(n)),
      load(counted, 8, () => tally.replies.size < 100, 'sound'),
    ])
    await stopCounted(counted)
    const { entries } = await assertCounted(counted, database)
    assert.equal(entries.length, tally.replies.size)
    const requests = folder.entries().filter(({ operation }) => operation === 'request')
    assert.equal(
      requests.reduce((sum, { count = 1 }) => sum + count, 0),
      refused.length,
    )
    assert.ok(refused.includes(413) && refused.includes(400))
    await folder.remove()
  })

  test('of calls that are cancelled, reads and writes', async () => {
    const counted = await started()
    const { endpoint, key, tally } = counted
    const hold = await holdNotes(database.reader())
    const locker = await heldSession(database.superuser())
    await locker.begin()
    await locker.query(`UPDATE ${database.schema}.things SET number = 0 WHERE id = 'locked'`)
    const update = (n: number) => ({ name: 'update_things_by_pk', arguments: { id: 'locked', values: { number: n } } })
    const calls = Array.from({ length: 24 }, (_, n) =>
      tallied(counted, `cancel-${n}`, n % 2 === 0 ? HELD_CALL : update(n)),
    )
    await eventually('the connections are taken', async () => {
      const metrics = await (await fetch(`${counted.gateway.adminUrl}/metrics`)).text()
      return metrics.includes('runku_in_flight{connector="notes"} 24')
    })
    for (let n = 0; n < calls.length; n++) {
      const params = { requestId: `cancel-${n}`, reason: 'test' }
      assert.equal(
        (await post(endpoint, key, { jsonrpc: '2.0', method: 'notifications/cancelled', params })).status,
        202,
      )
    }
    await locker.end()
    await hold.release()
    await Promise.all(calls)
    await stopCounted(counted)
    assert.equal(tally.replies.size, 24)
    const { entries } = await assertCounted(counted, database)
    assert.equal(entries.length, 24)
    const cancelled = [...tally.replies].filter(([, { text }]) => text.includes('CANCELLED: ')).map(([id]) => id)
    assert.deepEqual(
      entries
        .filter(({ code }) => code === 'CANCELLED')
        .map(({ request_id: id = '' }) => id)
        .sort(),
      cancelled.sort(),
    )
    assert.ok(cancelled.length >= 12, 'no read was served')
    await counted.folder.remove()
  })

  test('of calls while nobody reads stdout any more', async () => {
    const counted = await started({ audit: '{ stdout: true, buffer: { path: audit.sqlite, durability: normal } }' })
    const { tally } = counted
    let closed = false
    await load(
      counted,
      16,
      () => {
        if (!closed && tally.replies.size > 50) {
          closed = true
          counted.gateway.child.stdout?.destroy()
        }
        return tally.replies.size < 300
      },
      'closed',
    )
    await stopCounted(counted)
    assert.ok(counted.gateway.log.some(({ msg }) => msg === 'audit.stdout_closed'))
    const { entries } = await assertCounted(counted, database)
    assert.equal(entries.length, tally.replies.size)
    await counted.folder.remove()
  })

  test('of keys that are none, from many addresses: folded, within their share, and calls are served', async () => {
    const bytesMax = 4_194_304
    const audit = `{ stdout: false, buffer: { path: audit.sqlite, durability: normal, bytes_max: ${bytesMax}, on_full: block } }`
    const counted = await started({ audit, server: 'trusted_proxies: [127.0.0.1]' })
    const { endpoint, folder, tally } = counted
    const badKey = `rk_aaaaaaaaaaaa_${'b'.repeat(43)}`
    let flooded = 0
    const flood = async () => {
      while (flooded < 1_500) {
        const n = flooded++
        const { status } = await post(endpoint, badKey, rpcCall(1, SEARCH), {
          'x-forwarded-for': `10.${n >> 8}.${n & 255}.1`,
        })
        assert.ok(status === 401 || status === 429, `${status}`)
      }
    }
    await Promise.all([...Array.from({ length: 16 }, flood), load(counted, 4, () => tally.replies.size < 200, 'known')])
    await stopCounted(counted)
    const { entries } = await assertCounted(counted, database)
    assert.equal(entries.length, tally.replies.size)
    assert.ok([...tally.replies.values()].every(({ status }) => status === 200))
    const strangers = folder.entries().filter(({ operation }) => operation === 'request')
    const bytes = strangers.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)
    assert.ok(bytes <= bytesMax * 0.05, `${bytes}`)
    assert.ok(strangers.length < 1_500 && strangers.some(({ count = 1 }) => count > 1))
    await folder.remove()
  })
})
