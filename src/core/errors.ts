/**
 * Every way a call can end, in one table. The public text is fixed; what varies (field, expectation, suggestion) comes
 * only from what the caller may see. A driver's message and the `reason` never reach the caller.
 */

/** How a refusal travels back: before a tool call is formed by HTTP status or JSON-RPC error, afterwards as a tool result. */
export type ReplyKind =
  | { readonly kind: 'http'; readonly status: number }
  | { readonly kind: 'rpc'; readonly rpcCode: number; readonly status: number }
  | { readonly kind: 'tool' }

export type Stage = 'http' | 'auth' | 'protocol' | 'tool' | 'plan' | 'policy' | 'database' | 'audit' | 'gateway'
export const DECISIONS = ['allowed', 'blocked', 'errored'] as const
export type Decision = (typeof DECISIONS)[number]

export interface ErrorSpec {
  readonly stage: Stage
  readonly decision: Decision
  readonly reply: ReplyKind
  /** Whether the same call may succeed later unchanged; holds only while the call's effect is `none`. */
  readonly retryable: boolean
  readonly text: string
}

const http = (status: number): ReplyKind => ({ kind: 'http', status })
const rpc = (rpcCode: number, status: number): ReplyKind => ({ kind: 'rpc', rpcCode, status })
const tool: ReplyKind = { kind: 'tool' }

function spec(stage: Stage, decision: Decision, reply: ReplyKind, retryable: boolean, text: string): ErrorSpec {
  return { stage, decision, reply, retryable, text }
}

