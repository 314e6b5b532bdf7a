import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { digestRowKey } from '../../src/audit/chain.js'
import { AuditIndex } from '../../src/audit/reports/index-file.js'
import { makeReport } from '../../src/audit/reports/make-report.js'
import { parseQuestion } from '../../src/audit/reports/report-query.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { auditRecord } from '../support/audit-records.js'
import { must } from '../support/gateway.js'
import { EVERYTHING, followAll, REPORT_KEYS, ReportBuffer, shownReport } from '../support/report-buffers.js'

const CUSTOMERS = { connector: 'shop', table: 'public.customers' }
const SOUGHT = digestRowKey(REPORT_KEYS, CUSTOMERS, '4711')
const BEGIN_MS = Date.parse('2026-03-01T00:00:00Z')

/** Three calls a minute by three agents, of which one row is read by every hundredth. */
function records(from: number, count: number): readonly AuditRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const n = from + i
    return auditRecord(`r${n}`, {
      time: new Date(BEGIN_MS + n * 20_000).toISOString(),
      identity: `agent-${n % 3}`,
      result_keys: [{ table: 'public.customers', keys: [n % 100 === 7 ? '4711' : `row ${n}`] }],
    })
  })
}

/** The part of a node's digests that the sought one is in. */
const SOUGHT_PART = `(SELECT part FROM parts WHERE last >= ${Number.parseInt(SOUGHT.slice(5, 13), 16)} ORDER BY last LIMIT 1)`

interface Answers {
  readonly everything: unknown
  readonly totals: unknown
  readonly agents: unknown
  readonly days: unknown
  readonly rare: unknown
  readonly found: readonly number[]
}

function answersOf(index: AuditIndex): Answers {
  const from = `from=${new Date(BEGIN_MS + 90_000).toISOString()}`
  return {
    everything: shownReport(index, 'summary', '')['totals'],
    totals: shownReport(index, 'summary', 'identity=agent-1')['totals'],
    agents: shownReport(index, 'identities', from)['identities'],
    days: shownReport(index, 'summary', `${from}&interval=day&to=2026-03-20`)['intervals'],
    rare: shownReport(index, 'calls', `identity=agent-2&limit=3&to=2026-03-02`)['entries'],
    found: must(index.entriesOf(SOUGHT, { limit: 1_000_000 })).map(({ seq }) => seq),
  }
}

describe('what somebody else wrote into the index', () => {
  let buffer: ReportBuffer
  let truth: Answers
  let remade: string[] = []
  let open: AuditIndex[] = []

  function indexOf(): AuditIndex {
    const index = new AuditIndex({ buffer: buffer.path, keys: REPORT_KEYS, onRemade: (why) => remade.push(why) })
    open.push(index)
    return index
  }

  /** Changes the index's file as who can write it would. */
  function write(change: (db: Database.Database) => void): void {
    const db = new Database(`${buffer.path}.index`)
    change(db)
    db.close()
  }

  before(() => {
    buffer = new ReportBuffer()
    // One node that is over, and two blocks behind it.
    buffer.append(records(0, 34_500))
    const index = indexOf()
    followAll(index)
    truth = answersOf(index)
    index.close()
    assert.equal(truth.found.length, 345)
    assert.deepEqual(remade, [])
  })

  afterEach(() => {
    for (const index of open) index.close()
    open = []
    remade = []
  })

  after(() => buffer.remove())

  const forgeries: Readonly<Record<string, (db: Database.Database) => void>> = {
    'a number of a block': (db) => {
      const body = db.prepare<[], Buffer>('SELECT body FROM blocks WHERE block = 33').pluck().get() ?? assert.fail()
      body[body.length - 1] = (body[body.length - 1] ?? 0) ^ 1
      db.prepare('UPDATE blocks SET body = ? WHERE block = 33').run(body)
    },
    'a block in the place of another': (db) =>
      db.exec('UPDATE blocks SET body = (SELECT body FROM blocks WHERE block = 32) WHERE block = 33'),
    'a block that is not there any more': (db) => db.exec('DELETE FROM blocks WHERE block = 32'),
    'times of a block': (db) => db.exec('UPDATE blocks SET min_ms = 0, max_ms = 0 WHERE block = 33'),
    'times of a node': (db) => db.exec('UPDATE nodes SET min_ms = 0, max_ms = 0'),
    'a node that is not there any more': (db) => db.exec('DELETE FROM nodes'),
    'sums of a node': (db) => db.exec('UPDATE nodes SET sums = steps'),
    'latencies of a node': (db) => db.exec('UPDATE nodes SET slice_steps = steps'),
    'shapes of a node': (db) => db.exec('UPDATE nodes SET marks = zeroblob(length(marks))'),
    'the unit of slices': (db) => db.exec('UPDATE nodes SET unit_ms = 60000'),
    'slices of a node': (db) => db.exec('UPDATE nodes SET slice_sums = sums'),
    'entries of a node': (db) => db.exec('UPDATE runs SET places = measures'),
    'what is counted of entries': (db) => db.exec('UPDATE runs SET measures = places'),
    'digests of a node': (db) => db.exec(`DELETE FROM parts WHERE part = ${SOUGHT_PART}`),
    'the last digests of a node': (db) => db.exec(`DELETE FROM parts WHERE part >= ${SOUGHT_PART}`),
    'all digests of a node': (db) => db.exec('DELETE FROM parts'),
    'digests in another order': (db) => db.exec(`UPDATE parts SET last = last + 1 WHERE part = ${SOUGHT_PART}`),
    'digests of a block': (db) => db.exec('DELETE FROM pairs WHERE block = 33'),
    'names of shapes': (db) => db.exec("UPDATE shapes SET names = CAST(replace(names, 'agent-1', 'agent-9') AS BLOB)"),
    'shapes that are not there any more': (db) => db.exec('DELETE FROM shapes'),
    'how far it has come': (db) => db.exec("UPDATE meta SET value = CAST(value || ' ' AS BLOB) WHERE key = 'state'"),
    'that it has come nowhere': (db) => db.exec("DELETE FROM meta WHERE key = 'state'"),
    'of which make it is': (db) => db.exec("UPDATE meta SET value = '00' WHERE key = 'made'"),
  }
  for (const [what, change] of Object.entries(forgeries)) {
    test(`is not believed, and the index made anew: ${what}`, () => {
      write(change)
      const index = indexOf()
      // The first question finds it, whichever that is.
      for (let turn = 0; turn < 5 && remade.length === 0; turn++) answersOf(index)
      assert.equal(remade.length, 1, remade.join('; '))
      followAll(index)
      assert.deepEqual(answersOf(index), truth)
      assert.equal(remade.length, 1, remade.join('; '))
    })
  }

  test('is not believed where it is an older copy of a block', () => {
    const old = new Map<string, readonly unknown[]>()
    for (const table of ['blocks', 'pairs']) {
      write((db) => old.set(table, db.prepare(`SELECT * FROM ${table} WHERE block = 33`).raw().get() as unknown[]))
    }
    buffer.append(records(34_500, 100))
    const index = indexOf()
    followAll(index)
    const now = answersOf(index)
    index.close()
    for (const [table, row] of old) {
      const holes = row.map(() => '?').join()
      write((db) => db.prepare(`INSERT OR REPLACE INTO ${table} VALUES (${holes})`).run(...row))
      const again = indexOf()
      answersOf(again)
      assert.equal(remade.length, 1, table)
      followAll(again)
      assert.deepEqual(answersOf(again), now)
      again.close()
      remade = []
    }
  })
})

