import type { AdminOperation } from '../admin/operation.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { ADMIN_JSON_DEPTH_MAX, ECHO_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import type { FrontDoor } from './front-door.js'
import type { RequestHead } from './http-server.js'
import { readJson, repeatedMember } from './json-text.js'

/** What an administrative request asks for, read from its path, its query or its body, each strictly: what could be read in two ways is refused. */

export type Members = Readonly<Record<string, unknown>>

/** Whether an operation's members stand in the query. */
function asksByQuery({ method }: AdminOperation): boolean {
  return method === 'GET' || method === 'DELETE'
}

/** Path, then query or body, as one object. ADMIN_INVALID, PROTOCOL_CONTENT_TYPE. */
export function inputOf(
  operation: AdminOperation,
  members: Readonly<Record<string, string>>,
  head: RequestHead,
  body: Uint8Array,
  frontDoor: FrontDoor,
): Result<Members, GatewayError> {
  const given = asksByQuery(operation) ? fromQuery(operation, head, body) : fromBody(head, body, frontDoor)
  if (!given.ok) return given
  const twice = given.value.find(([name]) => Object.hasOwn(members, name))
  if (twice !== undefined) return invalid(twice[0], 'it in the path alone')
  return ok({ ...Object.fromEntries(given.value), ...members })
}

type Pairs = readonly (readonly [name: string, value: unknown])[]

function fromQuery(operation: AdminOperation, head: RequestHead, body: Uint8Array): Result<Pairs, GatewayError> {
  if (body.length > 0) return invalid('body', 'none: what this takes stands in the query')
  const pairs = queryPairs(head.query)
  return pairs.ok ? ok(pairs.value.map(([name, text]) => [name, typed(operation, name, text)] as const)) : pairs
}

/** Names and values of a query; a name that comes twice is refused. */
export function queryPairs(query: string): Result<readonly (readonly [string, string])[], GatewayError> {
  const pairs = new Map<string, string>()
  for (const piece of query.split('&')) {
    if (piece === '') continue
    const mark = piece.indexOf('=')
    const name = unescaped(plusAsSpace(mark === -1 ? piece : piece.slice(0, mark)))
    const value = unescaped(plusAsSpace(mark === -1 ? '' : piece.slice(mark + 1)))
    if (name === undefined || value === undefined) return invalid('query', 'percent-encoded UTF-8')
    if (pairs.has(name)) return invalid(name, 'it once')
    pairs.set(name, value)
  }
  return ok([...pairs])
}

function plusAsSpace(text: string): string {
  return text.replaceAll('+', ' ')
}

/** A query has texts alone. */
function typed(operation: AdminOperation, name: string, text: string): string | boolean {
  if (text !== 'true' && text !== 'false') return text
  const schema = Object.hasOwn(operation.input.shape, name) ? operation.input.shape[name] : undefined
  const truth = text === 'true'
  return schema?.safeParse(truth).success === true ? truth : text
}

function fromBody(head: RequestHead, body: Uint8Array, frontDoor: FrontDoor): Result<Pairs, GatewayError> {
  if (head.query !== '') return invalid('query', 'none: what this takes stands in the body')
  if (body.length === 0) return ok([])
  const unfit = frontDoor.checkContentType(head)
  if (unfit !== undefined) return fail(unfit)
  const read = readJson(body, ADMIN_JSON_DEPTH_MAX)
  if (!read.ok) return invalid('body', EXPECTED[read.error])
  const { value, text } = read.value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid('body', EXPECTED.syntax)
  const repeated = repeatedMember(text)
  if (repeated !== undefined) return invalid(repeated, 'it once in its object')
  return ok(Object.entries(value))
}

const EXPECTED = {
  encoding: 'a JSON object in UTF-8',
  depth: `a JSON object at most ${ADMIN_JSON_DEPTH_MAX} levels deep`,
  syntax: 'one JSON object, and nothing after it',
} as const

/** One part of an address, or undefined where its escapes are not UTF-8. */
export function unescaped(text: string): string | undefined {
  // Raw bytes beyond ASCII have no place in an address, and the two servers do not agree on what they say.
  if (!/^[\x20-\x7e]*$/.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** ADMIN_INVALID; `field` may be a name that the caller chose. */
export function invalid(field: string, expected: string): Result<never, GatewayError> {
  return fail(gatewayError('ADMIN_INVALID', { field: cleanText(field, ECHO_CHARS_MAX), expected }))
}
