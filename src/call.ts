import type { MaybePromise } from './admin/admin-store.js'
import { type AuditRecord, type Operation, OUTCOME_LOST } from './core/audit-entry.js'
import { ERRORS, type ErrorCode, type GatewayError, publicText } from './core/errors.js'
import type { Identity } from './core/identity.js'
import { OWED_MAX } from './core/limits.js'
import { encodeError } from './core/tool-result.js'
import type { CallEnd, IdempotencyKeys, NotStarted, StartedCall } from './idempotency.js'
import { type FoldedRefusals, RefusalFolder, type RefusalKey } from './refusals.js'
import type { CallListener, Connector } from './threads/connector.js'
import type { AuditStatus, IntentMessage, IntentVerdict, OutcomeMessage } from './threads/messages.js'

/** The part of the audit mailbox that the path needs. */
export interface AuditTrail {
  readonly available: boolean
  /** Whether calls that read are served although no entries are taken: theirs wait in memory. */
  readonly degraded: boolean
  /** Whether entries of strangers take as much of the trail as they may. */
  readonly status: Pick<AuditStatus, 'strangersFull'>
  /** Whether writing calls can be announced at all. */
  readonly keepsIntents: boolean
  intend(record: AuditRecord, onDurable: (durable: boolean) => void): void
  append(record: AuditRecord, onDurable: (durable: boolean) => void): void
}

