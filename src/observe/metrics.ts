import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AuditRecord } from '../core/audit-entry.js'
import type { AuditStatus } from '../threads/messages.js'
import type { Observation } from './observation.js'

/** From a cached point read to a query at its deadline, in seconds. */
const CALL_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const COMMIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]

export interface BuildFacts {
  readonly version: string
  readonly node: string
  readonly http: 'uws' | 'node'
}

/** What a connector's supervisor can say of itself when it is asked. */
export interface ConnectorGauges {
  readonly connector: string
  readonly inFlight: number
  readonly epoch: number | undefined
  readonly drift: number
  readonly threads: { readonly starting: number; readonly serving: number }
  /** As the threads last told. */
  readonly connections: { readonly idle: number; readonly busy: number }
}

/** What the audit trail can say of itself. */
export interface AuditGauges {
  readonly available: boolean
  readonly degraded: boolean
  readonly status: Pick<AuditStatus, 'bufferEntries' | 'fillRatio' | 'oldestUnshippedMs' | 'shipFailures'>
}

/** One call's meters, found once for each connector, operation and code, because label look-ups cost more than counting. */
interface CallMeters {
  readonly calls: { inc(): void }
  readonly duration: { observe(seconds: number): void }
  readonly queue: { observe(seconds: number): void }
  readonly db: { observe(seconds: number): void }
}

const REASONS = ['AUTH_MISSING', 'AUTH_INVALID', 'AUTH_UNAVAILABLE', 'RATE_LIMITED'] as const

