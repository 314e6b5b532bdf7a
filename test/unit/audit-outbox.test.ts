import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Database from 'better-sqlite3'
import { chainKeys } from '../../src/audit/chain.js'
import { loadChainKey } from '../../src/audit/chain-key.js'
import { Outbox } from '../../src/audit/outbox.js'
import { type AuditEntry, type AuditRecord, OUTCOME_LOST } from '../../src/core/audit-entry.js'
import { AUDIT_PROBE_BYTES } from '../../src/core/limits.js'
import { makeOlder } from '../support/audit-buffers.js'
import { assertWholeChain, auditRecord, bufferAt, readBuffer } from '../support/audit-records.js'
import { verifyChain } from '../support/verify-chain.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

function newBufferPath(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return join(folder, 'audit.db')
}

const randomBytes = (count: number) => Buffer.alloc(count, 5)

function openAt(path: string, keyPath = `${path}.key`, intentsAreLost = true) {
  const key = loadChainKey({ path: keyPath, mayCreate: true, randomBytes })
  assert.ok(key.ok, key.ok ? '' : key.error)
  return Outbox.open({
    ...bufferAt(path, { durability: 'full' }),
    keys: chainKeys(key.value),
    keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    intentsAreLost,
    nowMs: () => 1_000,
    newInstance: () => 'i1',
  })
}

function openOutbox(path: string, intentsAreLost = true): Outbox {
  const opened = openAt(path, undefined, intentsAreLost)
  assert.ok(opened.ok, opened.ok ? '' : opened.error)
  return opened.value
}

function refusal(path: string, keyPath?: string): string {
  const opened = openAt(path, keyPath)
  assert.ok(!opened.ok, 'expected a refusal')
  return opened.error
}

/** Runs statements on a connection of its own, as another program would. */
function alter(path: string, sql: string): void {
  const db = new Database(path)
  db.exec(sql)
  db.close()
}

const records = (...ids: readonly string[]) => ids.map((id) => auditRecord(id))

function seqs(appended: ReturnType<Outbox['append']>): readonly number[] {
  assert.ok(appended.ok, appended.ok ? '' : appended.error)
  return appended.value.map(({ seq }) => seq)
}

test('seq has no gap and the chain goes on across restarts', () => {
  const path = newBufferPath()
  for (let run = 0; run < 3; run++) {
    const outbox = openOutbox(path)
    assert.equal(outbox.instance, 'i1')
    assert.deepEqual(seqs(outbox.append(records(`${run}a`, `${run}b`))), [run * 2 + 1, run * 2 + 2])
    outbox.close()
  }
  assertWholeChain(readBuffer(path))
})

test('a batch that comes twice is stored once and takes no numbers the second time', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  assert.deepEqual(seqs(outbox.append(records('a', 'b'))), [1, 2])
  assert.deepEqual(seqs(outbox.append(records('a', 'c', 'b', 'c'))), [3])
  outbox.close()
  const reopened = openOutbox(path)
  assert.deepEqual(seqs(reopened.append(records('b', 'd'))), [4])
  reopened.close()
  assertWholeChain(readBuffer(path))
})

/** The record that a writing call is announced by. */
function intent(id: string): AuditRecord {
  return auditRecord(id, {
    operation: 'update',
    plan: { values: [{ column: 'email', values: ['ana@example.com'] }] },
    decision: 'errored',
    code: 'DB_EFFECT_UNKNOWN',
    reason: 'the process ended before the outcome was known',
    effect: 'unknown',
  })
}

function intentsIn(path: string): readonly string[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare<[], string>('SELECT id FROM intents ORDER BY id').pluck().all()
  } finally {
    db.close()
  }
}

function entriesIn(path: string): readonly AuditEntry[] {
  return readBuffer(path).lines.map((line) => JSON.parse(line) as AuditEntry)
}

test('an intent has no number, and its outcome takes its place', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  assert.deepEqual(seqs(outbox.append([], [intent('a'), intent('b')])), [])
  assert.deepEqual(intentsIn(path), ['a', 'b'])
  assert.deepEqual(seqs(outbox.append(records('b', 'c'))), [1, 2])
  assert.deepEqual(intentsIn(path), ['a'])
  assert.deepEqual(seqs(outbox.append(records('a'))), [3])
  assert.deepEqual(intentsIn(path), [])
  outbox.close()
  assertWholeChain(readBuffer(path))
})

