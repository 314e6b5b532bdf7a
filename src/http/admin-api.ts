import { type AdminRights, mayEnter } from '../admin/admin-rights.js'
import { type ChangeAuthor, type MaybePromise, StoreFailure } from '../admin/admin-store.js'
import { pathMembers } from '../admin/openapi.js'
import type { AdminOperation, OperationContext, OperationRefusal } from '../admin/operation.js'
import type { AdminRequest } from '../call.js'
import { unreachable } from '../core/assert.js'
import { ERRORS, type ErrorCode, type GatewayError, gatewayError, publicText } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import { ADMIN_BODY_BYTES_MAX } from '../core/limits.js'
import type { Result } from '../core/result.js'
import { inputOf, queryPairs, unescaped } from './admin-input.js'
import type { FrontDoor } from './front-door.js'
import type { Exchange, RequestHead, ResponseHeaders } from './http-server.js'

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
  readonly kind: 'operation'
  readonly operation: AdminOperation
  readonly members: Readonly<Record<string, string>>
}

type Route =
  | Matched
  | { readonly kind: 'openapi' }
  | { readonly kind: 'verb'; readonly allowed: readonly string[] }
  /** The operation that was meant, with something in its path that is no text. */
  | { readonly kind: 'unreadable'; readonly operation: AdminOperation }
  | { readonly kind: 'nothing' }

const OPENAPI = 'openapi'

/** What came behind the headers; undefined: more than is taken. */
type Body = Uint8Array | undefined

/** One administrative request. */
interface Visit {
  readonly exchange: Exchange
  readonly address: string
  readonly startedAtMs: number
}

/** What is known of a request by the time its entry is written. */
interface Known {
  readonly who?: Administrator
  readonly operation?: string
  readonly target?: string | undefined
}

