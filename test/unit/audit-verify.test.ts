import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { chainKeys, GENESIS, type SealedEntry, sealEntry, writeHeadLine } from '../../src/audit/chain.js'
import { entrySchema } from '../../src/audit/entry-schema.js'
import { MemoryLedger } from '../../src/audit/ledger.js'
import { canonicalLine } from '../../src/audit/verify/canonical-entry.js'
import { readTrailFile } from '../../src/audit/verify/read-lines.js'
import { TrailCheck, type TrailFault } from '../../src/audit/verify/trail-check.js'
import { verifyTrail } from '../../src/audit/verify/verify-trail.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { auditRecord } from '../support/audit-records.js'

const KEYS = chainKeys(Buffer.alloc(32, 7))
const KEEPING = { filters: 'hash', writes: 'full', resultKeys: 'hash' } as const
const TIME = '2026-01-01T00:00:00.000Z'

function chain(count: number, instance = 'i1', keys = KEYS): readonly SealedEntry[] {
  const ledger = new MemoryLedger({ keys, instance, keeping: KEEPING })
  const appended = ledger.append(Array.from({ length: count }, (_, i) => auditRecord(`${instance}-${i}`)))
  assert.ok(appended.ok)
  return appended.value
}

const ENTRIES = chain(6)
const entry = (seq: number) => ENTRIES[seq - 1] ?? assert.fail(`no entry ${seq}`)
const line = (seq: number) => entry(seq).line
const order = (...seqs: readonly number[]) => seqs.map(line)
const edited = (seq: number) => line(seq).replace('"rows":2', '"rows":1')
const head = (seq: number) =>
  writeHeadLine(KEYS, { instance: 'i1', seq, hash: seq === 0 ? GENESIS.hash : entry(seq).hash, time: TIME })

/** Faults of the one instance, with places as positions. */
function faults(sources: readonly (readonly string[])[], repeats = false): readonly object[] {
  const check = new TrailCheck(KEYS)
  for (const [i, lines] of sources.entries()) {
    const source = check.source({ name: `s${i}`, repeats })
    for (const each of lines) source.visit(each)
  }
  return check.finish().flatMap((result) => result.faults.map(short))
}

function short(fault: TrailFault): object {
  if (!('place' in fault) || fault.place === undefined) return fault
  const { place, ...rest } = fault
  return { ...rest, at: `${place.source}:${place.position}` }
}

test('each kind of tampering is found and named with the entry', () => {
  const forged = sealEntry(chainKeys(Buffer.alloc(32, 9)), { seq: 2, hash: GENESIS.hash }, '"id":"x"').line
  const cases: readonly (readonly [what: string, lines: readonly string[], expected: readonly object[]])[] = [
    ['nothing', order(1, 2, 3, 4, 5, 6), []],
    ['edited', [...order(1, 2), edited(3), ...order(4, 5, 6)], [{ kind: 'edited', seq: 3, at: 's0:2' }]],
    ['last edited', [...order(1, 2, 3, 4, 5), edited(6)], [{ kind: 'edited', seq: 6, at: 's0:5' }]],
    [
      'its number edited',
      [...order(1, 2), line(3).replace('"seq":3', '"seq":5'), ...order(4, 5, 6)],
      [{ kind: 'edited', seq: 3, at: 's0:2' }],
    ],
    ['emptied', [...order(1, 2), '', ...order(4, 5, 6)], [{ kind: 'edited', seq: 3, at: 's0:2' }]],
    ['removed', order(1, 4, 5, 6), [{ kind: 'removed', fromSeq: 2, toSeq: 3 }]],
    ['first removed', order(2, 3, 4, 5, 6), [{ kind: 'removed', fromSeq: 1, toSeq: 1 }]],
    ['forged and inserted', [...order(1, 2), forged, ...order(3, 4, 5, 6)], [{ kind: 'inserted', at: 's0:2' }]],
    ['a copy inserted', order(1, 2, 3, 2, 4, 5, 6), [{ kind: 'inserted', at: 's0:3' }]],
    ['swapped', order(1, 3, 2, 4, 5, 6), [{ kind: 'reordered', seq: 2, at: 's0:2' }]],
    ['truncated', [...order(1, 2, 3, 4), head(6)], [{ kind: 'truncated', fromSeq: 5, toSeq: 6 }]],
    ['all removed', [head(6)], [{ kind: 'truncated', fromSeq: 1, toSeq: 6 }]],
    ['a head changed', [...order(1, 2), head(2).replace('"seq":2', '"seq":1')], [{ kind: 'head', at: 's0:2' }]],
  ]
  for (const [what, lines, expected] of cases) assert.deepEqual(faults([lines]), expected, what)
})

