import { type ErrorCode, type GatewayError, gatewayError } from '../../core/errors.js'
import { REASON_CHARS_MAX } from '../../core/limits.js'
import { cleanText } from '../../core/names.js'

/**
 * What went wrong in MySQL or MariaDB, as one of the gateway's codes. Only the error number decides: an SQLSTATE is shared
 * by errors of many kinds here, and messages are translated.
 * https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
 * https://mariadb.com/kb/en/mariadb-error-code-reference/
 */

const NUMBERS: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {
  DB_CONSTRAINT: [
    167, // HA_ERR_AUTOINC_ERANGE: the counter's next value does not fit its column
    1022, // ER_DUP_KEY
    1048, // ER_BAD_NULL_ERROR
    1062, // ER_DUP_ENTRY
    1169, // ER_DUP_UNIQUE
    1216, // ER_NO_REFERENCED_ROW
    1217, // ER_ROW_IS_REFERENCED
    1263, // ER_WARN_NULL_TO_NOTNULL
    1364, // ER_NO_DEFAULT_FOR_FIELD
    1369, // ER_VIEW_CHECK_FAILED
    1442, // ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG: a trigger that changes the table it stands on
    1451, // ER_ROW_IS_REFERENCED_2
    1452, // ER_NO_REFERENCED_ROW_2
    1467, // ER_AUTOINC_READ_FAILED: the counter has no further value
    1526, // ER_NO_PARTITION_FOR_GIVEN_VALUE
    1557, // ER_FOREIGN_DUPLICATE_KEY
    1569, // ER_DUP_ENTRY_AUTOINCREMENT_CASE
    1586, // ER_DUP_ENTRY_WITH_KEY_NAME
    1591, // ER_NO_PARTITION_FOR_GIVEN_VALUE_SILENT
    1748, // ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET
    1761, // ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO
    1762, // ER_FOREIGN_DUPLICATE_KEY_WITHOUT_CHILD_INFO
    1859, // ER_DUP_UNKNOWN_IN_INDEX
    3008, // ER_FK_DEPTH_EXCEEDED
    3819, // ER_CHECK_CONSTRAINT_VIOLATED
    4025, // ER_CONSTRAINT_FAILED of MariaDB
    4084, // ER_SEQUENCE_RUN_OUT of MariaDB
  ],
  DB_VALUE: [
    1264, // ER_WARN_DATA_OUT_OF_RANGE
    1265, // WARN_DATA_TRUNCATED
    1267, // ER_CANT_AGGREGATE_2COLLATIONS: a text with characters that the column's character set does not have
    1270, // ER_CANT_AGGREGATE_3COLLATIONS
    1271, // ER_CANT_AGGREGATE_NCOLLATIONS
    1292, // ER_TRUNCATED_WRONG_VALUE
    1300, // ER_INVALID_CHARACTER_STRING
    1365, // ER_DIVISION_BY_ZERO
    1366, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
    1367, // ER_ILLEGAL_VALUE_FOR_TYPE
    1406, // ER_DATA_TOO_LONG
    1411, // ER_WRONG_VALUE_FOR_TYPE
    1416, // ER_CANT_CREATE_GEOMETRY_OBJECT
    1425, // ER_TOO_BIG_SCALE
    1426, // ER_TOO_BIG_PRECISION
    1441, // ER_DATETIME_FUNCTION_OVERFLOW
    1525, // ER_WRONG_VALUE
    1690, // ER_DATA_OUT_OF_RANGE
    1916, // ER_DATA_OVERFLOW of MariaDB
    1917, // ER_DATA_TRUNCATED of MariaDB
    1918, // ER_BAD_DATA of MariaDB
    3037, // ER_GIS_INVALID_DATA
    3140, // ER_INVALID_JSON_TEXT
    3141, // ER_INVALID_JSON_TEXT_IN_PARAM
    3144, // ER_INVALID_JSON_CHARSET
    3157, // ER_JSON_DOCUMENT_TOO_DEEP
    3854, // ER_CANNOT_CONVERT_STRING
    3903, // ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX
    4038, // ER_JSON_SYNTAX of MariaDB
  ],
  DB_CONFLICT: [
    1020, // ER_CHECKREAD
    1205, // ER_LOCK_WAIT_TIMEOUT
    1213, // ER_LOCK_DEADLOCK
    1412, // ER_TABLE_DEF_CHANGED
    1613, // ER_XA_RBTIMEOUT
    1614, // ER_XA_RBDEADLOCK
    3058, // ER_USER_LOCK_DEADLOCK
    3101, // ER_TRANSACTION_ROLLBACK_DURING_COMMIT
    3132, // ER_LOCKING_SERVICE_DEADLOCK
    3133, // ER_LOCKING_SERVICE_TIMEOUT
    3572, // ER_LOCK_NOWAIT
  ],
  DB_PERMISSION: [
    1044, // ER_DBACCESS_DENIED_ERROR
    1142, // ER_TABLEACCESS_DENIED_ERROR
    1143, // ER_COLUMNACCESS_DENIED_ERROR
    1227, // ER_SPECIFIC_ACCESS_DENIED_ERROR
    1290, // ER_OPTION_PREVENTS_STATEMENT: a server that takes no writes
    1356, // ER_VIEW_INVALID: names what is missing or what its owner may not read, and does not say which
    1370, // ER_PROCACCESS_DENIED_ERROR
    1449, // ER_NO_SUCH_USER: the owner whose rights a routine or view runs with
    1792, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: something behind a view or a routine tried to write
    1836, // ER_READ_ONLY_MODE
  ],
  SCHEMA_CHANGED: [
    1049, // ER_BAD_DB_ERROR
    1051, // ER_BAD_TABLE_ERROR
    1052, // ER_NON_UNIQ_ERROR
    1054, // ER_BAD_FIELD_ERROR
    1109, // ER_UNKNOWN_TABLE
    1136, // ER_WRONG_VALUE_COUNT_ON_ROW
    1146, // ER_NO_SUCH_TABLE
    1288, // ER_NON_UPDATABLE_TABLE
    1305, // ER_SP_DOES_NOT_EXIST
    1318, // ER_SP_WRONG_NO_OF_ARGS
    1347, // ER_WRONG_OBJECT
    1414, // ER_SP_NOT_VAR_ARG
    1615, // ER_NEED_REPREPARE
    1630, // ER_FUNC_INEXISTENT_NAME_COLLISION
    1906, // ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN of MariaDB: the column has come to be computed
    3105, // ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN
  ],
  TIMEOUT: [
    1317, // ER_QUERY_INTERRUPTED by an administrator
    1969, // ER_STATEMENT_TIMEOUT of MariaDB
    3024, // ER_QUERY_TIMEOUT
  ],
  DB_RESOURCES: [
    3, // EE_WRITE
    1021, // ER_DISK_FULL
    1023, // ER_ERROR_ON_CLOSE
    1026, // ER_ERROR_ON_WRITE
    1037, // ER_OUTOFMEMORY
    1038, // ER_OUT_OF_SORTMEMORY
    1041, // ER_OUT_OF_RESOURCES
    1104, // ER_TOO_BIG_SELECT
    1114, // ER_RECORD_FILE_FULL
    1119, // ER_STACK_OVERRUN
    1135, // ER_CANT_CREATE_THREAD
    1153, // ER_NET_PACKET_TOO_LARGE
    1197, // ER_TRANS_CACHE_FULL
    1206, // ER_LOCK_TABLE_FULL
    1226, // ER_USER_LIMIT_REACHED
    1301, // ER_WARN_ALLOWED_PACKET_OVERFLOWED
    1436, // ER_STACK_OVERRUN_NEED_MORE
    1456, // ER_SP_RECURSION_LIMIT
    1461, // ER_MAX_PREPARED_STMT_COUNT_REACHED
    1637, // ER_TOO_MANY_CONCURRENT_TRXS
    3170, // ER_CAPACITY_EXCEEDED
  ],
  CONNECTOR_UNAVAILABLE: [
    1040, // ER_CON_COUNT_ERROR
    1042, // ER_BAD_HOST_ERROR
    1043, // ER_HANDSHAKE_ERROR
    1045, // ER_ACCESS_DENIED_ERROR
    1047, // ER_UNKNOWN_COM_ERROR: a node that is not part of its cluster yet
    1053, // ER_SERVER_SHUTDOWN
    1080, // ER_FORCING_CLOSE
    1129, // ER_HOST_IS_BLOCKED
    1130, // ER_HOST_NOT_PRIVILEGED
    1152, // ER_ABORTING_CONNECTION
    1156, // ER_NET_PACKETS_OUT_OF_ORDER
    1158, // ER_NET_READ_ERROR
    1159, // ER_NET_READ_INTERRUPTED
    1160, // ER_NET_ERROR_ON_WRITE
    1161, // ER_NET_WRITE_INTERRUPTED
    1203, // ER_TOO_MANY_USER_CONNECTIONS
    1243, // ER_UNKNOWN_STMT_HANDLER: another session than the one that the statement was prepared on
    1251, // ER_NOT_SUPPORTED_AUTH_MODE
    1698, // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    1820, // ER_MUST_CHANGE_PASSWORD
    1862, // ER_MUST_CHANGE_PASSWORD_LOGIN
    1927, // ER_CONNECTION_KILLED of MariaDB
    2006, // CR_SERVER_GONE_ERROR
    2013, // CR_SERVER_LOST
    3118, // ER_ACCOUNT_HAS_BEEN_LOCKED
    3159, // ER_SECURE_TRANSPORT_REQUIRED
    4031, // ER_CLIENT_INTERACTION_TIMEOUT
    4151, // ER_ACCOUNT_HAS_BEEN_LOCKED of MariaDB
  ],
}

