import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboxOptions } from '../../src/audit/outbox.js'
import { ShipReader } from '../../src/audit/ship/ship-reader.js'
import { AUDIT_TAMPERED_NOTES_MAX } from '../../src/core/limits.js'
import { alterBuffer, entriesIn, makeOlder, openBuffer, settleUpkeep, valueIn } from '../support/audit-buffers.js'
import { assertWholeChain, auditRecord, readBuffer } from '../support/audit-records.js'
import {
  calls,
  crashed,
  faultsIn,
  full,
  HOUR_MS,
  keep,
  NOON,
  newBufferPath,
  notesIn,
  SMALL,
  strangers,
} from '../support/sealed-buffers.js'

interface Case {
  readonly what: string
  readonly sql: string
  readonly notes: readonly object[]
  readonly faults: readonly RegExp[]
}

const CASES: readonly Case[] = [
  {
    what: 'an intent is changed',
    sql: `UPDATE intents SET body = replace(body, '"ana"', '"eve"') WHERE id = 'lost-1'`,
    notes: [
      { what: 'intent', id: 'lost-1' },
      { what: 'intents', missing: 1 },
    ],
    faults: [/^the intent "lost-1" was changed/, /^the intents of 1 announced calls are missing/],
  },
  {
    what: 'the time of an intent is changed',
    sql: `UPDATE intents SET time_ms = time_ms - 1 WHERE id = 'lost-1'`,
    notes: [
      { what: 'intent', id: 'lost-1' },
      { what: 'intents', missing: 1 },
    ],
    faults: [/^the intent "lost-1" was changed/, /^the intents of 1/],
  },
  {
    what: 'an intent is put there, with the mac of another',
    sql: `INSERT INTO intents SELECT 'forged', time_ms, body, mac FROM intents WHERE id = 'lost-1'`,
    notes: [{ what: 'intent', id: 'forged' }],
    faults: [/^the intent "forged" was changed or was not written by the gateway$/],
  },
  {
    what: 'an intent is removed',
    sql: `DELETE FROM intents WHERE id = 'lost-1'`,
    notes: [{ what: 'intents', missing: 1 }],
    faults: [/^the intents of 1 announced calls are missing/],
  },
  {
    what: 'all intents are removed',
    sql: 'DELETE FROM intents',
    notes: [{ what: 'intents', missing: 2 }],
    faults: [/^the intents of 2 announced calls are missing/],
  },
  {
    what: 'the seals of intents are stripped',
    sql: 'UPDATE intents SET mac = NULL',
    notes: [
      { what: 'intent', id: 'lost-1' },
      { what: 'intent', id: 'lost-2' },
      { what: 'intents', missing: 2 },
    ],
    faults: [/"lost-1"/, /"lost-2"/, /^the intents of 2/],
  },
  {
    what: 'a count is changed',
    sql: `UPDATE withheld SET count = 1 WHERE code = 'AUTH_INVALID'`,
    notes: [
      { what: 'withheld', connector: 'shop', operation: 'request', code: 'AUTH_INVALID' },
      { what: 'counts', missing: 1 },
    ],
    faults: [/^the count of refusals of \["shop","request","AUTH_INVALID"\]/, /^1 counts/],
  },
  {
    what: 'a count is removed',
    sql: `DELETE FROM withheld WHERE code = 'AUTH_INVALID'`,
    notes: [{ what: 'counts', missing: 1 }],
    faults: [/^1 counts of refusals are missing/],
  },
  {
    what: 'a count is put there',
    sql: `INSERT INTO withheld SELECT 'other', operation, code, count, since_ms, mac FROM withheld LIMIT 1`,
    notes: [{ what: 'withheld', connector: 'other', operation: 'request', code: 'AUTH_INVALID' }],
    faults: [/^the count of refusals of \["other"/],
  },
  {
    what: 'a position is moved on',
    sql: `UPDATE meta SET value = replace(value, '3:', '9:') WHERE key = 'position.shipper'`,
    notes: [{ what: 'position', sink: 'shipper' }],
    faults: [/^how far shipper has come was changed or removed$/],
  },
  {
    what: 'a position is that of another sink',
    sql: `UPDATE meta SET value = (SELECT value FROM meta WHERE key = 'position.file') WHERE key = 'position.stdout'`,
    notes: [{ what: 'position', sink: 'stdout' }],
    faults: [/^how far stdout/],
  },
  {
    what: 'a position is without a seal, as in an older buffer',
    sql: `UPDATE meta SET value = 9 WHERE key = 'position.file'`,
    notes: [{ what: 'position', sink: 'file' }],
    faults: [/^how far file/],
  },
  {
    what: 'positions are removed',
    sql: "DELETE FROM meta WHERE key LIKE 'position.%'",
    notes: [
      { what: 'position', sink: 'file' },
      { what: 'position', sink: 'shipper' },
      { what: 'position', sink: 'stdout' },
    ],
    faults: [/^how far file/, /^how far shipper/, /^how far stdout/],
  },
  {
    what: 'an entry that was refused is forgotten',
    sql: 'DELETE FROM undelivered WHERE seq = 2',
    notes: [{ what: 'undelivered', missing: 1 }],
    faults: [/^1 entries that the destination refused are missing/],
  },
  {
    what: 'an entry that was not refused is put among those that were',
    sql: 'INSERT INTO undelivered (seq) VALUES (5)',
    notes: [{ what: 'put_back' }],
    faults: [/older ones were put back$/],
  },
  {
    what: 'a line is put beside a refused entry that is still there',
    sql: `UPDATE undelivered SET body = '{}' WHERE seq = 3`,
    notes: [{ what: 'undelivered_line', seq: 3 }],
    faults: [/^the line of the refused entry 3 was changed/],
  },
  {
    what: 'the batch of the shipper is changed',
    sql: `UPDATE meta SET value = replace(value, '"to":6', '"to":8') WHERE key = 'ship.batch'`,
    notes: [{ what: 'batch' }],
    faults: [/^what the shipper was sending was changed$/],
  },
]

function sorted(values: readonly object[]): readonly string[] {
  return values.map((value) => JSON.stringify(value)).sort()
}

for (const { what, sql, notes, faults } of CASES) {
  test(`where ${what}, the check says so and the next start has a note of it, once`, async () => {
    const { path, options } = full()
    assert.deepEqual(await faultsIn(path), [])
    alterBuffer(path, sql)
    const found = await faultsIn(path)
    assert.equal(found.length, faults.length, found.join('\n'))
    for (const fault of faults)
      assert.ok(
        found.some((each) => fault.test(each)),
        `${fault}: ${found.join('\n')}`,
      )
    const outbox = openBuffer(path, options)
    assert.equal(outbox.tampered.length, notes.length)
    outbox.close()
    assert.deepEqual(sorted(notesIn(path)), sorted(notes))
    assert.deepEqual(await faultsIn(path), [])
    const again = openBuffer(path, options)
    assert.deepEqual(again.tampered, [])
    again.close()
    assert.equal(notesIn(path).length, notes.length)
    assertWholeChain(readBuffer(path))
  })
}

test('an intent that was changed never becomes an entry, and those that were not do', () => {
  const { path, options } = full()
  alterBuffer(path, `UPDATE intents SET body = replace(body, '"ana"', '"eve"') WHERE id = 'lost-1'`)
  openBuffer(path, options).close()
  const entries = entriesIn(path)
  assert.deepEqual(
    entries.filter(({ code }) => code === 'DB_EFFECT_UNKNOWN').map(({ id }) => id),
    ['lost-2'],
  )
  assert.equal(
    entries.some(({ id, identity }) => id === 'lost-1' || identity === 'eve'),
    false,
  )
  assert.equal(valueIn(path, 'SELECT count(*) FROM intents'), 0)
})

test('a count that was changed never becomes an entry, and those that were not do', () => {
  const { path } = full()
  alterBuffer(path, `UPDATE withheld SET count = 1 WHERE code = 'AUTH_INVALID'`)
  let nowMs = NOON
  const outbox = openBuffer(path, { ...SMALL, nowMs: () => nowMs })
  nowMs = NOON + 2 * HOUR_MS
  settleUpkeep(outbox)
  settleUpkeep(outbox)
  outbox.close()
  assert.deepEqual(
    entriesIn(path).flatMap(({ code, count }) => (count === undefined ? [] : [[code, count]])),
    [['RATE_LIMITED', 3]],
  )
})

test('what is put back as it was earlier shows, though it is genuine', async () => {
  const path = newBufferPath()
  const outbox = openBuffer(path)
  keep(outbox, [], calls('old'))
  alterBuffer(path, 'CREATE TABLE copied AS SELECT * FROM intents')
  keep(outbox, calls('old'), calls('new'))
  outbox.close()
  const both = crashed(path)
  alterBuffer(both, 'INSERT INTO intents SELECT * FROM copied')
  alterBuffer(path, 'DELETE FROM intents; INSERT INTO intents SELECT * FROM copied')
  for (const each of [path, both]) {
    assert.deepEqual(await faultsIn(each), [
      'intents, counts of refusals or refused entries are not those that there were last: older ones were put back',
    ])
    openBuffer(each).close()
    assert.deepEqual(notesIn(each), [{ what: 'put_back' }])
  }
})

test('a sink whose position is not genuine begins again with the oldest entry, and nothing goes as delivered', () => {
  const path = newBufferPath()
  let nowMs = NOON
  const options: Partial<OutboxOptions> = { retainMs: HOUR_MS, nowMs: () => nowMs, ships: true }
  const outbox = openBuffer(path, options)
  keep(outbox, calls('a', 'b', 'c', 'd'))
  assert.ok(outbox.storePosition('stdout', 4).ok)
  assert.ok(outbox.shipBook().change({ position: 1 }).ok)
  nowMs = NOON + 2 * HOUR_MS
  settleUpkeep(outbox)
  assert.equal(outbox.first.seq, 1)
  // Also while it is open.
  alterBuffer(path, "UPDATE meta SET value = replace(value, '1:', '3:') WHERE key = 'position.shipper'")
  settleUpkeep(outbox)
  assert.equal(outbox.first.seq, 1)
  assert.equal(outbox.shipBook().state().position, 0)
  outbox.close()
  alterBuffer(path, "DELETE FROM meta WHERE key = 'position.stdout'")
  const again = openBuffer(path, options)
  assert.equal(again.position('stdout'), 1)
  assert.equal(again.position('file'), undefined)
  assert.equal(again.shipBook().state().position, 1)
  settleUpkeep(again)
  assert.equal(again.first.seq, 1)
  assert.ok(again.shipBook().change({ position: 3 }).ok)
  settleUpkeep(again)
  assert.equal(again.first.seq, 3)
  again.close()
})

test('the line that a refused entry left behind is its own, or it is told of and not sent', async () => {
  const old = auditRecord('old', { time: new Date(NOON - 2 * HOUR_MS).toISOString() })
  const options: Partial<OutboxOptions> = { retainMs: HOUR_MS, nowMs: () => NOON, ships: true }
  const prepared = () => {
    const path = newBufferPath()
    const outbox = openBuffer(path, options)
    keep(outbox, [old, { ...old, id: 'older' }, { ...old, id: 'oldest' }])
    assert.ok(outbox.shipBook().change({ position: 3, refused: [1, 2, 3] }).ok)
    assert.ok(outbox.shipBook().change({ accepted: [3] }).ok)
    settleUpkeep(outbox)
    assert.equal(outbox.entries, 0)
    outbox.close()
    return path
  }
  const sent = (path: string) => {
    const reader = new ShipReader(path)
    const { items } = reader.refusedAfter(0, 1, 1_000_000)
    reader.close()
    return items.map(({ id }) => id)
  }
  const whole = prepared()
  assert.deepEqual(await faultsIn(whole), [])
  assert.deepEqual(sent(whole), ['old'])
  for (const body of ["'{'", 'NULL', "x'00'", "'[]'", '(SELECT body FROM undelivered WHERE seq = 2)']) {
    const path = prepared()
    alterBuffer(path, `UPDATE undelivered SET body = ${body} WHERE seq = 1`)
    if (!body.includes('SELECT')) assert.deepEqual(sent(path), ['older'], body)
    assert.match((await faultsIn(path)).join(), /^the line of the refused entry 1 was changed or removed/, body)
    openBuffer(path, options).close()
    assert.deepEqual(sorted(notesIn(path)), [
      '{"what":"undelivered","missing":1}',
      '{"what":"undelivered_line","seq":1}',
    ])
    assert.deepEqual(sent(path), ['older'])
    assert.deepEqual(await faultsIn(path), [])
  }
})

test('a position beyond the last entry is not believed', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path)
  keep(outbox, calls('a'))
  const before = crashed(path)
  keep(outbox, calls('b', 'c'))
  assert.ok(outbox.storePosition('stdout', 3).ok)
  outbox.close()
  openBuffer(before).close()
  const value = String(valueIn(path, "SELECT value FROM meta WHERE key = 'position.stdout'"))
  alterBuffer(before, `INSERT INTO meta VALUES ('position.stdout', '${value}')`)
  const again = openBuffer(before)
  assert.deepEqual(again.tampered, [{ what: 'position', sink: 'stdout' }])
  assert.equal(again.position('stdout'), 0)
  again.close()
})