test('what one source lacks another may have, and repeated lines of a file are no fault', () => {
  assert.deepEqual(faults([order(1, 2), order(5, 6), order(2, 3, 4, 5)], true), [])
  assert.deepEqual(faults([order(4, 5, 6), order(1, 2, 3)]), [])
  assert.deepEqual(faults([order(1, 2, 3, 2, 3, 4, 5, 6)], true), [])
  assert.deepEqual(faults([order(1, 2), order(4, 5, 6)], true), [{ kind: 'removed', fromSeq: 3, toSeq: 3 }])
  assert.deepEqual(faults([[...order(1, 2), edited(3), ...order(4, 5, 6)], order(3)], true), [
    { kind: 'inserted', at: 's0:2' },
  ])
})

test('a later part of a trail begins with the head before it, and no other', () => {
  assert.deepEqual(faults([[head(3), ...order(4, 5, 6)]]), [])
  assert.deepEqual(faults([[head(2), ...order(4, 5, 6)]]), [{ kind: 'removed', fromSeq: 1, toSeq: 3 }])
})

test('a checkpoint vouches for what the gateway deleted, and a file that still has it has to fit', () => {
  const check = (checkpoint: number, ...sources: readonly (readonly string[])[]) => {
    const trail = new TrailCheck(KEYS)
    trail.checkpoint('i1', entry(checkpoint))
    for (const [i, lines] of sources.entries()) {
      const source = trail.source({ name: `s${i}`, repeats: true }, 'i1')
      for (const each of lines) source.visit(each)
    }
    return trail.finish().flatMap((result) => result.faults.map(short))
  }
  assert.deepEqual(check(3, order(4, 5, 6)), [])
  assert.deepEqual(check(3, order(4, 5, 6), order(2, 3)), [])
  assert.deepEqual(check(3, order(5, 6)), [{ kind: 'removed', fromSeq: 4, toSeq: 4 }])
})

test('two genuine histories of one instance do not pass as one', () => {
  const ledger = new MemoryLedger({ keys: KEYS, instance: 'i1', keeping: KEEPING })
  const other = ledger.append([1, 2, 3, 4].map((i) => auditRecord(`other-${i}`)))
  assert.ok(other.ok)
  const last = other.value[3]?.line ?? ''
  assert.deepEqual(faults([[...order(1, 2, 3), last]]), [{ kind: 'unlinked', seq: 4 }])
  assert.deepEqual(faults([order(1, 2, 3, 4), [last]]), [{ kind: 'unlinked', seq: 4, at: 's1:0' }])
})

test('entries of several instances are chains of their own', () => {
  const other = chain(3, 'i2').map((each) => each.line)
  const check = new TrailCheck(KEYS)
  const source = check.source({ name: 's', repeats: true })
  for (const each of [...order(1, 2), ...other, ...order(3, 4)]) source.visit(each)
  assert.deepEqual(
    check.finish().map(({ instance, entries, range, faults: found }) => ({ instance, entries, range, found })),
    [
      { instance: 'i1', entries: 4, range: { from: 1, to: 4 }, found: [] },
      { instance: 'i2', entries: 3, range: { from: 1, to: 3 }, found: [] },
    ],
  )
})