const BY_NUMBER: ReadonlyMap<number, ErrorCode> = new Map(
  // The keys of the table are codes, which `Object.entries` forgets.
  Object.entries(NUMBERS).flatMap(([code, numbers]) => numbers.map((number) => [number, code as ErrorCode] as const)),
)

/** What code inside of the database raises: SIGNAL with a state of its own, or without a number of its own. */
const SIGNALLED: ReadonlySet<number> = new Set([1643, 1644, 1645])
/** Any number can be signalled. The class is for nothing else. */
const RAISED_CLASS = '45'
/**
 * The state that the server itself gives with numbers that say more than that a statement failed: with another, it is code
 * in the database that signals them.
 */
const OWN_STATES: ReadonlyMap<number, string> = new Map([
  [1049, '42000'],
  [1051, '42S02'],
  [1052, '23000'],
  [1053, '08S01'],
  [1054, '42S22'],
  [1109, '42S02'],
  [1136, '21S01'],
  [1146, '42S02'],
  [1305, '42000'],
  [1317, '70100'],
  [1318, '42000'],
  [1927, '70100'],
])

/** The savepoint or routine that a statement names does not exist. */
export const DOES_NOT_EXIST = 1305
const INTERRUPTED: ReadonlySet<number | undefined> = new Set([
  1317, // ER_QUERY_INTERRUPTED by an administrator
  1969, // ER_STATEMENT_TIMEOUT of MariaDB
  3024, // ER_QUERY_TIMEOUT
])

