import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReloadedConnectorShown, ReloadShown } from '../../src/admin/operation.js'
import { readReloadReport, reloadReportText } from '../../src/admin/reload-report.js'
import { RELOAD_FAULT_CHARS_MAX, RELOAD_REPORT_CHARS_MAX } from '../../src/core/limits.js'

const SHOWN: ReloadShown = { finished: true, faults: [], connectors: [], needs_restart: [] }

function connectors(count: number, more: Partial<ReloadedConnectorShown> = {}): readonly ReloadedConnectorShown[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `connector-${i}`,
    outcome: 'unchanged' as const,
    epoch: i + 1,
    faults: [],
    drift: ['a column is new'],
    ...more,
  }))
}

describe('what an instance leaves in the store of a reload', () => {
  test('each connector with outcome, epoch and first fault, those that were not applied first', () => {
    const shown: ReloadShown = {
      ...SHOWN,
      needs_restart: ['server'],
      connectors: [
        { id: 'a', outcome: 'applied', epoch: 2, faults: [], drift: [] },
        { id: 'b', outcome: 'unavailable', faults: ['first\nline', 'second'], drift: [] },
        { id: 'c', outcome: 'removed', faults: [], drift: [] },
        { id: 'd', outcome: 'unchanged', epoch: 1, faults: [], drift: ['there is no table "public.orders"', 'more'] },
      ],
    }
    assert.deepEqual(readReloadReport(reloadReportText(shown)), {
      faults: [],
      connectors: [
        { id: 'b', outcome: 'unavailable', fault: 'first line' },
        { id: 'a', outcome: 'applied', epoch: 2 },
        { id: 'c', outcome: 'removed' },
        { id: 'd', outcome: 'unchanged', epoch: 1, fault: 'there is no table "public.orders"' },
      ],
      omitted: 0,
      needs_restart: ['server'],
    })
  })

  test('is bounded whatever there is to say, and a connector that was not applied is never what finds no room', () => {
    const trouble = connectors(3, { outcome: 'kept', faults: ['"\u0001 😀'.repeat(10_000)] })
    const text = reloadReportText({ ...SHOWN, connectors: [...connectors(20_000), ...trouble] })
    assert.ok(text.length <= RELOAD_REPORT_CHARS_MAX, `${text.length} characters`)
    const report = readReloadReport(text)
    assert.ok(report)
    assert.equal(report.connectors.filter(({ outcome }) => outcome === 'kept').length, 3)
    assert.ok(report.connectors.every(({ fault = '' }) => [...fault].length <= RELOAD_FAULT_CHARS_MAX))
    assert.equal(report.connectors.length + report.omitted, 20_003)
    const faults = Array.from({ length: 1_000 }, () => 'x'.repeat(10_000))
    assert.ok(reloadReportText({ ...SHOWN, faults }).length <= RELOAD_REPORT_CHARS_MAX)
  })

  test('what no instance wrote is no report', () => {
    for (const text of ['', '{', '[]', '{"faults":[]}', '{"faults":[],"connectors":[{"id":1}]}', 'null']) {
      assert.equal(readReloadReport(text), undefined, text)
    }
  })
})
