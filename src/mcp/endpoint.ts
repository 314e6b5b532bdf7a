import type { CallPath, CallTicket, RequestFacts } from '../call.js'
import { unreachable } from '../core/assert.js'
import { ERRORS, type GatewayError, publicText } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import { UNIDENTIFIED_BODY_BYTES_MAX } from '../core/limits.js'
import type { Result } from '../core/result.js'
import type { FrontDoor } from '../http/front-door.js'
import type { Exchange, ResponseHeaders } from '../http/http-server.js'
import type { Connector } from '../threads/connector.js'
import { CallsInFlight } from './calls-in-flight.js'
import { checkClaimedVersion, checkVersionHeader, takesBatches } from './era.js'
import { encodeEvent, encodeRpcError, joinBatch, type ParsedMessage, parseBody } from './json-rpc.js'
import { answer, type McpResponse } from './methods.js'

/** Verifies the Authorization header for one connector: at once, or after a while that a rejection never ends. */
export type Authenticate = (
  authorization: string | undefined,
  connector: string,
  address: string,
) => Result<Identity, GatewayError> | Promise<Result<Identity, GatewayError>>

export interface EndpointSurroundings {
  readonly path: CallPath
  readonly frontDoor: FrontDoor
  readonly authenticate: Authenticate
  readonly nowMs: () => number
  readonly serverVersion: string
  readonly bodyBytesMax: number
  readonly inFlightMax: number
}

const JSON_TYPE = ['content-type', 'application/json'] as const
const NO_STORE = ['cache-control', 'no-store'] as const
const TRACE_ID = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/

/** One MCP request from its headers to its reply. */
interface Visit {
  readonly exchange: Exchange
  readonly connector: Connector
  readonly facts: RequestFacts
  readonly cors: ResponseHeaders
  readonly eventStream: boolean
}

/** What is sent for a refusal besides its status: where the caller learns how to do better. */
function refusalHeaders(error: GatewayError): ResponseHeaders {
  switch (error.code) {
    case 'AUTH_MISSING':
      return [['www-authenticate', 'Bearer']]
    case 'AUTH_INVALID':
      return [['www-authenticate', 'Bearer error="invalid_token"']]
    case 'RATE_LIMITED':
      return [['retry-after', '60']]
    case 'AUTH_UNAVAILABLE':
    case 'PROTOCOL_BUSY':
    case 'AUDIT_UNAVAILABLE':
      return [['retry-after', '1']]
    default:
      return []
  }
}

function refusalStatus(error: GatewayError): number {
  const { reply } = ERRORS[error.code]
  switch (reply.kind) {
    case 'http':
    case 'rpc':
      return reply.status
    case 'tool':
      return 503
    default:
      return unreachable(reply)
  }
}

/** Speaks MCP over HTTP for every connector: front door, authentication, JSON-RPC, and the replies. Holds no session. */
export class McpEndpoint {
  readonly #surroundings: EndpointSurroundings
  readonly #inFlight = new CallsInFlight()
  #visits = 0
  #unidentifiedBytes = 0
  #draining = false
  #onIdle: (() => void) | undefined

  constructor(surroundings: EndpointSurroundings) {
    this.#surroundings = surroundings
  }

  /** Requests that have not been answered yet. */
  get visits(): number {
    return this.#visits
  }

  get draining(): boolean {
    return this.#draining
  }

  /** From now on every new request is refused; those in progress go on. */
  drain(): void {
    this.#draining = true
  }