test('a buffer that is as it was left has no notes, whenever its process ended', async () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, SMALL)
  const moments: string[] = []
  const moment = () => moments.push(crashed(path))
  keep(outbox, [], calls('x', 'y'))
  moment()
  keep(outbox, calls('x'), calls('z'))
  moment()
  for (let i = 0; i < 15; i++) keep(outbox, strangers(100, 'AUTH_INVALID', `s${i}-`))
  moment()
  assert.ok(outbox.storePosition('stdout', 1).ok)
  moment()
  assert.ok(outbox.shipBook().change({ position: 1, batch: { from: 2, to: 3, head: '', round: 0, settled: [] } }).ok)
  moment()
  assert.ok(outbox.storePosition('stdout', 2).ok)
  assert.ok(outbox.shipBook().change({ position: 3, batch: undefined }).ok)
  moment()
  outbox.close()
  moment()
  for (const each of moments) {
    assert.deepEqual(await faultsIn(each), [])
    for (let i = 0; i < 2; i++) {
      const opened = openBuffer(each, SMALL)
      assert.deepEqual(opened.tampered, [])
      assert.deepEqual(await faultsIn(each), [], 'while it is open')
      opened.close()
    }
    assert.deepEqual(await faultsIn(each), [])
    assertWholeChain(readBuffer(each))
  }
})

