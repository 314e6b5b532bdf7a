import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ErrorCode, publicText } from '../../src/core/errors.js'
import { REASON_CHARS_MAX } from '../../src/core/limits.js'
import { connectError, sqlstateOf, statementError, writeError } from '../../src/engines/postgres/errors.js'

/** An error as the driver hands over the server's own. */
function serverError(code: string, message = 'what the server said'): Error {
  return Object.assign(new Error(message), { code, severity: 'ERROR', detail: 'Failing row contains (hash4711).' })
}

const CODES: readonly (readonly [string, ErrorCode])[] = [
  ['08006', 'CONNECTOR_UNAVAILABLE'],
  ['0A000', 'DB_ERROR'],
  ['09000', 'DB_CONSTRAINT'],
  ['22003', 'DB_VALUE'],
  ['2200H', 'DB_CONSTRAINT'],
  ['22P02', 'DB_VALUE'],
  ['23502', 'DB_CONSTRAINT'],
  ['23503', 'DB_CONSTRAINT'],
  ['23505', 'DB_CONSTRAINT'],
  ['23514', 'DB_CONSTRAINT'],
  ['23P01', 'DB_CONSTRAINT'],
  ['25006', 'DB_PERMISSION'],
  ['27000', 'DB_CONSTRAINT'],
  ['2D000', 'DB_ERROR'],
  ['28P01', 'CONNECTOR_UNAVAILABLE'],
  ['3D000', 'CONNECTOR_UNAVAILABLE'],
  ['3F000', 'SCHEMA_CHANGED'],
  ['40001', 'DB_CONFLICT'],
  ['40002', 'DB_CONSTRAINT'],
  ['40P01', 'DB_CONFLICT'],
  ['428C9', 'SCHEMA_CHANGED'],
  ['42501', 'DB_PERMISSION'],
  ['42601', 'DB_ERROR'],
  ['42703', 'SCHEMA_CHANGED'],
  ['42725', 'SCHEMA_CHANGED'],
  ['42809', 'SCHEMA_CHANGED'],
  ['42846', 'SCHEMA_CHANGED'],
  ['42883', 'SCHEMA_CHANGED'],
  ['42P01', 'SCHEMA_CHANGED'],
  ['44000', 'DB_CONSTRAINT'],
  ['53100', 'DB_RESOURCES'],
  ['53300', 'DB_RESOURCES'],
  ['54000', 'DB_RESOURCES'],
  ['55P03', 'DB_CONFLICT'],
  ['57014', 'TIMEOUT'],
  ['57P01', 'CONNECTOR_UNAVAILABLE'],
  ['57P02', 'CONNECTOR_UNAVAILABLE'],
  ['57P03', 'CONNECTOR_UNAVAILABLE'],
  ['58030', 'DB_RESOURCES'],
  ['P0001', 'DB_ERROR'],
  ['XX000', 'DB_ERROR'],
]

describe('errors of PostgreSQL', () => {
  test('every SQLSTATE that users meet has its code', () => {
    for (const [state, code] of CODES) assert.equal(statementError(serverError(state)).code, code, state)
  })

  test('what code inside of the database raises refuses a change as a constraint does, and is no constraint of a read', () => {
    for (const state of ['P0001', 'P0002', 'P0003', 'P0004']) {
      assert.equal(writeError(serverError(state)).code, 'DB_CONSTRAINT', state)
      assert.equal(statementError(serverError(state)).code, 'DB_ERROR', state)
    }
    for (const [state, code] of CODES) {
      if (!state.startsWith('P0')) assert.equal(writeError(serverError(state)).code, code, state)
    }
  })

  test('no word of the server is public or in an entry, and its DETAIL is nowhere', () => {
    for (const [state] of CODES) {
      const error = statementError(serverError(state, 'column "ssn" of relation "people"'))
      assert.doesNotMatch(publicText(error), /ssn|people|hash4711/)
      assert.match(error.reason ?? '', new RegExp(`\\[${state}\\]$`))
      assert.match(error.detail ?? '', new RegExp(`\\[${state}\\].*"ssn"`))
      assert.doesNotMatch(error.detail ?? '', /hash4711/)
    }
  })

  test('an error of the socket is a lost connection, even when its code looks like an SQLSTATE', () => {
    const error = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    assert.equal(sqlstateOf(error), undefined)
    assert.equal(statementError(error).code, 'CONNECTOR_UNAVAILABLE')
    assert.equal(statementError('not even an error').code, 'CONNECTOR_UNAVAILABLE')
  })

  test('whatever keeps the driver from connecting is one code', () => {
    for (const state of ['28P01', '3D000', '53300', '57P03', '42501']) {
      assert.equal(connectError(serverError(state)).code, 'CONNECTOR_UNAVAILABLE')
    }
  })

  test('the detail is one clean line of bounded length', () => {
    const reason = statementError(serverError('XX000', `a\nb\u001b[31m\u202e${'x'.repeat(10_000)}`)).detail ?? ''
    assert.ok([...reason].length <= REASON_CHARS_MAX)
    assert.doesNotMatch(reason, /[\n\u001b\u202e]/)
  })
})
