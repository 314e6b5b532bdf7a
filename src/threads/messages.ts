import type { ReportQuery } from '../audit/reports/report-query.js'
import type { AuditRecord, Effect, Operation, PlanSummary, ResultKeys } from '../core/audit-entry.js'
import type { Decision, ErrorCode, OutcomeCode } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import type { EngineName } from '../core/schema-model.js'
import type { Observation } from '../observe/observation.js'

/** Everything that crosses a thread, as unions with a `kind`. Mailboxes carry arrays of these: one post a turn. */

/** Values that a connector's configuration gives its policy, by name. */
export type ConnectorVars = Readonly<Record<string, string | number | boolean>>

/** How to reach a connector's database: resolved configuration, secrets included. Lives in memory only. */
export interface ConnectorSettings {
  readonly id: string
  readonly engine: EngineName
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    /** At most one of the three. The others are asked for the password of each new connection, where it is opened. */
    readonly password?: string
    /** Absolute. */
    readonly passwordFile?: string
    /** Prints it; `argv` begins with the program, and what it printed is used for `ttlMs`. */
    readonly passwordCommand?: { readonly argv: readonly string[]; readonly ttlMs: number }
    readonly database: string
    readonly tls: 'disable' | 'require' | 'verify' | 'strict'
    readonly tlsCaFile?: string
  }
  readonly schemas: readonly string[]
  /** How many threads always run, and how many may. */
  readonly threadsMin: number
  readonly threadsMax: number
  /** Identity, roles and claims are set transaction-locally for the database's own row-level security and triggers. */
  readonly sessionContext: boolean
  readonly pool: {
    /** `transaction`: behind a pooler that gives a server connection for one transaction at a time. */
    readonly mode: 'session' | 'transaction'
    readonly max: number
    readonly acquireTimeoutMs: number
    readonly idleTimeoutMs: number
    readonly lifetimeMaxMs: number
  }
}

/** A handle on an encoded `ConnectorSnapshot`; costs nothing to carry in every message. */
export interface SnapshotHandle {
  readonly epoch: number
  readonly bytes: SharedArrayBuffer
}

export interface CallMessage {
  readonly kind: 'call'
  readonly callId: number
  readonly auditId: string
  readonly snapshot: SnapshotHandle
  readonly identity: Identity
  readonly tool: string
  readonly args: unknown
  /** Monotonic milliseconds of this process when the front sent it. */
  readonly sentAtMs: number
}

/** Front to connector worker. */
export type ToConnector =
  | CallMessage
  | { readonly kind: 'cancel'; readonly callId: number }
  /** Answers `intent`: the entry of the intent is durable, or what the call ends with instead. */
  | { readonly kind: 'proceed'; readonly callId: number; readonly verdict: IntentVerdict }
  | {
      readonly kind: 'prepare'
      readonly requestId: number
      readonly epoch: number
      readonly policy: PolicyToPrepare | undefined
      /** Fingerprint of the snapshot in force: what comes out equal to it is not encoded again. */
      readonly current?: string
    }
  | {
      readonly kind: 'list'
      readonly requestId: number
      readonly snapshot: SnapshotHandle
      readonly identity: Identity
    }
  /** A policy that may be stored, as its author wrote it. */
  | { readonly kind: 'judge'; readonly requestId: number; readonly text: string; readonly vars: ConnectorVars }
  | { readonly kind: 'stop' }

/** A stored policy on its way to the thread that judges it. */
export interface PolicyToPrepare {
  /** JSON. */
  readonly document: string
  /** JSON of `KnownObjects`; absent while this version has not been confirmed against this connector's database. */
  readonly known?: string
  /** What stands for `${vars.…}` in it. */
  readonly vars?: ConnectorVars
}

export interface PrepareReport {
  /** SHA-256 of everything that decides a call, in hex: two snapshots with one fingerprint decide alike. */
  readonly fingerprint: string
  readonly serverVersion: string
  readonly tables: number
  /** Names of identities that the policy gives overrides: their tool lists are cached apart. */
  readonly overrides: readonly string[]
  /** JSON of `KnownObjects`, when this preparation confirmed the policy: to be stored before the snapshot is served. */
  readonly confirmed?: string
  readonly drift: readonly string[]
  readonly warnings: readonly string[]
}