test('a transaction that fails leaves what is sealed as it was', async () => {
  const path = newBufferPath()
  const outbox = openBuffer(path)
  keep(outbox, calls('a'), calls('x'))
  alterBuffer(path, "CREATE TRIGGER full BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'no room'); END")
  assert.equal(outbox.append(calls('x'), calls('y')).ok, false)
  assert.equal(outbox.storePosition('stdout', 1).ok, false)
  assert.equal(outbox.shipBook().change({ position: 1, refused: [1] }).ok, false)
  alterBuffer(path, 'DROP TRIGGER full')
  assert.equal(outbox.position('stdout'), undefined)
  assert.deepEqual(await faultsIn(path), [])
  keep(outbox, calls('b'), calls('y'))
  assert.deepEqual(await faultsIn(path), [])
  outbox.close()
  const again = openBuffer(path)
  assert.deepEqual(again.tampered, [])
  again.close()
})

test('after the death of the thread alone genuine intents go on waiting, and a note tells of the others', async () => {
  const { path, options } = full()
  alterBuffer(path, `UPDATE intents SET body = '{}' WHERE id = 'lost-1'`)
  const outbox = openBuffer(path, { ...options, intentsAreLost: false })
  assert.equal(valueIn(path, 'SELECT group_concat(id) FROM intents'), 'lost-2')
  assert.equal(notesIn(path).length, 2)
  keep(outbox, calls('lost-1', 'lost-2'))
  assert.deepEqual(await faultsIn(path), [])
  outbox.close()
})

