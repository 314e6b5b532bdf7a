import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WireField } from '../../src/engines/sqlserver/cell-text.js'
import { Collector, type WireLimits, type WireOutcome } from '../../src/engines/sqlserver/wire.js'

const TEXT: WireField = {
  colName: 'c',
  type: { name: 'NVarChar' },
  userType: 0,
  precision: undefined,
  scale: undefined,
  dataLength: 8,
  udtInfo: undefined,
}

function collected(limits: Partial<WireLimits> = {}) {
  const outcomes: WireOutcome[] = []
  const collector = new Collector({ timeoutMs: 1, bytesMax: 10, ...limits }, (outcome) => outcomes.push(outcome))
  return { collector, outcomes }
}

describe('the answer to one statement of SQL Server', () => {
  test('ends beyond its bytes of cells, once, and hears nothing more', () => {
    const { collector, outcomes } = collected()
    collector.fields([TEXT])
    collector.row(['12345'])
    collector.row(['12345'])
    assert.deepEqual(outcomes, [])
    collector.row(['6'])
    collector.row(['7'])
    collector.done()
    assert.deepEqual(outcomes, [{ kind: 'too_large' }])
  })

  test('a cell that never ends is not gathered first and judged then', () => {
    const { collector, outcomes } = collected()
    collector.fields([TEXT])
    collector.arrived(131_072)
    collector.row(['a'])
    collector.arrived(131_072)
    assert.deepEqual(outcomes, [])
    collector.arrived(21)
    assert.deepEqual(outcomes, [{ kind: 'too_large' }])
  })

  test('keeps so many rows of each set, and drops the others', () => {
    const { collector, outcomes } = collected({ rowsMax: 1 })
    collector.fields([TEXT])
    collector.row(['a'])
    collector.row(['b'])
    collector.fields([TEXT])
    collector.row([null])
    collector.done()
    const sets = [
      { fields: [TEXT], rows: [['a']] },
      { fields: [TEXT], rows: [[null]] },
    ]
    assert.deepEqual(outcomes, [{ kind: 'done', answer: { sets, news: 'none' } }])
  })

  test('what was committed is never undone by what follows', () => {
    const { collector, outcomes } = collected()
    collector.transactionEnded('rolled_back')
    collector.transactionEnded('committed')
    collector.transactionEnded('rolled_back')
    const error = new Error('said')
    collector.failed(error)
    assert.deepEqual(outcomes, [{ kind: 'failed', error, news: 'committed', sets: [] }])
  })
})
