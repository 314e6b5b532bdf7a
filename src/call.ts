import type { AuditRecord, Operation } from './core/audit-entry.js'
import { ERRORS, type ErrorCode, type GatewayError, publicText } from './core/errors.js'
import type { Identity } from './core/identity.js'
import { OWED_MAX } from './core/limits.js'
import { encodeError } from './core/tool-result.js'
import type { CallEnd, IdempotencyKeys, StartedCall } from './idempotency.js'
import { type FoldedRefusals, RefusalFolder } from './refusals.js'
import type { CallListener, Connector } from './threads/connector.js'
import type { IntentMessage, IntentVerdict, OutcomeMessage } from './threads/messages.js'

/** The part of the audit mailbox that the path needs. */
export interface AuditTrail {
  readonly available: boolean
  /** Whether writing calls can be announced at all. */
  readonly keepsIntents: boolean
  intend(record: AuditRecord, onDurable: (durable: boolean) => void): void
  append(record: AuditRecord, onDurable: (durable: boolean) => void): void
}

export interface PathSurroundings {
  readonly audit: AuditTrail
  readonly idempotency: Pick<IdempotencyKeys, 'begin'>
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

/** What the path remembers of a call while the connector has it. */
interface CallInProgress {
  readonly id: string
  readonly call: ToolCall
  /** Whether an intent may be on disk. */
  intended: boolean
  /** Present when the call holds an idempotency key. */
  started?: StartedCall
}

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

/** What a caller is told whose outcome is not on disk. Without its entry nothing can be said to have happened, or not. */
function withoutEntry({ effect }: AuditRecord): CallReply {
  return toolError(effect === 'none' ? 'AUDIT_UNAVAILABLE' : 'DB_EFFECT_UNKNOWN')
}

/** A change that was already there is an end like any other: a retry must not undo what others wrote since. */
function endOf({ effect, code, affected = 0, keys = [] }: OutcomeMessage): CallEnd {
  if (effect === 'committed' || (effect === 'none' && code === 'OK')) return { kind: 'done', affected, keys }
  return { kind: effect }
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
  /** Outcomes of announced calls that are not on disk. */
  readonly #owed: AuditRecord[] = []
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
    const { identity, tool, args } = call
    const progress: CallInProgress = { id: newId(), call, intended: false }
    const listener: CallListener = {
      announced: (intent, epoch, answer) => this.#announce(progress, intent, epoch, answer),
      ended: (outcome, epoch) => this.#end(progress, outcome, epoch, reply),
    }
    const callId = connector.call({ auditId: progress.id, identity, tool, args }, listener)
    return { cancel: () => connector.cancel(callId) }
  }

  /** A writing call waits for this: its key is claimed first, then its intent is on disk, then it may reach the database. */
  #announce(
    progress: CallInProgress,
    intent: IntentMessage,
    epoch: number,
    answer: (verdict: IntentVerdict) => void,
  ): void {
    const { audit, idempotency } = this.#surroundings
    const { call, id } = progress
    if (!audit.keepsIntents) {
      return answer({ kind: 'refused', code: 'AUDIT_UNAVAILABLE', reason: 'writing calls need audit.buffer' })
    }
    if (intent.idempotency !== undefined) {
      const { key, planHash } = intent.idempotency
      const { facts, identity, tool } = call
      const begun = idempotency.begin({ identity: identity.id, connector: facts.connector, tool, key }, planHash)
      if (begun.kind !== 'started') return answer(begun)
      progress.started = begun
    }
    progress.intended = true
    audit.intend(this.#intentOf(id, call, intent, epoch), (durable) => {
      answer(durable ? { kind: 'go' } : { kind: 'refused', code: 'AUDIT_UNAVAILABLE' })
    })
  }

  #end(
    { id, call, intended, started }: CallInProgress,
    outcome: OutcomeMessage,
    epoch: number | undefined,
    reply: (reply: CallReply) => void,
  ): void {
    started?.end(endOf(outcome))
    const record = this.#recordOf(id, call, outcome, epoch)
    this.#finish(record, (durable) => {
      if (!durable && intended) this.#owe(record)
      reply(durable ? replyTo(outcome) : withoutEntry(record))
    })
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

  /** Gives the trail the outcomes that it could not take when they came: their intents wait for them. */
  settleOwed(): void {
    const { audit } = this.#surroundings
    if (!audit.available) return
    for (const record of this.#owed.splice(0)) {
      audit.append(record, (durable) => {
        if (!durable) this.#owe(record)
      })
    }
  }

  /** Beyond the bound the intent stays, and becomes an entry without an outcome at the next start. */
  #owe(record: AuditRecord): void {
    if (this.#owed.length < OWED_MAX) this.#owed.push(record)
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
    const record = this.#beginCall(id, call, outcome.operation)
    if (epoch !== undefined) record.epoch = epoch
    if (outcome.target !== undefined) record.target = outcome.target
    if (outcome.plan !== undefined) record.plan = outcome.plan
    record.decision = outcome.decision
    record.code = outcome.code
    if (outcome.reason !== undefined) record.reason = outcome.reason
    record.effect = outcome.effect
    if (outcome.rows !== undefined) record.rows = outcome.rows
    if (outcome.affected !== undefined) record.affected = outcome.affected
    const total = round(this.#surroundings.nowMs() - facts.startedAtMs)
    record.duration_ms = { total, queue: round(outcome.queueMs), db: round(outcome.dbMs) }
    return record
  }

  /** The entry of the call if its outcome never comes: it is what the intent becomes then. */
  #intentOf(id: string, call: ToolCall, intent: IntentMessage, epoch: number): AuditRecord {
    const record = this.#beginCall(id, call, intent.operation)
    record.epoch = epoch
    record.target = intent.target
    if (intent.plan !== undefined) record.plan = intent.plan
    record.code = 'DB_EFFECT_UNKNOWN'
    record.reason = 'the process ended before the outcome was known'
    record.effect = 'unknown'
    record.duration_ms = { total: round(this.#surroundings.nowMs() - call.facts.startedAtMs) }
    return record
  }

  #beginCall(id: string, call: ToolCall, operation: Operation): RecordDraft {
    const record = this.#begin(id, call.facts, operation)
    record.request_id = String(call.requestId)
    nameCaller(record, call.identity)
    record.tool = call.tool
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