export interface PathSurroundings {
  readonly audit: AuditTrail
  readonly idempotency: {
    begin(...given: Parameters<IdempotencyKeys['begin']>): MaybePromise<StartedCall | NotStarted>
  }
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

/** An administrative request, for its entry. */
export interface AdminRequest {
  readonly address: string
  readonly client?: string
  readonly identity?: Identity
  /** The operation's name; absent where the request came to none. */
  readonly operation?: string
  readonly target?: string
  readonly code: ErrorCode | 'OK'
  readonly reason?: string
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
  ended: boolean
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
    const { newId } = this.#surroundings
    if (!this.#answers) {
      // Without a trail nothing is served, and nothing is done that an entry would have to tell of.
      reply(toolError('AUDIT_UNAVAILABLE'))
      return { cancel: () => {} }
    }
    this.#inFlight += 1
    const { identity, tool, args } = call
    const progress: CallInProgress = { id: newId(), call, intended: false, ended: false }
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
    const intend = () => {
      progress.intended = true
      audit.intend(this.#intentOf(id, call, intent, epoch), (durable) => {
        answer(durable ? { kind: 'go' } : { kind: 'refused', code: 'AUDIT_UNAVAILABLE' })
      })
    }
    if (intent.idempotency === undefined) return intend()
    const claimed = (begun: StartedCall | NotStarted) => {
      if (begun.kind !== 'started') return answer(begun)
      // Nobody waits for an answer of ours any more, and nothing ran: the key is free again, and there is nothing to announce.
      if (progress.ended) return void begun.end({ kind: 'none' })
      progress.started = begun
      intend()
    }
    const { key, planHash } = intent.idempotency
    const { facts, identity, tool } = call
    const begun = idempotency.begin({ identity: identity.id, connector: facts.connector, tool, key }, planHash)
    if (begun instanceof Promise) void begun.then(claimed)
    else claimed(begun)
  }

  #end(
    progress: CallInProgress,
    outcome: OutcomeMessage,
    epoch: number | undefined,
    reply: (reply: CallReply) => void,
  ): void {
    const { id, call, intended, started } = progress
    progress.ended = true
    const kept = started?.end(endOf(outcome))
    const record = this.#recordOf(id, call, outcome, epoch)
    this.#finish(record, (durable) => {
      if (!durable && intended) this.#owe(record)
      const send = () => reply(durable ? replyTo(outcome) : withoutEntry(record))
      // Whoever repeats the call right after the reply is to find how it ended.
      if (kept instanceof Promise) void kept.then(send)
      else send()
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
    const { nowMs, newId } = this.#surroundings
    const { identity, requestId } = who
    const now = nowMs()
    const key = { address: facts.address, code: error.code, connector: facts.connector }
    if (identity === undefined && !this.#admits(key, now)) return done(true)
    if (!this.#answers) return done(false)
    this.#inFlight += 1
    const record = this.#begin(newId(), facts, 'request', facts.connector)
    if (requestId !== undefined) record.request_id = String(requestId)
    if (identity !== undefined) nameCaller(record, identity)
    record.decision = ERRORS[error.code].decision
    record.code = error.code
    if (error.reason !== undefined) record.reason = error.reason
    record.duration_ms = { total: round(now - facts.startedAtMs) }
    this.#finish(record, done)
  }

  /** Ends an administrative request. `done` hears whether its entry is durable; attempts of strangers fold as refusals do. */
  administered(request: AdminRequest, done: (durable: boolean) => void): void {
    const { nowMs, newId } = this.#surroundings
    const { address, client, identity, operation, target, code, reason, startedAtMs } = request
    const now = nowMs()
    if (identity === undefined && code !== 'OK' && !this.#admits({ address, code, connector: undefined }, now))
      return done(true)
    if (!this.#answers) return done(false)
    this.#inFlight += 1
    const record = this.#begin(newId(), { address, startedAtMs, ...(client === undefined ? {} : { client }) }, 'admin')
    if (identity !== undefined) nameCaller(record, identity)
    if (operation !== undefined) record.tool = operation
    if (target !== undefined) record.target = target
    record.decision = code === 'OK' ? 'allowed' : ERRORS[code].decision
    record.code = code
    if (reason !== undefined) record.reason = reason
    record.duration_ms = { total: round(now - startedAtMs) }
    this.#finish(record, done)
  }

  /** Writes the folded refusals whose minute is over; all of them when the gateway stops. */
  flushRefusals(all: boolean): void {
    this.#folder.flush(this.#surroundings.nowMs(), all, this.#crowded)
  }

  /** Whether a refusal of somebody without an identity has an entry of its own. */
  #admits(key: RefusalKey, nowMs: number): boolean {
    return this.#folder.admit(key, nowMs, this.#crowded)
  }

  /** Memory is even less to be filled by strangers than the disk. */
  get #crowded(): boolean {
    const { audit } = this.#surroundings
    return audit.status.strangersFull || audit.degraded
  }

  /** Whether calls and requests are answered at all. */
  get #answers(): boolean {
    const { audit } = this.#surroundings
    return audit.available || audit.degraded
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
    if (outcome.resultKeys !== undefined) record.result_keys = outcome.resultKeys
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
    if (intent.resultKeys !== undefined) record.result_keys = intent.resultKeys
    record.code = 'DB_EFFECT_UNKNOWN'
    record.reason = OUTCOME_LOST
    record.effect = 'unknown'
    record.duration_ms = { total: round(this.#surroundings.nowMs() - call.facts.startedAtMs) }
    return record
  }

  #beginCall(id: string, call: ToolCall, operation: Operation): RecordDraft {
    const record = this.#begin(id, call.facts, operation, call.facts.connector)
    record.request_id = String(call.requestId)
    nameCaller(record, call.identity)
    record.tool = call.tool
    return record
  }

  #begin(id: string, facts: Omit<RequestFacts, 'connector'>, operation: Operation, connector?: string): RecordDraft {
    const record: RecordDraft = {
      id,
      time: new Date(this.#surroundings.wallMs()).toISOString(),
      ...(connector === undefined ? {} : { connector }),
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
    const { newId, wallMs } = this.#surroundings
    if (!this.#answers) return
    const { address, code, connector, count } = folded
    const record: AuditRecord = {
      id: newId(),
      time: new Date(wallMs()).toISOString(),
      ...(connector === undefined ? {} : { connector }),
      ...(address === undefined ? {} : { address }),
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
