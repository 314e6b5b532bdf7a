import { type ErrorCode, type GatewayError, gatewayError } from '../../core/errors.js'
import { REASON_CHARS_MAX } from '../../core/limits.js'
import { cleanText } from '../../core/names.js'

/**
 * What went wrong in SQL Server, as one of the gateway's codes. Only the error number decides: a state tells apart the
 * places of the server's own code that raise a number, and messages are translated.
 * https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors
 */

const NUMBERS: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {
  DB_CONSTRAINT: [
    233, // the column does not allow null values
    273, // a value for a rowversion column
    515, // the column does not allow nulls
    544, // IDENTITY_INSERT is off
    545, // IDENTITY_INSERT is on and the key is not given
    547, // FOREIGN KEY, REFERENCE or CHECK
    548, // the identity range of a replica
    550, // WITH CHECK OPTION of a view
    570, // INSTEAD OF triggers with direct recursion
    1505, // duplicate key while an index is built
    1971, // a constraint that cannot be enforced
    2601, // a unique index
    2627, // a PRIMARY KEY or UNIQUE constraint
    3616, // an error was raised in a trigger
    3609, // the transaction ended in a trigger
    4457, // a partitioned view
    8106, // a table without an identity
    11011, // an identity or sequence that ran out: no current value
    11728, // a sequence has no further value
    13535, // a period of a temporal table
    33504, // a block predicate of a security policy
  ],
  DB_VALUE: [
    206, // operand type clash
    210, // datetime from binary
    220, // arithmetic overflow of a small type
    232, // arithmetic overflow of a float
    235, // char to money
    236, // char to money: overflow
    237, // insufficient result space from money
    238, // insufficient result space
    241, // date or time from text
    242, // date or time out of range
    244, // int1 or int2 overflow from text
    245, // conversion of text
    246, // no conversion to this type
    247, // implicit conversion
    248, // int overflow from text
    257, // implicit conversion is not allowed
    293, // text to smallmoney
    294, // smallmoney overflow
    295, // text to smalldatetime
    296, // smalldatetime out of range
    298, // datetime to smalldatetime
    402, // types that an operator does not take
    517, // adding to a date overflows
    529, // explicit conversion is not allowed
    535, // DATEDIFF overflows
    537, // invalid length of LEFT or SUBSTRING
    542, // invalid datetime
    1014, // TOP or FETCH that is not valid
    1060, // rows of TOP are not an integer
    2628, // text would be truncated
    2705, // a column name that repeats
    3623, // an invalid floating point operation
    6355, // xml
    6522, // a CLR type refuses its text
    8114, // converting a type
    8115, // arithmetic overflow
    8134, // division by zero
    8152, // text or binary would be truncated
    8169, // text to uniqueidentifier
    8170, // uniqueidentifier to text
    9402, // xml: unable to switch the encoding
    9410, // xml: white space expected
    9412, // xml
    9420, // xml: illegal character
    9436, // xml: end tag
    9455, // xml: illegal qualified name
    9803, // invalid data for a type
    9807, // a date that does not follow the style
    9812, // a time zone
    9820, // a time zone
    13608, // JSON: property not found
    13609, // JSON text is not properly formatted
    13612, // JSON
    13614, // JSON
    13623, // JSON
    24113, // spatial text
  ],
  DB_CONFLICT: [
    601, // the data moved during a scan
    1203, // a lock that was not held
    1204, // no locks are left
    1205, // deadlock victim
    1211, // deadlock of a process
    1221, // a lock that cannot be released
    1222, // LOCK_TIMEOUT
    3960, // snapshot isolation: update conflict
    3961, // snapshot isolation: the object was altered
    3966, // snapshot isolation: the version is gone
    3967, // snapshot isolation: no space for versions
    3958, // snapshot isolation: a version is missing
    41_302, // memory-optimized: update conflict
    41_305, // memory-optimized: repeatable read validation
    41_325, // memory-optimized: serializable validation
    41_301, // memory-optimized: dependency failure
    41_839, // memory-optimized: too many dependencies
  ],
  DB_PERMISSION: [
    229, // permission on an object
    230, // permission on a column
    262, // a statement permission in the database
    297, // no permission for this action
    300, // a server permission
    916, // the login cannot use the database
    2557, // no permission to run a command
    3906, // the database is read-only
    3908, // the database is in bypass recovery mode
    4060, // the database cannot be opened, once connected
    4613, // the grantor has no right
    6004, // the user cannot do this
    10_916, // no permission in this pool
    15_151, // cannot find it, or no permission
    15_247, // no permission for this action
    15_517, // the owner that a module runs as does not exist
    15_562, // the module is signed by another
    15_664, // a key of the session context that is set read-only
    27_104, // a broken ownership chain
    33_009, // the owner in the database differs from master's
  ],
  SCHEMA_CHANGED: [
    201, // a parameter of a procedure is missing
    207, // invalid column
    208, // invalid object
    209, // ambiguous column
    213, // the count of columns
    217, // nesting of modules, after one was altered into itself
    264, // a column twice in a SET
    270, // the object cannot be changed
    289, // a date that cannot be made: a guard found another column under a name
    271, // the column cannot be changed: it has come to be computed
    272, // a rowversion cannot be updated
    334, // a table whose triggers forbid the OUTPUT clause: a trigger came since the catalog was read
    349, // a procedure has no such parameter
    4186, // a computed column that may read elsewhere, in the OUTPUT clause: it came since the catalog was read
    2715, // unknown type
    2760, // unknown schema
    2801, // the definition changed since the plan was compiled
    2812, // unknown procedure
    3701, // not there any more
    4104, // a name that cannot be bound
    4121, // unknown function or method
    4413, // a view whose binding failed
    4405, // a view that is not updatable
    4406, // a derived field of a view
    4502, // a view with more names than columns
    8101, // an identity column takes explicit values with a list only
    8102, // an identity column cannot be updated
    8110, // the object has come to be of another kind
    8144, // too many arguments
    8145, // not a parameter of the procedure
    8146, // a procedure without parameters was given some
    8162, // a parameter is not an output any more
    11_513, // the described result changed
    11_535, // a result set differs from its declaration
    11_537, // more columns than declared
    13_536, // a generated always column of a temporal table
    13_537, // the same, in an update
  ],
  TIMEOUT: [
    8649, // the query governor's cost limit
    8675, // no plan was found in time
  ],
  DB_RESOURCES: [
    701, // memory of a resource pool
    708, // memory
    802, // buffer pool
    845, // a latch
    846, // a latch
    1101, // a page in a filegroup
    1105, // space in a filegroup
    1121, // space in tempdb
    3989, // a batch too many
    8623, // the query is too complex to plan
    8631, // stack
    8632, // expression services limit
    8645, // memory grant
    8648, // memory grant
    8651, // minimum memory
    8657, // memory grant of the class
    9002, // the log is full
    10_928, // limit of requests
    10_929, // guaranteed minimum
    10_930, // limit of the service
    10_936, // limit of requests of the pool
    40_501, // the service is busy
    40_544, // the size quota
    40_549, // long-running transaction
    40_550, // too many locks
    40_551, // tempdb
    40_552, // log space
    40_553, // memory
    41_805, // memory-optimized: memory
    41_823, // memory-optimized: quota
    41_840, // memory-optimized: quota
    49_918, // not enough resources
    49_919, // too many create or update operations
    49_920, // too many operations
  ],
  CONNECTOR_UNAVAILABLE: [
    64, // the connection was ended by the server
    596, // the session is in the kill state
    921, // the database has not been recovered yet
    922, // the database is being recovered
    924, // the database is in single-user mode
    927, // the database is in the middle of a restore
    942, // the database is offline
    945, // the database cannot be opened
    952, // the database is in transition
    978, // a replica that takes read-intent connections only
    983, // a replica that is not readable
    6002, // the server is shutting down
    6005, // the server is shutting down
    6104, // the login's own session
    6107, // only user processes can be ended
    17_142, // the server is paused
    17_809, // as many connections as allowed
    18_401, // the server is in script upgrade mode
    18_452, // an untrusted domain
    18_456, // login failed
    18_461, // single-user mode
    18_470, // the account is disabled
    18_486, // the account is locked out
    18_487, // the password has expired
    18_488, // the password must be changed
    40_197, // the service failed over
    40_540, // the service aborted the transaction
    40_613, // the database is not available
    40_615, // the address is not allowed
    42_108, // the pool is paused
    42_109, // the pool is warming up
  ],
}