/** Whether a statement was ended by a kill or by the server's limit on its time. */
export function isInterrupted(error: unknown): boolean {
  return INTERRUPTED.has(errnoOf(error))
}
/** Answers to a kill that are no failure: the session has gone … */
export const NO_SUCH_THREAD = 1094
/** … or runs with the rights of a routine's owner, who is the only one that may kill it then. */
export const KILL_DENIED = 1095
/** The server has no room for another prepared statement, of whatever session. */
export const STATEMENTS_FULL = 1461
/** A text passed what one packet may hold, and has become NULL. */
export const CUT_TO_NULL = 1301
/** Something that was written stays, although its transaction was rolled back. */
export const NOT_ROLLED_BACK = 1196

/** The server's own number for the error; undefined when it is the connection or this process that failed. */
export function errnoOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  // Node's errors have a number too, but only the server's come with a state.
  if (!('sqlState' in error) || typeof error.sqlState !== 'string') return undefined
  return 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined
}

function sqlstateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('sqlState' in error)) return undefined
  return typeof error.sqlState === 'string' && /^[0-9A-Z]{5}$/.test(error.sqlState) ? error.sqlState : undefined
}

/** Errors of these codes name a table, a column or a login; every other message may quote the value of a row. */
const MESSAGES_TOLD: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'DB_PERMISSION',
  'SCHEMA_CHANGED',
  'TIMEOUT',
  'DB_RESOURCES',
  'CONNECTOR_UNAVAILABLE',
])

