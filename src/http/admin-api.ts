import { type AdminRights, mayEnter } from '../admin/admin-rights.js'
import { type ChangeAuthor, type MaybePromise, StoreFailure } from '../admin/admin-store.js'
import { pathMembers } from '../admin/openapi.js'
import type { AdminOperation, OperationContext, OperationRefusal } from '../admin/operation.js'
import type { AdminRequest } from '../call.js'
import { ERRORS, type ErrorCode, type GatewayError, publicText } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import { ADMIN_BODY_BYTES_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { FrontDoor } from './front-door.js'
import type { Exchange, RequestHead } from './http-server.js'

/** Who administers, as authentication found them. */
export interface Administrator {
  readonly identity: Identity
  readonly author: ChangeAuthor
  readonly rights: AdminRights
}

export interface AdminApiSurroundings {
  readonly frontDoor: FrontDoor
  readonly operations: readonly AdminOperation[]
  readonly authenticate: (
    authorization: string | undefined,
    address: string,
  ) => MaybePromise<Result<Administrator, GatewayError>>
  readonly contextOf: (who: Administrator) => OperationContext
  /** Whether entries can be kept: without them nothing is administered. */
  readonly auditable: () => boolean
  /** Keeps the entry; `done` hears whether it is durable. */
  readonly enter: (entry: AdminRequest, done: (durable: boolean) => void) => void
  readonly openApi: () => unknown
  readonly nowMs: () => number
  /** Told of what is thrown: a bug. */
  readonly failed: (thrown: unknown) => void
}

export const ADMIN_API = '/admin/api'
const JSON_HEADERS = [
  ['content-type', 'application/json'],
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
] as const

const CODES: Readonly<Record<OperationRefusal['code'], ErrorCode>> = {
  FORBIDDEN: 'AUTH_FORBIDDEN',
  NOT_FOUND: 'ADMIN_NOT_FOUND',
  EXISTS: 'ADMIN_EXISTS',
  INVALID: 'ADMIN_INVALID',
}

interface Matched {
  readonly operation: AdminOperation
  readonly members: Readonly<Record<string, string>>
}

type Route = Matched | { readonly allowed: readonly string[] } | 'openapi' | undefined

/** One administrative request. */
interface Visit {
  readonly exchange: Exchange
  readonly address: string
  readonly startedAtMs: number
}

/** `/admin/api/…`: every operation for who may, with an entry for every request. */
export class AdminApi {
  readonly #surroundings: AdminApiSurroundings
  readonly #routes: readonly {
    readonly pattern: RegExp
    readonly names: readonly string[]
    readonly operation: AdminOperation
  }[]

  constructor(surroundings: AdminApiSurroundings) {
    this.#surroundings = surroundings
    this.#routes = surroundings.operations.map((operation) => ({
      pattern: new RegExp(`^${ADMIN_API}${operation.path.replace(/\{[a-z_]+\}/g, '([^/]+)')}$`),
      names: pathMembers(operation.path),
      operation,
    }))
  }

  /** Whether the path is one of these. */
  takes(path: string): boolean {
    return path === ADMIN_API || path.startsWith(`${ADMIN_API}/`)
  }

  serve(exchange: Exchange): void {
    const { frontDoor, nowMs } = this.#surroundings
    const { head } = exchange
    const visit: Visit = { exchange, address: frontDoor.clientAddress(head), startedAtMs: nowMs() }
    const outside = frontDoor.check(head)
    if (outside !== undefined) return this.#refuse(visit, outside)
    // The body is read before anybody is asked who this is: it comes now or never.
    if (head.method === 'GET' || head.method === 'HEAD' || head.method === 'DELETE') {
      return this.#enter(visit, undefined)
    }
    exchange.readBody(
      ADMIN_BODY_BYTES_MAX,
      (body) => this.#enter(visit, body),
      () => this.#refuse(visit, { code: 'PROTOCOL_BODY_TOO_LARGE' }),
    )
  }

  #enter(visit: Visit, body: Uint8Array | undefined): void {
    this.#run(visit, body).catch((thrown: unknown) => {
      if (thrown instanceof StoreFailure) {
        return this.#refuse(visit, { code: 'ADMIN_UNAVAILABLE', reason: `admin store ${thrown.kind}` })
      }
      this.#surroundings.failed(thrown)
      this.#refuse(visit, { code: 'INTERNAL' })
    })
  }

  async #run(visit: Visit, body: Uint8Array | undefined): Promise<void> {
    const { authenticate, auditable } = this.#surroundings
    const { head } = visit.exchange
    if (!auditable()) return this.#send(visit, 503, refusalBody({ code: 'AUDIT_UNAVAILABLE' }))
    const who = await authenticate(head.headers.get('authorization'), visit.address)
    if (!who.ok) return this.#refuse(visit, who.error)
    const route = this.#route(head)
    if (route === undefined) return this.#refuse(visit, { code: 'PROTOCOL_PATH' }, who.value)
    if (route === 'openapi') {
      if (!mayEnter(who.value.rights)) return this.#refuse(visit, { code: 'AUTH_FORBIDDEN' }, who.value, 'openapi')
      return this.#answer(visit, who.value, 'openapi', undefined, this.#surroundings.openApi())
    }
    if ('allowed' in route) {
      const text = JSON.stringify({ code: 'PROTOCOL_VERB', error: `This address takes ${route.allowed.join(', ')}.` })
      const entry = this.#entryOf(visit, who.value, undefined, undefined, 'PROTOCOL_VERB')
      return this.#surroundings.enter(entry, (durable) => {
        if (durable) this.#send(visit, 405, text, [['allow', route.allowed.join(', ')]])
        else this.#send(visit, 503, refusalBody({ code: 'AUDIT_UNAVAILABLE' }))
      })
    }
    await this.#operate(visit, who.value, route, body)
  }

  async #operate(visit: Visit, who: Administrator, { operation, members }: Matched, body: Uint8Array | undefined) {
    const { head } = visit.exchange
    const input = inputOf(operation, members, head, body, this.#surroundings.frontDoor)
    if (!input.ok) return this.#refuse(visit, input.error, who, operation.name)
    const target = operation.target(input.value)
    const done = await operation.run(this.#surroundings.contextOf(who), input.value)
    if (!done.ok) {
      const { code, message, details } = done.error
      const error: GatewayError = { code: CODES[code], reason: code }
      return this.#refuse(visit, error, who, operation.name, target, { message, details })
    }
    // A change has its entry through the store, in the transaction that made it.
    if (operation.changes) return this.#send(visit, 200, JSON.stringify(done.value))
    this.#answer(visit, who, operation.name, target, done.value)
  }

  #route(head: RequestHead): Route {
    const path = head.path.endsWith('/') ? head.path.slice(0, -1) : head.path
    const method = head.method === 'HEAD' ? 'GET' : head.method
    if (path === `${ADMIN_API}/openapi.json`) return method === 'GET' ? 'openapi' : { allowed: ['GET'] }
    const allowed: string[] = []
    for (const { pattern, names, operation } of this.#routes) {
      const match = pattern.exec(path)
      if (match === null) continue
      allowed.push(operation.method)
      if (operation.method !== method) continue
      const texts = match.slice(1).map(decoded)
      if (texts.includes(undefined)) return undefined
      return { operation, members: Object.fromEntries(names.map((name, i) => [name, texts[i] ?? ''])) }
    }
    return allowed.length === 0 ? undefined : { allowed: [...new Set(allowed)] }
  }

  /** Reading is an entry too, and is answered when that is kept. */
  #answer(visit: Visit, who: Administrator, operation: string, target: string | undefined, value: unknown): void {
    this.#surroundings.enter(this.#entryOf(visit, who, operation, target, 'OK'), (durable) => {
      if (durable) this.#send(visit, 200, JSON.stringify(value))
      else this.#send(visit, 503, refusalBody({ code: 'AUDIT_UNAVAILABLE' }))
    })
  }

  #refuse(
    visit: Visit,
    error: GatewayError,
    who?: Administrator,
    operation?: string,
    target?: string,
    said?: { readonly message: string; readonly details: readonly string[] | undefined },
  ): void {
    const entry = { ...this.#entryOf(visit, who, operation, target, error.code), ...reasonOf(error) }
    this.#surroundings.enter(entry, (durable) => {
      const told: GatewayError = durable ? error : { code: 'AUDIT_UNAVAILABLE' }
      this.#send(visit, statusOf(told.code), durable ? refusalBody(error, said) : refusalBody(told))
    })
  }

  #entryOf(
    { exchange, address, startedAtMs }: Visit,
    who: Administrator | undefined,
    operation: string | undefined,
    target: string | undefined,
    code: ErrorCode | 'OK',
  ): AdminRequest {
    const client = exchange.head.headers.get('user-agent')
    return {
      address,
      ...(client === undefined ? {} : { client }),
      ...(who === undefined ? {} : { identity: who.identity }),
      ...(operation === undefined ? {} : { operation }),
      ...(target === undefined ? {} : { target }),
      code,
      startedAtMs,
    }
  }

  #send({ exchange }: Visit, status: number, text: string, more: readonly (readonly [string, string])[] = []): void {
    const challenge: readonly (readonly [string, string])[] = status === 401 ? [['www-authenticate', 'Bearer']] : []
    const retry: readonly (readonly [string, string])[] = status === 503 || status === 429 ? [['retry-after', '1']] : []
    exchange.reply(status, [...JSON_HEADERS, ...challenge, ...retry, ...more], text)
  }
}

