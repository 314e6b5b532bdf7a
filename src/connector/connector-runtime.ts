import type { MessagePort } from 'node:worker_threads'
import { unreachable } from '../core/assert.js'
import { ERRORS, type ErrorCode } from '../core/errors.js'
import { knownObjects, parseKnownObjects } from '../core/known-objects.js'
import { cleanText } from '../core/names.js'
import { ok } from '../core/result.js'
import { encodeError } from '../core/tool-result.js'
import { createEngine, type Engine } from '../engines/create-engine.js'
import { Cancellation, type Driver } from '../engines/engine.js'
import type { Observe } from '../observe/observation.js'
import { EMPTY_POLICY } from '../policy/empty-policy.js'
import { meetCatalog } from '../policy/meet-catalog.js'
import { compilePolicy, type PolicyEngine } from '../policy/policy-engine.js'
import { policyFaultText } from '../policy/policy-tree.js'
import { schemasOf, withQualifiedNames } from '../policy/qualified-names.js'
import { Mailbox } from '../threads/mailbox.js'
import type {
  CallMessage,
  Connections,
  ConnectorSettings,
  FromConnector,
  IntentMessage,
  IntentVerdict,
  OutcomeMessage,
  SnapshotHandle,
  ToConnector,
} from '../threads/messages.js'
import { encodeTools } from '../tools/generate-tools.js'
import { executeCall } from './execute-call.js'
import { loginWarnings } from './login-warnings.js'
import { type ConnectorSnapshot, decodeSnapshot, encodeSnapshot, fingerprint } from './snapshot.js'

/** How many epochs a thread keeps decoded: the current one, the one whose calls may still be in flight, and one that is being prepared. */
const EPOCHS_KEPT = 3

/** How fresh the numbers of connections are that a scrape shows. */
const GAUGE_INTERVAL_MS = 250

const REASON_CHARS_MAX = 2_000

const NO_POLICY = 'no policy of this name has been applied, so nothing is exposed; see "runku policy apply"'

export interface RuntimeSurroundings {
  readonly threadId: number
  readonly nowMs: () => number
  readonly randomBytes: (count: number) => Uint8Array
  readonly onStopped: () => void
}

/** A call that this thread has and has not answered. */
interface CallInFlight {
  readonly cancellation: Cancellation
  /** Set when the call was announced. */
  intent?: IntentMessage
  /** What waits for the answer to the announcement. */
  onVerdict?: (verdict: IntentVerdict) => void
  /** Whether it was told to go: from then on it may take effect. */
  released?: true
}

/** Checked again as it was when it was stored. A thread that only serves calls gets documents that were, and does not load what checks them. */
async function storedPolicy(text: string) {
  const { policyFromJson } = await import('../policy/policy-json.js')
  return policyFromJson(text)
}

/** One thread of a connector: its driver pool, the decoded snapshots, and the calls in flight. */
export class ConnectorRuntime {
  readonly #settings: ConnectorSettings
  readonly #mailbox: Mailbox<FromConnector, ToConnector>
  /** Loads while the first messages come. The front waits so long for word that the thread serves, and no longer. */
  readonly #engine: Promise<Engine>
  readonly #nowMs: () => number
  readonly #epochs = new Map<number, PolicyEngine>()
  readonly #inFlight = new Map<number, CallInFlight>()
  readonly #onStopped: () => void
  #mode: 'serving' | 'stopping' = 'serving'
  #gaugeTimer: NodeJS.Timeout | undefined
  #told: Connections = { idle: 0, busy: 0 }

