import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RESULT_SETS_MAX } from '../../src/core/limits.js'
import { BINARY_CHARSET, WIRE, type WireField } from '../../src/engines/mysql/cell-text.js'
import { Collector, tooLarge, type WireLimits, type WireOutcome } from '../../src/engines/mysql/wire.js'

const field = (name: string): WireField => ({
  name,
  columnType: WIRE.varString,
  characterSet: BINARY_CHARSET,
  flags: 0,
  decimals: 0,
  columnLength: 10,
})
const OUT_PARAMS = 0x1000

function collecting(limits: Partial<WireLimits> = {}) {
  const ends: WireOutcome[] = []
  const collector = new Collector({ timeoutMs: 1, bytesMax: 1_000, ...limits }, [], (end) => ends.push(end))
  return { collector, ends }
}

describe('the answer to one statement of MySQL and MariaDB', () => {
  test('more result sets than a procedure may give end it, whether or not they are shown', () => {
    for (const keeps of [() => true, () => false]) {
      const { collector, ends } = collecting({ bytesMax: 10_000_000, keeps })
      for (let n = 0; n < RESULT_SETS_MAX; n++) {
        collector.fields([field('c')])
        collector.row(['x'])
      }
      assert.deepEqual(ends, [])
      collector.fields([field('c')])
      assert.deepEqual(ends, [{ kind: 'too_large', sets: true }])
      assert.match(tooLarge({ kind: 'too_large', sets: true }, 1).reason ?? '', /result sets/)
    }
  })

  test('what describes the columns counts as well as what is in them', () => {
    const { collector, ends } = collecting()
    for (let n = 0; n < 10; n++) {
      collector.fields(Array.from({ length: 100 }, () => field('c'.repeat(64))))
      collector.row(Array.from({ length: 100 }, () => null))
    }
    assert.deepEqual(ends, [{ kind: 'too_large' }])
  })

  test('nothing is kept of a set that is not let through, and the row of outputs always is', () => {
    const { collector, ends } = collecting({ keeps: (fields) => fields.some(({ name }) => name === 'id') })
    collector.fields([field('secret')])
    collector.row(['x'])
    collector.fields([field('id')])
    collector.row(['1'])
    collector.fields([field('total')])
    collector.status(OUT_PARAMS, 0)
    collector.row(['2'])
    collector.done()
    const [end] = ends
    assert.ok(end?.kind === 'done')
    assert.deepEqual(
      end.answer.sets.map(({ fields, rows, outs }) => [fields[0]?.name, rows, outs]),
      [
        ['id', [['1']], false],
        ['total', [['2']], true],
      ],
    )
  })
})
