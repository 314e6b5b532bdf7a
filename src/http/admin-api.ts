import { mayEnter } from '../admin/admin-rights.js'
import { pathMembers } from '../admin/openapi.js'
import type { AdminOperation, OperationContext, OperationRefusal } from '../admin/operation.js'
import { unreachable } from '../core/assert.js'
import { type ErrorCode, gatewayError } from '../core/errors.js'
import { ADMIN_BODY_BYTES_MAX } from '../core/limits.js'
import { inputOf, queryPairs, unescaped } from './admin-input.js'
import { type Administrator, AdminVisits, JSON_TYPE, type Visit, type VisitSurroundings } from './admin-visits.js'
import type { Exchange, RequestHead } from './http-server.js'

export interface AdminApiSurroundings extends VisitSurroundings {
  readonly operations: readonly AdminOperation[]
  readonly contextOf: (who: Administrator) => OperationContext
  readonly openApi: () => unknown
}

export const ADMIN_API = '/admin/api'

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

/** `/admin/api/…`: every operation for who may, with an entry for every request. */
export class AdminApi {
  readonly #surroundings: AdminApiSurroundings
  readonly #visits: AdminVisits
  readonly #routes: readonly {
    readonly pattern: RegExp
    readonly names: readonly string[]
    readonly operation: AdminOperation
  }[]

  constructor(surroundings: AdminApiSurroundings) {
    this.#surroundings = surroundings
    this.#visits = new AdminVisits(surroundings)
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
    const visit = this.#visits.begin(exchange)
    if (visit === undefined) return
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
    setImmediate(() => this.#visits.watch(visit, {}, this.#run(visit, body)))
  }

  async #run(visit: Visit, body: Body): Promise<void> {
    const who = await this.#visits.identify(visit)
    if (who === undefined) return
    if (body === undefined) return this.#visits.refuse(visit, { who }, { code: 'PROTOCOL_BODY_TOO_LARGE' })
    const route = this.#route(visit.exchange.head)
    switch (route.kind) {
      case 'operation':
        return this.#operate(visit, who, route, body)
      case 'openapi':
        return this.#describe(visit, who, body)
      case 'verb':
        return this.#visits.refuseVerb(visit, { who }, route.allowed)
      case 'unreadable':
        return this.#visits.refuse(visit, { who, operation: route.operation.name }, UNREADABLE)
      case 'nothing':
        return this.#visits.refuse(visit, { who }, { code: 'PROTOCOL_PATH' })
      default:
        return unreachable(route)
    }
  }

  async #operate(visit: Visit, who: Administrator, { operation, members }: Matched, body: Uint8Array): Promise<void> {
    const { frontDoor, contextOf } = this.#surroundings
    const input = inputOf(operation, members, visit.exchange.head, body, frontDoor)
    if (!input.ok) return this.#visits.refuse(visit, { who, operation: operation.name }, input.error)
    const subject = { who, operation: operation.name, target: operation.target(input.value) }
    if (visit.exchange.aborted) return this.#visits.refuse(visit, subject, GONE)
    const run = async () => {
      const done = await operation.run(contextOf(who), input.value)
      if (!done.ok) {
        const { code, message, details } = done.error
        return this.#visits.refuse(visit, subject, { code: CODES[code], reason: code }, { message, details })
      }
      // A change has its entry through the store, in the transaction that made it.
      if (operation.changes) return this.#visits.answerEntered(visit, JSON.stringify(done.value))
      this.#visits.answer(visit, subject, JSON_TYPE, JSON.stringify(done.value))
    }
    this.#visits.watch(visit, subject, run())
  }

  #describe(visit: Visit, who: Administrator, body: Uint8Array): void {
    const subject = { who, operation: OPENAPI }
    if (!mayEnter(who.rights)) return this.#visits.refuse(visit, subject, { code: 'AUTH_FORBIDDEN' })
    const pairs = queryPairs(visit.exchange.head.query)
    if (!pairs.ok) return this.#visits.refuse(visit, subject, pairs.error)
    if (pairs.value.length > 0 || body.length > 0) return this.#visits.refuse(visit, subject, NO_MEMBERS)
    this.#visits.answer(visit, subject, JSON_TYPE, JSON.stringify(this.#surroundings.openApi()))
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