  /** Settles when every request is answered, or after the deadline. */
  async whenIdle(deadlineMs: number): Promise<void> {
    if (this.#visits === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
      timer = setTimeout(resolve, deadlineMs)
    })
    clearTimeout(timer)
  }

  #leave({ connector }: Visit): void {
    this.#visits -= 1
    connector.visited?.(-1)
    if (this.#visits === 0) this.#onIdle?.()
  }

  serve(exchange: Exchange, connector: Connector): void {
    const { frontDoor, nowMs } = this.#surroundings
    const { head } = exchange
    const traceId = TRACE_ID.exec(head.headers.get('traceparent') ?? '')?.[1]
    const client = head.headers.get('user-agent')
    const facts: RequestFacts = {
      connector: connector.id,
      address: frontDoor.clientAddress(head),
      startedAtMs: nowMs(),
      ...(client === undefined ? {} : { client }),
      ...(traceId === undefined ? {} : { traceId }),
    }
    const visit: Visit = {
      exchange,
      connector,
      facts,
      cors: frontDoor.corsHeaders(head),
      eventStream: frontDoor.wantsEventStream(head),
    }
    this.#visits += 1
    connector.visited?.(1)
    this.#admit(visit)
  }

  /** Everything that can be judged before the body is read. */
  #admit(visit: Visit): void {
    const { frontDoor, authenticate, inFlightMax } = this.#surroundings
    const { head } = visit.exchange
    const outside = frontDoor.check(head)
    if (outside !== undefined) return this.#refuse(visit, outside)
    if (head.method === 'OPTIONS') return this.#reply(visit, 204, [['allow', 'POST, OPTIONS']], '')
    if (head.method !== 'POST') {
      // Clients probe with GET as a matter of course: answered, and not worth an entry.
      const text = JSON.stringify({ error: publicText({ code: 'PROTOCOL_VERB' }), code: 'PROTOCOL_VERB' })
      return this.#reply(visit, 405, [['allow', 'POST, OPTIONS'], JSON_TYPE], text)
    }
    if (this.#draining || this.#visits > inFlightMax) return this.#refuse(visit, { code: 'PROTOCOL_BUSY' })
    const identity = authenticate(head.headers.get('authorization'), visit.facts.connector, visit.facts.address)
    if (identity instanceof Promise) return this.#awaitIdentity(visit, identity)
    if (!identity.ok) return this.#refuse(visit, identity.error)
    const unfit = this.#unfit(visit)
    if (unfit !== undefined) return this.#refuse(visit, unfit, identity.value)
    this.#read(visit, identity.value)
  }

  /** What is wrong with the headers of a caller that is known. */
  #unfit({ exchange: { head } }: Visit): GatewayError | undefined {
    const { frontDoor } = this.#surroundings
    return frontDoor.checkContentType(head) ?? checkVersionHeader(head.headers.get('mcp-protocol-version'))
  }

  /**
   * The body is read meanwhile, since bytes that nobody waits for are lost, and kept until it is known whose it is. How much
   * strangers may have kept is bounded over all of them.
   */
  #awaitIdentity(visit: Visit, identifying: Promise<Result<Identity, GatewayError>>): void {
    const { exchange } = visit
    const { bodyBytesMax } = this.#surroundings
    const bytes = Math.min(bodyBytesMax, Number(exchange.head.headers.get('content-length') ?? bodyBytesMax))
    if (this.#unidentifiedBytes > 0 && this.#unidentifiedBytes + bytes > UNIDENTIFIED_BODY_BYTES_MAX) {
      return this.#refuse(visit, { code: 'PROTOCOL_BUSY' })
    }
    this.#unidentifiedBytes += bytes
    let identity: Identity | undefined
    let goOn: ((identity: Identity) => void) | undefined
    const proceed = () => {
      if (identity === undefined || goOn === undefined) return
      // From here the reply ends the visit, sent or not.
      exchange.onAborted(() => {})
      goOn(identity)
    }
    exchange.onAborted(() => {
      // Before, the visit goes on until the caller is known: who is refused has an entry, however soon they leave.
      if (identity !== undefined) this.#leave(visit)
    })
    exchange.readBody(
      bodyBytesMax,
      (body) => {
        goOn = (caller) => this.#parse(visit, caller, body)
        proceed()
      },
      () => {
        goOn = (caller) => this.#refuse(visit, { code: 'PROTOCOL_BODY_TOO_LARGE' }, caller)
        proceed()
      },
    )
    void identifying.then((outcome) => {
      this.#unidentifiedBytes -= bytes
      const refused = outcome.ok ? this.#unfit(visit) : outcome.error
      if (refused !== undefined) {
        exchange.onAborted(() => {})
        return this.#refuse(visit, refused, ...(outcome.ok ? [outcome.value] : []))
      }
      if (exchange.aborted) return this.#leave(visit)
      if (outcome.ok) identity = outcome.value
      proceed()
    })
  }

  #read(visit: Visit, identity: Identity): void {
    // A client that leaves while its body is read gets no further callback; once dispatched, every call still ends.
    visit.exchange.onAborted(() => this.#leave(visit))
    visit.exchange.readBody(
      this.#surroundings.bodyBytesMax,
      (body) => {
        // From here the reply ends the visit, sent or not.
        visit.exchange.onAborted(() => {})
        this.#parse(visit, identity, body)
      },
      () => {
        visit.exchange.onAborted(() => {})
        this.#refuse(visit, { code: 'PROTOCOL_BODY_TOO_LARGE' }, identity)
      },
    )
  }

  #parse(visit: Visit, identity: Identity, body: Uint8Array): void {
    const parsed = parseBody(body)
    if (!parsed.ok) return this.#refuse(visit, parsed.error, identity)
    const { messages, batch } = parsed.value
    if (batch && !takesBatches(visit.exchange.head.headers.get('mcp-protocol-version'))) {
      const expected = 'one JSON-RPC message; batches ended with revision 2025-03-26'
      return this.#refuse(visit, { code: 'PROTOCOL_REQUEST', expected }, identity)
    }
    for (const message of messages) {
      const claimed = checkClaimedVersion(message)
      if (claimed !== undefined) return this.#refuse(visit, claimed, identity)
    }
    this.#dispatch(visit, identity, messages, batch)
  }

  #dispatch(visit: Visit, identity: Identity, messages: readonly ParsedMessage[], batch: boolean): void {
    const { path, serverVersion } = this.#surroundings
    const { connector, facts, exchange } = visit
    const responses: McpResponse[] = []
    const tickets: CallTicket[] = []
    // Counted from one, so that requests answered at once cannot end the visit before all are on their way.
    let waiting = 1
    const settle = () => {
      waiting -= 1
      if (waiting === 0) this.#respond(visit, responses, batch)
    }
    exchange.onAborted(() => {
      for (const ticket of tickets) ticket.cancel()
    })
    const surroundings = { path, inFlight: this.#inFlight, connector, identity, facts, serverVersion }
    for (const message of messages) {
      switch (message.kind) {
        case 'request': {
          waiting += 1
          const ticket = answer(message, surroundings, (response) => {
            responses.push(response)
            settle()
          })
          if (ticket !== undefined) tickets.push(ticket)
          break
        }
        case 'notification':
          if (message.method === 'notifications/cancelled')
            this.#inFlight.cancel(identity, message.params?.['requestId'])
          break
        case 'response':
          break
        case 'invalid': {
          waiting += 1
          const { error, id } = message
          path.refuse(error, facts, { identity }, (durable) => {
            const told: GatewayError = durable ? error : { code: 'AUDIT_UNAVAILABLE' }
            const { reply } = ERRORS[told.code]
            const rpcCode = reply.kind === 'rpc' ? reply.rpcCode : -32603
            responses.push({ status: refusalStatus(told), body: encodeRpcError(id, rpcCode, publicText(told)) })
            settle()
          })
          break
        }
        default:
          unreachable(message)
      }
    }
    settle()
  }

  #respond(visit: Visit, responses: readonly McpResponse[], batch: boolean): void {
    const [first] = responses
    if (first === undefined) return this.#reply(visit, 202, [], '')
    const body = batch ? joinBatch(responses.map((response) => response.body)) : first.body
    const status = batch ? 200 : first.status
    if (!visit.eventStream || status !== 200) return this.#reply(visit, status, [JSON_TYPE, NO_STORE], body)
    this.#reply(visit, 200, [['content-type', 'text/event-stream'], NO_STORE], encodeEvent(body))
  }

  /** Ends a request that never became a call: entry first, then the refusal. */
  #refuse(visit: Visit, error: GatewayError, identity?: Identity): void {
    this.#surroundings.path.refuse(error, visit.facts, identity === undefined ? {} : { identity }, (durable) => {
      const told: GatewayError = durable ? error : { code: 'AUDIT_UNAVAILABLE' }
      const { reply } = ERRORS[told.code]
      const text = publicText(told)
      const body =
        reply.kind === 'rpc'
          ? encodeRpcError(null, reply.rpcCode, text)
          : JSON.stringify({ error: text, code: told.code })
      this.#reply(visit, refusalStatus(told), [JSON_TYPE, NO_STORE, ...refusalHeaders(told)], body)
    })
  }

  #reply(visit: Visit, status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    visit.exchange.reply(status, [...headers, ...visit.cors], body)
    this.#leave(visit)
  }
}