export const ERRORS = {
  AUTH_MISSING: spec(
    'auth',
    'blocked',
    http(401),
    false,
    'A key is required: send it as "Authorization: Bearer rk_…".',
  ),
  AUTH_INVALID: spec('auth', 'blocked', http(401), false, 'This key is not valid.'),
  AUTH_UNAVAILABLE: spec('auth', 'errored', http(503), true, 'Keys cannot be checked now. Try again shortly.'),
  AUTH_FORBIDDEN: spec('auth', 'blocked', http(403), false, 'This key may not do that.'),
  RATE_LIMITED: spec('auth', 'blocked', http(429), true, 'Too many requests. Try again after the time in Retry-After.'),

  PROTOCOL_HOST: spec('http', 'blocked', http(403), false, 'The Host header names a host this gateway does not serve.'),
  PROTOCOL_ORIGIN: spec('http', 'blocked', http(403), false, 'This Origin is not allowed.'),
  PROTOCOL_PATH: spec('http', 'blocked', http(404), false, 'Nothing is served at this path.'),
  PROTOCOL_VERB: spec('http', 'blocked', http(405), false, 'This endpoint takes POST.'),
  PROTOCOL_BODY_TOO_LARGE: spec('http', 'blocked', http(413), false, 'The request body is too large.'),
  PROTOCOL_CONTENT_TYPE: spec('http', 'blocked', http(415), false, 'The content type must be application/json.'),
  PROTOCOL_BUSY: spec(
    'http',
    'blocked',
    http(503),
    true,
    'The gateway is at its limit of requests or is shutting down.',
  ),
  PROTOCOL_PARSE: spec('protocol', 'blocked', rpc(-32700, 400), false, 'The body is not valid JSON.'),
  PROTOCOL_REQUEST: spec('protocol', 'blocked', rpc(-32600, 400), false, 'The body is not a JSON-RPC 2.0 request.'),
  PROTOCOL_VERSION: spec('protocol', 'blocked', rpc(-32600, 400), false, 'This protocol version is not served.'),
  PROTOCOL_METHOD: spec('protocol', 'blocked', rpc(-32601, 200), false, 'This method is not served.'),
  PROTOCOL_PARAMS: spec('protocol', 'blocked', rpc(-32602, 200), false, 'The parameters do not fit the method.'),

  TOOL_UNKNOWN: spec(
    'tool',
    'blocked',
    rpc(-32602, 200),
    false,
    'There is no such tool for you. List the tools again.',
  ),

  ARGUMENT_UNKNOWN: spec('plan', 'blocked', tool, false, 'This argument is not one the tool takes.'),
  ARGUMENT_MISSING: spec('plan', 'blocked', tool, false, 'A required argument is missing.'),
  ARGUMENT_TYPE: spec('plan', 'blocked', tool, false, 'The argument has the wrong type.'),
  ARGUMENT_VALUE: spec('plan', 'blocked', tool, false, 'The value does not fit.'),
  ARGUMENT_COLUMN: spec('plan', 'blocked', tool, false, 'This is not a column of the tool.'),
  ARGUMENT_OPERATOR: spec('plan', 'blocked', tool, false, 'The operator does not fit.'),
  ARGUMENT_LIMIT: spec('plan', 'blocked', tool, false, 'The call is larger than allowed.'),
  ARGUMENT_UNINDEXED: spec('plan', 'blocked', tool, false, 'The table is large, so the call must go by an index.'),

  POLICY_DENIED: spec('policy', 'blocked', tool, false, 'The policy does not allow this call.'),
  POLICY_SCOPE: spec(
    'policy',
    'blocked',
    tool,
    false,
    'Your identity does not carry what the row filter of this table needs. Ask the operator of the gateway.',
  ),

  ROW_NOT_FOUND: spec('database', 'allowed', tool, false, 'There is no such row, or it is not yours to see.'),
  CONFLICT_EXPECTED: spec(
    'database',
    'allowed',
    tool,
    false,
    'The row no longer holds what was expected. Read it again.',
  ),
  AFFECTED_LIMIT: spec(
    'database',
    'blocked',
    tool,
    false,
    'The change would touch more rows than allowed; nothing was changed.',
  ),
  POLICY_WRITTEN_ROW: spec(
    'policy',
    'blocked',
    tool,
    false,
    'The row as written would be outside of what you may write; nothing was changed.',
  ),
  IDEMPOTENCY_CONFLICT: spec('gateway', 'blocked', tool, false, 'This idempotency key was used for another call.'),
  IDEMPOTENCY_IN_PROGRESS: spec(
    'gateway',
    'errored',
    tool,
    true,
    'The first call with this idempotency key has not ended.',
  ),
  IDEMPOTENCY_UNKNOWN: spec(
    'gateway',
    'errored',
    tool,
    false,
    'The first call with this idempotency key was cut off: whether it took effect is not known. It is not run again.',
  ),
  IDEMPOTENCY_UNAVAILABLE: spec(
    'gateway',
    'errored',
    tool,
    true,
    'Idempotency keys cannot be kept now, so nothing was done. Try again shortly.',
  ),
  /** The one code of a call whose effect is not known: every other text would say that nothing happened, or that it did. */
  DB_EFFECT_UNKNOWN: spec(
    'database',
    'errored',
    tool,
    false,
    'The call was cut off: whether it took effect is not known. Read the row before you try again.',
  ),
  DB_CONSTRAINT: spec(
    'database',
    'errored',
    tool,
    false,
    'The database refused the change: a constraint does not hold.',
  ),
  DB_VALUE: spec(
    'database',
    'errored',
    tool,
    false,
    'The database could not use a value: it is out of range or malformed.',
  ),
  DB_PERMISSION: spec(
    'database',
    'errored',
    tool,
    false,
    "The gateway's database login may not do this. Tell the operator.",
  ),
  DB_RESOURCES: spec(
    'database',
    'errored',
    tool,
    true,
    'The database ran out of a resource. Try a smaller call, or later.',
  ),
  DB_CONFLICT: spec('database', 'errored', tool, true, 'The database stopped the call because of a concurrent change.'),
  DB_ERROR: spec('database', 'errored', tool, false, 'The database could not answer this call.'),
  RESULT_TOO_LARGE: spec('database', 'errored', tool, false, 'The result is too large. Ask for fewer columns or rows.'),
  SCHEMA_CHANGED: spec(
    'database',
    'errored',
    tool,
    true,
    'The database schema changed. List the tools again and retry.',
  ),

  ADMIN_INVALID: spec('gateway', 'blocked', http(400), false, 'The request does not fit the operation.'),
  ADMIN_NOT_FOUND: spec('gateway', 'blocked', http(404), false, 'There is no such thing to administer.'),
  ADMIN_EXISTS: spec('gateway', 'blocked', http(409), false, 'It exists already.'),
  ADMIN_UNAVAILABLE: spec(
    'gateway',
    'errored',
    http(503),
    true,
    'The admin store cannot be used now. Try again shortly.',
  ),
  REPORTS_UNAVAILABLE: spec('gateway', 'errored', http(503), true, 'Reports cannot be made now. Try again shortly.'),

  CONNECTOR_UNAVAILABLE: spec(
    'gateway',
    'errored',
    tool,
    true,
    'The database behind this endpoint is not available now.',
  ),
  OVERLOADED: spec(
    'gateway',
    'errored',
    tool,
    true,
    'Too many calls are waiting for this database. Try again shortly.',
  ),
  AUDIT_UNAVAILABLE: spec('audit', 'errored', tool, true, 'The audit trail cannot take entries, so no call is served.'),
  TIMEOUT: spec('database', 'errored', tool, true, 'The query took too long and was stopped. Narrow it with filters.'),
  CANCELLED: spec('gateway', 'errored', tool, true, 'The call was cancelled.'),
  INTERNAL: spec(
    'gateway',
    'errored',
    tool,
    false,
    'The gateway failed on this call. The operator finds it by its id.',
  ),
} as const satisfies Record<string, ErrorSpec>

export type ErrorCode = keyof typeof ERRORS
/** The code of an entry: an error's, or `OK`. */
export type OutcomeCode = ErrorCode | 'OK'

/** A refusal or failure on its way to the caller. `reason` is for the audit entry and the operator only. */
export interface GatewayError {
  readonly code: ErrorCode
  /** Which argument, as a path such as `filters[0].value`. Never a name the caller may not see. */
  readonly field?: string
  /** What was expected, made only of what the caller may see. */
  readonly expected?: string
  /** The nearest valid choice, from the caller's own names. */
  readonly suggestion?: string
  readonly reason?: string
  /** What the database or the network said, for the operator's log alone: it may quote rows, so no entry keeps it. */
  readonly detail?: string
  /** The name that was refused, as the caller spelt it: for the worker to find the reason, never stored or sent. */
  readonly refused?: string
}

export function gatewayError(code: ErrorCode, detail: Omit<GatewayError, 'code'> = {}): GatewayError {
  return { code, ...detail }
}

/** The whole text a caller sees for an error: code, fixed text, then field, expectation and suggestion. */
export function publicText(error: GatewayError): string {
  const parts = [`${error.code}: ${ERRORS[error.code].text}`]
  if (error.field !== undefined) parts.push(`Field: ${error.field}.`)
  if (error.expected !== undefined) parts.push(`Expected: ${error.expected}.`)
  if (error.suggestion !== undefined) parts.push(`Did you mean "${error.suggestion}"?`)
  return parts.join(' ')
}