const BY_NUMBER: ReadonlyMap<number, ErrorCode> = new Map(
  // The keys of the table are codes, which `Object.entries` forgets.
  Object.entries(NUMBERS).flatMap(([code, numbers]) => numbers.map((number) => [number, code as ErrorCode] as const)),
)

/** From here on numbers are those of RAISERROR and THROW; the first is that of a message without a number of its own. */
const RAISED_FROM = 50_000
/** What speaks the protocol of SQL Server and is not it may give this one to every error that it has no number for. */
const UNNUMBERED = 33_557_097
/** The session ends with an error of this severity. */
const FATAL_CLASS = 20

/** One error as the server sent it. */
interface ServerError {
  readonly number: number
  readonly state: number
  readonly severity: number
  readonly message: string
}

/** Everything the server said of a failure, in its order; empty when it is the connection or this process that failed. */
function serverErrors(error: unknown): readonly ServerError[] {
  if (error instanceof AggregateError) return error.errors.flatMap(serverErrors)
  if (!(error instanceof Error) || !('number' in error) || typeof error.number !== 'number') return []
  const state = 'state' in error && typeof error.state === 'number' ? error.state : 0
  const severity = 'class' in error && typeof error.class === 'number' ? error.class : 0
  return [{ number: error.number, state, severity, message: error.message }]
}

