import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import {
  assertCounted,
  COUNTED_SETUP,
  type Counted,
  countedFolder,
  isUnavailable,
  load,
  startCounted,
  stopCounted,
  tallied,
} from '../support/counted-calls.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { smallDisk } from '../support/small-disk.js'

const KILLER = ['--import', fileURLToPath(new URL('../support/thread-killer.js', import.meta.url))]
/** Root without its right to write where the modes forbid it. */
const MODES_COUNT = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : undefined

describe('calls and entries are as many, counted, although', () => {
  let database: TestDatabase

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(COUNTED_SETUP)
  })

  const served = async (counted: Counted) => {
    let tries = 0
    await eventually('calls are served', async () => {
      const reply = await tallied(counted, `again-${counted.tally.sent.size}-${tries++}`)
      return reply?.status === 200 && reply.text.includes('"row_count"')
    })
  }

  /** Load during which the gateway gets a signal at these replies. */
  async function loadWithSignals(counted: Counted, signal: NodeJS.Signals, at: readonly number[], prefix: string) {
    const left = [...at]
    const { replies } = counted.tally
    const end = (at.at(-1) ?? 0) + 300
    await load(
      counted,
      32,
      () => {
        if (left[0] !== undefined && replies.size >= left[0]) {
          left.shift()
          counted.gateway.child.kill(signal)
        }
        return replies.size < end
      },
      prefix,
    )
    assert.deepEqual(left, [])
  }

  test('connector threads die amid them', async () => {
    const counted = await startCounted(await countedFolder(database), undefined, { nodeArgs: KILLER })
    await loadWithSignals(counted, 'SIGUSR2', [100, 500], 'threads')
    await served(counted)
    await stopCounted(counted)
    const { entries, answered } = await assertCounted(counted, database)
    assert.equal(entries.length, answered)
    assert.equal(counted.tally.replies.size, counted.tally.sent.size)
    const exits = counted.folder.trail().filter(({ tool }) => tool === 'worker_exited')
    assert.ok(exits.length >= 2, JSON.stringify(exits))
    await counted.folder.remove()
  })

  test('the audit thread dies amid them', async () => {
    const counted = await startCounted(await countedFolder(database), undefined, { nodeArgs: KILLER })
    await loadWithSignals(counted, 'SIGPWR', [100, 400], 'audit')
    await served(counted)
    await stopCounted(counted)
    await assertCounted(counted, database)
    assert.equal(counted.tally.replies.size, counted.tally.sent.size)
    const { log } = counted.gateway
    assert.ok(
      log.some(({ msg, detail }) => msg === 'audit.unavailable' && /thread/.test(String(detail))),
      JSON.stringify(log),
    )
    await counted.folder.remove()
  })

  test('SIGTERM comes amid them', async () => {
    const counted = await startCounted(await countedFolder(database))
    const { replies } = counted.tally
    let told = false
    await load(
      counted,
      64,
      () => {
        if (!told && replies.size > 200) told = counted.gateway.child.kill('SIGTERM')
        return true
      },
      'term',
    )
    assert.equal(await counted.gateway.exited, 0)
    const { entries, answered } = await assertCounted(counted, database)
    assert.equal(entries.length, answered)
    await counted.folder.remove()
  })

  test('the disk is full: refused then, served again when there is room', async () => {
    const disk = smallDisk(48)
    const path = join(disk.folder, 'audit.sqlite')
    try {
      const audit = `{ stdout: false, buffer: { path: ${JSON.stringify(path)}, durability: normal } }`
      const counted = await startCounted(await countedFolder(database, { audit }))
      const { tally, gateway } = counted
      const pid = gateway.child.pid ?? 0
      await load(counted, 16, () => tally.replies.size < 100, 'before')
      disk.fill(pid)
      const refusals = () => [...tally.replies.values()].filter(isUnavailable).length
      await load(counted, 16, () => refusals() < 20 && tally.sent.size < 20_000, 'full')
      assert.ok(refusals() >= 16, `${refusals()} of ${tally.sent.size}`)
      assert.equal((await fetch(`${gateway.adminUrl}/readyz`)).status, 503)
      disk.free(pid)
      await served(counted)
      await load(counted, 16, () => !tally.sent.has('after-0-20'), 'after')
      await stopCounted(counted)
      await assertCounted(counted, database, path)
      await counted.folder.remove()
    } finally {
      disk.remove()
    }
  })

  test('the folder of the trail may not be written: no start in one, and calls go on in one that became so', async () => {
    const audit = '{ stdout: false, buffer: { path: trail/audit.sqlite, durability: normal } }'
    const spawn = MODES_COUNT === undefined ? {} : { through: MODES_COUNT }
    const inFolder = async () => {
      const folder = await countedFolder(database, { audit })
      const trail = join(folder.folder, 'trail')
      mkdirSync(trail, { mode: 0o700 })
      return { folder, trail }
    }
    const { folder, trail } = await inFolder()
    const counted = await startCounted(folder, undefined, spawn)
    const { replies } = counted.tally
    await load(counted, 16, () => replies.size < 100, 'writable')
    chmodSync(trail, 0o500)
    await load(counted, 16, () => replies.size < 300, 'readonly')
    await stopCounted(counted)
    const { entries } = await assertCounted(counted, database, join(trail, 'audit.sqlite'))
    assert.equal(entries.length, replies.size)
    assert.ok([...replies.values()].every(({ status, text }) => status === 200 && !text.includes('UNAVAILABLE')))
    chmodSync(trail, 0o700)
    await folder.remove()

    const fresh = await inFolder()
    chmodSync(fresh.trail, 0o500)
    await assert.rejects(startCounted(fresh.folder, undefined, spawn), /the gateway ended \(1\).*audit/s)
    chmodSync(fresh.trail, 0o700)
    await fresh.folder.remove()
  })

  test('another program holds the lock of the buffer for a while', async () => {
    const counted = await startCounted(await countedFolder(database))
    const { tally, folder } = counted
    await load(counted, 16, () => tally.replies.size < 100, 'unlocked')
    const other = new Database(folder.bufferFile)
    other.exec('BEGIN IMMEDIATE')
    const refusals = () => [...tally.replies.values()].filter(isUnavailable).length
    await load(counted, 16, () => refusals() < 20, 'locked')
    other.exec('ROLLBACK')
    other.close()
    await served(counted)
    await stopCounted(counted)
    await assertCounted(counted, database)
    await folder.remove()
  })

  test('the file of lines is on a full disk, and is deleted: no call waits, and the gap is noted', async () => {
    const disk = smallDisk(2)
    const file = join(disk.folder, 'audit.jsonl')
    try {
      const audit = `{ stdout: false, buffer: { path: audit.sqlite, durability: normal }, file: { path: ${JSON.stringify(file)} } }`
      const counted = await startCounted(await countedFolder(database, { audit }))
      const { tally, folder, gateway } = counted
      const told = (wanted: string) => eventually(wanted, () => gateway.log.some(({ msg }) => msg === wanted))
      // The limit of who may not mount would hold for the buffer as well.
      if (disk.mounted) disk.fill(gateway.child.pid ?? 0)
      await load(counted, 16, () => tally.replies.size < 300, 'filling')
      if (disk.mounted) {
        await told('audit.sink_failing')
        disk.free(gateway.child.pid ?? 0)
        await told('audit.sink_recovered')
      }
      await load(counted, 16, () => tally.replies.size < 350, 'freed')
      rmSync(file)
      let n = 0
      await eventually('the gap is noted', async () => {
        await tallied(counted, `deleted-${n++}`)
        return folder.trail().some(({ tool, detail }) => tool === 'gap' && detail?.['sink'] === 'file')
      })
      await stopCounted(counted)
      assert.ok(
        [...tally.replies.values()].every(({ status, text }) => status === 200 && !text.includes('UNAVAILABLE')),
      )
      const { entries } = await assertCounted(counted, database)
      assert.equal(entries.length, tally.replies.size)
      await folder.remove()
    } finally {
      disk.remove()
    }
  })
})
