import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { publicText } from '../../src/core/errors.js'
import {
  connectError,
  detailOf,
  numberOf,
  reasonOf,
  statementError,
  writeError,
} from '../../src/engines/sqlserver/errors.js'

const server = (number: number, severity = 16, message = 'said 4711', state = 1) =>
  Object.assign(new Error(message), { code: 'EREQUEST', number, state, class: severity })
const network = Object.assign(new Error('Failed to connect to 127.0.0.1:1'), { code: 'ESOCKET' })

describe('errors of SQL Server', () => {
  test('the number decides the code', () => {
    const cases = {
      DB_CONSTRAINT: [515, 547, 550, 2601, 2627, 3609, 33_504],
      DB_VALUE: [220, 241, 242, 245, 248, 2628, 8114, 8115, 8134, 8152, 8169, 13_609],
      DB_CONFLICT: [1205, 1222, 3960, 41_302],
      DB_PERMISSION: [229, 230, 262, 297, 916, 3906, 4060],
      SCHEMA_CHANGED: [201, 207, 208, 2812, 4121, 8144],
      TIMEOUT: [8649],
      DB_RESOURCES: [701, 802, 1105, 8645, 9002, 10_928, 40_501],
      CONNECTOR_UNAVAILABLE: [596, 942, 6005, 18_456, 40_613],
      DB_ERROR: [102, 9999, 33_557_097],
    }
    for (const [code, numbers] of Object.entries(cases)) {
      for (const number of numbers) assert.equal(statementError(server(number)).code, code, String(number))
    }
  })

  test('no number stands for two codes, and every error that ends the session counts as its loss', () => {
    assert.equal(statementError(server(9999, 20)).code, 'CONNECTOR_UNAVAILABLE')
    assert.equal(statementError(server(2627, 20)).code, 'DB_CONSTRAINT')
  })

  test('of several errors the cause decides, not what reports that it ended the batch', () => {
    assert.equal(numberOf(new AggregateError([server(547), server(3609)])), 547)
    assert.equal(numberOf(new AggregateError([server(3609), server(51_000)])), 51_000)
    assert.equal(numberOf(new AggregateError([server(9999), server(8152)])), 8152)
    assert.equal(numberOf(new AggregateError([server(266), server(3998)])), 266)
  })

  test('what code in the database raises refuses a change as a constraint does, and is an error of a read', () => {
    for (const error of [server(50_000), server(51_000), new AggregateError([server(50_001), server(3609)])]) {
      assert.equal(writeError(error).code, 'DB_CONSTRAINT')
      assert.equal(statementError(error).code, 'DB_ERROR')
    }
    assert.equal(writeError(server(208)).code, 'SCHEMA_CHANGED')
    assert.equal(writeError(server(33_557_097)).code, 'DB_ERROR')
  })

  test('without a number of the server it is the connection that failed', () => {
    assert.equal(numberOf(network), undefined)
    assert.equal(numberOf(new AggregateError([])), undefined)
    assert.equal(statementError(network).code, 'CONNECTOR_UNAVAILABLE')
    assert.equal(statementError('a string').code, 'CONNECTOR_UNAVAILABLE')
    assert.equal(connectError(server(2627)).code, 'CONNECTOR_UNAVAILABLE')
  })

  test('a message that may quote a row reaches nobody, and any other the operator alone', () => {
    for (const number of [547, 2627, 245, 8152, 50_000, 9999]) {
      const error = writeError(server(number, 14, 'The duplicate key value is (4711).'))
      assert.doesNotMatch(JSON.stringify(error), /4711/)
      assert.match(error.detail ?? '', new RegExp(`\\[${number} 1 14\\]`))
    }
    const denied = statementError(server(229, 14, "The SELECT permission was denied on the object 'closed'."))
    assert.match(denied.detail ?? '', /closed/)
    assert.doesNotMatch(denied.reason ?? '', /closed/)
    assert.doesNotMatch(publicText(denied), /closed|229/)
  })

  test('the reason holds number, state and severity, or the name of what failed on this side', () => {
    assert.equal(reasonOf('connecting failed', server(18_456, 14, '', 8)), 'connecting failed: [18456 8 14]')
    assert.equal(reasonOf('connecting failed', network), 'connecting failed: [ESOCKET]')
    assert.equal(reasonOf('connecting failed', 'text'), 'connecting failed')
    assert.match(detailOf('connecting failed', network), /127\.0\.0\.1/)
    assert.ok(detailOf('x', server(208, 16, `a\u0000\n${'y'.repeat(10_000)}`)).length <= 300)
  })
})
