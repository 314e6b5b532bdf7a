import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { floatPlace, keepsFloat, shortestSingle } from '../../src/core/float-value.js'
import type { ValueType } from '../../src/core/schema-model.js'
import { settle } from '../../src/engines/sql/places.js'

const SINGLE: ValueType = { logical: 'float', native: 'real', single: true, equality: true, ordered: true }
const OPS = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'] as const

const COMPARED: Readonly<Record<(typeof OPS)[number], (one: number, other: number) => boolean>> = {
  eq: (one, other) => one === other,
  neq: (one, other) => one !== other,
  gt: (one, other) => one > other,
  gte: (one, other) => one >= other,
  lt: (one, other) => one < other,
  lte: (one, other) => one <= other,
}

const singles = fc.float({ noNaN: true, noDefaultInfinity: true, min: -(2 ** 100), max: 2 ** 100 })
/** Any double, and those close to a single and to what it is shown as. */
const wanted = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  singles.map((single) => Number(shortestSingle(single))),
  fc.tuple(singles, fc.constantFrom(-1e-9, 1e-9, 3e-8)).map(([single, part]) => single * (1 + part)),
)

test('a float of half width compares with every number as what it is shown as does', () => {
  fc.assert(
    fc.property(singles, wanted, fc.constantFrom(...OPS), (single, value, op) => {
      const shown = Number(shortestSingle(single))
      // The number itself is taken for what it is shown as.
      const meant = Math.fround(value) === value ? Number(shortestSingle(value)) : value
      const settled = settle(op, floatPlace(SINGLE, String(value)))
      const found = settled === 'all' || (settled !== 'none' && COMPARED[settled.op](single, Number(settled.value)))
      assert.equal(found, COMPARED[op](shown, meant), `${shown} ${op} ${value}`)
    }),
    { numRuns: 5_000 },
  )
})

test('a number is written where it is one of half width or what that is shown as, and nowhere else', () => {
  fc.assert(
    fc.property(wanted, (value) => {
      const held = Math.fround(value)
      const kept = held === value || (Number.isFinite(held) && Number(shortestSingle(held)) === value)
      assert.equal(keepsFloat(SINGLE, String(value)), kept)
    }),
    { numRuns: 2_000 },
  )
})
