import type { AuditRecord } from './core/audit-entry.js'
import { ERRORS, type ErrorCode, type GatewayError, publicText } from './core/errors.js'
import type { Identity } from './core/identity.js'
import { encodeError } from './core/tool-result.js'
import { type FoldedRefusals, RefusalFolder } from './refusals.js'
import type { Connector } from './threads/connector-supervisor.js'
import type { OutcomeMessage } from './threads/messages.js'

/** The part of the audit mailbox that the path needs. */
export interface AuditTrail {
  readonly available: boolean
  append(record: AuditRecord, onDurable: (durable: boolean) => void): void
}

export interface PathSurroundings {
  readonly audit: AuditTrail
  /** Monotonic milliseconds, for durations. */
  readonly nowMs: () => number
  /** Unix milliseconds, for time stamps. */
  readonly wallMs: () => number
  /** A fresh id for an entry, unique over restarts. */
  readonly newId: () => string
  /** Told of every entry once its fate is known, with the milliseconds that took. */
  readonly meter: (record: AuditRecord, commitMs: number) => void
}

/** What is known of a request, for its entries. */
export interface RequestFacts {
  readonly connector: string
  readonly address: string
  readonly client?: string
  readonly traceId?: string
  readonly startedAtMs: number
}

export interface ToolCall {
  readonly facts: RequestFacts
  readonly identity: Identity
  readonly requestId: string | number
  readonly tool: string
  readonly args: unknown
}

/** A tool result's members without braces, or a JSON-RPC error for the few refusals that are one. */
export type CallReply =
  | { readonly kind: 'result'; readonly members: Uint8Array }
  | { readonly kind: 'rpc_error'; readonly rpcCode: number; readonly message: string }

/** A call in flight, for whoever may want to stop it. */
export interface CallTicket {
  cancel(): void
}

function replyTo(outcome: OutcomeMessage): CallReply {
  if (outcome.code !== 'OK') {
    const { reply } = ERRORS[outcome.code]
    if (reply.kind === 'rpc') {
      return { kind: 'rpc_error', rpcCode: reply.rpcCode, message: publicText({ code: outcome.code }) }
    }
  }
  return { kind: 'result', members: outcome.body }
}

function toolError(code: ErrorCode): CallReply {
  return { kind: 'result', members: encodeError({ code }) }
}

/**
 * The front thread's part of the one path. `#finish` is the one place where a call ends: it writes the entry, waits until
 * the entry is durable, and only then lets the reply go.
 */
export class CallPath {
  readonly #surroundings: PathSurroundings
  readonly #folder: RefusalFolder
  #inFlight = 0

  constructor(surroundings: PathSurroundings) {
    this.#surroundings = surroundings
    this.#folder = new RefusalFolder((folded) => this.#foldedEntry(folded))
  }

  /** Calls and refusals whose reply has not left yet. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Runs one tool call; `reply` is called exactly once, after the call's entry is durable. */
  call(call: ToolCall, connector: Connector, reply: (reply: CallReply) => void): CallTicket {
    const { audit, newId } = this.#surroundings
    if (!audit.available) {
      // Without a trail nothing is served, and nothing is done that an entry would have to tell of.
      reply(toolError('AUDIT_UNAVAILABLE'))
      return { cancel: () => {} }
    }
    this.#inFlight += 1
    const id = newId()
    const { identity, tool, args } = call
    const callId = connector.call({ auditId: id, identity, tool, args }, (outcome, epoch) => {
      const record = this.#recordOf(id, call, outcome, epoch)
      this.#finish(record, (durable) => reply(durable ? replyTo(outcome) : toolError('AUDIT_UNAVAILABLE')))
    })
    return { cancel: () => connector.cancel(callId) }
  }

  /**
   * Ends a request that never became a tool call. `done` is called once its entry is durable, or at once when it was
   * folded into a count; with `false` when no entry could be written.
   */
  refuse(
    error: GatewayError,
    facts: RequestFacts,
    who: { readonly identity?: Identity; readonly requestId?: string | number },
    done: (durable: boolean) => void,
  ): void {
    const { audit, nowMs, newId } = this.#surroundings
    const { identity, requestId } = who
    const now = nowMs()
    const key = { address: facts.address, code: error.code, connector: facts.connector }
    if (identity === undefined && !this.#folder.admit(key, now)) return done(true)
    if (!audit.available) return done(false)
    this.#inFlight += 1
    const record: AuditRecord = {
      ...this.#common(newId(), facts, identity, requestId),
      operation: 'request',
      decision: ERRORS[error.code].decision,
      code: error.code,
      ...(error.reason === undefined ? {} : { reason: error.reason }),
      effect: 'none',
      duration_ms: { total: round(now - facts.startedAtMs) },
    }
    this.#finish(record, done)
  }

  /** Writes the folded refusals whose minute is over; all of them when the gateway stops. */
  flushRefusals(all: boolean): void {
    this.#folder.flush(this.#surroundings.nowMs(), all)
  }

  #finish(record: AuditRecord, done: (durable: boolean) => void): void {
    const { audit, nowMs, meter } = this.#surroundings
    const sentAtMs = nowMs()
    audit.append(record, (durable) => {
      this.#inFlight -= 1
      meter(record, nowMs() - sentAtMs)
      done(durable)
    })
  }

  #recordOf(id: string, call: ToolCall, outcome: OutcomeMessage, epoch: number | undefined): AuditRecord {
    const { facts, identity, requestId, tool } = call
    const total = round(this.#surroundings.nowMs() - facts.startedAtMs)
    return {
      ...this.#common(id, facts, identity, requestId),
      ...(epoch === undefined ? {} : { epoch }),
      tool,
      operation: outcome.operation,
      ...(outcome.target === undefined ? {} : { target: outcome.target }),
      ...(outcome.plan === undefined ? {} : { plan: outcome.plan }),
      decision: outcome.decision,
      code: outcome.code,
      ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      effect: outcome.effect,
      ...(outcome.rows === undefined ? {} : { rows: outcome.rows }),
      duration_ms: { total, queue: round(outcome.queueMs), db: round(outcome.dbMs) },
    }
  }

  #common(id: string, facts: RequestFacts, identity: Identity | undefined, requestId: string | number | undefined) {
    return {
      id,
      time: new Date(this.#surroundings.wallMs()).toISOString(),
      connector: facts.connector,
      ...(requestId === undefined ? {} : { request_id: String(requestId) }),
      ...(facts.traceId === undefined ? {} : { trace_id: facts.traceId }),
      ...(identity === undefined ? {} : { identity: identity.name, roles: identity.roles }),
      ...(identity?.keyId === undefined ? {} : { key_id: identity.keyId }),
      ...(facts.client === undefined ? {} : { client: facts.client }),
      address: facts.address,
    }
  }

  #foldedEntry(folded: FoldedRefusals): void {
    const { audit, newId, wallMs } = this.#surroundings
    if (!audit.available) return
    const { address, code, connector, count } = folded
    const record: AuditRecord = {
      id: newId(),
      time: new Date(wallMs()).toISOString(),
      ...(connector === undefined ? {} : { connector }),
      address,
      operation: 'request',
      decision: ERRORS[code].decision,
      code,
      effect: 'none',
      count,
      duration_ms: { total: 0 },
    }
    this.#inFlight += 1
    this.#finish(record, () => {})
  }
}

/** Microseconds are as fine as a duration in an entry gets. */
function round(ms: number): number {
  return Math.round(Math.max(0, ms) * 1_000) / 1_000
}
