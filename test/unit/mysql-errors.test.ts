import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { publicText } from '../../src/core/errors.js'
import {
  connectError,
  detailOf,
  errnoOf,
  reasonOf,
  signalledError,
  statementError,
  writeError,
} from '../../src/engines/mysql/errors.js'

const server = (errno: number, sqlState = 'HY000', message = 'said 4711') =>
  Object.assign(new Error(message), { code: 'ER_SOMETHING', errno, sqlState })
const network = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED', errno: -111 })

/** What the server gives with these numbers, where it is not its state for everything. */
const STATES: Readonly<Record<number, string>> = {
  1053: '08S01',
  1054: '42S22',
  1146: '42S02',
  1305: '42000',
  1317: '70100',
  1318: '42000',
  1927: '70100',
}

describe('errors of MySQL and MariaDB', () => {
  test('the number decides the code', () => {
    const cases = {
      DB_CONSTRAINT: [167, 1048, 1062, 1364, 1451, 1452, 3819, 4025],
      DB_VALUE: [1264, 1267, 1292, 1366, 1406, 1690, 3140],
      DB_CONFLICT: [1205, 1213],
      DB_PERMISSION: [1044, 1142, 1143, 1227, 1370, 1792],
      SCHEMA_CHANGED: [1054, 1146, 1305, 1318],
      TIMEOUT: [1317, 1969, 3024],
      DB_RESOURCES: [3, 1021, 1037, 1038, 1041, 1114, 1226, 1461],
      CONNECTOR_UNAVAILABLE: [1040, 1045, 1053, 1129, 1130, 1203, 1698, 1927, 2006, 2013, 4031],
      DB_ERROR: [1064, 9999],
    }
    for (const [code, numbers] of Object.entries(cases)) {
      for (const number of numbers) {
        assert.equal(statementError(server(number, STATES[number])).code, code, String(number))
      }
    }
  })

  test('what code in the database raises refuses a change as a constraint does, and is an error of a read', () => {
    for (const error of [server(1644, '45000'), server(1644, '02TRG'), server(30_001, '45000')]) {
      assert.equal(writeError(error).code, 'DB_CONSTRAINT')
      assert.equal(statementError(error).code, 'DB_ERROR')
    }
    assert.equal(writeError(server(1146, '42S02')).code, 'SCHEMA_CHANGED')
  })

  test('a number that code in the database signals with a state of its own is not the number', () => {
    for (const number of [1305, 1317, 1927, 1146, 1053]) {
      for (const state of ['45001', '02000']) {
        const error = server(number, state)
        assert.equal(writeError(error).code, 'DB_CONSTRAINT')
        assert.equal(statementError(error).code, 'DB_ERROR')
        assert.doesNotMatch(statementError(error).detail ?? '', /4711/)
      }
    }
    const posing = signalledError(server(1927, '70100'), false)
    assert.equal(posing.code, 'DB_CONSTRAINT')
    assert.doesNotMatch(JSON.stringify(posing), /4711/)
    assert.equal(signalledError(server(1927, '70100'), true).code, 'DB_ERROR')
  })

  test('without a number of the server it is the connection that failed', () => {
    assert.equal(errnoOf(network), undefined)
    assert.equal(statementError(network).code, 'CONNECTOR_UNAVAILABLE')
    assert.equal(statementError('a string').code, 'CONNECTOR_UNAVAILABLE')
    assert.equal(connectError(server(1062)).code, 'CONNECTOR_UNAVAILABLE')
  })

  test('a message that may quote a row reaches nobody, and any other the operator alone', () => {
    for (const number of [1062, 1366, 1644, 1292, 9999]) {
      const error = writeError(server(number, '23000', "Duplicate entry '4711' for key 'PRIMARY'"))
      assert.doesNotMatch(JSON.stringify(error), /4711/)
      assert.match(error.detail ?? '', new RegExp(`${number} 23000.*ER_SOMETHING`))
    }
    const denied = statementError(server(1142, '42000', "SELECT command denied for table 'closed'"))
    assert.match(denied.detail ?? '', /closed/)
    assert.doesNotMatch(denied.reason ?? '', /closed/)
    assert.doesNotMatch(publicText(denied), /closed|1142/)
  })

  test('the reason holds number and state, or the name of what failed on this side', () => {
    assert.equal(reasonOf('connecting failed', server(1045, '28000')), 'connecting failed: [1045 28000]')
    assert.equal(reasonOf('connecting failed', server(1045, 'odd')), 'connecting failed: [1045 -----]')
    assert.equal(reasonOf('connecting failed', network), 'connecting failed: [ECONNREFUSED]')
    assert.equal(reasonOf('connecting failed', 'text'), 'connecting failed')
    assert.match(detailOf('connecting failed', network), /127\.0\.0\.1/)
    assert.ok(detailOf('x', server(1064, '42000', `a\u0000\n${'y'.repeat(10_000)}`)).length <= 300)
  })
})
