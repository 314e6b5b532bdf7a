import { existsSync } from 'node:fs'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { unreachable } from '../core/assert.js'
import type { AuditRecord } from '../core/audit-entry.js'
import {
  AUDIT_FLUSH_TIMEOUT_MS,
  AUDIT_HEAD_INTERVAL_MS,
  AUDIT_NOTE_INTERVAL_MS,
  AUDIT_UPKEEP_INTERVAL_MS,
} from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { AuditSettings, AuditStatus, FromAudit, ToAudit } from '../threads/messages.js'
import { tamperedText } from './beside-chain.js'
import { bufferExists } from './buffer-file.js'
import { type ChainKeys, chainKeys, type SealedEntry, writeHeadLine } from './chain.js'
import { loadChainKey } from './chain-key.js'
import { type Ledger, MemoryLedger } from './ledger.js'
import { noteRecord } from './notes.js'
import { Outbox } from './outbox.js'
import type { Shipper, ShipperStart } from './ship/ship-thread.js'
import { SinkSet } from './sink-set.js'
import type { WriteBytes } from './sinks.js'
import { statusOf } from './trail-status.js'

/** What the audit thread is started with. */
export interface AuditWorkerStart {
  readonly port: MessagePort
  readonly settings: AuditSettings
  /** Whether an earlier audit thread of this process died: it may have left a cut line on stdout, and intents of calls. */
  readonly respawned: boolean
}

export interface AuditActorDeps {
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly randomBytes: (count: number) => Uint8Array
  readonly openStdout: () => WriteBytes
  /** `startShipper` of the thread that ships, outside tests. */
  readonly startShipper: (start: ShipperStart) => Shipper
}

interface Trail {
  /** Whether a buffer began with a key that had been there before it. */
  readonly begunBesideKey: boolean
  readonly keys: ChainKeys
  readonly ledger: Ledger
  readonly outbox: Outbox | undefined
}

const NOWHERE = 'stdout is closed and there is no audit buffer'

type Batch = Extract<ToAudit, { kind: 'append' }>
type Mode = 'running' | 'stopping' | 'stopped'

function openKeys(settings: AuditSettings, deps: AuditActorDeps): Result<ChainKeys, string> {
  const { buffer } = settings
  const path = chainKeyFileOf(settings)
  if (path === undefined) return ok(chainKeys(deps.randomBytes(32)))
  const mayCreate = buffer === undefined || !bufferExists(buffer.path)
  const secret = loadChainKey({ path, mayCreate, randomBytes: deps.randomBytes })
  return secret.ok ? ok(chainKeys(secret.value)) : secret
}

function chainKeyFileOf({ chainKeyFile, buffer }: AuditSettings): string | undefined {
  return chainKeyFile ?? (buffer === undefined ? undefined : `${buffer.path}.key`)
}

function openTrail({ settings, respawned }: AuditWorkerStart, deps: AuditActorDeps): Result<Trail, string> {
  const { buffer, values: keeping } = settings
  if (buffer === undefined && settings.file === undefined && !settings.stdout) {
    return fail('nothing keeps audit entries: set audit.stdout to true or give audit.buffer or audit.file a path')
  }
  const keyPath = chainKeyFileOf(settings)
  const keyWasThere = keyPath !== undefined && existsSync(keyPath)
  const opened = openKeys(settings, deps)
  if (!opened.ok) return opened
  const keys = opened.value
  const newInstance = () => Buffer.from(deps.randomBytes(8)).toString('hex')
  if (buffer === undefined) {
    const ledger = new MemoryLedger({ keys, keeping, instance: newInstance() })
    return ok({ keys, ledger, outbox: undefined, begunBesideKey: false })
  }
  const outbox = Outbox.open({
    ...buffer,
    keys,
    keeping,
    // After the death of a thread the calls go on in this process, and their outcomes come.
    intentsAreLost: !respawned,
    ships: settings.shipper !== undefined,
    nowMs: deps.nowMs,
    monotonicMs: deps.monotonicMs,
    newInstance,
  })
  if (!outbox.ok) return outbox
  return ok({ keys, ledger: outbox.value, outbox: outbox.value, begunBesideKey: outbox.value.isNew && keyWasThere })
}

