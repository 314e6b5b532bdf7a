import type { AdminRights } from '../admin/admin-rights.js'
import { type ChangeAuthor, type MaybePromise, StoreFailure } from '../admin/admin-store.js'
import type { AdminRequest } from '../call.js'
import { ERRORS, type ErrorCode, type GatewayError, publicText } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import type { Result } from '../core/result.js'
import type { FrontDoor } from './front-door.js'
import type { Exchange } from './http-server.js'

/** Who administers, as authentication found them. */
export interface Administrator {
  readonly identity: Identity
  readonly author: ChangeAuthor
  readonly rights: AdminRights
}

export interface VisitSurroundings {
  readonly frontDoor: FrontDoor
  readonly authenticate: (
    authorization: string | undefined,
    address: string,
  ) => MaybePromise<Result<Administrator, GatewayError>>
  /** Whether entries can be kept: without them nothing is administered. */
  readonly auditable: () => boolean
  /** Keeps the entry; `done` hears whether it is durable. */
  readonly enter: (entry: AdminRequest, done: (durable: boolean) => void) => void
  readonly nowMs: () => number
  /** Told of what is thrown: a bug. */
  readonly failed: (thrown: unknown) => void
}

/** One request on the admin listener that needs a key. */
export interface Visit {
  readonly exchange: Exchange
  readonly address: string
  readonly startedAtMs: number
}

/** What a visit was about, as far as it came. */
export interface VisitSubject {
  readonly who?: Administrator
  readonly operation?: string | undefined
  readonly target?: string | undefined
}

/** More than the fixed text of a refusal's code. */
export interface Said {
  readonly message: string
  readonly details?: readonly string[] | undefined
}

/** A change must not be made twice by whoever only reads that it failed. */
const UNSURE =
  'The connection to the admin store was lost while the change was being written: it may have been made. Look before you make it again.'

type Headers = readonly (readonly [name: string, value: string])[]

const SAFE_HEADERS = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
] as const
export const JSON_TYPE = 'application/json'

/** What administration and reports do alike: who asks is found out, every request has its entry, and is answered when that is kept. */
export class AdminVisits {
  readonly #surroundings: VisitSurroundings

  constructor(surroundings: VisitSurroundings) {
    this.#surroundings = surroundings
  }

  /** Begins a visit; undefined where the request was refused at the door. */
  begin(exchange: Exchange): Visit | undefined {
    const { frontDoor, nowMs } = this.#surroundings
    const { head } = exchange
    const visit: Visit = { exchange, address: frontDoor.clientAddress(head), startedAtMs: nowMs() }
    const outside = frontDoor.check(head)
    if (outside === undefined) return visit
    this.refuse(visit, {}, outside)
    return undefined
  }

  /** Sees to it that a visit that ends in a throw is answered and entered all the same, as far as it had come. */
  watch(visit: Visit, subject: VisitSubject, work: Promise<void>): void {
    work.catch((thrown: unknown) => {
      if (thrown instanceof StoreFailure) {
        const error = { code: 'ADMIN_UNAVAILABLE', reason: `admin store ${thrown.kind}` } as const
        return this.refuse(visit, subject, error, thrown.kind === 'unsure' ? { message: UNSURE } : undefined)
      }
      this.#surroundings.failed(thrown)
      this.refuse(visit, subject, { code: 'INTERNAL' })
    })
  }

  /** Who asks; undefined where the request was refused, which is done then. */
  async identify(visit: Visit): Promise<Administrator | undefined> {
    const { authenticate, auditable } = this.#surroundings
    if (!auditable()) {
      this.#unkept(visit)
      return undefined
    }
    const who = await authenticate(visit.exchange.head.headers.get('authorization'), visit.address)
    if (who.ok) return who.value
    this.refuse(visit, {}, who.error)
    return undefined
  }

  /** Reading is an entry too. */
  answer(visit: Visit, subject: VisitSubject, type: string, body: string | Uint8Array, more: Headers = []): void {
    this.#enter(visit, subject, 'OK', undefined, () => this.#send(visit, 200, type, body, more))
  }

  /** Answers what has its entry already. */
  answerEntered(visit: Visit, text: string): void {
    this.#send(visit, 200, JSON_TYPE, text)
  }

  refuse(visit: Visit, subject: VisitSubject, error: GatewayError, said?: Said): void {
    this.#enter(visit, subject, error.code, error.reason, () => {
      this.#send(visit, statusOf(error.code), JSON_TYPE, refusalBody(error, said))
    })
  }

  /** Refuses a verb that the address does not take. */
  refuseVerb(visit: Visit, subject: VisitSubject, allowed: readonly string[]): void {
    const verbs = allowed.join(', ')
    const text = JSON.stringify({ code: 'PROTOCOL_VERB', error: `This address takes ${verbs}.` })
    this.#enter(visit, subject, 'PROTOCOL_VERB', undefined, () => {
      this.#send(visit, 405, JSON_TYPE, text, [['allow', verbs]])
    })
  }

  #enter(
    visit: Visit,
    { who, operation, target }: VisitSubject,
    code: ErrorCode | 'OK',
    reason: string | undefined,
    done: () => void,
  ): void {
    const client = visit.exchange.head.headers.get('user-agent')
    const entry: AdminRequest = {
      address: visit.address,
      ...(client === undefined ? {} : { client }),
      ...(who === undefined ? {} : { identity: who.identity }),
      ...(operation === undefined ? {} : { operation }),
      ...(target === undefined ? {} : { target }),
      code,
      ...(reason === undefined ? {} : { reason }),
      startedAtMs: visit.startedAtMs,
    }
    this.#surroundings.enter(entry, (durable) => (durable ? done() : this.#unkept(visit)))
  }

  #unkept(visit: Visit): void {
    this.#send(visit, 503, JSON_TYPE, refusalBody({ code: 'AUDIT_UNAVAILABLE' }))
  }

  #send({ exchange }: Visit, status: number, type: string, body: string | Uint8Array, more: Headers = []): void {
    const challenge: Headers = status === 401 ? [['www-authenticate', 'Bearer']] : []
    const retry: Headers = status === 503 || status === 429 ? [['retry-after', '1']] : []
    exchange.reply(status, [['content-type', type], ...SAFE_HEADERS, ...challenge, ...retry, ...more], body)
  }
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
