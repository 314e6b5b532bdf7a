import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { unreachable } from '../core/assert.js'
import type { AuditRecord } from '../core/audit-entry.js'
import { AUDIT_FLUSH_TIMEOUT_MS, AUDIT_POSITION_INTERVAL_MS, STDOUT_QUEUE_LINES_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { AuditSettings, FromAudit, ToAudit } from '../threads/messages.js'
import { type ChainKeys, chainKeys, type SealedEntry } from './chain.js'
import { loadChainKey } from './chain-key.js'
import { type Ledger, MemoryLedger } from './ledger.js'
import { bufferExists, Outbox } from './outbox.js'
import { StdoutSink, type WriteBytes } from './sinks.js'

/** What the audit thread is started with. */
export interface AuditWorkerStart {
  readonly port: MessagePort
  readonly settings: AuditSettings
  /** Whether an earlier audit thread of this process died: it may have left a cut line on stdout, and intents of calls. */
  readonly respawned: boolean
}

export interface AuditActorDeps {
  readonly nowMs: () => number
  readonly randomBytes: (count: number) => Uint8Array
  readonly openStdout: () => WriteBytes
}

interface Ledgers {
  readonly ledger: Ledger
  readonly outbox: Outbox | undefined
}

type Batch = Extract<ToAudit, { kind: 'append' }>
type Mode = 'running' | 'stopping' | 'stopped'

function openKeys(settings: AuditSettings, deps: AuditActorDeps): Result<ChainKeys, string> {
  const { buffer } = settings
  const path = settings.chainKeyFile ?? (buffer === undefined ? undefined : `${buffer.path}.key`)
  if (path === undefined) return ok(chainKeys(deps.randomBytes(32)))
  const mayCreate = buffer === undefined || !bufferExists(buffer.path)
  const secret = loadChainKey({ path, mayCreate, randomBytes: deps.randomBytes })
  return secret.ok ? ok(chainKeys(secret.value)) : secret
}

function openLedger({ settings, respawned }: AuditWorkerStart, deps: AuditActorDeps): Result<Ledgers, string> {
  const { buffer, values: keeping } = settings
  if (buffer === undefined && !settings.stdout) {
    return fail('nothing keeps audit entries: set audit.stdout to true or give audit.buffer a path')
  }
  const keys = openKeys(settings, deps)
  if (!keys.ok) return keys
  const newInstance = () => Buffer.from(deps.randomBytes(8)).toString('hex')
  if (buffer === undefined) {
    return ok({ ledger: new MemoryLedger({ keys: keys.value, keeping, instance: newInstance() }), outbox: undefined })
  }
  const opened = Outbox.open({
    ...buffer,
    keys: keys.value,
    keeping,
    // After the death of a thread the calls go on in this process, and their outcomes come.
    intentsAreLost: !respawned,
    nowMs: deps.nowMs,
    newInstance,
  })
  return opened.ok ? ok({ ledger: opened.value, outbox: opened.value }) : opened
}

/**
 * The audit thread: turns batches of records into entries, in groups of whatever has arrived, and answers when they are
 * durable: in the buffer, or without one written to stdout.
 */
class AuditActor {
  readonly #port: MessagePort
  readonly #ledger: Ledger
  readonly #outbox: Outbox | undefined
  readonly #sink: StdoutSink | undefined
  /** Without a buffer: batches whose lines are on their way to stdout. */
  #unwritten: { readonly batch: number; readonly lastSeq: number }[] = []
  #storedPosition: number
  #mode: Mode = 'running'
  readonly #positionTimer: NodeJS.Timeout

  constructor(start: AuditWorkerStart, ledgers: Ledgers, deps: AuditActorDeps) {
    this.#port = start.port
    this.#ledger = ledgers.ledger
    this.#outbox = ledgers.outbox
    this.#sink = start.settings.stdout ? this.#openSink(deps, start.respawned) : undefined
    this.#storedPosition = this.#sink?.position ?? 0
    this.#positionTimer = setInterval(() => this.#storePosition(), AUDIT_POSITION_INTERVAL_MS)
    this.#port.on('message', (message: ToAudit) => this.#receive(message))
    // The front thread is gone: what it sent is kept, and nobody is left to answer.
    this.#port.on('close', () => void this.#stop())
    this.#post({ kind: 'started', instance: this.#ledger.instance, nextSeq: this.#ledger.head.seq + 1 })
  }

  #openSink(deps: AuditActorDeps, respawned: boolean): StdoutSink {
    const outbox = this.#outbox
    const lastSeq = this.#ledger.head.seq
    const stored = outbox?.position('stdout')
    // Entries from before stdout was first turned on are not written to it.
    if (outbox !== undefined && stored === undefined) outbox.storePosition('stdout', lastSeq)
    return new StdoutSink({
      write: deps.openStdout(),
      position: Math.min(stored ?? lastSeq, lastSeq),
      lastSeq,
      ...(outbox && { replay: (afterSeq: number, linesMax: number) => outbox.linesAfter(afterSeq, linesMax) }),
      endCutLine: respawned,
      onWritten: () => this.#ackWritten(),
      onClosed: (detail) => this.#onStdoutClosed(detail),
    })
  }

  #post(message: FromAudit): void {
    this.#port.postMessage(message)
  }

  /** One wake-up takes all that has arrived, so that what came while the last group was committed is one group now. */
  #receive(first: ToAudit): void {
    const batches: Batch[] = []
    let stop = false
    for (let message: ToAudit | undefined = first; message !== undefined; message = this.#nextMessage()) {
      switch (message.kind) {
        case 'append':
          batches.push(message)
          break
        case 'stop':
          stop = true
          break
        default:
          unreachable(message)
      }
    }
    if (batches.length > 0) this.#commit(batches)
    if (stop) void this.#stop()
  }

  #nextMessage(): ToAudit | undefined {
    // The port's other end is typed to post nothing else.
    return receiveMessageOnPort(this.#port)?.message as ToAudit | undefined
  }

  #commit(batches: readonly Batch[]): void {
    const appended = this.#append(batches)
    if (!appended.ok) {
      for (const { batch } of batches) this.#post({ kind: 'refused', batch, reason: appended.error })
      return
    }
    const last = batches.at(-1)
    if (last === undefined) return
    if (this.#outbox !== undefined) this.#post({ kind: 'acked', batch: last.batch })
    else this.#unwritten.push({ batch: last.batch, lastSeq: this.#ledger.head.seq })
    this.#sink?.push(appended.value)
    this.#ackWritten()
  }

  #append(batches: readonly Batch[]): Result<readonly SealedEntry[], string> {
    const single = batches.length === 1 ? batches[0] : undefined
    const records: readonly AuditRecord[] = single?.records ?? batches.flatMap((batch) => batch.records)
    // An outcome never comes before its intent, so taking the intents of all batches first keeps their order.
    const intents: readonly AuditRecord[] = single?.intents ?? batches.flatMap((batch) => batch.intents)
    if (this.#outbox === undefined && this.#sink !== undefined) {
      if (this.#sink.closed) return fail('stdout is closed and there is no audit buffer')
      if (this.#sink.queued + records.length > STDOUT_QUEUE_LINES_MAX) {
        return fail('stdout takes lines too slowly and there is no audit buffer')
      }
    }
    // An empty batch asks whether entries are taken again.
    if (records.length === 0 && intents.length === 0) {
      const probed = this.#ledger.probe()
      return probed.ok ? ok([]) : probed
    }
    return this.#ledger.append(records, intents)
  }

  /** Without a buffer, what has been written to stdout is as durable as it gets. */
  #ackWritten(): void {
    const position = this.#sink?.position ?? 0
    let acked: number | undefined
    while (this.#unwritten[0] !== undefined && this.#unwritten[0].lastSeq <= position) {
      acked = this.#unwritten.shift()?.batch
    }
    if (acked !== undefined) this.#post({ kind: 'acked', batch: acked })
  }

  #onStdoutClosed(detail: string): void {
    this.#post({ kind: 'observed', observation: { kind: 'audit.stdout_closed', detail } })
    const unwritten = this.#unwritten
    this.#unwritten = []
    for (const { batch } of unwritten) this.#post({ kind: 'refused', batch, reason: detail })
  }

  /** Kept lazily: losing a position costs repeated lines on stdout, never lost ones. */
  #storePosition(): void {
    const position = this.#sink?.position
    if (position === undefined || position === this.#storedPosition) return
    if (this.#outbox?.storePosition('stdout', position).ok) this.#storedPosition = position
  }

  async #stop(): Promise<void> {
    if (this.#mode !== 'running') return
    this.#mode = 'stopping'
    clearInterval(this.#positionTimer)
    const deadline = setTimeout(() => this.#sink?.abandon(), AUDIT_FLUSH_TIMEOUT_MS)
    await this.#sink?.flushed()
    clearTimeout(deadline)
    this.#sink?.abandon()
    this.#storePosition()
    this.#ledger.close()
    this.#mode = 'stopped'
    this.#post({ kind: 'stopped' })
    this.#port.close()
  }
}

/** Starts the audit thread's work. Says `started`, or `start_failed` with one sentence for the operator. */
export function startAuditActor(start: AuditWorkerStart, deps: AuditActorDeps): void {
  const ledgers = openLedger(start, deps)
  if (ledgers.ok) {
    new AuditActor(start, ledgers.value, deps)
    return
  }
  const failed: FromAudit = { kind: 'start_failed', reason: ledgers.error }
  start.port.postMessage(failed)
  start.port.close()
}