test('an intent left behind by a process becomes an entry with effect unknown, once', () => {
  const path = newBufferPath()
  const first = openOutbox(path)
  seqs(first.append(records('a'), [intent('b'), intent('c')]))
  seqs(first.append(records('c')))
  first.close()
  openOutbox(path).close()
  openOutbox(path).close()
  const entries = entriesIn(path)
  assert.deepEqual(
    entries.map(({ id, code, effect }) => [id, code, effect]),
    [
      ['a', 'OK', 'none'],
      ['c', 'OK', 'none'],
      ['b', 'DB_EFFECT_UNKNOWN', 'unknown'],
    ],
  )
  const left = entries.at(-1)
  assert.equal(left?.reason, 'the process ended before the outcome was known')
  assert.equal(left?.decision, 'errored')
  assert.match(JSON.stringify(left?.plan?.values), /^\[\{"column":"email","values":\["hmac:[0-9a-f]{32}"\]\}\]$/)
  assert.deepEqual(intentsIn(path), [])
  assertWholeChain(readBuffer(path))
})

test('the values of an intent are on disk as configured, never as they were sent', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  seqs(outbox.append([], [intent('a')]))
  outbox.close()
  const db = new Database(path, { readonly: true })
  assert.doesNotMatch(String(db.prepare('SELECT body FROM intents').pluck().get()), /ana@example/)
  db.close()
})

test('an intent that somebody put into a buffer without seals says nothing of how its call ended, and none keeps a start from being one', () => {
  const path = newBufferPath()
  const first = openOutbox(path)
  assert.ok(first.append([], [auditRecord('genuine', { effect: 'unknown' })]).ok)
  first.close()
  makeOlder(path)
  const db = new Database(path)
  const put = db.prepare('INSERT INTO intents (id, time_ms, body) VALUES (?, ?, ?)')
  const claimed = {
    ...auditRecord('x'),
    identity: 'victim',
    effect: 'committed',
    rows: 9,
    affected: 9,
    count: 9,
    reason: 'fine',
  }
  put.run('forged', 1, JSON.stringify(claimed))
  put.run('torn', 'never', '{"identity":')
  put.run('odd', 2, JSON.stringify({ roles: 7, plan: 'x', result_keys: [1], duration_ms: null }))
  put.run('none', 3, 'null')
  db.close()
  const second = openOutbox(path)
  const entries = readBuffer(path).lines.map((line) => JSON.parse(line) as AuditRecord)
  assert.equal(entries.length, 5)
  for (const { decision, code, effect, reason, rows, affected, count } of entries) {
    assert.deepEqual([decision, code, effect, reason], ['errored', 'DB_EFFECT_UNKNOWN', 'unknown', OUTCOME_LOST])
    assert.deepEqual([rows, affected, count], [undefined, undefined, undefined])
  }
  assertWholeChain(readBuffer(path))
  second.close()
})

test('intents outlive the thread that wrote them while their process lives', () => {
  const path = newBufferPath()
  const first = openOutbox(path)
  seqs(first.append([], [intent('a'), intent('b')]))
  first.close()
  const second = openOutbox(path, false)
  assert.deepEqual(intentsIn(path), ['a', 'b'])
  assert.deepEqual(seqs(second.append(records('a'))), [1])
  assert.deepEqual(intentsIn(path), ['b'])
  second.close()
})

test('a batch with an intent that comes twice, its outcome kept in between, brings nothing back', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  for (let i = 0; i < 2; i++) seqs(outbox.append([], [intent('a')]))
  assert.deepEqual(intentsIn(path), ['a'])
  assert.deepEqual(seqs(outbox.append(records('a'), [intent('b')])), [1])
  assert.deepEqual(seqs(outbox.append(records('a'), [intent('a'), intent('b')])), [])
  assert.deepEqual(intentsIn(path), ['b'])
  assert.deepEqual(seqs(outbox.append(records('b'), [intent('b')])), [2])
  assert.deepEqual(seqs(outbox.append(records('b'), [intent('b')])), [])
  assert.deepEqual(intentsIn(path), [])
  outbox.close()
  openOutbox(path).close()
  assert.equal(entriesIn(path).length, 2)
})

