import { unreachable } from '../core/assert.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { BATCH_MESSAGES_MAX, JSON_DEPTH_MAX, REQUEST_ID_CHARS_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { readJson } from '../http/json-text.js'

export type RequestId = string | number
export type Params = Readonly<Record<string, unknown>>

export type ParsedMessage =
  | {
      readonly kind: 'request'
      readonly id: RequestId
      readonly method: string
      readonly params: Params | undefined
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params | undefined }
  /** An answer of the client to a request the server never makes: accepted and ignored. */
  | { readonly kind: 'response' }
  /** `id` is null where the message has none that could be answered to. */
  | { readonly kind: 'invalid'; readonly id: RequestId | null; readonly error: GatewayError }

export interface ParsedBody {
  /** At least one. */
  readonly messages: readonly ParsedMessage[]
  /** Whether they came as an array, and so whether the answers go back as one. */
  readonly batch: boolean
}

function parseJson(bytes: Uint8Array): Result<unknown, GatewayError> {
  const read = readJson(bytes, JSON_DEPTH_MAX)
  if (read.ok) return ok(read.value.value)
  switch (read.error) {
    case 'encoding':
      return fail(gatewayError('PROTOCOL_PARSE', { expected: 'UTF-8' }))
    case 'depth':
      return fail(gatewayError('PROTOCOL_REQUEST', { expected: `JSON at most ${JSON_DEPTH_MAX} levels deep` }))
    case 'syntax':
      return fail(gatewayError('PROTOCOL_PARSE'))
    default:
      return unreachable(read.error)
  }
}

function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Ids travel back as they came: strings, and the integers that JSON.parse did not round. */
function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= REQUEST_ID_CHARS_MAX : Number.isSafeInteger(id)
}

function invalid(id: RequestId | null, code: 'PROTOCOL_REQUEST' | 'PROTOCOL_PARAMS', field: string, expected: string) {
  return { kind: 'invalid', id, error: gatewayError(code, { field, expected }) } as const
}

function classify(value: unknown): ParsedMessage {
  if (!isObject(value)) return invalid(null, 'PROTOCOL_REQUEST', 'message', 'an object')
  const hasId = Object.hasOwn(value, 'id')
  const { id, jsonrpc, method, params } = value
  const replyId = isRequestId(id) ? id : null
  if (jsonrpc !== '2.0') return invalid(replyId, 'PROTOCOL_REQUEST', 'jsonrpc', '"2.0"')
  if (!Object.hasOwn(value, 'method') && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) {
    return { kind: 'response' }
  }
  if (hasId && replyId === null) {
    const expected = `an integer, or a string of at most ${REQUEST_ID_CHARS_MAX} characters`
    return invalid(null, 'PROTOCOL_REQUEST', 'id', expected)
  }
  if (typeof method !== 'string') return invalid(replyId, 'PROTOCOL_REQUEST', 'method', 'a string')
  if (params !== undefined && !isObject(params)) return invalid(replyId, 'PROTOCOL_PARAMS', 'params', 'an object')
  if (replyId === null) return { kind: 'notification', method, params }
  return { kind: 'request', id: replyId, method, params }
}

/**
 * Reads a request body: one message or a batch. Fails as a whole with PROTOCOL_PARSE (not UTF-8, not JSON) or
 * PROTOCOL_REQUEST (too deep, an empty or too long batch); a single bad message is an `invalid` one among the others.
 */
export function parseBody(bytes: Uint8Array): Result<ParsedBody, GatewayError> {
  const json = parseJson(bytes)
  if (!json.ok) return json
  if (!Array.isArray(json.value)) return ok({ messages: [classify(json.value)], batch: false })
  const batch: readonly unknown[] = json.value
  if (batch.length === 0) return fail(gatewayError('PROTOCOL_REQUEST', { expected: 'at least one message' }))
  if (batch.length > BATCH_MESSAGES_MAX) {
    return fail(gatewayError('PROTOCOL_REQUEST', { expected: `at most ${BATCH_MESSAGES_MAX} messages` }))
  }
  return ok({ messages: batch.map(classify), batch: true })
}

function assemble(head: string, middle: Uint8Array, tail: string): Uint8Array {
  const headBytes = Buffer.byteLength(head)
  const whole = Buffer.allocUnsafe(headBytes + middle.length + tail.length)
  whole.write(head, 0, 'utf8')
  whole.set(middle, headBytes)
  whole.write(tail, headBytes + middle.length, 'latin1')
  return whole
}

/** A success response. `members` is the inside of the result object, without its braces: UTF-8 bytes, or text. */
export function encodeResult(id: RequestId, members: Uint8Array | string): Uint8Array {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{`
  if (typeof members === 'string') return Buffer.from(`${head}${members}}}`)
  return assemble(head, members, '}}')
}

/** An error response; `id` is null where the request's own could not be read. */
export function encodeRpcError(id: RequestId | null, rpcCode: number, message: string, data?: unknown): Uint8Array {
  const error = data === undefined ? { code: rpcCode, message } : { code: rpcCode, message, data }
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }))
}

/** The responses to a batch as one array. */
export function joinBatch(responses: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const response of responses) parts.push(Buffer.from(parts.length === 0 ? '[' : ','), response)
  parts.push(Buffer.from(parts.length === 0 ? '[]' : ']'))
  return Buffer.concat(parts)
}

/** The same response as one server-sent event. Line breaks in JSON are white space, yet would end the event's data. */
export function encodeEvent(response: Uint8Array): Uint8Array {
  const head = 'event: message\ndata: '
  if (!response.includes(0x0a) && !response.includes(0x0d)) return assemble(head, response, '\n\n')
  const text = Buffer.from(response).toString('utf8')
  return Buffer.from(`${head}${text.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`)
}
