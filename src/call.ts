import type { AuditRecord, Operation } from './core/audit-entry.js'
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
    const record = this.#begin(newId(), facts, 'request')
    if (requestId !== undefined) record.request_id = String(requestId)
    if (identity !== undefined) nameCaller(record, identity)
    record.decision = ERRORS[error.code].decision
    record.code = error.code
    if (error.reason !== undefined) record.reason = error.reason
    record.duration_ms = { total: round(now - facts.startedAtMs) }
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

  /** One object filled in place: this runs for every call, and copies of copies would be a tenth of the front's work. */
  #recordOf(id: string, call: ToolCall, outcome: OutcomeMessage, epoch: number | undefined): AuditRecord {
    const { facts } = call
    const record = this.#begin(id, facts, outcome.operation)
    record.request_id = String(call.requestId)
    nameCaller(record, call.identity)
    record.tool = call.tool
    if (epoch !== undefined) record.epoch = epoch
    if (outcome.target !== undefined) record.target = outcome.target
    if (outcome.plan !== undefined) record.plan = outcome.plan
    record.decision = outcome.decision
    record.code = outcome.code
    if (outcome.reason !== undefined) record.reason = outcome.reason
    record.effect = outcome.effect
    if (outcome.rows !== undefined) record.rows = outcome.rows
    const total = round(this.#surroundings.nowMs() - facts.startedAtMs)
    record.duration_ms = { total, queue: round(outcome.queueMs), db: round(outcome.dbMs) }
    return record
  }

  #begin(id: string, facts: RequestFacts, operation: Operation): RecordDraft {
    const record: RecordDraft = {
      id,
      time: new Date(this.#surroundings.wallMs()).toISOString(),
      connector: facts.connector,
      address: facts.address,
      operation,
      decision: 'errored',
      code: 'INTERNAL',
      effect: 'none',
      duration_ms: NO_TIME,
    }
    if (facts.traceId !== undefined) record.trace_id = facts.traceId
    if (facts.client !== undefined) record.client = facts.client
    return record
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

/** An entry's record while it is being filled in. */
type RecordDraft = { -readonly [K in keyof AuditRecord]: AuditRecord[K] }

const NO_TIME = { total: 0 }

function nameCaller(record: RecordDraft, identity: Identity): void {
  record.identity = identity.name
  record.roles = identity.roles
  if (identity.keyId !== undefined) record.key_id = identity.keyId
}

/** Microseconds are as fine as a duration in an entry gets. */
function round(ms: number): number {
  return Math.round(Math.max(0, ms) * 1_000) / 1_000
}