test('an older buffer is taken as it is, once, and sealed from then on', async () => {
  const { path, options } = full()
  makeOlder(path)
  assert.deepEqual(await faultsIn(path), [])
  const older = crashed(path)
  const outbox = openBuffer(path, { ...options, intentsAreLost: false })
  assert.deepEqual(outbox.tampered, [])
  assert.equal(outbox.position('file'), outbox.head.seq)
  assert.deepEqual(outbox.shipBook().state(), {
    position: 3,
    batch: { from: 4, to: 6, head: 'x', round: 0, settled: [] },
  })
  keep(outbox, calls('after'))
  outbox.close()
  assert.deepEqual(await faultsIn(path), [])
  const before = entriesIn(path).length
  openBuffer(path, options).close()
  assert.deepEqual(
    entriesIn(path)
      .slice(before)
      .map(({ id }) => id),
    ['lost-1', 'lost-2'],
  )
  assert.deepEqual(notesIn(path), [])
  const missed = openBuffer(older, options)
  assert.deepEqual(missed.tampered, [])
  missed.close()
})

test('an older buffer whose position is beyond its last entry is not believed', () => {
  const { path, options } = full()
  makeOlder(path)
  alterBuffer(path, "UPDATE meta SET value = 1000000 WHERE key = 'position.shipper'")
  const outbox = openBuffer(path, options)
  assert.deepEqual(outbox.tampered, [{ what: 'position', sink: 'shipper' }])
  assert.equal(outbox.shipBook().state().position, 0)
  outbox.close()
})

test('a buffer that was sealed does not pass for an older one when its seals are stripped', async () => {
  const { path, options } = full()
  const head = String(valueIn(path, "SELECT value FROM meta WHERE key = 'head'"))
  makeOlder(path)
  alterBuffer(path, `UPDATE meta SET value = '${head}' WHERE key = 'head'`)
  assert.match((await faultsIn(path)).join(), /cannot be read/)
  const outbox = openBuffer(path, options)
  assert.equal(outbox.tampered.length, 2 + 1 + 2 + 1 + 3 + 1)
  outbox.close()
  assert.equal(notesIn(path).length, 10)
})

test('however many intents somebody puts there, the notes have a bound', () => {
  const { path, options } = full()
  alterBuffer(
    path,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
     INSERT INTO intents SELECT 'forged' || i, i, '{}', 'x' FROM n`,
  )
  openBuffer(path, options).close()
  const notes = notesIn(path)
  assert.equal(notes.length, AUDIT_TAMPERED_NOTES_MAX + 1)
  assert.deepEqual(notes.at(-1), { what: 'more', count: 1000 - AUDIT_TAMPERED_NOTES_MAX })
  assert.equal(valueIn(path, 'SELECT count(*) FROM intents'), 0)
})
