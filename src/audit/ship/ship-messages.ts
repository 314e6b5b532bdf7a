import type { MessagePort } from 'node:worker_threads'
import type { Result } from '../../core/result.js'
import type { Observation } from '../../observe/observation.js'
import type { ShipperSettings } from '../../threads/messages.js'

/** What passes between the thread that owns the buffer and the one that ships it, and what the owner writes for it. */

/**
 * The batch under way, kept before it is first sent: whatever ends the process in between, it is sent again with the same
 * bounds, the same head and the same id, so that a receiver can tell that it has it.
 */
export interface ShipBatch {
  /** The first and the last `seq`. */
  readonly from: number
  readonly to: number
  /** The chain as it stands with its last entry: a head line. */
  readonly head: string
  /** How often entries of it were settled one by one. What is left is another request, and has an id of its own. */
  readonly round: number
  /** Numbers in it that are settled already. */
  readonly settled: readonly number[]
}

/** Changes of what the buffer says about shipping: one transaction. What is absent stays as it is. */
export interface ShipChange {
  /** `position.shipper`: every entry up to it is delivered, or refused for good. */
  readonly position?: number
  /** `ship.batch`; undefined drops it. */
  readonly batch?: ShipBatch | undefined
  /** Entries that the destination refused one by one: into `undelivered`. */
  readonly refused?: readonly number[]
  /** Refused ones that it took later: out of `undelivered`. */
  readonly accepted?: readonly number[]
}

/** Where shipping stands in a buffer. */
export interface ShipState {
  readonly position: number
  readonly batch: ShipBatch | undefined
}

/** The buffer's owner, the only one who writes to it, as the shipper needs it. `ShipBook` is one. */
export interface ShipLedger {
  readonly instance: string
  state(): ShipState
  /** All of it is on disk when this gives ok, none of it otherwise; a failure is a sentence. */
  change(change: ShipChange): Result<void, string>
}

/** What the thread that ships is started with. */
export interface ShipWorkerStart {
  readonly port: MessagePort
  readonly settings: ShipperSettings
  readonly bufferPath: string
  readonly instance: string
  readonly state: ShipState
}

/** Owner to shipper. */
export type ToShipper =
  /** There are entries up to `lastSeq`. */
  | { readonly kind: 'appended'; readonly lastSeq: number }
  | { readonly kind: 'kept'; readonly request: number; readonly batch: ShipBatch | undefined }
  | { readonly kind: 'not_kept'; readonly request: number; readonly reason: string }
  /** What is there is to be tried once more, no longer than so; then the shipper ends. */
  | { readonly kind: 'stop'; readonly withinMs: number }

/** The bounds of a new batch, with the hash of its last entry for its head. */
export interface NewBatch {
  readonly from: number
  readonly to: number
  readonly hash: string
}

/** Shipper to owner. */
export type FromShipper =
  /** To be written before anything else happens. The answer has the batch as it is now. */
  | {
      readonly kind: 'keep'
      readonly request: number
      readonly change: Omit<ShipChange, 'batch'>
      readonly batch: NewBatch | ShipBatch | undefined
    }
  | { readonly kind: 'observed'; readonly observation: Observation }
  /** Attempts that failed since the thread started, and why nothing gets through: undefined once something does. */
  | { readonly kind: 'status'; readonly failures: number; readonly failing: string | undefined }
  | { readonly kind: 'stopped' }