/** What merely reports that an error before it ended the batch or the trigger. */
const CONSEQUENCES: ReadonlySet<number> = new Set([266, 3609, 3616, 3621, 3998])

/**
 * The one of several errors that says what happened: a server sends the cause first and consequences behind it, and some
 * causes have a general error before them.
 */
function deciding(errors: readonly ServerError[]): ServerError | undefined {
  const causes = errors.filter(({ number }) => !CONSEQUENCES.has(number))
  return causes.find(({ number }) => BY_NUMBER.has(number) || isRaised(number)) ?? causes[0] ?? errors[0]
}

/** The server's own number for the error; undefined when it is the connection or this process that failed. */
export function numberOf(error: unknown): number | undefined {
  return deciding(serverErrors(error))?.number
}

/** Errors of these codes name a table, a column or a login; every other message may quote the value of a row. */
const MESSAGES_TOLD: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'DB_PERMISSION',
  'SCHEMA_CHANGED',
  'TIMEOUT',
  'DB_RESOURCES',
  'CONNECTOR_UNAVAILABLE',
])

/**
 * The operator's text: where it happened, number, state and severity, and the message where its kind never prints a row. What
 * the server says of a duplicate key holds the key.
 */
export function detailOf(what: string, error: unknown): string {
  const reason = reasonOf(what, error)
  const said = deciding(serverErrors(error))
  if (said === undefined) {
    const text = error instanceof Error ? error.message : String(error)
    return cleanText(`${reason} ${text}`, REASON_CHARS_MAX)
  }
  const text = MESSAGES_TOLD.has(codeOf(said)) ? said.message : ''
  return cleanText(`${reason} ${text}`.trim(), REASON_CHARS_MAX)
}

/** What an entry may keep: where it happened, and number, state and severity. */
export function reasonOf(what: string, error: unknown): string {
  const said = deciding(serverErrors(error))
  if (said !== undefined) return `${what}: [${said.number} ${said.state} ${said.severity}]`
  const symbol = symbolOf(error)
  return symbol === undefined ? what : `${what}: [${symbol}]`
}

/** The name of an error of this side, such as `ESOCKET` or `ELOGIN`. */
function symbolOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function codeOf({ number, severity }: ServerError): ErrorCode {
  const known = BY_NUMBER.get(number)
  if (known !== undefined) return known
  return severity >= FATAL_CLASS ? 'CONNECTOR_UNAVAILABLE' : 'DB_ERROR'
}

/** A failure while a statement ran. Without a number it is the connection that failed. */
export function statementError(error: unknown): GatewayError {
  const said = deciding(serverErrors(error))
  if (said === undefined) return described('CONNECTOR_UNAVAILABLE', 'the connection was lost', error)
  return described(codeOf(said), 'the statement failed', error)
}

/**
 * The same for a statement that changes something: what a trigger or a routine raises there refuses the change, as a
 * constraint does, and the two must not be told apart.
 */
export function writeError(error: unknown): GatewayError {
  const said = deciding(serverErrors(error))
  if (said !== undefined && isRaised(said.number)) return described('DB_CONSTRAINT', 'the statement failed', error)
  return statementError(error)
}

function isRaised(number: number): boolean {
  return number >= RAISED_FROM && number !== UNNUMBERED
}

/** A failure to connect is one code whatever the server says: a wrong password, no database, no slot, no answer. */
export function connectError(error: unknown): GatewayError {
  const what = 'connecting failed'
  const message = error instanceof Error ? error.message : ''
  const detail = cleanText(`${reasonOf(what, error)} ${message}`.trim(), REASON_CHARS_MAX)
  return gatewayError('CONNECTOR_UNAVAILABLE', { reason: reasonOf(what, error), detail })
}

/** What a login with another password than the server's ends with, whatever else the server may mean by it. */
export function isLoginRefused(error: unknown): boolean {
  return numberOf(error) === LOGIN_FAILED || symbolOf(error) === 'ELOGIN'
}

const LOGIN_FAILED = 18_456

function described(code: ErrorCode, what: string, error: unknown): GatewayError {
  return gatewayError(code, { reason: reasonOf(what, error), detail: detailOf(what, error) })
}
