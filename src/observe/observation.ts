/**
 * What the gateway has to say about itself, as data. Business code observes; the log (and later the metrics) decide what to
 * do with it. No observation carries a row, a secret or a driver's message meant for a caller.
 */
export type Observation =
  | { readonly kind: 'gateway.listening'; readonly surface: 'mcp' | 'admin'; readonly url: string }
  | { readonly kind: 'gateway.draining'; readonly inFlight: number }
  | { readonly kind: 'gateway.stopped' }
  /** A thread does not end, so that the process ends without it. */
  | { readonly kind: 'gateway.stuck'; readonly detail: string }
  | {
      readonly kind: 'connector.ready'
      readonly connector: string
      readonly epoch: number
      readonly tables: number
      readonly warnings: readonly string[]
    }
  /** Prepared again, and everything that decides a call is as it was: nothing was swapped. */
  | { readonly kind: 'connector.unchanged'; readonly connector: string; readonly epoch: number }
  | {
      readonly kind: 'connector.unavailable'
      readonly connector: string
      readonly reason: string
      readonly retryInMs: number
    }
  | {
      readonly kind: 'connector.worker_exited'
      readonly connector: string
      readonly reason: string
      readonly callsLost: number
    }
  | { readonly kind: 'connector.drift'; readonly connector: string; readonly objects: readonly string[] }
  | {
      readonly kind: 'call.failed'
      readonly connector: string
      readonly auditId: string
      readonly code: string
      readonly detail: string
    }
  | { readonly kind: 'driver.connection_lost'; readonly connector: string; readonly detail: string }
  | { readonly kind: 'auth.store_failed'; readonly detail: string }
  /** There was no admin store at this place, and one was made. */
  | { readonly kind: 'store.created'; readonly place: string }
  | { readonly kind: 'audit.unavailable'; readonly detail: string }
  | { readonly kind: 'audit.available' }
  /** Calls were served while no entries were kept; the trail has an entry that says so. Times in ISO 8601. */
  | {
      readonly kind: 'audit.gap'
      readonly from: string
      readonly to: string
      readonly calls: number
      readonly lost: number
    }
  /** The gateway ends and the trail never took these: they were made since `from` (ISO 8601), while calls were served without it. */
  | { readonly kind: 'audit.lost'; readonly entries: number; readonly from: string }
  /** There was no buffer, but its key: it is new, or somebody moved the one away that was there. */
  | { readonly kind: 'audit.buffer_begun'; readonly path: string; readonly instance: string }
  | { readonly kind: 'audit.stdout_closed'; readonly detail: string }
  /** Somebody without the key had changed what the buffer keeps beside its chain. The trail has a note of each. Said once a start. */
  | { readonly kind: 'audit.tampered'; readonly detail: string }
  /** A sink, such as `stdout`, `file` or `shipper`, gets nothing away for now. What it has not written waits in the buffer. */
  | { readonly kind: 'audit.sink_failing'; readonly sink: string; readonly detail: string }
  | { readonly kind: 'audit.sink_recovered'; readonly sink: string }
  /** The destination took the rest and refused these for good. They are kept, and sent again at each start and every hour. */
  | {
      readonly kind: 'audit.ship_refused'
      readonly entries: number
      readonly firstSeq: number
      readonly detail: string
    }
  /** Entries that had been refused were taken. */
  | { readonly kind: 'audit.ship_accepted'; readonly entries: number; readonly firstSeq: number }
  /** Entries travel so that others can read them, or to whoever claims to be the destination. */
  | { readonly kind: 'audit.ship_unprotected'; readonly url: string; readonly detail: string }
  /** The thread that makes reports ended and is started again. Calls and their entries do not notice. */
  | { readonly kind: 'reports.worker_exited'; readonly reason: string; readonly retryInMs: number }
  /** What reports are made of cannot be read or written. Said once until it can. */
  | { readonly kind: 'reports.unavailable'; readonly detail: string }
  | { readonly kind: 'reports.available' }
  /** The index that was there did not fit, or was not written by this gateway. */
  | { readonly kind: 'reports.index_remade'; readonly detail: string }
  /** An administrative request met a bug. */
  | { readonly kind: 'admin.failed'; readonly detail: string }
  | { readonly kind: 'http.failed'; readonly detail: string }
  | { readonly kind: 'http.fallback'; readonly reason: string }
  | { readonly kind: 'connector.disabled'; readonly connector: string; readonly faults: readonly string[] }
  /** Its new configuration has a fault: the one that it had goes on. */
  | { readonly kind: 'connector.kept'; readonly connector: string; readonly faults: readonly string[] }
  /** Threads with new settings are ready and take its calls. */
  | { readonly kind: 'connector.replaced'; readonly connector: string; readonly epoch: number }
  | { readonly kind: 'connector.removed'; readonly connector: string }
  | { readonly kind: 'reload.started'; readonly cause: string }
  /** Every connector that it was about has been prepared again, well or not. Lists of ids; the rest were as they should be. */
  | {
      readonly kind: 'reload.ended'
      readonly cause: string
      readonly reloaded: readonly string[]
      readonly added: readonly string[]
      readonly removed: readonly string[]
      readonly replaced: readonly string[]
      readonly failed: readonly string[]
      readonly unchanged: number
    }
  /** The configuration or the admin store could not be read: everything goes on as it was. */
  | { readonly kind: 'reload.refused'; readonly cause: string; readonly faults: readonly string[] }
  /** Keys of the configuration that changed and take effect with the next start alone. */
  | { readonly kind: 'reload.needs_restart'; readonly keys: readonly string[] }

export type Observe = (observation: Observation) => void