/** What a refusal says beyond its code's own text. */
interface Said {
  readonly message: string
  readonly details: readonly string[] | undefined
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
    if (outside !== undefined) return this.#refuse(visit, outside, {})
    // The body is read before anybody is asked who this is: it comes now or never.
    exchange.readBody(
      ADMIN_BODY_BYTES_MAX,
      (body) => this.#begin(visit, body),
      () => this.#begin(visit, undefined),
    )
  }

  /**
   * In the next turn: the native server drops a connection on which a request follows one that waits for its answer. Where both came
   * together it has done so by then, and nothing is changed for somebody who can no longer hear of it.
   */
  #begin(visit: Visit, body: Body): void {
    setImmediate(() => this.#enter(visit, body))
  }

  #enter(visit: Visit, body: Body): void {
    this.#run(visit, body).catch((thrown: unknown) => this.#fail(visit, thrown, {}))
  }

  /** What could not be done although it was asked rightly. */
  #fail(visit: Visit, thrown: unknown, known: Known): void {
    if (thrown instanceof StoreFailure) {
      return this.#refuse(visit, { code: 'ADMIN_UNAVAILABLE', reason: `admin store ${thrown.kind}` }, known)
    }
    this.#surroundings.failed(thrown)
    this.#refuse(visit, { code: 'INTERNAL' }, known)
  }

  async #run(visit: Visit, body: Body): Promise<void> {
    const { authenticate, auditable } = this.#surroundings
    const { head } = visit.exchange
    if (!auditable()) return this.#send(visit, 503, refusalBody({ code: 'AUDIT_UNAVAILABLE' }))
    const who = await authenticate(head.headers.get('authorization'), visit.address)
    if (!who.ok) return this.#refuse(visit, who.error, {})
    if (body === undefined) return this.#refuse(visit, { code: 'PROTOCOL_BODY_TOO_LARGE' }, { who: who.value })
    await this.#serve(visit, who.value, body)
  }

  async #serve(visit: Visit, who: Administrator, body: Uint8Array): Promise<void> {
    const route = this.#route(visit.exchange.head)
    switch (route.kind) {
      case 'operation':
        return this.#operate(visit, who, route, body)
      case 'openapi':
        return this.#describe(visit, who, body)
      case 'verb':
        return this.#refuseVerb(visit, who, route.allowed)
      case 'unreadable':
        return this.#refuse(visit, UNREADABLE, { who, operation: route.operation.name })
      case 'nothing':
        return this.#refuse(visit, { code: 'PROTOCOL_PATH' }, { who })
      default:
        return unreachable(route)
    }
  }

  async #operate(visit: Visit, who: Administrator, { operation, members }: Matched, body: Uint8Array): Promise<void> {
    const { frontDoor, contextOf } = this.#surroundings
    const input = inputOf(operation, members, visit.exchange.head, body, frontDoor)
    if (!input.ok) return this.#refuse(visit, input.error, { who, operation: operation.name })
    const known: Known = { who, operation: operation.name, target: operation.target(input.value) }
    if (visit.exchange.aborted) return this.#refuse(visit, GONE, known)
    try {
      const done = await operation.run(contextOf(who), input.value)
      if (!done.ok) {
        const { code, message, details } = done.error
        return this.#refuse(visit, { code: CODES[code], reason: code }, known, { message, details })
      }
      // A change has its entry through the store, in the transaction that made it.
      if (operation.changes) this.#send(visit, 200, JSON.stringify(done.value))
      else this.#answer(visit, known, done.value)
    } catch (thrown) {
      this.#fail(visit, thrown, known)
    }
  }

  #describe(visit: Visit, who: Administrator, body: Uint8Array): void {
    const { rights } = who
    const known: Known = { who, operation: OPENAPI }
    if (!mayEnter(rights)) return this.#refuse(visit, { code: 'AUTH_FORBIDDEN' }, known)
    const pairs = queryPairs(visit.exchange.head.query)
    if (!pairs.ok) return this.#refuse(visit, pairs.error, known)
    if (pairs.value.length > 0 || body.length > 0) return this.#refuse(visit, NO_MEMBERS, known)
    this.#answer(visit, known, this.#surroundings.openApi())
  }

  #refuseVerb(visit: Visit, who: Administrator, allowed: readonly string[]): void {
    const verbs = allowed.join(', ')
    const said = { message: `This address takes ${verbs}.`, details: undefined }
    this.#refuse(visit, { code: 'PROTOCOL_VERB' }, { who }, said, [['allow', verbs]])
  }

  #route(head: RequestHead): Route {
    const path = head.path.endsWith('/') ? head.path.slice(0, -1) : head.path
    const method = head.method === 'HEAD' ? 'GET' : head.method
    if (path === `${ADMIN_API}/openapi.json`) return method === 'GET' ? { kind: OPENAPI } : verb(['GET'])
    const allowed: string[] = []
    for (const { pattern, names, operation } of this.#routes) {
      const match = pattern.exec(path)
      if (match === null) continue
      allowed.push(operation.method)
      if (operation.method !== method) continue
      const members: [string, string][] = []
      for (const [i, name] of names.entries()) {
        const text = unescaped(match[i + 1] ?? '')
        if (text === undefined) return { kind: 'unreadable', operation }
        members.push([name, text])
      }
      return { kind: 'operation', operation, members: Object.fromEntries(members) }
    }
    return allowed.length === 0 ? { kind: 'nothing' } : verb(allowed)
  }

  /** Reading is an entry too, and is answered when that is kept. */
  #answer(visit: Visit, known: Known, value: unknown): void {
    this.#surroundings.enter(this.#entryOf(visit, known, 'OK'), (durable) => {
      if (durable) this.#send(visit, 200, JSON.stringify(value))
      else this.#send(visit, 503, refusalBody({ code: 'AUDIT_UNAVAILABLE' }))
    })
  }

  #refuse(visit: Visit, error: GatewayError, known: Known, said?: Said, more: ResponseHeaders = []): void {
    const entry = { ...this.#entryOf(visit, known, error.code), ...reasonOf(error) }
    this.#surroundings.enter(entry, (durable) => {
      if (durable) this.#send(visit, statusOf(error.code), refusalBody(error, said), more)
      else this.#send(visit, 503, refusalBody({ code: 'AUDIT_UNAVAILABLE' }))
    })
  }

  #entryOf(
    { exchange, address, startedAtMs }: Visit,
    { who, operation, target }: Known,
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

  #send({ exchange }: Visit, status: number, text: string, more: ResponseHeaders = []): void {
    const challenge: ResponseHeaders = status === 401 ? [['www-authenticate', 'Bearer']] : []
    const retry: ResponseHeaders = status === 503 || status === 429 ? [['retry-after', '1']] : []
    exchange.reply(status, [...JSON_HEADERS, ...challenge, ...retry, ...more], text)
  }
}

const GONE = gatewayError('CANCELLED', { reason: 'the client was gone before anything was done' })
const UNREADABLE = gatewayError('ADMIN_INVALID', { field: 'path', expected: 'percent-encoded UTF-8' })
const NO_MEMBERS = gatewayError('ADMIN_INVALID', { expected: 'neither a query nor a body' })

/** What is read is read by HEAD as well. */
function verb(methods: readonly string[]): Route {
  return {
    kind: 'verb',
    allowed: [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))],
  }
}

function reasonOf({ reason }: GatewayError): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

function statusOf(code: ErrorCode): number {
  const { reply } = ERRORS[code]
  return reply.kind === 'http' ? reply.status : code === 'INTERNAL' ? 500 : 503
}

function refusalBody(error: GatewayError, said?: Said): string {
  const details = said?.details
  return JSON.stringify({
    code: error.code,
    error: said?.message ?? publicText(error),
    ...(details === undefined ? {} : { details }),
  })
}