/** What no code stands for, and yet never says more than its own text: a syntax error quotes the statement. */
const SYNTAX_ERRORS: ReadonlySet<number> = new Set([1064, 1149])

/**
 * The operator's text: where it happened, number and state, and the message where its kind never prints a row. What the
 * server says of a duplicate key holds the key.
 */
export function detailOf(what: string, error: unknown, signalledBy?: 'code'): string {
  const reason = reasonOf(what, error)
  const number = errnoOf(error)
  // What code in the database signals holds what it likes, under whatever number.
  const signalled = number !== undefined && (signalledBy === 'code' || raised(error, number))
  const told = number === undefined || SYNTAX_ERRORS.has(number) || MESSAGES_TOLD.has(codeOf(number))
  const text = told && !signalled ? (error instanceof Error ? error.message : String(error)) : symbolOf(error)
  return cleanText(`${reason} ${text ?? ''}`, REASON_CHARS_MAX)
}

/** What an entry may keep: where it happened, the number and the state. */
export function reasonOf(what: string, error: unknown): string {
  const number = errnoOf(error)
  if (number !== undefined) return `${what}: [${number} ${sqlstateOf(error) ?? '-----'}]`
  const symbol = symbolOf(error)
  return symbol === undefined ? what : `${what}: [${symbol}]`
}

/** The name of the error, such as `ER_DUP_ENTRY` or `ECONNREFUSED`. */
function symbolOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function codeOf(number: number): ErrorCode {
  return BY_NUMBER.get(number) ?? 'DB_ERROR'
}

/** A failure while a statement ran. Without a number it is the connection that failed. */
export function statementError(error: unknown): GatewayError {
  const number = errnoOf(error)
  if (number === undefined) return described('CONNECTOR_UNAVAILABLE', 'the connection was lost', error)
  return described(raised(error, number) ? 'DB_ERROR' : codeOf(number), 'the statement failed', error)
}

/**
 * The same for a statement that changes something: what a trigger or a routine raises there refuses the change, as a
 * constraint does, and the two must not be told apart.
 */
export function writeError(error: unknown): GatewayError {
  const number = errnoOf(error)
  if (number !== undefined && raised(error, number)) return described('DB_CONSTRAINT', 'the statement failed', error)
  return statementError(error)
}

function raised(error: unknown, number: number): boolean {
  const state = sqlstateOf(error)
  if (SIGNALLED.has(number) || state?.startsWith(RAISED_CLASS)) return true
  return (OWN_STATES.get(number) ?? state) !== state
}

/**
 * The same of an error that said the connection was lost, on a session that still answers: it was not the server that said
 * so. A read fails by it as by any error, a change is refused.
 */
export function signalledError(error: unknown, reading: boolean): GatewayError {
  const what = 'the statement failed'
  const code = reading ? 'DB_ERROR' : 'DB_CONSTRAINT'
  return gatewayError(code, { reason: reasonOf(what, error), detail: detailOf(what, error, 'code') })
}

/** A failure to connect is one code whatever the server says: a wrong password, no database, no slot, no answer. */
export function connectError(error: unknown): GatewayError {
  return described('CONNECTOR_UNAVAILABLE', 'connecting failed', error, true)
}

/** The server did not take the login or its password. */
export function isLoginRefused(error: unknown): boolean {
  return LOGIN_REFUSED.has(errnoOf(error) ?? 0)
}

const LOGIN_REFUSED: ReadonlySet<number> = new Set([
  1045, // ER_ACCESS_DENIED_ERROR
  1698, // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
])

function described(code: ErrorCode, what: string, error: unknown, connecting = false): GatewayError {
  const message = connecting && error instanceof Error ? cleanText(error.message, REASON_CHARS_MAX) : ''
  const detail = connecting ? cleanText(`${reasonOf(what, error)} ${message}`, REASON_CHARS_MAX) : detailOf(what, error)
  return gatewayError(code, { reason: reasonOf(what, error), detail })
}
