import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { afterEach, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { chainKeys, digestFilterValue, digestRowKey } from '../../src/audit/chain.js'
import { BufferReader } from '../../src/audit/reports/buffer-reader.js'
import { Follower } from '../../src/audit/reports/follower.js'
import { type AuditIndex, openIndex } from '../../src/audit/reports/index-file.js'
import { IndexStore } from '../../src/audit/reports/index-store.js'
import { OTHER, type Shape, ShapeBook } from '../../src/audit/reports/shapes.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import type { ValueKeeping } from '../../src/threads/messages.js'
import { auditRecord } from '../support/audit-records.js'
import { must } from '../support/gateway.js'
import { followAll, REPORT_KEYS, ReportBuffer, shownReport } from '../support/report-buffers.js'

const CUSTOMERS = { connector: 'shop', table: 'public.customers' }

function records(count: number, overrides: Partial<AuditRecord> = {}): readonly AuditRecord[] {
  return Array.from({ length: count }, (_, n) => auditRecord(`r${n}`, overrides))
}

function countOf(index: AuditIndex, query = ''): number {
  const { entries } = shownReport(index, 'summary', query)['totals'] as { readonly entries: number }
  return entries
}

function seqsOf(index: AuditIndex, digest: string, beforeSeq?: number, limit = 1_000_000): readonly number[] {
  const search = { limit, ...(beforeSeq === undefined ? {} : { beforeSeq }) }
  return must(index.entriesOf(digest, search)).map(({ seq }) => seq)
}

describe('the index of a buffer', () => {
  let buffers: ReportBuffer[] = []
  let indexes: AuditIndex[] = []

  function newBuffer(keeping: ValueKeeping = 'hash', instance?: string): ReportBuffer {
    const buffer = new ReportBuffer(keeping, instance)
    buffers.push(buffer)
    return buffer
  }

  function indexOf(buffer: ReportBuffer): AuditIndex {
    const index = buffer.index()
    indexes.push(index)
    return index
  }

  afterEach(() => {
    for (const index of indexes) index.close()
    for (const buffer of buffers) buffer.remove()
    indexes = []
    buffers = []
  })

  test('is its owner’s alone', () => {
    const buffer = newBuffer()
    followAll(indexOf(buffer))
    for (const suffix of ['.index', '.index-wal', '.index-shm']) {
      assert.equal(statSync(buffer.path + suffix).mode & 0o777, 0o600, suffix)
    }
  })

  test('counts each entry once, however many follow the buffer and whoever comes first', () => {
    const buffer = newBuffer()
    const followers = [indexOf(buffer), indexOf(buffer), indexOf(buffer)]
    for (let round = 0; round < 40; round++) {
      buffer.append(records(1 + ((round * 37) % 200), { identity: `agent-${round % 7}` }))
      // One step each, in changing order.
      for (const turn of [0, 1, 2]) must(followers[(round + turn) % 3]?.follow(0, () => 1) ?? assert.fail())
    }
    for (const index of followers) followAll(index)
    for (const index of followers) {
      assert.equal(countOf(index), buffer.lastSeq)
      assert.equal(countOf(index, 'identity=agent-3'), buffer.entries().filter((e) => e.identity === 'agent-3').length)
    }
  })

  test('is not set back by one that was overtaken between its look at the buffer and its turn to write', () => {
    const buffer = newBuffer()
    buffer.append(records(3_000))
    const other = indexOf(buffer)
    const reader = new BufferReader(buffer.path)
    const options = { keys: REPORT_KEYS, instance: reader.instance, shapesMax: 100 }
    const store = new IndexStore(`${buffer.path}.index`, options)
    const overtaken = new Follower(
      store,
      {
        instance: reader.instance,
        range: () => reader.range(),
        next: (seq) => reader.next(seq),
        line: (seq) => reader.line(seq),
        lines: (from, to) => {
          const lines = reader.lines(from, to)
          followAll(other)
          return lines
        },
      },
      REPORT_KEYS,
    )
    assert.equal(overtaken.step(), true)
    assert.equal(shownReport(other, 'summary', '').to_seq, 3_000)
    assert.equal(overtaken.step(), false)
    store.close()
    reader.close()
  })

  test('goes on where it was after a restart, and reads nothing twice', () => {
    const buffer = newBuffer()
    buffer.append(records(1_500))
    const first = buffer.index()
    followAll(first)
    first.close()
    buffer.append(records(700))
    const second = indexOf(buffer)
    assert.equal(shownReport(second, 'summary', '').behind, 700)
    followAll(second)
    assert.equal(countOf(second), 2_200)
    assert.equal(shownReport(second, 'summary', '').behind, 0)
  })

  test('is made anew when it is damaged, cut short, of another make or of another version', () => {
    const buffer = newBuffer()
    buffer.append(records(3_000))
    const path = `${buffer.path}.index`
    const sound = buffer.index()
    followAll(sound)
    sound.close()
    const damages: readonly (() => void)[] = [
      () => writeFileSync(path, 'not a database at all, but long enough to be looked at as one '.repeat(40)),
      () => truncateSync(path, 40_000),
      () => {
        const bytes = readFileSync(path)
        bytes.fill(0xa5, 20_000, bytes.length)
        writeFileSync(path, bytes)
      },
      () => {
        rmSync(path)
        const db = new Database(path)
        db.exec('CREATE TABLE something (else_ INTEGER)')
        db.close()
      },
      () => {
        const db = new Database(path)
        db.pragma('user_version = 99')
        db.close()
      },
      () => {
        const db = new Database(path)
        db.exec("UPDATE blocks SET body = x'0102'")
        db.close()
      },
      () => {
        const db = new Database(path)
        db.exec('DROP TABLE blocks')
        db.close()
      },
    ]
    for (const [i, damage] of damages.entries()) {
      damage()
      const index = indexOf(buffer)
      // What is damaged deep inside shows when it is read.
      shownReport(index, 'summary', '')
      followAll(index)
      assert.equal(countOf(index), 3_000, `damage ${i}`)
      index.close()
    }
  })

  test('is made anew when it is removed or replaced while in use', () => {
    const buffer = newBuffer()
    buffer.append(records(100))
    const index = indexOf(buffer)
    followAll(index)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${buffer.path}.index${suffix}`, { force: true })
    followAll(index)
    assert.equal(countOf(index), 100)
    assert.ok(existsSync(`${buffer.path}.index`))
  })

  test('is made anew for another instance, for another key, and for another history of the same instance', () => {
    const buffer = newBuffer()
    buffer.append(records(50, { identity: 'old' }))
    const index = buffer.index()
    followAll(index)
    index.close()
    const other = newBuffer('hash', 'bbbbbbbbbbbbbbbb')
    other.append(records(20))
    copyFileSync(`${buffer.path}.index`, `${other.path}.index`)
    const foreign = indexOf(other)
    followAll(foreign)
    assert.deepEqual([countOf(foreign), countOf(foreign, 'identity=old')], [20, 0])

    const keys = chainKeys(Buffer.alloc(32, 1))
    const rekeyed = must(openIndex({ buffer: buffer.path, keys }))
    indexes.push(rekeyed)
    assert.equal(shownReport(rekeyed, 'summary', '').behind, 50)

    const restored = newBuffer()
    restored.append(records(60, { identity: 'new' }))
    const again = buffer.index()
    followAll(again)
    again.close()
    copyFileSync(`${buffer.path}.index`, `${restored.path}.index`)
    const rewritten = indexOf(restored)
    followAll(rewritten)
    assert.deepEqual([countOf(rewritten), countOf(rewritten, 'identity=old')], [60, 0])
    restored.tamper('DELETE FROM entries WHERE seq > 40')
    followAll(rewritten)
    assert.equal(countOf(rewritten), 40)
  })

  test('covers what the buffer still has, at once, and forgets the rest in steps', () => {
    const buffer = newBuffer()
    buffer.append(records(5_000))
    const index = indexOf(buffer)
    followAll(index)
    buffer.prune(3_333)
    const report = shownReport(index, 'summary', '')
    assert.deepEqual([report.from_seq, report.to_seq, countOf(index)], [3_333, 5_000, 1_668])
    followAll(index)
    const blocks = new Database(`${buffer.path}.index`, { readonly: true })
    assert.equal(blocks.prepare('SELECT min(block) FROM blocks').pluck().get(), 3)
    blocks.close()
    buffer.prune(9_999)
    assert.equal(shownReport(index, 'summary', '').from_seq, undefined)
    assert.equal(countOf(index), 0)
    buffer.append(records(10))
    followAll(index)
    assert.deepEqual([countOf(index), shownReport(index, 'summary', '').from_seq], [10, 5_001])
  })

  test('begins behind entries that were deleted before it was made, and skips those that went while it was behind', () => {
    const buffer = newBuffer()
    buffer.append(records(2_000))
    buffer.prune(1_500)
    const index = indexOf(buffer)
    must(index.follow(0, () => 1))
    buffer.append(records(6_000))
    buffer.prune(7_000)
    followAll(index)
    assert.deepEqual([countOf(index), shownReport(index, 'summary', '').from_seq], [1_001, 7_000])
  })

  test('finds every entry that gave or changed a row, the newest first, and goes on before any of them', () => {
    const buffer = newBuffer()
    const hot = { result_keys: [{ table: 'public.customers', keys: ['1', '4711'] }] }
    const cold = { result_keys: [{ table: 'public.customers', keys: ['5', '6'] }] }
    // More entries of one row than one part of a node holds, on both sides of a node's end.
    for (let round = 0; round < 9; round++) {
      buffer.append(records(700, hot))
      buffer.append(records(3_000, cold))
    }
    const index = indexOf(buffer)
    followAll(index)
    const digest = digestRowKey(REPORT_KEYS, CUSTOMERS, '4711')
    const expected = buffer
      .entries()
      .filter((entry) => entry.result_keys?.[0]?.keys.includes(digest))
      .map(({ seq }) => seq)
      .reverse()
    assert.equal(expected.length, 6_300)
    assert.deepEqual(seqsOf(index, digest), expected)
    const paged: number[] = []
    for (let before: number | undefined; ; ) {
      const page = seqsOf(index, digest, before, 999)
      paged.push(...page)
      // What comes meanwhile moves nothing.
      buffer.append(records(3, hot))
      followAll(index)
      before = page[page.length - 1]
      if (before === undefined) break
    }
    assert.deepEqual(paged, expected)
    assert.deepEqual(seqsOf(index, digestRowKey(REPORT_KEYS, CUSTOMERS, '4712')), [])
    assert.deepEqual(seqsOf(index, digestRowKey(REPORT_KEYS, { ...CUSTOMERS, connector: 'crm' }, '4711')), [])
    assert.equal(index.entriesOf('4711', { limit: 1 }).ok, false)
  })

  test('finds values and rows that entries keep in full by the digests that they would have had', () => {
    const buffer = newBuffer('full')
    buffer.append([
      auditRecord('a', { plan: { filters: [{ column: 'country', op: 'eq', values: ['DE'] }] } }),
      auditRecord('b', { result_keys: [{ table: 'public.customers', keys: ['4711'] }], plan: {} }),
    ])
    const index = indexOf(buffer)
    followAll(index)
    const column = { connector: 'shop', target: 'public.customers', column: 'country' }
    assert.deepEqual(seqsOf(index, digestFilterValue(REPORT_KEYS, column, 'DE')), [1])
    assert.deepEqual(seqsOf(index, digestFilterValue(REPORT_KEYS, { ...column, column: 'city' }, 'DE')), [])
    assert.deepEqual(seqsOf(index, digestRowKey(REPORT_KEYS, CUSTOMERS, '4711')), [2])
  })

  test('passes over entries that somebody made unreadable', () => {
    const buffer = newBuffer()
    buffer.append(records(10))
    buffer.tamper("UPDATE entries SET body = 'nonsense' WHERE seq IN (3, 10)")
    buffer.tamper('DELETE FROM entries WHERE seq = 5')
    const index = indexOf(buffer)
    followAll(index)
    assert.equal(countOf(index), 7)
    buffer.tamper("UPDATE entries SET body = '{' WHERE seq = 4")
    const digest = digestFilterValue(
      REPORT_KEYS,
      { connector: 'shop', target: 'public.customers', column: 'country' },
      'DE',
    )
    assert.deepEqual(seqsOf(index, digest), [9, 8, 7, 6, 2, 1])
    const entries = shownReport(index, 'calls', '')['entries'] as readonly { readonly seq: number }[]
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      [9, 8, 7, 6, 2, 1],
    )
  })

  test('says what is wrong with a buffer that is missing or none', () => {
    const buffer = newBuffer()
    const missing = openIndex({ buffer: `${buffer.path}.gone`, keys: REPORT_KEYS })
    assert.match(missing.ok ? '' : missing.error, /^the audit buffer ".*gone": there is no such file$/)
    assert.equal(existsSync(`${buffer.path}.gone`), false)
    writeFileSync(`${buffer.path}.text`, 'no database')
    const text = openIndex({ buffer: `${buffer.path}.text`, keys: REPORT_KEYS })
    assert.match(text.ok ? '' : text.error, /^the audit buffer ".*text": /)
    const nowhere = openIndex({ buffer: buffer.path, index: `${buffer.folder}/no/such/folder`, keys: REPORT_KEYS })
    assert.match(nowhere.ok ? '' : nowhere.error, /^the index ".*folder": /)
  })

  test('says that names were given up, and has room for them again when the entries that filled it are gone', () => {
    const buffer = newBuffer()
    const index = must(openIndex({ buffer: buffer.path, keys: REPORT_KEYS, shapesMax: 20 }))
    indexes.push(index)
    const agents = (from: number) =>
      Array.from({ length: 30 }, (_, n) => auditRecord(`a${from + n}`, { identity: `agent-${from + n}` }))
    buffer.append(agents(0))
    followAll(index)
    const { names_folded, totals, identities } = {
      ...shownReport(index, 'summary', ''),
      ...shownReport(index, 'identities', ''),
    }
    assert.equal(names_folded, true)
    assert.equal((totals as { readonly entries: number }).entries, 30)
    assert.equal((identities as readonly unknown[]).length, 21)
    buffer.append(agents(100).slice(0, 10))
    buffer.prune(31)
    followAll(index)
    assert.equal(shownReport(index, 'summary', '')['names_folded'], undefined)
    assert.deepEqual([countOf(index), countOf(index, 'identity=agent-107')], [10, 1])
  })

  test('adds up a million entries part by part, and answers the same before it is done and after', () => {
    const buffer = newBuffer()
    const index = indexOf(buffer)
    buffer.append(records(1_500, { identity: 'ana' }))
    buffer.append(records(1_500, { identity: 'bo' }), 500_000)
    // The first million is over with the first of these.
    buffer.append(records(10, { identity: 'cy' }), 600_000)
    const nodes = new Database(`${buffer.path}.index`, { readonly: true })
    const made = nodes.prepare('SELECT count(*) FROM nodes WHERE level = 2').pluck()
    const counts = () => ['ana', 'bo', 'cy'].map((name) => countOf(index, `identity=${name}&to=2026-04-01`))
    let steps = 0
    for (let done = false; !done; ) {
      done = must(index.follow(0, () => 1))
      const { behind } = shownReport(index, 'summary', '')
      if (behind === 0) {
        steps += 1
        assert.deepEqual(counts(), [1_500, 1_500, 10])
      }
    }
    assert.equal(made.get(), 1)
    assert.ok(steps > 32, `${steps}`)
    // One that was not made before the end is made after it.
    index.close()
    nodes.close()
    const db = new Database(`${buffer.path}.index`)
    db.exec('DELETE FROM nodes WHERE level = 2')
    db.close()
    const again = indexOf(buffer)
    followAll(again)
    const after = new Database(`${buffer.path}.index`, { readonly: true })
    assert.equal(after.prepare('SELECT count(*) FROM nodes WHERE level = 2').pluck().get(), 1)
    after.close()
    assert.equal(countOf(again), 3_010)
  })

  test('is not made larger by tools that callers make up', () => {
    const buffer = newBuffer()
    buffer.append(
      Array.from({ length: 500 }, (_, n) => auditRecord(`r${n}`, { operation: 'unknown', tool: `made_up_${n}` })),
    )
    const index = indexOf(buffer)
    followAll(index)
    const db = new Database(`${buffer.path}.index`, { readonly: true })
    assert.equal(db.prepare('SELECT count(*) FROM shapes').pluck().get(), 1)
    db.close()
  })
})

describe('shapes', () => {
  const shape = (n: number, more: Partial<Shape> = {}): Shape => ({
    connector: 'shop',
    identity: `agent-${n}`,
    keyId: `k${n}`,
    tool: 'get_orders_by_pk',
    operation: 'get',
    target: 'public.orders',
    decision: 'allowed',
    code: 'OK',
    ...more,
  })

  test('beyond their limit give up who called first, then what; never the connector, by which rights go', () => {
    const book = new ShapeBook(10)
    for (let n = 0; n < 10; n++) assert.equal(book.numberOf(shape(n)).number, n + 1)
    assert.equal(book.full, true)
    assert.deepEqual(book.numberOf(shape(77)).added, shape(0, { identity: OTHER, keyId: undefined }))
    assert.equal(book.numberOf(shape(78)).number, 11)
    assert.equal(book.numberOf(shape(3)).number, 4)
    for (let n = 0; n < 100; n++) book.numberOf(shape(0, { target: `public.t${n}`, tool: `get_t${n}_by_pk` }))
    const last = book.numberOf(shape(0, { connector: 'crm', target: 'public.t999' })).added
    assert.deepEqual([last?.connector, last?.identity, last?.target, last?.tool], ['crm', OTHER, OTHER, OTHER])
    assert.ok(book.size <= 23, `${book.size}`)
  })

  test('that were never stored are forgotten', () => {
    const book = new ShapeBook(10)
    book.numberOf(shape(1))
    book.numberOf(shape(2))
    book.shrink(1)
    assert.deepEqual(book.numberOf(shape(3)).number, 2)
    assert.notEqual(book.numberOf(shape(2)).added, undefined)
  })
})