/**
 * What Prometheus scrapes. Label sets are closed: connector ids, operations, decisions and public codes. No identity, no
 * tool name, no text of an error ever becomes a label.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #meters = new Map<string, CallMeters>()
  readonly #calls = this.#counter('runku_calls_total', 'Calls by how they ended.', [
    'connector',
    'operation',
    'decision',
    'code',
  ])
  readonly #duration = this.#histogram('runku_call_duration_seconds', 'Whole time of a call.', [
    'connector',
    'operation',
  ])
  readonly #queue = this.#histogram('runku_queue_seconds', 'Time a call waited, for the thread and for a connection.', [
    'connector',
  ])
  readonly #db = this.#histogram('runku_db_seconds', 'Time a call spent in the database.', ['connector'])
  readonly #entries = this.#counter('runku_audit_entries_total', 'Entries handed to the audit trail.', ['decision'])
  readonly #commit = this.#histogram(
    'runku_audit_commit_seconds',
    'Time until an entry was durable.',
    [],
    COMMIT_BUCKETS,
  )
  readonly #authFailures = this.#counter('runku_auth_failures_total', 'Requests refused by authentication.', ['reason'])
  readonly #rateLimited = this.#counter('runku_rate_limited_total', 'Requests refused for their rate.', [])
  readonly #restarts = this.#counter('runku_worker_restarts_total', 'Connector threads that ended unasked.', [
    'connector',
  ])
  readonly #reloads = this.#counter('runku_reloads_total', 'Snapshots prepared, by outcome.', ['connector', 'outcome'])

  readonly #shipFailures = this.#counter(
    'runku_audit_ship_failures_total',
    'Deliveries of audit entries that failed.',
    [],
  )
  /** As the audit thread last counted them; it begins anew when it does. */
  #shipFailuresSeen = 0

  constructor(connectors: () => readonly ConnectorGauges[], audit: AuditGauges) {
    const setAudit = this.#auditGauges(audit)
    const inFlight = this.#gauge('runku_in_flight', 'Calls in flight.', ['connector'])
    const epoch = this.#gauge('runku_snapshot_epoch', 'Number of the snapshot in force; 0 without one.', ['connector'])
    const drift = this.#gauge('runku_drift_objects', 'Objects withheld because policy and catalog differ.', [
      'connector',
    ])
    const threads = this.#gauge('runku_threads', 'Connector threads.', ['connector', 'state'])
    const connections = this.#gauge('runku_pool_connections', 'Database connections.', ['connector', 'state'])
    this.#onScrape = () => {
      setAudit()
      // A connector that was removed must not go on being shown as it was last.
      for (const gauge of [inFlight, epoch, drift, threads, connections]) gauge.reset()
      for (const each of connectors()) {
        const { connector } = each
        inFlight.set({ connector }, each.inFlight)
        epoch.set({ connector }, each.epoch ?? 0)
        drift.set({ connector }, each.drift)
        threads.set({ connector, state: 'starting' }, each.threads.starting)
        threads.set({ connector, state: 'serving' }, each.threads.serving)
        connections.set({ connector, state: 'idle' }, each.connections.idle)
        connections.set({ connector, state: 'busy' }, each.connections.busy)
      }
    }
  }

  readonly #onScrape: () => void

  #auditGauges(audit: AuditGauges): () => void {
    const available = this.#gauge('runku_audit_available', '1 while the audit trail takes entries.', [])
    const degraded = this.#gauge('runku_audit_degraded', '1 while calls are served without entries being kept.', [])
    const entries = this.#gauge('runku_audit_buffer_entries', 'Entries in the audit buffer.', [])
    const fill = this.#gauge('runku_audit_buffer_fill_ratio', 'Of what the audit buffer may take: 0 to 1.', [])
    const unshipped = this.#gauge(
      'runku_audit_oldest_unshipped_seconds',
      'Age of the oldest entry that is not delivered yet; 0 without one.',
      [],
    )
    return () => {
      const { bufferEntries, fillRatio, oldestUnshippedMs, shipFailures } = audit.status
      available.set(audit.available ? 1 : 0)
      degraded.set(audit.degraded ? 1 : 0)
      entries.set(bufferEntries)
      fill.set(fillRatio)
      unshipped.set(oldestUnshippedMs / 1_000)
      const seen = shipFailures < this.#shipFailuresSeen ? 0 : this.#shipFailuresSeen
      this.#shipFailures.inc(shipFailures - seen)
      this.#shipFailuresSeen = shipFailures
    }
  }

  /** Said once, when the listeners are open. */
  describe(build: BuildFacts): void {
    this.#gauge('runku_build_info', 'Always 1; the labels say what runs.', ['version', 'node', 'http']).set(
      { version: build.version, node: build.node, http: build.http },
      1,
    )
    const fallback = build.http === 'node' ? 1 : 0
    this.#gauge('runku_http_fallback', '1 when node:http took over from the native server.', []).set(fallback)
  }

  /** Counts a call or refusal as its entry tells it, once the entry's fate is known. `commitMs`: the wait for the trail. */
  count(record: AuditRecord, commitMs: number): void {
    const { code, duration_ms: duration } = record
    if (record.operation === 'request') this.#countRefusal(code, record.count ?? 1)
    const meters = this.#metersOf(record)
    meters.calls.inc()
    meters.duration.observe(duration.total / 1_000)
    if (duration.queue !== undefined) meters.queue.observe(duration.queue / 1_000)
    if (duration.db !== undefined) meters.db.observe(duration.db / 1_000)
    this.#entries.inc({ decision: record.decision })
    this.#commit.observe(commitMs / 1_000)
  }

  /** Counts an entry that is of no call and no request. */
  countEntry({ decision }: AuditRecord): void {
    this.#entries.inc({ decision })
  }

  /** Counts what the gateway observes of itself. */
  observe(observation: Observation): void {
    switch (observation.kind) {
      case 'connector.worker_exited':
        this.#restarts.inc({ connector: observation.connector })
        return
      case 'connector.ready':
        this.#reloads.inc({ connector: observation.connector, outcome: 'swapped' })
        return
      case 'connector.unchanged':
        this.#reloads.inc({ connector: observation.connector, outcome: 'unchanged' })
        return
      case 'connector.unavailable':
        this.#reloads.inc({ connector: observation.connector, outcome: 'failed' })
        return
      default:
    }
  }

  /** The exposition text and its content type. */
  async scrape(): Promise<{ readonly contentType: string; readonly text: string }> {
    this.#onScrape()
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  #countRefusal(code: string, count: number): void {
    const reason = REASONS.find((known) => known === code)
    if (reason !== undefined) this.#authFailures.inc({ reason }, count)
    if (code === 'RATE_LIMITED') this.#rateLimited.inc(count)
  }

  #metersOf(record: AuditRecord): CallMeters {
    const { connector = '', operation, decision, code } = record
    const key = `${connector} ${operation} ${code}`
    const known = this.#meters.get(key)
    if (known !== undefined) return known
    const meters: CallMeters = {
      calls: this.#calls.labels({ connector, operation, decision, code }),
      duration: this.#duration.labels({ connector, operation }),
      queue: this.#queue.labels({ connector }),
      db: this.#db.labels({ connector }),
    }
    this.#meters.set(key, meters)
    return meters
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[] = CALL_BUCKETS,
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [this.#registry] })
  }
}