function reasonOf({ reason }: GatewayError): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

function statusOf(code: ErrorCode): number {
  const { reply } = ERRORS[code]
  return reply.kind === 'http' ? reply.status : code === 'INTERNAL' ? 500 : 503
}

function refusalBody(
  error: GatewayError,
  said?: { readonly message: string; readonly details: readonly string[] | undefined },
): string {
  const details = said?.details
  return JSON.stringify({
    code: error.code,
    error: said?.message ?? publicText(error),
    ...(details === undefined ? {} : { details }),
  })
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Path, then query or body, as one object; a member that comes twice is refused. */
function inputOf(
  operation: AdminOperation,
  members: Readonly<Record<string, string>>,
  head: RequestHead,
  body: Uint8Array | undefined,
  frontDoor: FrontDoor,
): Result<Readonly<Record<string, unknown>>, GatewayError> {
  if (body === undefined) {
    const query: [string, unknown][] = []
    for (const [name, value] of new URLSearchParams(head.query)) {
      if (Object.hasOwn(members, name) || query.some(([other]) => other === name)) {
        return fail({ code: 'ADMIN_INVALID', field: name, expected: 'it once' })
      }
      query.push([name, typed(operation, name, value)])
    }
    return ok({ ...Object.fromEntries(query), ...members })
  }
  const unfit = body.length === 0 ? undefined : frontDoor.checkContentType(head)
  if (unfit !== undefined) return fail(unfit)
  const parsed = parseBody(body)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return fail({ code: 'ADMIN_INVALID', expected: 'a JSON object as the body' })
  }
  const given: readonly [string, unknown][] = Object.entries(parsed)
  const twice = given.find(([name]) => Object.hasOwn(members, name))
  if (twice !== undefined) return fail({ code: 'ADMIN_INVALID', field: twice[0], expected: 'it in the path alone' })
  return ok({ ...Object.fromEntries(given), ...members })
}

/** A query has texts alone. */
function typed(operation: AdminOperation, name: string, text: string): string | boolean {
  if (text !== 'true' && text !== 'false') return text
  const schema = Object.hasOwn(operation.input.shape, name) ? operation.input.shape[name] : undefined
  const truth = text === 'true'
  return schema?.safeParse(truth).success === true ? truth : text
}

function parseBody(body: Uint8Array): unknown {
  if (body.length === 0) return {}
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
