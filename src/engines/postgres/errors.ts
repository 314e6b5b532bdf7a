import { type ErrorCode, type GatewayError, gatewayError } from '../../core/errors.js'
import { REASON_CHARS_MAX } from '../../core/limits.js'
import { cleanText } from '../../core/names.js'

/**
 * What went wrong in PostgreSQL, as one of the gateway's codes. Only the SQLSTATE decides: messages are translated, and
 * differ between versions. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */

const BY_STATE: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['09000', 'DB_CONSTRAINT'], // triggered_action_exception
  ['2200H', 'DB_CONSTRAINT'], // sequence_generator_limit_exceeded: no value of the caller's
  ['25006', 'DB_PERMISSION'], // read_only_sql_transaction: something behind a view or a routine tried to write
  ['27000', 'DB_CONSTRAINT'], // triggered_data_change_violation
  ['25P03', 'CONNECTOR_UNAVAILABLE'], // idle_in_transaction_session_timeout: the server ends the session
  ['3D000', 'CONNECTOR_UNAVAILABLE'], // invalid_catalog_name: the database is gone
  ['3F000', 'SCHEMA_CHANGED'], // invalid_schema_name
  ['40001', 'DB_CONFLICT'], // serialization_failure, a standby's conflict with recovery included
  ['40002', 'DB_CONSTRAINT'], // transaction_integrity_constraint_violation
  ['40P01', 'DB_CONFLICT'], // deadlock_detected
  ['428C9', 'SCHEMA_CHANGED'], // generated_always: the column has come to be the database's own
  ['42501', 'DB_PERMISSION'], // insufficient_privilege
  ['42703', 'SCHEMA_CHANGED'], // undefined_column
  ['42704', 'SCHEMA_CHANGED'], // undefined_object: a dropped type
  ['42725', 'SCHEMA_CHANGED'], // ambiguous_function
  ['42804', 'SCHEMA_CHANGED'], // datatype_mismatch: every comparison was typed by the catalog as introspected
  ['42809', 'SCHEMA_CHANGED'], // wrong_object_type: a function that has become a procedure, a table that has become a view
  ['42846', 'SCHEMA_CHANGED'], // cannot_coerce
  ['42883', 'SCHEMA_CHANGED'], // undefined_function: a dropped routine, or an operator that the column's former type had
  ['42P01', 'SCHEMA_CHANGED'], // undefined_table
  ['44000', 'DB_CONSTRAINT'], // with_check_option_violation
  ['55006', 'DB_CONFLICT'], // object_in_use
  ['55P03', 'DB_CONFLICT'], // lock_not_available
  ['55P04', 'DB_VALUE'], // unsafe_new_enum_value_usage
  ['57014', 'TIMEOUT'], // query_canceled by the server's own timeout or an administrator
  ['57P01', 'CONNECTOR_UNAVAILABLE'], // admin_shutdown
  ['57P02', 'CONNECTOR_UNAVAILABLE'], // crash_shutdown
  ['57P03', 'CONNECTOR_UNAVAILABLE'], // cannot_connect_now
  ['57P04', 'CONNECTOR_UNAVAILABLE'], // database_dropped
  ['57P05', 'CONNECTOR_UNAVAILABLE'], // idle_session_timeout
])

const BY_CLASS: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['08', 'CONNECTOR_UNAVAILABLE'], // connection exception
  ['22', 'DB_VALUE'], // data exception
  ['23', 'DB_CONSTRAINT'], // integrity constraint violation
  ['28', 'CONNECTOR_UNAVAILABLE'], // invalid authorization
  ['40', 'DB_CONFLICT'], // transaction rollback
  ['53', 'DB_RESOURCES'], // insufficient resources
  ['54', 'DB_RESOURCES'], // program limit exceeded
  ['58', 'DB_RESOURCES'], // system error: files and disks of the server
])

/** A prepared statement the server does not know: a pooler, or `DEALLOCATE ALL` somewhere, took it away. */
export const UNKNOWN_PREPARED_STATEMENT = '26000'
/** Raised, among other things, when the columns of a prepared statement changed their types. */
export const FEATURE_NOT_SUPPORTED = '0A000'

/**
 * The SQLSTATE when `error` is the server's own. Node's errors carry a `code` too, and some (`EPIPE`) look like one; only
 * the server's have a severity.
 */
export function sqlstateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if (!('severity' in error) || typeof error.severity !== 'string') return undefined
  if (!('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}

/**
 * The operator's text: where it happened, the code, and the primary message. The server's DETAIL, HINT and CONTEXT are
 * never read, because they print rows.
 */
export function detailOf(what: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return cleanText(`${reasonOf(what, error)} ${message}`, REASON_CHARS_MAX)
}

/** What an entry may keep: where it happened and the code. A message can quote what the caller may not see. */
export function reasonOf(what: string, error: unknown): string {
  const code = sqlstateOf(error) ?? nodeCode(error)
  return code === undefined ? what : `${what}: [${code}]`
}

function nodeCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** A failure while a statement ran. Without an SQLSTATE it is the connection that failed. */
export function statementError(error: unknown): GatewayError {
  const state = sqlstateOf(error)
  if (state === undefined) {
    return described('CONNECTOR_UNAVAILABLE', 'the connection was lost', error)
  }
  const code = BY_STATE.get(state) ?? BY_CLASS.get(state.slice(0, 2)) ?? 'DB_ERROR'
  return described(code, 'the statement failed', error)
}

/** Class P0: what code inside of the database raises. */
const RAISED = 'P0'

/**
 * The same for a statement that changes something: what a trigger or a routine raises there refuses the change, as a
 * constraint does, and the two must not be told apart.
 */
export function writeError(error: unknown): GatewayError {
  if (sqlstateOf(error)?.startsWith(RAISED) === true) return described('DB_CONSTRAINT', 'the statement failed', error)
  return statementError(error)
}

/** A failure to connect is one code whatever the server says: a wrong password, no database, no slot, no answer. */
export function connectError(error: unknown): GatewayError {
  return described('CONNECTOR_UNAVAILABLE', 'connecting failed', error)
}

/** Class 28, invalid authorization specification: the server did not take the login or its password. */
export function isLoginRefused(error: unknown): boolean {
  return sqlstateOf(error)?.startsWith('28') === true
}

function described(code: ErrorCode, what: string, error: unknown): GatewayError {
  return gatewayError(code, { reason: reasonOf(what, error), detail: detailOf(what, error) })
}
