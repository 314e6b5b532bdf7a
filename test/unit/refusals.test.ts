import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorCode } from '../../src/core/errors.js'
import { FOLD_AFTER_PER_MINUTE } from '../../src/core/limits.js'
import { type FoldedRefusals, RefusalFolder } from '../../src/refusals.js'

const MINUTE_MS = 60_000

function folder() {
  const folded: FoldedRefusals[] = []
  return { folded, folder: new RefusalFolder((each) => folded.push(each)) }
}

function key(address: string, code: ErrorCode = 'AUTH_INVALID') {
  return { address, code, connector: 'shop' }
}

test('the first ten of an address and code in a minute have entries of their own, the rest one with a count', () => {
  const { folded, folder: made } = folder()
  const admitted = Array.from({ length: 25 }, () => made.admit(key('10.0.0.1'), 0, false))
  assert.equal(admitted.filter((own) => own).length, FOLD_AFTER_PER_MINUTE)
  assert.equal(made.admit(key('10.0.0.2'), 0, false), true, 'another address')
  made.flush(MINUTE_MS - 1, false, false)
  assert.deepEqual(folded, [])
  made.flush(MINUTE_MS, false, false)
  assert.deepEqual(folded, [{ ...key('10.0.0.1'), count: 15 }])
})

test('once strangers have taken what they may, all refusals of a code and connector are one entry a minute, without an address', () => {
  const { folded, folder: made } = folder()
  for (let i = 0; i < 5_000; i++) assert.equal(made.admit(key(`10.0.${i >> 8}.${i & 255}`), 0, true), false)
  made.admit(key('10.9.9.9', 'PROTOCOL_PARSE'), 0, true)
  made.flush(MINUTE_MS, false, true)
  assert.deepEqual(folded, [
    { address: undefined, code: 'AUTH_INVALID', connector: 'shop', count: 5_000 },
    { address: undefined, code: 'PROTOCOL_PARSE', connector: 'shop', count: 1 },
  ])
  assert.equal(made.admit(key('10.0.0.1'), MINUTE_MS, false), true, 'when it is over, addresses count again')
})

test('counts of single addresses that are under way when that begins go into the one entry too', () => {
  const { folded, folder: made } = folder()
  for (let i = 0; i < 50; i++) {
    for (let n = 0; n < FOLD_AFTER_PER_MINUTE + 3; n++) made.admit(key(`10.0.0.${i}`), 0, false)
  }
  made.admit(key('10.0.0.1'), 1, true)
  made.flush(2 * MINUTE_MS, true, true)
  assert.deepEqual(folded, [{ address: undefined, code: 'AUTH_INVALID', connector: 'shop', count: 50 * 3 + 1 }])
})

test('nothing is forgotten when the gateway stops', () => {
  const { folded, folder: made } = folder()
  for (let i = 0; i < 12; i++) made.admit(key('10.0.0.1'), 0, false)
  for (let i = 0; i < 4; i++) made.admit(key('10.0.0.2'), 0, true)
  made.flush(1, true, false)
  assert.equal(
    folded.reduce((sum, { count }) => sum + count, 0),
    6,
  )
})