describe('entries that the gateway did not make', () => {
  let buffer: ReportBuffer
  let index: AuditIndex

  before(() => {
    buffer = new ReportBuffer()
    buffer.append(records(0, 3_000))
    // Another identity, an entry in the place of another, and one of another chain.
    buffer.tamper(`UPDATE entries SET body = replace(body, 'agent-1', 'agent-2') WHERE seq = 11`)
    buffer.tamper('UPDATE entries SET body = (SELECT body FROM entries AS other WHERE other.seq = 21) WHERE seq = 24')
    const other = new ReportBuffer('hash', 'bbbbbbbbbbbbbbbb')
    other.append(records(0, 30))
    const [foreign = ''] = other.lines().slice(26, 27)
    buffer.tamper('UPDATE entries SET body = ? WHERE seq = 27', foreign)
    other.remove()
    index = buffer.index()
    followAll(index)
  })

  after(() => {
    index.close()
    buffer.remove()
  })

  test('are not counted and not shown, and every report says how many they are', () => {
    const summary = shownReport(index, 'summary', '')
    assert.equal((summary['totals'] as { readonly entries: number }).entries, 2_997)
    for (const report of ['summary', 'calls', 'denials', 'identities', 'tools'] as const) {
      assert.equal(shownReport(index, report, '')['not_genuine'], 3, report)
    }
    const shown = shownReport(index, 'calls', 'limit=10&to=2026-03-01T00:10:00Z')
    const seqs = (shown['entries'] as readonly { readonly seq: number }[]).map(({ seq }) => seq)
    assert.deepEqual(seqs, [30, 29, 28, 26, 25, 23, 22, 21, 20, 19])
    const question = must(parseQuestion('calls', 'format=csv', '', Date.now()))
    const { facts } = must(makeReport(index, { ...question, scope: EVERYTHING }))
    assert.deepEqual(
      facts.find(([name]) => name === 'not-genuine'),
      ['not-genuine', '3'],
    )
    const found = must(index.search(SOUGHT, { limit: 1_000 }))
    assert.deepEqual([found.entries.length, found.notGenuine], [30, 3])
  })

  test('are left out and told of also where they were changed behind the index', () => {
    buffer.tamper("UPDATE entries SET body = replace(body, 'agent', 'robot') WHERE seq IN (108, 208)")
    const found = must(index.search(SOUGHT, { limit: 1_000 }))
    assert.deepEqual([found.entries.length, found.notGenuine], [28, 5])
    const shown = shownReport(index, 'calls', 'limit=5&to=2026-03-01T00:36:00Z')
    const seqs = (shown['entries'] as readonly { readonly seq: number }[]).map(({ seq }) => seq)
    assert.deepEqual(seqs, [107, 106, 105, 104])
    assert.equal(shown['not_genuine'], 4)
  })

  test('are forgotten when they have left the buffer', () => {
    buffer.prune(2_500)
    buffer.append(records(3_000, 10))
    followAll(index)
    assert.equal(shownReport(index, 'summary', '')['not_genuine'], undefined)
  })
})