  constructor(port: MessagePort, settings: ConnectorSettings, surroundings: RuntimeSurroundings) {
    const { nowMs, randomBytes } = surroundings
    this.#settings = settings
    this.#nowMs = nowMs
    this.#onStopped = surroundings.onStopped
    const observe: Observe = (observation) => this.#mailbox.send({ kind: 'observed', observation })
    this.#mailbox = new Mailbox(
      port,
      (message) => this.#receive(message),
      () => this.#abandoned(),
    )
    this.#engine = createEngine(settings, { observe, nowMs, randomBytes })
    void this.#engine.then(({ driver }) => this.#serve(driver, surroundings.threadId))
  }

  #serve(driver: Driver, threadId: number): void {
    this.#mailbox.send({ kind: 'serving', threadId })
    this.#gaugeTimer = setInterval(() => this.#tellConnections(driver), GAUGE_INTERVAL_MS).unref()
  }

  #receive(message: ToConnector): void {
    switch (message.kind) {
      case 'call':
        void this.#call(message)
        return
      case 'cancel':
        this.#inFlight.get(message.callId)?.cancellation.request('CANCELLED')
        return
      case 'proceed':
        this.#inFlight.get(message.callId)?.onVerdict?.(message.verdict)
        return
      case 'prepare':
        void this.#prepare(message)
        return
      case 'list':
        this.#list(message)
        return
      case 'judge':
        void this.#judge(message)
        return
      case 'stop':
        this.#stop()
        return
      default:
        unreachable(message)
    }
  }

  /** Runs one call to its outcome. Whatever is thrown is a bug; the caller learns INTERNAL and the operator the rest. */
  async #call(message: CallMessage): Promise<void> {
    const flight: CallInFlight = { cancellation: new Cancellation() }
    this.#inFlight.set(message.callId, flight)
    let outcome: OutcomeMessage
    try {
      const { dialect, driver } = await this.#engine
      const surroundings = {
        policy: this.#policyOf(message.snapshot),
        dialect,
        driver,
        acquireTimeoutMs: this.#settings.pool.acquireTimeoutMs,
        sessionContext: this.#settings.sessionContext,
        nowMs: this.#nowMs,
        announce: (intent: IntentMessage) => this.#announce(flight, intent),
        observe: (code: ErrorCode, detail: string) => this.#observeFailure(message.auditId, code, detail),
      }
      outcome = await executeCall(message, surroundings, flight.cancellation)
    } catch (thrown) {
      outcome = this.#failed(message, flight, thrown)
    }
    this.#inFlight.delete(message.callId)
    this.#mailbox.send(outcome)
    if (this.#mode === 'stopping' && this.#inFlight.size === 0) void this.#finish()
  }

  /** Asks the front whether the call may go; settles with its answer, or when there is nobody left to give one. */
  #announce(flight: CallInFlight, intent: IntentMessage): Promise<IntentVerdict> {
    flight.intent = intent
    return new Promise((resolve) => {
      flight.onVerdict = (verdict) => {
        if (verdict.kind === 'go') flight.released = true
        resolve(verdict)
      }
      this.#mailbox.send(intent)
    })
  }

  /** The front is gone: what waits for its word does not run. */
  #abandoned(): void {
    for (const { onVerdict, released } of this.#inFlight.values()) {
      if (released === undefined) onVerdict?.({ kind: 'refused', code: 'CONNECTOR_UNAVAILABLE' })
    }
    this.#stop()
  }

  #failed(message: CallMessage, { intent, released }: CallInFlight, thrown: unknown): OutcomeMessage {
    const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    this.#observeFailure(message.auditId, 'INTERNAL', cleanText(detail, 2_000))
    const code: ErrorCode = released ? 'DB_EFFECT_UNKNOWN' : 'INTERNAL'
    return {
      kind: 'outcome',
      callId: message.callId,
      decision: ERRORS[code].decision,
      code,
      ...(released ? { reason: 'INTERNAL' } : {}),
      effect: released ? 'unknown' : 'none',
      operation: intent?.operation ?? 'unknown',
      ...(intent === undefined ? {} : { target: intent.target }),
      ...(intent?.plan === undefined ? {} : { plan: intent.plan }),
      queueMs: 0,
      dbMs: 0,
      body: encodeError({ code }),
    }
  }

  /** The operator finds it by the id of the call's entry. */
  #observeFailure(auditId: string, code: ErrorCode, detail: string): void {
    const observation = { kind: 'call.failed', connector: this.#settings.id, auditId, code, detail } as const
    this.#mailbox.send({ kind: 'observed', observation })
  }

  #list(message: Extract<ToConnector, { kind: 'list' }>): void {
    const rights = this.#policyOf(message.snapshot).rights(message.identity)
    const { body, tools } = encodeTools(rights)
    this.#mailbox.send({ kind: 'listed', requestId: message.requestId, body, tools })
  }

  #policyOf(handle: SnapshotHandle): PolicyEngine {
    const known = this.#epochs.get(handle.epoch)
    if (known !== undefined) return known
    const { engine } = this.#compile(decodeSnapshot(handle))
    this.#keep(handle.epoch, engine)
    return engine
  }

  #compile({ schema, policy, vars, known }: ConnectorSnapshot) {
    const { schemas } = this.#settings
    return compilePolicy(policy, schema, { schemas, vars, ...(known === undefined ? {} : { known }) })
  }

  #keep(epoch: number, engine: PolicyEngine): void {
    this.#epochs.set(epoch, engine)
    const oldest = [...this.#epochs.keys()].sort((a, b) => a - b)
    for (const stale of oldest.slice(0, -EPOCHS_KEPT)) this.#epochs.delete(stale)
  }

  /** Introspects, judges the policy against what was found, and answers with a whole new snapshot or a reason. */
  async #prepare({ requestId, epoch, policy, current }: Extract<ToConnector, { kind: 'prepare' }>): Promise<void> {
    try {
      const document = policy === undefined ? ok(EMPTY_POLICY) : await storedPolicy(policy.document)
      if (!document.ok) {
        const reason = `the stored policy is unusable: ${document.error.map(policyFaultText).join('; ')}`
        this.#mailbox.send({ kind: 'prepared', requestId, ok: false, code: 'CONNECTOR_UNAVAILABLE', reason })
        return
      }
      const { driver } = await this.#engine
      const schema = await driver.introspect(this.#settings.schemas)
      if (!schema.ok) {
        const { code, reason = code, detail = reason } = schema.error
        this.#mailbox.send({ kind: 'prepared', requestId, ok: false, code, reason: detail })
        return
      }
      const known = policy?.known === undefined ? undefined : parseKnownObjects(policy.known)
      const confirming = known === undefined && policy !== undefined
      const vars = policy?.vars ?? {}
      const named = withQualifiedNames(document.value, schemasOf(this.#settings.schemas, schema.value))
      const confirmed = confirming ? knownObjects(schema.value, Object.keys(named.tables)) : undefined
      const snapshot = { schema: schema.value, policy: document.value, vars, ...(known === undefined ? {} : { known }) }
      const { engine, findings } = this.#compile(snapshot)
      const report = {
        fingerprint: fingerprint(snapshot, known ?? confirmed),
        serverVersion: schema.value.serverVersion,
        tables: schema.value.tables.length,
        overrides: engine.overriddenIdentities,
        ...(confirmed === undefined ? {} : { confirmed: JSON.stringify(confirmed) }),
        drift: policy === undefined ? [NO_POLICY] : findings.map((finding) => finding.text),
        warnings: loginWarnings(schema.value.login, this.#settings.threadsMax * this.#settings.pool.max, named),
      }
      const answer = { kind: 'prepared', requestId, ok: true, report } as const
      if (report.fingerprint === current) return this.#mailbox.send(answer)
      this.#keep(epoch, engine)
      this.#mailbox.send({ ...answer, snapshot: encodeSnapshot(snapshot, epoch) })
    } catch (thrown) {
      const reason = cleanText(
        thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
        REASON_CHARS_MAX,
      )
      this.#mailbox.send({ kind: 'prepared', requestId, ok: false, code: 'INTERNAL', reason })
    }
  }

  /** Says what a policy would be here, and changes nothing. */
  async #judge({ requestId, text, vars }: Extract<ToConnector, { kind: 'judge' }>): Promise<void> {
    const refused = (reason: string) => this.#mailbox.send({ kind: 'judged', requestId, ok: false, reason })
    try {
      const { parsePolicyText } = await import('../policy/policy-document.js')
      const parsed = parsePolicyText(text)
      if (!parsed.ok) return refused(parsed.error.map(policyFaultText).join('; '))
      const { driver } = await this.#engine
      const { schemas } = this.#settings
      const schema = await driver.introspect(schemas)
      if (!schema.ok) {
        const { code, reason = code, detail = reason } = schema.error
        return refused(cleanText(detail, REASON_CHARS_MAX))
      }
      const { document, tree } = parsed.value
      const { findings, known } = meetCatalog(document, tree, schema.value, { schemas, vars })
      this.#mailbox.send({
        kind: 'judged',
        requestId,
        ok: true,
        findings: findings.map(({ severity, line, text: said }) => ({ severity, line, text: said })),
        known: JSON.stringify(known),
      })
    } catch (thrown) {
      refused(cleanText(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown), REASON_CHARS_MAX))
    }
  }

  #stop(): void {
    if (this.#mode === 'stopping') return
    this.#mode = 'stopping'
    if (this.#inFlight.size === 0) void this.#finish()
  }

  #tellConnections(driver: Driver): void {
    const { idle, busy } = driver.connections
    if (idle === this.#told.idle && busy === this.#told.busy) return
    this.#told = { idle, busy }
    this.#mailbox.send({ kind: 'connections', idle, busy })
  }

  async #finish(): Promise<void> {
    const { driver } = await this.#engine
    clearInterval(this.#gaugeTimer)
    await driver.close()
    this.#mailbox.send({ kind: 'stopped' })
    this.#mailbox.flush()
    this.#onStopped()
  }
}
