import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { digestFilterValue, digestRowKey } from '../../src/audit/chain.js'
import type { AuditIndex } from '../../src/audit/reports/index-file.js'
import { INTERVALS } from '../../src/audit/reports/report-query.js'
import type { AuditEntry, AuditRecord } from '../../src/core/audit-entry.js'
import { must } from '../support/gateway.js'
import { allPages, followAll, REPORT_KEYS, ReportBuffer, shownReport } from '../support/report-buffers.js'
import {
  groupOfRow,
  type ModelFilter,
  modelFits,
  modelGroups,
  modelPercentile,
  modelTotals,
} from '../support/report-model.js'

const BEGIN_MS = Date.parse('2026-03-01T00:00:00Z')
const CONNECTORS = ['shop', 'crm']
const IDENTITIES = ['ana', 'bo', '=cmd']
const TABLES = ['public.customers', 'public.orders']

interface Made {
  readonly kind: number
  readonly connector: number
  readonly identity: number
  readonly table: number
  readonly row: number
  readonly us: number
  /** Minutes that the entry comes late, as one does whose outcome was owed. */
  readonly lateMin: number
}

function recordOf({ kind, connector, identity, table, row, us, lateMin }: Made, n: number): AuditRecord {
  const target = TABLES[table] ?? ''
  const base = {
    id: `e${n}`,
    time: new Date(BEGIN_MS + n * 20_000 - lateMin * 60_000).toISOString(),
    address: '10.0.0.1',
    duration_ms: { total: us / 1_000 },
    effect: 'none' as const,
  }
  const caller = {
    connector: CONNECTORS[connector] ?? '',
    identity: IDENTITIES[identity] ?? '',
    key_id: `k${identity}`,
  }
  const keys = [{ table: target, keys: [String(row), String(row + 1)] }]
  const called = { ...base, ...caller, target }
  switch (kind) {
    case 0:
      return {
        ...called,
        tool: 'get_customers_by_pk',
        operation: 'get',
        decision: 'allowed',
        code: 'OK',
        rows: 2,
        result_keys: keys,
        plan: { filters: [{ column: 'id', op: 'eq', values: [String(row)] }] },
      }
    case 1:
      return {
        ...called,
        tool: 'update_orders_by_pk',
        operation: 'update',
        decision: 'allowed',
        code: 'OK',
        affected: 1,
        result_keys: keys,
        plan: { values: [{ column: 'name', values: ['n'] }], expected: [{ column: 'state', values: [String(row)] }] },
      }
    case 2:
      return { ...called, tool: 'search_orders', operation: 'search', decision: 'errored', code: 'TIMEOUT' }
    case 3:
      return {
        ...base,
        ...caller,
        tool: `made up ${n}`,
        operation: 'unknown',
        decision: 'blocked',
        code: 'TOOL_UNKNOWN',
      }
    case 4:
      return { ...base, connector: 'shop', operation: 'request', decision: 'blocked', code: 'AUTH_INVALID', count: 7 }
    default:
      return { ...base, identity: 'root', tool: 'key.revoke', operation: 'admin', decision: 'allowed', code: 'OK' }
  }
}

const made: fc.Arbitrary<Made> = fc.record({
  kind: fc.integer({ min: 0, max: 5 }),
  connector: fc.nat(1),
  identity: fc.nat(2),
  table: fc.nat(1),
  row: fc.nat(40),
  us: fc.oneof(fc.nat(3), fc.nat(4_000_000)),
  lateMin: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5_000) }),
})

/** Entries that repeat a few made ones, with numbers left out before them. */
const segment = fc.record({
  skipped: fc.oneof(fc.constant(0), fc.nat(2_000), fc.integer({ min: 30_000, max: 70_000 }), fc.constant(1_100_000)),
  made: fc.array(made, { minLength: 1, maxLength: 12 }),
  count: fc.integer({ min: 1, max: 1_500 }),
})

const moment = fc.integer({ min: -400, max: 20_000 }).map((n) => new Date(BEGIN_MS + n * 20_123).toISOString())
const filter: fc.Arbitrary<ModelFilter> = fc
  .record(
    {
      connector: fc.constantFrom('shop', 'crm', 'gone'),
      identity: fc.constantFrom(...IDENTITIES, 'root'),
      key_id: fc.constantFrom('k0', 'k1'),
      tool: fc.constantFrom('get_customers_by_pk', 'key.revoke', 'made up 3'),
      operation: fc.constantFrom('get', 'update', 'unknown', 'request', 'admin'),
      target: fc.constantFrom(...TABLES),
      decision: fc.constantFrom('allowed', 'blocked', 'errored'),
      code: fc.constantFrom('OK', 'TIMEOUT', 'AUTH_INVALID'),
      from: moment,
      to: moment,
    },
    { requiredKeys: [] },
  )
  .filter(({ from, to }) => from === undefined || to === undefined || from < to)

function queryOf(filter: ModelFilter): string {
  return new URLSearchParams({ ...filter }).toString()
}