/**
 * The audit thread: turns batches of records into entries, in groups of whatever has arrived, and answers when they are
 * durable: in the buffer, or without one written to the sinks. Between groups it looks after the buffer.
 */
class AuditActor {
  readonly #port: MessagePort
  readonly #settings: AuditSettings
  readonly #deps: AuditActorDeps
  readonly #keys: ChainKeys
  readonly #ledger: Ledger
  readonly #outbox: Outbox | undefined
  readonly #begunBesideKey: boolean
  #sinks: SinkSet | undefined
  #shipper: Shipper | undefined
  /** Without a buffer: batches whose lines are on their way to the sinks. */
  #unwritten: { readonly batch: number; readonly lastSeq: number }[] = []
  #mode: Mode = 'running'
  readonly #timers: NodeJS.Timeout[] = []
  #upkeepTimer: NodeJS.Timeout | undefined
  #status: AuditStatus | undefined

  constructor(start: AuditWorkerStart, trail: Trail, deps: AuditActorDeps) {
    this.#port = start.port
    this.#settings = start.settings
    this.#deps = deps
    this.#keys = trail.keys
    this.#ledger = trail.ledger
    this.#outbox = trail.outbox
    this.#begunBesideKey = trail.begunBesideKey
  }

  /** Opens what is written beside the buffer, and takes records from then on. */
  async begin(respawned: boolean): Promise<Result<void, string>> {
    const { openStdout, monotonicMs } = this.#deps
    const { instance, head } = this.#ledger
    const sinks = await SinkSet.open({
      settings: this.#settings,
      outbox: this.#outbox,
      instance,
      lastSeq: head.seq,
      respawned,
      openStdout,
      headLine: (seq, prevHash) => this.#headLine(seq - 1, prevHash),
      monotonicMs,
      observe: (observation) => this.#post({ kind: 'observed', observation }),
      onLost: (fromSeq, toSeq) => this.#noteLostFile(fromSeq, toSeq),
      onMoved: () => this.#ackWritten(),
    })
    if (!sinks.ok) {
      this.#ledger.close()
      return sinks
    }
    this.#sinks = sinks.value
    this.#shipper = this.#startShipper()
    if (this.#begunBesideKey) this.#noteBegun()
    this.#timers.push(
      setInterval(() => this.#upkeep(), AUDIT_UPKEEP_INTERVAL_MS),
      setInterval(() => this.#pushHead(), AUDIT_HEAD_INTERVAL_MS),
      setInterval(() => this.#noteDeleted(), AUDIT_NOTE_INTERVAL_MS),
    )
    this.#tellTampered()
    this.#port.on('message', (message: ToAudit) => this.#receive(message))
    // The front thread is gone: what it sent is kept, and nobody is left to answer.
    this.#port.on('close', () => void this.#stop())
    this.#post({ kind: 'started', instance, nextSeq: this.#ledger.head.seq + 1 })
    this.#postStatus()
    return ok(undefined)
  }

  /** Before any other entry, so that the chain itself says that it began where there may have been another. */
  #noteBegun(): void {
    const { instance } = this.#ledger
    const path = this.#settings.buffer?.path ?? ''
    const detail = { key: 'was there' }
    const timeMs = this.#deps.nowMs()
    const kept = this.#ledger.append([noteRecord({ id: `${instance}-begun`, timeMs, tool: 'begun', detail })])
    if (kept.ok) this.#tell(kept.value)
    this.#post({ kind: 'observed', observation: { kind: 'audit.buffer_begun', path, instance } })
  }

  #tellTampered(): void {
    const [found, ...more] = this.#outbox?.tampered ?? []
    if (found === undefined) return
    const others = more.length === 0 ? '' : `, and ${more.length} more`
    this.#post({
      kind: 'observed',
      observation: { kind: 'audit.tampered', detail: `beside the audit chain ${tamperedText(found)}${others}` },
    })
  }

  #startShipper(): Shipper | undefined {
    const { shipper: settings, buffer } = this.#settings
    const outbox = this.#outbox
    if (settings === undefined || buffer === undefined || outbox === undefined) return undefined
    return this.#deps.startShipper({
      settings,
      bufferPath: buffer.path,
      ledger: outbox.shipBook(),
      keys: this.#keys,
      lastSeq: outbox.head.seq,
      nowMs: this.#deps.nowMs,
      observe: (observation) => this.#post({ kind: 'observed', observation }),
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
        case 'reopen':
          this.#sinks?.reopen()
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
    const taken = this.#withoutRefusedIntents(batches)
    if (taken.length === 0) return
    const appended = this.#append(taken)
    if (appended.ok) return this.#kept(taken, appended.value)
    // A full buffer still takes the outcomes of calls that it let go, which come in batches of their own.
    const outcomes = taken.filter((batch) => this.#outbox?.owes(batch.records, batch.intents) === true)
    const again = outcomes.length === 0 || outcomes.length === taken.length ? appended : this.#append(outcomes)
    // Before what is kept is acknowledged, which covers all batches up to it.
    this.#refuse(again.ok ? taken.filter((batch) => !outcomes.includes(batch)) : taken, appended.error)
    if (again.ok) this.#kept(outcomes, again.value)
  }

  /** Where no more calls may be announced, the others are taken all the same. */
  #withoutRefusedIntents(batches: readonly Batch[]): readonly Batch[] {
    const intents = batches.reduce((sum, batch) => sum + batch.intents.length, 0)
    const announceable = this.#outbox?.mayAnnounce(intents)
    if (announceable === undefined || announceable.ok) return batches
    this.#refuse(
      batches.filter((batch) => batch.intents.length > 0),
      announceable.error,
    )
    return batches.filter((batch) => batch.intents.length === 0)
  }

  #refuse(batches: readonly Batch[], reason: string): void {
    for (const { batch } of batches) this.#post({ kind: 'refused', batch, reason })
  }

  #kept(batches: readonly Batch[], entries: readonly SealedEntry[]): void {
    const last = batches.at(-1)
    if (last === undefined) return
    if (this.#outbox !== undefined) this.#post({ kind: 'acked', batch: last.batch })
    else this.#unwritten.push({ batch: last.batch, lastSeq: this.#ledger.head.seq })
    this.#tell(entries)
    this.#ackWritten()
    // Whoever floods the trail is to be folded at once, not at the next look.
    if (this.#outbox !== undefined && this.#outbox.strangersFull !== this.#status?.strangersFull) this.#postStatus()
  }

  #tell(entries: readonly SealedEntry[]): void {
    if (entries.length === 0) return
    this.#sinks?.push(entries)
    this.#shipper?.appended(this.#ledger.head.seq)
  }

  #append(batches: readonly Batch[]): Result<readonly SealedEntry[], string> {
    const single = batches.length === 1 ? batches[0] : undefined
    const records: readonly AuditRecord[] = single?.records ?? batches.flatMap((batch) => batch.records)
    // An outcome never comes before its intent, so taking the intents of all batches first keeps their order.
    const intents: readonly AuditRecord[] = single?.intents ?? batches.flatMap((batch) => batch.intents)
    if (this.#outbox === undefined && this.#sinks !== undefined) {
      if (this.#sinks.closed) return fail(NOWHERE)
      if (!this.#sinks.hasRoomFor(records.length)) {
        return fail('lines are written too slowly and there is no audit buffer')
      }
    }
    // An empty batch asks whether entries are taken again.
    if (records.length === 0 && intents.length === 0) {
      const probed = this.#ledger.probe()
      return probed.ok ? ok([]) : probed
    }
    return this.#ledger.append(records, intents)
  }

  /** Without a buffer, what has been written to the sinks is as durable as it gets. */
  #ackWritten(): void {
    if (this.#unwritten.length === 0 || this.#sinks === undefined) return
    if (this.#sinks.closed) {
      for (const { batch } of this.#unwritten.splice(0)) this.#post({ kind: 'refused', batch, reason: NOWHERE })
      return
    }
    const { position } = this.#sinks
    let acked: number | undefined
    while (this.#unwritten[0] !== undefined && this.#unwritten[0].lastSeq <= position) {
      acked = this.#unwritten.shift()?.batch
    }
    if (acked !== undefined) this.#post({ kind: 'acked', batch: acked })
  }

  #upkeep(): void {
    if (this.#mode !== 'running') return
    this.#sinks?.storePositions()
    if (this.#upkeepTimer === undefined) this.#tendBuffer()
    this.#postStatus()
  }

  /** Looks after the buffer in short steps with pauses as long, so that no acknowledgement waits for more than one. */
  #tendBuffer(): void {
    const { monotonicMs } = this.#deps
    const startMs = monotonicMs()
    const done = this.#outbox?.upkeep()
    if (done === undefined) return
    this.#tell(done.sealed)
    if (!done.more) return
    this.#upkeepTimer = setTimeout(() => {
      this.#upkeepTimer = undefined
      if (this.#mode === 'running') this.#tendBuffer()
    }, monotonicMs() - startMs)
  }

  #postStatus(): void {
    const status = statusOf({
      outbox: this.#outbox,
      sinks: this.#sinks,
      shipper: this.#shipper,
      nowMs: this.#deps.nowMs(),
    })
    if (JSON.stringify(status) === JSON.stringify(this.#status)) return
    this.#status = status
    this.#post({ kind: 'status', status })
  }

  #headLine(seq: number, hash: string): string {
    const { instance } = this.#ledger
    return writeHeadLine(this.#keys, { instance, seq, hash, time: new Date(this.#deps.nowMs()).toISOString() })
  }

  #pushHead(): void {
    const { seq, hash } = this.#ledger.head
    this.#sinks?.pushHead(this.#headLine(seq, hash))
  }

  #noteDeleted(): void {
    this.#tell(this.#outbox?.noteDeleted() ?? [])
  }

  /** Where the buffer has the entries too, their lines in the file are lost all the same. */
  #noteLostFile(fromSeq: number, toSeq: number): void {
    const { instance } = this.#ledger
    const note = noteRecord({
      id: `${instance}-gap-file-${fromSeq}-${toSeq}-${this.#ledger.head.seq}`,
      timeMs: this.#deps.nowMs(),
      tool: 'gap',
      detail: { sink: 'file', from_seq: fromSeq, to_seq: toSeq },
    })
    const kept = this.#ledger.append([note])
    if (kept.ok) this.#tell(kept.value)
  }

  async #stop(): Promise<void> {
    if (this.#mode !== 'running') return
    this.#mode = 'stopping'
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#upkeepTimer)
    this.#noteDeleted()
    const deadline = setTimeout(() => this.#sinks?.abandon(), AUDIT_FLUSH_TIMEOUT_MS)
    await Promise.all([this.#sinks?.flushed(), this.#shipper?.stop()])
    clearTimeout(deadline)
    this.#sinks?.abandon()
    this.#sinks?.storePositions()
    await this.#sinks?.close()
    this.#ledger.close()
    this.#mode = 'stopped'
    this.#post({ kind: 'stopped' })
    this.#port.close()
  }
}

/** Starts the audit thread's work. Says `started`, or `start_failed` with one sentence for the operator. */
export async function startAuditActor(start: AuditWorkerStart, deps: AuditActorDeps): Promise<void> {
  const trail = openTrail(start, deps)
  const begun = trail.ok ? await new AuditActor(start, trail.value, deps).begin(start.respawned) : trail
  if (begun.ok) return
  const failed: FromAudit = { kind: 'start_failed', reason: begun.error }
  start.port.postMessage(failed)
  start.port.close()
}