test('an outcome that cannot be kept leaves its intent where it is', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  seqs(outbox.append([], [intent('a')]))
  alter(path, "CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no room'); END")
  assert.equal(outbox.append(records('a')).ok, false)
  assert.deepEqual(intentsIn(path), ['a'])
  alter(path, 'DROP TRIGGER full')
  assert.deepEqual(seqs(outbox.append(records('a'))), [1])
  assert.deepEqual(intentsIn(path), [])
  outbox.close()
})

test('a buffer of the version without intents goes on with its entries and chain', () => {
  const path = newBufferPath()
  const first = openOutbox(path)
  seqs(first.append(records('a', 'b')))
  first.close()
  alter(
    path,
    'DROP TABLE intents; DROP TABLE undelivered; DROP TABLE strangers; DROP TABLE withheld; PRAGMA user_version = 1',
  )
  const second = openOutbox(path)
  assert.deepEqual(seqs(second.append(records('c'), [intent('d')])), [3])
  second.close()
  openOutbox(path).close()
  assert.equal(entriesIn(path).length, 4)
  assertWholeChain(readBuffer(path))
})

test('every file is for the owner alone, whatever the umask', () => {
  const before = process.umask(0)
  try {
    for (const umask of [0, 0o777]) {
      process.umask(umask)
      const path = newBufferPathUnder(umask)
      const outbox = openOutbox(path)
      seqs(outbox.append(records('a')))
      for (const suffix of ['', '-wal', '-shm', '.lock', '.key']) {
        assert.equal((statSync(path + suffix).mode & 0o777).toString(8), '600', suffix)
      }
      outbox.close()
    }
  } finally {
    process.umask(before)
  }
})

function newBufferPathUnder(umask: number): string {
  process.umask(0o022)
  const path = newBufferPath()
  process.umask(umask)
  return path
}

test('a second owner of a buffer is refused with one sentence, also under another name, until the first ends', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  symlinkSync(path, `${path}.alias`)
  const alias = Outbox.open({
    ...bufferAt(`${path}.alias`),
    keys: chainKeys(randomBytes(32)),
    keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    intentsAreLost: true,
    nowMs: () => 1_000,
    newInstance: () => 'i2',
  })
  assert.ok(!alias.ok)
  for (const error of [refusal(path), alias.error])
    assert.match(error, /^audit\.buffer\.path ".*" is in use by another running gateway/)
  assert.deepEqual(seqs(outbox.append(records('a'))), [1])
  outbox.close()
  openOutbox(path).close()
})

test('a reader sees the entries while the owner writes', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  seqs(outbox.append(records('a')))
  assertWholeChain(readBuffer(path))
  const reader = new Database(path, { readonly: true })
  reader.exec('BEGIN')
  assert.equal(reader.prepare('SELECT count(*) FROM entries').pluck().get(), 1)
  assert.deepEqual(seqs(outbox.append(records('b'))), [2])
  reader.close()
  outbox.close()
})

test('a buffer that must not be used is refused with the reason', () => {
  const wrongKey = newBufferPath()
  openOutbox(wrongKey).close()
  writeFileSync(`${wrongKey}.other`, `${'ab'.repeat(32)}\n`)
  assert.match(refusal(wrongKey, `${wrongKey}.other`), /made with another chain key/)

  const newer = newBufferPath()
  openOutbox(newer).close()
  alter(newer, 'PRAGMA user_version = 99')
  assert.match(refusal(newer), /written by a newer version/)

  const foreign = newBufferPath()
  alter(foreign, 'CREATE TABLE identities (id TEXT)')
  assert.match(refusal(foreign), /another SQLite database/)

  const text = newBufferPath()
  writeFileSync(text, 'this is no database, it is a text of some length'.repeat(20))
  assert.match(refusal(text), /not a database/)

  const missing = join(root, 'no-such-folder', 'audit.db')
  const opened = Outbox.open({
    ...bufferAt(missing),
    keys: chainKeys(randomBytes(32)),
    keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    intentsAreLost: true,
    nowMs: () => 1_000,
    newInstance: () => 'i1',
  })
  assert.ok(!opened.ok)
  assert.match(opened.error, /no-such-folder.* cannot be used: ENOENT/)

  const added = newBufferPath()
  openOutbox(added).close()
  alter(added, "INSERT INTO entries VALUES (1, 'x', 0, '{}')")
  assert.match(refusal(added), /another program has added entries/)
})