/** A writing call that is about to reach the database: nothing happens before the front has answered `proceed`. */
export interface IntentMessage {
  readonly kind: 'intent'
  readonly callId: number
  readonly operation: Operation
  readonly target: string
  readonly plan?: PlanSummary
  /** The row that may be changed, where the call names it: an effect that stays unknown may be one on it. */
  readonly resultKeys?: readonly ResultKeys[]
  /** At-most-once, when the caller asked for it. `planHash`: 64 hex digits over tool and plan. */
  readonly idempotency?: { readonly key: string; readonly planHash: string }
}

export type IntentVerdict =
  | { readonly kind: 'go' }
  /** The call ended before: its outcome is given again, and nothing runs. Row data is never kept. */
  | { readonly kind: 'replay'; readonly affected: number; readonly keys: readonly Readonly<Record<string, string>>[] }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly reason?: string }

export interface OutcomeMessage {
  readonly kind: 'outcome'
  readonly callId: number
  readonly decision: Decision
  readonly code: OutcomeCode
  readonly reason?: string
  readonly effect: Effect
  readonly operation: Operation
  readonly target?: string
  readonly plan?: PlanSummary
  readonly rows?: number
  readonly affected?: number
  readonly resultKeys?: readonly ResultKeys[]
  /** Keys of the rows a mutation touched, by agent name: for idempotent replays alone. */
  readonly keys?: readonly Readonly<Record<string, string>>[]
  readonly queueMs: number
  readonly dbMs: number
  /** The members of the MCP result without the outer braces (`"content":[…],…`), UTF-8; for rpc-kind codes the public text. */
  readonly body: Uint8Array
}

/** What a policy that is not stored would be here. */
export type JudgedMessage =
  | {
      readonly kind: 'judged'
      readonly requestId: number
      readonly ok: true
      readonly findings: readonly {
        readonly severity: 'error' | 'warning'
        readonly line: number
        readonly text: string
      }[]
      /** JSON of `KnownObjects`. */
      readonly known: string
    }
  | { readonly kind: 'judged'; readonly requestId: number; readonly ok: false; readonly reason: string }

/** Database connections of one thread. */
export interface Connections {
  readonly idle: number
  readonly busy: number
}

/** Connector worker to front. */
export type FromConnector =
  | IntentMessage
  /** The thread is up and reads its mailbox. */
  | { readonly kind: 'serving'; readonly threadId: number }
  | OutcomeMessage
  | {
      readonly kind: 'prepared'
      readonly requestId: number
      readonly ok: true
      /** Absent when its fingerprint is the one that was said to be current. */
      readonly snapshot?: SnapshotHandle
      readonly report: PrepareReport
    }
  | {
      readonly kind: 'prepared'
      readonly requestId: number
      readonly ok: false
      readonly code: ErrorCode
      readonly reason: string
    }
  | {
      readonly kind: 'listed'
      readonly requestId: number
      /** `"tools":[…]`, UTF-8, without braces. */
      readonly body: Uint8Array
      readonly tools: number
    }
  | JudgedMessage
  | { readonly kind: 'observed'; readonly observation: Observation }
  /** Sent when they changed, at most a few times a second. */
  | ({ readonly kind: 'connections' } & Connections)
  | { readonly kind: 'stopped' }

export type ValueKeeping = 'full' | 'hash' | 'none'

/** How the SQLite buffer keeps entries, and for how long. */
export interface BufferSettings {
  readonly path: string
  readonly durability: 'full' | 'normal'
  /** Entries younger than this stay, unless `bytesMax` needs the room and `onFull` is `prune`. */
  readonly retainMs: number
  /** What the entries may take on disk; absent: what the disk has. */
  readonly bytesMax?: number
  /** `prune`: the oldest entries that need not be shipped any more make room. `block`: nothing younger than `retainMs` is deleted. */
  readonly onFull: 'prune' | 'block'
}

export interface AuditFileSettings {
  /** Absolute. Rotated files stand beside it. */
  readonly path: string
  readonly bytesMax: number
  /** Rotated files that are kept; the one being written is not counted. */
  readonly filesMax: number
}

