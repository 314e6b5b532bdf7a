import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import {
  chainKeys,
  digestFilterValue,
  GENESIS,
  GENESIS_HASH,
  openHead,
  sealEntry,
  sealHead,
} from '../../src/audit/chain.js'
import { MemoryLedger } from '../../src/audit/ledger.js'
import { auditRecord } from '../support/audit-records.js'
import { type ChainFault, verifyChain } from '../support/verify-chain.js'

const SECRET = Buffer.alloc(32, 7)
const KEYS = chainKeys(SECRET)

function ledgerLines(count: number, instance = 'i1', keys = KEYS): readonly string[] {
  const ledger = new MemoryLedger({ keys, instance, keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' } })
  const appended = ledger.append(Array.from({ length: count }, (_, i) => auditRecord(`${instance}-${i}`)))
  assert.ok(appended.ok)
  return appended.value.map(({ line }) => line)
}

const LINES = ledgerLines(6)
const line = (seq: number) => LINES[seq - 1] ?? ''
const order = (...seqs: readonly number[]) => seqs.map(line)
const edited = (seq: number) => line(seq).replace('"rows":2', '"rows":1')

function faults(lines: readonly string[]): readonly ChainFault[] {
  return verifyChain(lines, KEYS).faults
}

test('an entry is its line: seq first, prev_hash and hash last, hashed over the text without hash', () => {
  const first = JSON.parse(line(1)) as Record<string, unknown>
  const second = JSON.parse(line(2)) as Record<string, unknown>
  assert.equal(Object.keys(first)[0], 'seq')
  assert.deepEqual(Object.keys(first).slice(-2), ['prev_hash', 'hash'])
  assert.equal(first['prev_hash'], GENESIS_HASH)
  assert.equal(second['prev_hash'], first['hash'])
  const { hash, ...rest } = second
  assert.equal(hash, createHmac('sha256', SECRET).update(JSON.stringify(rest)).digest('hex'))
})

test('an untouched chain verifies, and not under another key', () => {
  assert.deepEqual(verifyChain(LINES, KEYS), { lines: 6, faults: [] })
  assert.notEqual(verifyChain(LINES, chainKeys(Buffer.alloc(32, 8))).faults.length, 0)
})

test('each kind of tampering is found and named with the entry', () => {
  const removedTwo: ChainFault = { kind: 'removed', fromSeq: 2, toSeq: 3 }
  const forged = sealEntry(chainKeys(Buffer.alloc(32, 9)), { seq: 2, hash: GENESIS_HASH }, '"id":"x"').line
  const cases: readonly (readonly [what: string, lines: readonly string[], expected: readonly ChainFault[]])[] = [
    ['edited', [...order(1, 2), edited(3), ...order(4, 5, 6)], [{ kind: 'edited', seq: 3, position: 2 }]],
    ['first edited', [edited(1), ...order(2, 3, 4, 5, 6)], [{ kind: 'edited', seq: 1, position: 0 }]],
    ['last edited', [...order(1, 2, 3, 4, 5), edited(6)], [{ kind: 'edited', seq: 6, position: 5 }]],
    [
      'its number edited',
      [...order(1, 2), line(3).replace('"seq":3', '"seq":5'), ...order(4, 5, 6)],
      [{ kind: 'edited', seq: 3, position: 2 }],
    ],
    ['emptied', [...order(1, 2), '', ...order(4, 5, 6)], [{ kind: 'edited', seq: 3, position: 2 }]],
    ['removed', order(1, 4, 5, 6), [removedTwo]],
    ['first removed', order(2, 3, 4, 5, 6), [{ kind: 'removed', fromSeq: 1, toSeq: 1 }]],
    ['forged and inserted', [...order(1, 2), forged, ...order(3, 4, 5, 6)], [{ kind: 'inserted', position: 2 }]],
    ['a copy inserted', order(1, 2, 3, 2, 4, 5, 6), [{ kind: 'inserted', position: 3 }]],
    ['swapped', order(1, 3, 2, 4, 5, 6), [{ kind: 'reordered', seq: 2, position: 2 }]],
    ['first two swapped', order(2, 1, 3, 4, 5, 6), [{ kind: 'reordered', seq: 1, position: 1 }]],
    [
      'removed and edited',
      [line(1), edited(3), ...order(4, 5, 6)],
      [
        { kind: 'edited', seq: 3, position: 1 },
        { kind: 'removed', fromSeq: 2, toSeq: 2 },
      ],
    ],
  ]
  for (const [what, lines, expected] of cases) assert.deepEqual(faults(lines), expected, what)
})

test('a genuine entry of another instance does not pass as one of this', () => {
  const other = ledgerLines(3, 'i2')
  assert.deepEqual(faults([...order(1, 2), other[2] ?? '', ...order(4, 5, 6)]), [
    { kind: 'inserted', position: 2 },
    { kind: 'removed', fromSeq: 3, toSeq: 3 },
  ])
})

test('two genuine histories spliced together do not link', () => {
  const ledger = new MemoryLedger({
    keys: KEYS,
    instance: 'i1',
    keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
  })
  const other = ledger.append([1, 2, 3, 4].map((i) => auditRecord(`other-${i}`)))
  assert.ok(other.ok)
  assert.deepEqual(faults([...order(1, 2, 3), other.value[3]?.line ?? '']), [{ kind: 'unlinked', seq: 4 }])
})

test('entries cut from the end show against the sealed head, which cannot be made or moved without the key', () => {
  const last = JSON.parse(line(6)) as { hash: string }
  const sealed = sealHead(KEYS, 'i1', { seq: 6, hash: last.hash })
  const head = openHead(KEYS, 'i1', sealed)
  assert.deepEqual(head, { seq: 6, hash: last.hash })
  assert.deepEqual(verifyChain(order(1, 2, 3, 4), KEYS, head).faults, [{ kind: 'truncated', fromSeq: 5, toSeq: 6 }])
  assert.deepEqual(verifyChain([], KEYS, head).faults, [{ kind: 'truncated', fromSeq: 1, toSeq: 6 }])
  assert.deepEqual(verifyChain(LINES, KEYS, head).faults, [])
  assert.equal(openHead(KEYS, 'i2', sealed), undefined)
  assert.equal(openHead(KEYS, 'i1', sealed.replace('6:', '4:')), undefined)
  assert.equal(openHead(KEYS, 'i1', sealHead(chainKeys(Buffer.alloc(32, 1)), 'i1', GENESIS)), undefined)
})

test('equal filter values have equal digests in one column only, and none without the key', () => {
  const name = { connector: 'shop', target: 'public.customers', column: 'email' }
  const digest = digestFilterValue(KEYS, name, 'a@b.c')
  assert.match(digest, /^hmac:[0-9a-f]{32}$/)
  assert.equal(digestFilterValue(chainKeys(SECRET), name, 'a@b.c'), digest)
  const others = [
    digestFilterValue(KEYS, { ...name, column: 'mail' }, 'a@b.c'),
    digestFilterValue(KEYS, { ...name, target: 'public.users' }, 'a@b.c'),
    digestFilterValue(KEYS, { ...name, connector: 'crm' }, 'a@b.c'),
    digestFilterValue(chainKeys(Buffer.alloc(32, 8)), name, 'a@b.c'),
    digestFilterValue(KEYS, name, 'a@b.d'),
  ]
  assert.equal(new Set([digest, ...others]).size, 6)
  // Not the chain key itself: a digest must never be usable as an entry's hash.
  assert.ok(
    !createHmac('sha256', SECRET)
      .update('["shop","public.customers","email","a@b.c"]')
      .digest('hex')
      .startsWith(digest.slice(5)),
  )
})
