import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  connectionOptions,
  productOf,
  sessionConstants,
  statementLimit,
  tlsOf,
  whereaboutsQuery,
} from '../../src/engines/mysql/session.js'
import { testSettings } from '../support/test-server.js'

const settings = (connection: object) =>
  testSettings(
    'mysql',
    'd',
    { host: 'db.example', port: 3306, user: 'u', password: 'p', database: 'd' },
    { connection },
  )

describe('sessions of MySQL and MariaDB', () => {
  test('the product is what the server says it is', () => {
    assert.equal(productOf('5.5.5-10.11.14-MariaDB-deb12'), 'mariadb')
    assert.equal(productOf('8.4.3'), 'mysql')
  })

  test('a session that reads cannot write, by the name that each product has for that', () => {
    assert.match(sessionConstants('read', 'mariadb', 1_000), /SESSION tx_read_only = 1(,|$)/)
    assert.match(sessionConstants('write', 'mariadb', 1_000), /SESSION tx_read_only = 0(,|$)/)
    assert.match(sessionConstants('read', 'mysql', 1_000), /SESSION transaction_read_only = 1(,|$)/)
    assert.doesNotMatch(sessionConstants('read', 'mysql', 1_000), /tx_read_only|max_statement_time/)
    assert.doesNotMatch(sessionConstants('read', 'mariadb', 1_000), /transaction_read_only|max_execution_time/)
  })

  test('one statement sets the encoding, the zone, the mode and every limit', () => {
    const text = sessionConstants('write', 'mariadb', 300_000)
    assert.match(text, /^SET NAMES utf8mb4 COLLATE utf8mb4_bin, /)
    for (const part of ["time_zone = '+00:00'", "tx_isolation = 'READ-COMMITTED'", 'completion_type = 0']) {
      assert.ok(text.includes(`SESSION ${part}`), part)
    }
    assert.match(text, /max_statement_time = 65(,|$)/)
    // An idle connection must outlive the gateway's own idle timeout, which would otherwise find it lost.
    assert.match(text, /wait_timeout = 305(,|$)/)
    assert.doesNotMatch(text, /;/)
  })

  test('where a session is, is asked by the name that each product has for the server', () => {
    assert.match(whereaboutsQuery('mysql', 7), /@@server_uuid.* WHERE ID = 7\)$/)
    assert.match(whereaboutsQuery('mariadb', 7), /@@server_id, @@hostname, @@port.* WHERE ID = 7\)$/)
    assert.throws(() => whereaboutsQuery('mysql', Number.NaN), /number/)
  })

  test('the server stops a statement a little after the driver would', () => {
    assert.equal(statementLimit('mariadb', 5_000), 'SET SESSION max_statement_time = 5.25')
    assert.equal(statementLimit('mysql', 5_000.4), 'SET SESSION max_execution_time = 5251')
  })

  test('TLS is what the settings say, and is never spoken over a socket of this machine', () => {
    assert.equal(tlsOf(settings({ tls: 'disable' }).connection), false)
    assert.deepEqual(tlsOf(settings({ tls: 'require' }).connection), {
      rejectUnauthorized: false,
      verifyIdentity: false,
    })
    assert.deepEqual(tlsOf(settings({ tls: 'verify' }).connection), { rejectUnauthorized: true, verifyIdentity: true })
    assert.equal(tlsOf(settings({ tls: 'verify', host: '/run/mysqld/mysqld.sock' }).connection), false)
    assert.throws(() => tlsOf(settings({ tls: 'verify', tlsCaFile: '/no/such.pem' }).connection), /ENOENT/)
  })

  test('no option that loses digits, moves times, runs several statements or hands out files is on', () => {
    const options = connectionOptions(settings({}), false)
    assert.equal(options.supportBigNumbers && options.bigNumberStrings && options.dateStrings, true)
    assert.equal(options.multipleStatements || options.decimalNumbers || options.enableCleartextPlugin, false)
    assert.ok(options.flags.includes('-LOCAL_FILES') && options.flags.includes('FOUND_ROWS'))
    assert.ok(!('infileStreamFactory' in options) && !('ssl' in options))
    const local = connectionOptions(settings({ host: '/a/socket' }), false)
    assert.ok('socketPath' in local && local.socketPath === '/a/socket' && !('host' in local))
  })
})