function assertReports(index: AuditIndex, entries: readonly AuditEntry[], filter: ModelFilter, limit: number): void {
  const query = queryOf(filter)
  const fitting = entries.filter((entry) => modelFits(entry, filter))
  const summary = shownReport(index, 'summary', query)
  assert.equal(summary.to_seq, entries[entries.length - 1]?.seq)
  assert.equal(summary.from_seq, entries[0]?.seq)
  const { p50_ms, p95_ms, p99_ms, ...totals } = summary['totals'] as Record<string, unknown>
  assert.deepEqual(totals, modelTotals(fitting))
  for (const [shown, share] of [
    [p50_ms, 0.5],
    [p95_ms, 0.95],
    [p99_ms, 0.99],
  ] as const) {
    if (fitting.length === 0) continue
    const exact = modelPercentile(fitting, share)
    // A microsecond more for what is rounded.
    assert.ok(Number(shown) >= exact - 0.001 && Number(shown) <= exact * 1.091 + 0.001, `${shown} for ${exact}`)
  }
  for (const [interval, lengthMs] of Object.entries(INTERVALS))
    assertIntervals(index, fitting, filter, interval, lengthMs)
  const paged = `${query}&limit=${limit}`
  assert.deepEqual(allPages(index, 'calls', paged, 'entries'), [...fitting].reverse())
  for (const report of ['denials', 'identities', 'tools'] as const) {
    const rows = allPages(index, report, paged, report)
    const expected = modelGroups(report, fitting)
    assert.equal(rows.length, expected.size)
    for (const row of rows) assert.deepEqual(row, expected.get(groupOfRow(report, row)))
    const calls = rows.map((row) => Number((row as { calls: number }).calls))
    assert.deepEqual(
      calls,
      [...calls].sort((a, b) => b - a),
    )
  }
}

/** Intervals of a summary, as many as there may be, from the filter's beginning or the first entries on. */
function assertIntervals(
  index: AuditIndex,
  fitting: readonly AuditEntry[],
  filter: ModelFilter,
  interval: string,
  lengthMs: number,
): void {
  const fromMs = Date.parse(filter.from ?? new Date(BEGIN_MS + 1_234_567).toISOString())
  const toMs = Math.min(fromMs + 1_400 * lengthMs, Date.parse(filter.to ?? '2027-01-01T00:00:00Z'))
  const times = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
  if (fromMs >= toMs) return
  const expected = new Map<string, AuditEntry[]>()
  for (const entry of fitting) {
    const timeMs = Date.parse(entry.time)
    if (timeMs < fromMs || timeMs >= toMs) continue
    const from = new Date(Math.floor(timeMs / lengthMs) * lengthMs).toISOString()
    expected.set(from, [...(expected.get(from) ?? []), entry])
  }
  const shown = shownReport(index, 'summary', `${queryOf({ ...filter, ...times })}&interval=${interval}`)
  const rows = shown['intervals'] as readonly Record<string, unknown>[]
  assert.deepEqual(
    rows.map(({ from }) => from),
    [...expected.keys()].sort(),
  )
  for (const { from, p50_ms, p95_ms, p99_ms, ...totals } of rows) {
    const entries = expected.get(String(from)) ?? []
    assert.deepEqual(totals, modelTotals(entries))
    const exact = modelPercentile(entries, 0.95)
    assert.ok(Number(p95_ms) >= exact - 0.001 && Number(p95_ms) <= exact * 1.091 + 0.001, `${p95_ms} for ${exact}`)
    assert.ok(Number(p50_ms) <= Number(p95_ms) && Number(p95_ms) <= Number(p99_ms))
  }
}

/** Entries that hold a row or a value, found by looking at each; the newest first. */
function modelSearch(entries: readonly AuditEntry[], text: string): readonly number[] {
  const holding = entries.filter((entry) => JSON.stringify(entry).includes(`"${text}"`))
  return holding.map(({ seq }) => seq).reverse()
}

describe('reports say what a look at every entry says', () => {
  const buffers: ReportBuffer[] = []
  after(() => {
    for (const buffer of buffers) buffer.remove()
  })

  test('for any filter and any time, over blocks, nodes, missing numbers and deleted entries, read in steps or at once', () => {
    fc.assert(
      fc.property(
        fc.array(segment, { minLength: 1, maxLength: 8 }),
        fc.array(fc.tuple(filter, fc.integer({ min: 1, max: 1_000 })), { minLength: 1, maxLength: 3 }),
        fc.nat(100),
        fc.nat(3),
        (segments, questions, pruned, everyNth) => {
          const buffer = new ReportBuffer()
          buffers.push(buffer)
          const index = buffer.index()
          let n = 0
          for (const [i, { skipped, made, count }] of segments.entries()) {
            const records = Array.from({ length: count }, () => {
              n += 1
              return recordOf(made[n % made.length] ?? made[0] ?? assert.fail(), n)
            })
            buffer.append(records, skipped)
            // Sometimes entries are read as they come, sometimes many at once.
            if (everyNth > 0 && i % everyNth === 0) followAll(index)
          }
          followAll(index)
          const check = () => {
            const entries = buffer.entries()
            for (const [filter, limit] of questions) assertReports(index, entries, filter, limit)
            assertReports(index, entries, {}, 1_000)
            for (const row of [0, 3, 17]) {
              const digest = digestRowKey(REPORT_KEYS, { connector: 'shop', table: 'public.orders' }, String(row))
              const found = must(index.entriesOf(digest, { limit: 100_000 })).map(({ seq }) => seq)
              assert.deepEqual(found, modelSearch(entries, digest))
            }
            const column = { connector: 'crm', target: 'public.customers', column: 'id' }
            const value = digestFilterValue(REPORT_KEYS, column, '3')
            const found = must(index.entriesOf(value, { limit: 100_000 })).map(({ seq }) => seq)
            assert.deepEqual(found, modelSearch(entries, value))
          }
          check()
          // Within what a node stands for, or anywhere.
          const all = buffer.entries()
          buffer.prune(all[Math.floor((pruned / 100) * (all.length - 1))]?.seq ?? 1)
          check()
          followAll(index)
          check()
          index.close()
        },
      ),
      { numRuns: 12, seed: 8, endOnFailure: true },
    )
  })
})