export type ShipFormat = 'json' | 'ndjson' | 'splunk_hec' | 'elastic_bulk'

export interface ShipperSettings {
  readonly url: string
  /** A value, or the absolute path of a file that is read again for each connection and after a refusal. */
  readonly headers: readonly (
    | { readonly name: string; readonly value: string }
    | { readonly name: string; readonly file: string }
  )[]
  readonly format: ShipFormat
  readonly gzip: boolean
  /** Entries in one batch at most. */
  readonly batchMax: number
  /** How long fewer than `batchMax` entries may wait. */
  readonly intervalMs: number
  readonly timeoutMs: number
}

export interface AuditSettings {
  readonly stdout: boolean
  readonly buffer?: BufferSettings
  readonly file?: AuditFileSettings
  /** Present with a buffer alone. */
  readonly shipper?: ShipperSettings
  /** `degrade`: calls that read are served while entries cannot be kept, and the trail says so afterwards. */
  readonly onFailure: 'block' | 'degrade'
  readonly values: {
    readonly filters: ValueKeeping
    readonly writes: ValueKeeping
    readonly resultKeys: ValueKeeping
  }
  /** Where the chain key lives; made (0600) when it does not exist. Without a buffer the key may be absent: one a process. */
  readonly chainKeyFile?: string
}

/** How the trail stands, for metrics and health. Sent when it changed, at most once a second. */
export interface AuditStatus {
  /** Entries in the buffer; 0 without one. */
  readonly bufferEntries: number
  /** Of `bytesMax`, or of what the disk could take, whichever is nearer to full: 0 to 1. 0 without a buffer. */
  readonly fillRatio: number
  /** The disk has little left: calls that write are refused, or soon will be. */
  readonly spaceLow: boolean
  /** Refusals of strangers hold as much of the buffer as they may: they are to be folded from the first on. */
  readonly strangersFull: boolean
  /** Age of the oldest entry that a shipper still has to deliver; 0 when there is none. */
  readonly oldestUnshippedMs: number
  /** Deliveries that failed since the audit thread started. */
  readonly shipFailures: number
  /** Sinks that write nothing at the moment, such as `stdout`, `file` or `shipper`. */
  readonly failingSinks: readonly string[]
}

/** Front to audit worker. Batches are numbered from 1 without gaps. */
export type ToAudit =
  | {
      readonly kind: 'append'
      readonly batch: number
      readonly records: readonly AuditRecord[]
      readonly intents: readonly AuditRecord[]
    }
  /** Files that may have been moved away are to be opened by their path again. */
  | { readonly kind: 'reopen' }
  | { readonly kind: 'stop' }

/** Audit worker to front. `acked` is a high-water mark: every batch up to it is durable. */
export type FromAudit =
  | { readonly kind: 'started'; readonly instance: string; readonly nextSeq: number }
  | { readonly kind: 'start_failed'; readonly reason: string }
  | { readonly kind: 'acked'; readonly batch: number }
  | { readonly kind: 'refused'; readonly batch: number; readonly reason: string }
  | { readonly kind: 'observed'; readonly observation: Observation }
  | { readonly kind: 'status'; readonly status: AuditStatus }
  | { readonly kind: 'stopped' }

/** Which buffer the reports are of. */
export interface ReportsSettings {
  /** Absolute. */
  readonly buffer: string
  readonly chainKeyFile: string
}

/** Front to reports worker. */
export type ToReports =
  | { readonly kind: 'ask'; readonly requestId: number; readonly query: ReportQuery }
  | { readonly kind: 'stop' }

export interface MadeReportMessage {
  readonly kind: 'made'
  readonly requestId: number
  readonly contentType: string
  /** What a table has no place for, by name. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** UTF-8. */
  readonly body: Uint8Array
}

/** Reports worker to front. */
export type FromReports =
  | { readonly kind: 'started' }
  | MadeReportMessage
  /** `reason`: one sentence for the operator. */
  | { readonly kind: 'not_made'; readonly requestId: number; readonly reason: string }
  | { readonly kind: 'observed'; readonly observation: Observation }
