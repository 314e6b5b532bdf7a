import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CALL_DEADLINE_GRACE_MS, QUERY_TIMEOUT_MAX_MS } from '../../src/core/limits.js'
import {
  connectionOptions,
  SESSION_CONSTANTS,
  SESSION_RESTORED,
  setContext,
  tlsOf,
} from '../../src/engines/sqlserver/session.js'
import { testSettings } from '../support/test-server.js'

const settings = (connection: object = {}) =>
  testSettings(
    'sqlserver',
    'dbo',
    { host: 'db.example', port: 1433, user: 'u', password: 'p', database: 'd' },
    { connection },
  )

describe('sessions of SQL Server', () => {
  test('one batch sets everything that the server or the login might prefer otherwise', () => {
    for (const part of [
      'SET XACT_ABORT ON',
      'SET NOCOUNT OFF',
      'SET IMPLICIT_TRANSACTIONS OFF',
      'SET DATEFIRST 1',
      'SET LANGUAGE us_english',
      'SET TEXTSIZE 2147483647',
      `SET LOCK_TIMEOUT ${QUERY_TIMEOUT_MAX_MS + CALL_DEADLINE_GRACE_MS}`,
      'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
    ]) {
      assert.ok(SESSION_CONSTANTS.split(';\n').includes(part), part)
    }
    assert.match(SESSION_CONSTANTS, /ANSI_NULLS.*ANSI_PADDING.*ANSI_WARNINGS, ARITHABORT.*QUOTED_IDENTIFIER ON/)
    // The language sets the order of a date's parts, which is set behind it.
    assert.ok(SESSION_CONSTANTS.indexOf('SET LANGUAGE') < SESSION_CONSTANTS.indexOf('SET DATEFORMAT ymd'))
  })

  test('a session that is given back is asked whether it has forgotten its caller', () => {
    assert.ok(SESSION_RESTORED.startsWith(SESSION_CONSTANTS))
    assert.match(SESSION_RESTORED, /SELECT CONVERT\(nvarchar\(1\), SESSION_CONTEXT\(N'runku\.identity'\)\)$/)
  })

  test('the caller is bound as parameters, cannot be set twice, and is refused when the server could not hold it', () => {
    const set = setContext({ identity: "o'brien", roles: '["a"]', claims: '{}' })
    assert.ok(set.ok && set.value.kind === 'statement')
    assert.deepEqual(set.value.params, ["o'brien", '["a"]', '{}'])
    assert.equal(set.value.text.match(/@read_only = 1/g)?.length, 3)
    for (const key of ['identity', 'roles', 'claims']) assert.ok(set.value.text.includes(`N'runku.${key}'`))
    assert.ok(!setContext({ identity: 'a', roles: '[]', claims: 'x'.repeat(4_001) }).ok)
    assert.ok(setContext({ identity: 'a', roles: '[]', claims: 'x'.repeat(4_000) }).ok)
  })

  test('TLS is what the settings say', () => {
    assert.equal(tlsOf(settings({ tls: 'disable' }).connection), false)
    assert.deepEqual(tlsOf(settings({ tls: 'require' }).connection), { mode: 'require' })
    assert.deepEqual(tlsOf(settings({ tls: 'verify' }).connection), { mode: 'verify' })
    assert.throws(() => tlsOf(settings({ tls: 'strict', tlsCaFile: '/no/such.pem' }).connection), /ENOENT/)
  })

  test('a certificate is believed unseen only where the settings say so', () => {
    const of = (tls: Parameters<typeof connectionOptions>[1]) => {
      const { encrypt, trustServerCertificate, cryptoCredentialsDetails } = connectionOptions(settings(), tls, 'read')
      return [encrypt, trustServerCertificate, cryptoCredentialsDetails.ca]
    }
    assert.deepEqual(of(false), [false, false, undefined])
    assert.deepEqual(of({ mode: 'require' }), [true, true, undefined])
    assert.deepEqual(of({ mode: 'verify', ca: 'PEM' }), [true, false, 'PEM'])
    assert.deepEqual(of({ mode: 'strict' }), ['strict', false, undefined])
  })

  test('no option stops a call, tries again, gathers rows, moves times or tells the name of this host', () => {
    const options = connectionOptions(settings(), false, 'read')
    assert.deepEqual([options.requestTimeout, options.cancelTimeout, options.maxRetriesOnTransientErrors], [0, 0, 0])
    assert.equal(options.rowCollectionOnRequestCompletion || options.rowCollectionOnDone, false)
    assert.equal(options.useUTC && options.abortTransactionOnError, true)
    assert.equal(options.fallbackToDefaultDb || options.enableImplicitTransactions, false)
    assert.deepEqual([options.appName, options.workstationId, options.dateFormat], ['runku', 'runku', 'ymd'])
  })

  test('sessions that read ask for a replica that cannot be written, and only those', () => {
    assert.equal(connectionOptions(settings(), false, 'read').readOnlyIntent, true)
    assert.equal(connectionOptions(settings(), false, 'write').readOnlyIntent, false)
  })
})
