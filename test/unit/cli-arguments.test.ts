import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseExpiry } from '../../src/admin/expiry.js'
import { parseClaims } from '../../src/cli/identity.js'

const NOW = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

test('an expiry is a span of days or hours, a date in UTC, or a time with its offset', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['90d', NOW + 90 * DAY_MS],
    ['12h', NOW + DAY_MS / 2],
    ['2026-02-01', Date.UTC(2026, 1, 1)],
    ['2026-02-01T10:00:00Z', Date.UTC(2026, 1, 1, 10)],
    ['2026-02-01T10:00+02:00', Date.UTC(2026, 1, 1, 8)],
  ]
  for (const [text, expected] of cases) assert.deepEqual(parseExpiry(text, NOW), { ok: true, value: expected }, text)
})

test('an expiry that means nothing, lies in the past or is far away is refused', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /expected 90d, 12h, or a date/],
    ['90', /expected 90d/],
    ['5m', /expected 90d/],
    ['-1d', /expected 90d/],
    ['tomorrow', /expected 90d/],
    ['2026-02-01T10:00', /expected 90d/],
    ['2026-13-01', /expected 90d/],
    ['0d', /after now/],
    ['2020-01-01', /after now/],
    ['999999d', /at most 3650 days/],
  ]
  for (const [text, expected] of cases) {
    const outcome = parseExpiry(text, NOW)
    assert.match(outcome.ok ? 'taken' : outcome.error, expected, text)
  }
})

test('a claim is text whatever it looks like, a JSON array keeps its types, a repeated name is a list', () => {
  const outcome = parseClaims([
    'tenant=42',
    'on=true',
    'eq=a=b',
    'empty=',
    'list=[1,"2",true]',
    'r=eu',
    'r=us',
    'none=[]',
  ])
  assert.ok(outcome.ok)
  assert.deepEqual(
    [...outcome.value],
    [
      ['tenant', '42'],
      ['on', 'true'],
      ['eq', 'a=b'],
      ['empty', ''],
      ['list', [1, '2', true]],
      ['r', ['eu', 'us']],
      ['none', []],
    ],
  )
})

test('a claim without a name, and a list that is none or nests, are refused', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['tenant', /expected name=value/],
    ['=42', /expected name=value/],
    ['a=[1', /must be a JSON array/],
    ['a=[[1]]', /expected text, numbers, true or false/],
    ['a=[null]', /expected text, numbers, true or false/],
  ]
  for (const [text, expected] of cases) {
    const outcome = parseClaims([text])
    assert.match(outcome.ok ? 'taken' : outcome.error.lines.join(), expected, text)
  }
})
