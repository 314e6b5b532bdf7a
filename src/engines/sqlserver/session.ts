import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import { CALL_DEADLINE_GRACE_MS, KEEP_ALIVE_DELAY_MS, QUERY_TIMEOUT_MAX_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { SessionUse } from '../driver/session-pool.js'
import type { SessionContext } from '../engine.js'
import type { WireStatement } from './wire.js'

type ConnectionSettings = ConnectorSettings['connection']

/** No call waits longer for a lock, because none lasts longer. */
const LOCK_TIMEOUT_MS = QUERY_TIMEOUT_MAX_MS + CALL_DEADLINE_GRACE_MS
/** Bytes of a text that the server sends: all of them. */
export const TEXTSIZE_BYTES = 2_147_483_647

/**
 * Settings of every session, whatever the server and the login prefer. They are constants: nothing that depends on a caller
 * is among them. One batch, to be run on a new session and again whenever the server has reset one. `LANGUAGE` sets the order
 * of days and months, and so comes before what sets that order.
 */
export const SESSION_CONSTANTS = [
  'SET LANGUAGE us_english',
  'SET DATEFORMAT ymd',
  'SET DATEFIRST 1',
  // A statement that fails ends its batch and undoes its transaction, triggers and routines included.
  'SET XACT_ABORT ON',
  'SET NOCOUNT OFF',
  'SET NOEXEC OFF',
  'SET ROWCOUNT 0',
  'SET IMPLICIT_TRANSACTIONS OFF',
  'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET LOCK_TIMEOUT ${LOCK_TIMEOUT_MS}`,
  'SET DEADLOCK_PRIORITY NORMAL',
  'SET CURSOR_CLOSE_ON_COMMIT OFF',
  // What indexed views, computed columns and filtered indexes need, and what makes a value that does not fit an error.
  'SET ANSI_NULLS, ANSI_NULL_DFLT_ON, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON',
  'SET NUMERIC_ROUNDABORT OFF',
  `SET TEXTSIZE ${TEXTSIZE_BYTES}`,
].join(';\n')

/**
 * The same behind a reset, and then who the caller is taken for: NULL where the reset did what it is there for. A server that
 * kept the last caller would hand the next one's rows to it.
 */
export const SESSION_RESTORED = `${SESSION_CONSTANTS};\nSELECT CONVERT(nvarchar(1), SESSION_CONTEXT(N'runku.identity'))`

/** `session_context` holds a value as a `sql_variant`, which takes no longer text. */
const CONTEXT_CHARS_MAX = 4_000

/** Once set, a value stays what it is until the session is reset: no code inside of the database can pass for another caller. */
const SET_CONTEXT = (['identity', 'roles', 'claims'] as const)
  .map((key, i) => `EXEC sys.sp_set_session_context @key = N'runku.${key}', @value = @p${i + 1}, @read_only = 1`)
  .join(';\n')

/** Hands the caller to the database's own rules, until the session is reset. The error is for the operator. */
export function setContext({ identity, roles, claims }: SessionContext): Result<WireStatement, string> {
  const params = [identity, roles, claims]
  if (params.some((text) => text.length > CONTEXT_CHARS_MAX)) {
    return fail(
      `identity, roles or claims are longer than the ${CONTEXT_CHARS_MAX} characters that session_context holds`,
    )
  }
  return ok({ kind: 'statement', text: SET_CONTEXT, params })
}

/** Whether the session is encrypted and whose certificate is believed; `false` for neither. */
export type Tls = { readonly mode: 'require' | 'verify' | 'strict'; readonly ca?: string } | false

/** Throws when the authority file cannot be read: the caller turns it into an unavailable connector. */
export function tlsOf({ tls, tlsCaFile }: ConnectionSettings): Tls {
  if (tls === 'disable') return false
  return tls === 'require' || tlsCaFile === undefined
    ? { mode: tls }
    : { mode: tls, ca: readFileSync(tlsCaFile, 'utf8') }
}

/** The protocol's number for that. */
const READ_COMMITTED = 2

/** What a socket is opened with. */
export const SOCKET_OPTIONS = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS, noDelay: true } as const

/**
 * How `tedious` connects, in full: its defaults stop a statement after fifteen seconds, try again on their own, and tell the
 * server the name of this host. Its deadlines are off, since calls have their own. The language has no session that cannot
 * write: reads ask for a replica that cannot.
 */
export function connectionOptions({ connection }: ConnectorSettings, tls: Tls, use: SessionUse) {
  const { port, database } = connection
  const credentials: SecureContextOptions = {
    minVersion: 'TLSv1.2',
    ...(tls !== false && tls.ca !== undefined ? { ca: tls.ca } : {}),
  }
  return {
    port,
    database,
    fallbackToDefaultDb: false,
    encrypt: tls === false ? false : tls.mode === 'strict' ? ('strict' as const) : true,
    trustServerCertificate: tls !== false && tls.mode === 'require',
    cryptoCredentialsDetails: credentials,
    appName: 'runku',
    workstationId: 'runku',
    readOnlyIntent: use === 'read',
    multiSubnetFailover: false,
    maxRetriesOnTransientErrors: 0,
    requestTimeout: 0,
    cancelTimeout: 0,
    packetSize: 4_096,
    useUTC: true,
    useColumnNames: false,
    camelCaseColumns: false,
    lowerCaseGuids: true,
    rowCollectionOnDone: false,
    rowCollectionOnRequestCompletion: false,
    columnEncryptionSetting: false,
    abortTransactionOnError: true,
    isolationLevel: READ_COMMITTED,
    connectionIsolationLevel: READ_COMMITTED,
    datefirst: 1,
    dateFormat: 'ymd',
    language: 'us_english',
    textsize: TEXTSIZE_BYTES,
    enableAnsiNull: true,
    enableAnsiNullDefault: true,
    enableAnsiPadding: true,
    enableAnsiWarnings: true,
    enableArithAbort: true,
    enableConcatNullYieldsNull: true,
    enableCursorCloseOnCommit: false,
    enableImplicitTransactions: false,
    enableNumericRoundabort: false,
    enableQuotedIdentifier: true,
    debug: { data: false, packet: false, payload: false, token: false },
  }
}