const words = fc.string({ unit: 'binary', maxLength: 20 }).map((word) => `x${word}`)
const anyRecord: fc.Arbitrary<Partial<AuditRecord>> = fc.record(
  {
    identity: words,
    client: words,
    roles: fc.array(words, { maxLength: 3 }),
    reason: words,
    affected: fc.nat(9),
    count: fc.integer({ min: 1, max: 9 }),
    detail: fc.dictionary(words, fc.oneof(words, fc.nat(), fc.boolean(), fc.constant(null)), { maxKeys: 4 }),
    result_keys: fc.array(fc.record({ table: words, keys: fc.array(words, { maxLength: 3 }) }), { maxLength: 2 }),
    plan: fc.record(
      {
        columns: fc.array(words, { maxLength: 3 }),
        filters: fc.array(
          fc.record(
            { column: words, op: fc.constantFrom('eq', 'in'), values: fc.array(words) },
            { requiredKeys: ['column', 'op'] },
          ),
        ),
        order: fc.array(fc.record({ by: words, direction: fc.constantFrom('asc', 'desc') }), { maxLength: 2 }),
        page: fc.record({ limit: fc.nat() }),
        values: fc.array(fc.record({ column: words, values: fc.array(words, { maxLength: 1 }) })),
      },
      { requiredKeys: [] },
    ),
    duration_ms: fc.record({ total: fc.double({ min: 0, max: 1e6, noNaN: true }), db: fc.nat() }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<AuditRecord>>

/** The same value with the members of every object in another order, `detail` aside, whose order is its own. */
function shuffled(value: unknown, own = false): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]) => [name, shuffled(inner, name === 'detail')] as const)
  return Object.fromEntries(own ? members : members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

test('an entry that was taken apart and written in another order, with members added, is the one that was sealed', () => {
  fc.assert(
    fc.property(anyRecord, (members) => {
      const ledger = new MemoryLedger({ keys: KEYS, instance: 'i1', keeping: KEEPING })
      const appended = ledger.append([auditRecord('a', members)])
      assert.ok(appended.ok)
      const sealed = appended.value[0]?.line ?? ''
      const apart = { ...(shuffled(JSON.parse(sealed)) as object), '@timestamp': TIME, host: 'x' }
      assert.equal(canonicalLine(apart as Record<string, unknown>), sealed)
    }),
  )
})

test('every entry is what the schema says', () => {
  fc.assert(
    fc.property(anyRecord, (members) => {
      const ledger = new MemoryLedger({ keys: KEYS, instance: 'i1', keeping: KEEPING })
      const appended = ledger.append([auditRecord('a', members)])
      assert.ok(appended.ok)
      const found = entrySchema.strict().safeParse(JSON.parse(appended.value[0]?.line ?? ''))
      assert.ok(found.success, found.success ? '' : JSON.stringify(found.error.issues))
    }),
  )
})

const folder = mkdtempSync(join(tmpdir(), 'runku-verify-'))
after(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

test('files are read as the gateway writes them and as destinations keep them', async () => {
  const lines = order(1, 2, 3)
  const parsed = lines.map((each) => JSON.parse(each) as object)
  const text = `${head(0)}\n${lines.join('\n')}\n`
  const files = {
    'lines.jsonl': text,
    'lines.jsonl.gz': gzipSync(text),
    'crlf.jsonl': text.replaceAll('\n', '\r\n'),
    'json.jsonl': `${JSON.stringify({ batch: 'x', head: {}, entries: parsed })}\n`,
    'pretty.json': JSON.stringify(parsed, undefined, 2),
    'splunk.jsonl': lines.map((each) => `{"time":1,"sourcetype":"runku","event":${each}}`).join('\n'),
    'bulk.jsonl': lines.map((each, i) => `{"create":{"_id":"${i}"}}\n${each}`).join('\n'),
    'hits.jsonl': parsed.map((each) => JSON.stringify({ _id: 'a', _source: shuffled(each) })).join('\n'),
    'collected.jsonl': lines.map((each) => JSON.stringify({ message: each, source_type: 'http' })).join('\n'),
  }
  for (const [name, content] of Object.entries(files)) {
    const found: string[] = []
    const read = await readTrailFile(file(name, content), (each) => found.push(each))
    assert.ok(read.ok, name)
    assert.deepEqual(
      found.filter((each) => each.startsWith('{"seq"')),
      lines,
      name,
    )
  }
})

test('a line that is no entry is a fault, and so is a file that cannot be read', async () => {
  const path = file('odd.jsonl', `${line(1)}\nnot json\n${line(2)}\n{"create":{}}\n`)
  const checked = await verifyTrail({ files: [path], heads: [] }, KEYS)
  assert.ok(checked.ok)
  assert.deepEqual(
    checked.value.flatMap((result) => result.faults.map(short)),
    [{ kind: 'inserted', at: `${path}:1` }],
  )
  const missing = await verifyTrail({ files: [join(folder, 'none.jsonl')], heads: [] }, KEYS)
  assert.deepEqual(
    [missing.ok, missing.ok ? '' : missing.error],
    [false, `"${join(folder, 'none.jsonl')}" is not there`],
  )
})

test('an entry with a member twice is none, whichever of the two its seal is of', async () => {
  const twice = line(2).replace('{"seq":2,', '{"identity":"bob","seq":2,')
  const path = file('twice.jsonl', `${line(1)}\n${twice}\n${line(3)}\n`)
  const checked = await verifyTrail({ files: [path], heads: [] }, KEYS)
  assert.ok(checked.ok)
  assert.deepEqual(
    checked.value.flatMap((result) => result.faults.map(short)),
    [{ kind: 'edited', seq: 2, at: `${path}:1` }],
  )
})

test('a mark of the byte order before the first line is no part of it', async () => {
  const path = file('bom.jsonl', `\ufeff${order(1, 2).join('\n')}\n`)
  const checked = await verifyTrail({ files: [path], heads: [] }, KEYS)
  assert.ok(checked.ok)
  assert.deepEqual(
    checked.value.map(({ entries, faults: found }) => [entries, found]),
    [[2, []]],
  )
})
