import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metricType } from '../../src/core/metric-type.js'
import type { AggregateFn } from '../../src/core/plan.js'
import { TYPES } from '../support/schema.js'

const logical = (fn: AggregateFn, type: keyof typeof TYPES) => metricType(fn, TYPES[type])?.logical

test('only a count does without a column', () => {
  assert.equal(metricType('count', undefined)?.logical, 'bigint')
  for (const fn of ['count_distinct', 'sum', 'avg', 'min', 'max'] as const) {
    assert.equal(metricType(fn, undefined), undefined)
  }
})

test('sums and averages of exact numbers are exact, and have room', () => {
  assert.equal(logical('sum', 'integer'), 'bigint')
  assert.equal(logical('sum', 'bigint'), 'decimal')
  assert.equal(logical('sum', 'decimal'), 'decimal')
  assert.equal(logical('avg', 'integer'), 'decimal')
  assert.equal(logical('avg', 'bigint'), 'decimal')
  assert.equal(logical('avg', 'decimal'), 'decimal')
  assert.equal(logical('sum', 'float'), 'float')
  assert.equal(logical('avg', 'float'), 'float')
  assert.equal(logical('sum', 'interval'), 'interval')
})

test('what has no sum has none', () => {
  for (const type of ['text', 'boolean', 'date', 'timestamptz', 'uuid', 'json', 'bytes', 'mood', 'inet'] as const) {
    assert.equal(logical('sum', type), undefined, type)
    assert.equal(logical('avg', type), undefined, type)
  }
})

test('least and greatest values keep the type of the column, and exist where every engine has them', () => {
  for (const type of ['integer', 'bigint', 'decimal', 'float', 'text', 'timestamptz', 'date', 'timetz'] as const) {
    assert.equal(metricType('min', TYPES[type]), TYPES[type], type)
    assert.equal(metricType('max', TYPES[type]), TYPES[type], type)
  }
  for (const type of ['boolean', 'uuid', 'bytes', 'json', 'jsonb', 'mood', 'integers', 'inet', 'point'] as const) {
    assert.equal(metricType('min', TYPES[type]), undefined, type)
  }
})

test('distinct values are counted only where the engine can tell values apart by sorting them', () => {
  assert.equal(logical('count_distinct', 'uuid'), 'bigint')
  assert.equal(logical('count_distinct', 'json'), undefined)
  assert.equal(metricType('count_distinct', { ...TYPES.inet, ordered: false }), undefined)
  assert.equal(logical('count', 'json'), 'bigint')
})