test('a failing commit refuses the whole group, leaves order and chain as they were, and the next one may succeed', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  seqs(outbox.append(records('a')))
  alter(
    path,
    "CREATE TRIGGER full BEFORE INSERT ON entries WHEN new.id = 'c' BEGIN SELECT RAISE(ABORT, 'no room'); END",
  )
  const refused = outbox.append(records('b', 'c'))
  assert.ok(!refused.ok)
  assert.match(refused.error, /takes no entries: no room/)
  alter(path, 'DROP TRIGGER full')
  assert.deepEqual(seqs(outbox.append(records('b', 'c'))), [2, 3])
  outbox.close()
  assertWholeChain(readBuffer(path))
})

test('a buffer that was moved away takes nothing until it is back', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  seqs(outbox.append(records('a')))
  renameSync(path, `${path}.moved`)
  const refused = outbox.append(records('b'))
  assert.ok(!refused.ok)
  assert.match(refused.error, /was removed or replaced/)
  assert.equal(outbox.probe().ok, false)
  renameSync(`${path}.moved`, path)
  assert.ok(outbox.probe().ok)
  assert.deepEqual(seqs(outbox.append(records('b'))), [2])
  outbox.close()
})

test('a buffer whose -wal was removed takes nothing: nobody could read it', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  seqs(outbox.append(records('a')))
  rmSync(`${path}-wal`)
  const refused = outbox.append(records('b'))
  assert.ok(!refused.ok)
  assert.match(refused.error, /-wal" was removed or replaced/)
  assert.equal(outbox.probe().ok, false)
  outbox.close()
})

test('entries removed from the end stay missing: the chain goes on behind them', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  seqs(outbox.append(records('a', 'b', 'c')))
  outbox.close()
  alter(path, 'DELETE FROM entries WHERE seq > 1')
  const { lines, keys, head } = readBuffer(path)
  assert.deepEqual(verifyChain(lines, keys, head).faults, [{ kind: 'truncated', fromSeq: 2, toSeq: 3 }])
  const reopened = openOutbox(path)
  assert.deepEqual(seqs(reopened.append(records('d'))), [4])
  reopened.close()
  const later = readBuffer(path)
  assert.deepEqual(verifyChain(later.lines, later.keys, later.head).faults, [{ kind: 'removed', fromSeq: 2, toSeq: 3 }])
})

test('a probe writes for real and leaves nothing behind', () => {
  const path = newBufferPath()
  const outbox = openOutbox(path)
  assert.ok(outbox.probe().ok)
  alter(
    path,
    `CREATE TRIGGER full BEFORE INSERT ON meta WHEN length(new.value) = ${AUDIT_PROBE_BYTES} BEGIN SELECT RAISE(ABORT, 'no room'); END`,
  )
  assert.equal(outbox.probe().ok, false)
  outbox.close()
  const db = new Database(path, { readonly: true })
  assert.equal(db.prepare("SELECT count(*) FROM meta WHERE key = 'probe'").pluck().get(), 0)
  db.close()
})

test('a chain key is made once, and a missing, short or unreadable one is refused in one sentence', () => {
  const path = join(root, 'chain.key')
  const load = (mayCreate: boolean, keyPath = path) => loadChainKey({ path: keyPath, mayCreate, randomBytes })
  const missing = load(false)
  assert.ok(!missing.ok && /is missing although the buffer has entries/.test(missing.error))
  const made = load(true)
  assert.ok(made.ok)
  assert.equal(readFileSync(path, 'utf8'), `${'05'.repeat(32)}\n`)
  const again = load(false)
  assert.ok(again.ok && Buffer.from(again.value).equals(Buffer.from(made.value)))
  writeFileSync(path, 'abcd\n')
  const short = load(true)
  assert.ok(!short.ok && /expected 64 hex digits \(32 bytes\), found 4 characters/.test(short.error))
  mkdirSync(join(root, 'folder.key'))
  const folder = load(true, join(root, 'folder.key'))
  assert.ok(!folder.ok && /cannot be read \(EISDIR\)/.test(folder.error))
  const nowhere = load(true, join(root, 'no-such-folder', 'chain.key'))
  assert.ok(!nowhere.ok && /cannot be made \(ENOENT\)/.test(nowhere.error))
})
