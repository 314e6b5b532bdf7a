import { STDOUT_QUEUE_LINES_MAX } from '../core/limits.js'
import { ok, type Result } from '../core/result.js'
import type { Observation } from '../observe/observation.js'
import type { AuditSettings } from '../threads/messages.js'
import type { EntryLine, SealedEntry } from './chain.js'
import { type FileSink, openFileSink } from './file-sink.js'
import type { Outbox } from './outbox.js'
import { LineSink, type WriteBytes } from './sinks.js'

export interface SinkSetOptions {
  readonly settings: Pick<AuditSettings, 'stdout' | 'file'>
  readonly outbox: Outbox | undefined
  readonly instance: string
  readonly lastSeq: number
  /** A line on stdout may have been cut short by the death of an earlier audit thread. */
  readonly respawned: boolean
  readonly openStdout: () => WriteBytes
  /** The line that says what the chain had come to before its entry `seq`. */
  readonly headLine: (seq: number, prevHash: string) => string
  readonly monotonicMs: () => number
  readonly observe: (observation: Observation) => void
  /** A file was deleted with the lines of these entries. */
  readonly onLost: (fromSeq: number, toSeq: number) => void
  /** Some sink has got on, or will not any more. */
  readonly onMoved: () => void
}

interface NamedSink {
  readonly name: 'stdout' | 'file'
  readonly sink: LineSink
  storedPosition: number
}

/** Where lines are written beside the buffer: stdout, a file, both or none. */
export class SinkSet {
  readonly #outbox: Outbox | undefined
  readonly #sinks: readonly NamedSink[]
  readonly #file: FileSink['file'] | undefined

  private constructor(outbox: Outbox | undefined, stdout: LineSink | undefined, file: FileSink | undefined) {
    this.#outbox = outbox
    this.#file = file?.file
    const sinks = [...(stdout ? [named('stdout', stdout)] : []), ...(file ? [named('file', file.sink)] : [])]
    this.#sinks = sinks
  }

  /** Fails with one sentence for the operator when the file cannot be written. */
  static async open(options: SinkSetOptions): Promise<Result<SinkSet, string>> {
    const file = options.settings.file === undefined ? undefined : await openFile(options.settings.file, options)
    if (file !== undefined && !file.ok) return file
    const stdout = options.settings.stdout ? openStdoutSink(options) : undefined
    return ok(new SinkSet(options.outbox, stdout, file?.value))
  }

  /** Without a buffer: the last entry that every sink that still writes has written, which is as durable as it gets. */
  get position(): number {
    return Math.min(...this.#writing.map(({ sink }) => sink.position))
  }

  /** Whether no line can be written anywhere any more. */
  get closed(): boolean {
    return this.#writing.length === 0
  }

  /** Whether so many more lines can wait in memory. */
  hasRoomFor(lines: number): boolean {
    return this.#writing.every(({ sink }) => sink.queued + lines <= STDOUT_QUEUE_LINES_MAX)
  }

  get failing(): readonly string[] {
    return this.#sinks.filter(({ sink }) => sink.closed || sink.failing).map(({ name }) => name)
  }

  get #writing(): readonly NamedSink[] {
    return this.#sinks.filter(({ sink }) => !sink.closed)
  }

  push(entries: readonly SealedEntry[]): void {
    for (const { sink } of this.#sinks) sink.push(entries)
  }

  /** A head of the chain on stdout; the file begins with one, and has its own numbering. */
  pushHead(line: string): void {
    for (const { name, sink } of this.#sinks) if (name === 'stdout') sink.pushHead(line)
  }

  reopen(): void {
    this.#file?.reopen()
  }

  /** Kept lazily: losing a position costs repeated lines, never lost ones. */
  storePositions(): void {
    const outbox = this.#outbox
    if (outbox === undefined) return
    for (const each of this.#sinks) {
      const { position } = each.sink
      if (position === each.storedPosition) continue
      if (outbox.storePosition(each.name, position).ok) each.storedPosition = position
    }
  }

  /** Settles when everything pushed is written or nothing can be. The caller bounds the wait. */
  async flushed(): Promise<void> {
    await Promise.all(this.#sinks.map(({ sink }) => sink.flushed()))
  }

  abandon(): void {
    for (const { sink } of this.#sinks) sink.abandon()
  }

  async close(): Promise<void> {
    await this.#file?.end()
  }
}

function named(name: NamedSink['name'], sink: LineSink): NamedSink {
  return { name, sink, storedPosition: sink.position }
}

function failingTold(sink: NamedSink['name'], { observe }: SinkSetOptions) {
  return {
    onFailing: (detail: string) => observe({ kind: 'audit.sink_failing', sink, detail }),
    onRecovered: () => observe({ kind: 'audit.sink_recovered', sink }),
  }
}

function openStdoutSink(options: SinkSetOptions): LineSink {
  const { outbox, lastSeq, respawned, observe, onMoved } = options
  const stored = outbox?.position('stdout')
  // Entries from before stdout was first turned on are not written to it.
  if (outbox !== undefined && stored === undefined) outbox.storePosition('stdout', lastSeq)
  return new LineSink({
    write: options.openStdout(),
    position: Math.min(stored ?? lastSeq, lastSeq),
    lastSeq,
    ...(outbox && { replay: replayOf(outbox) }),
    endCutLine: respawned,
    onWritten: onMoved,
    onClosed: (detail) => {
      observe({ kind: 'audit.stdout_closed', detail })
      onMoved()
    },
    ...failingTold('stdout', options),
  })
}

function replayOf(outbox: Outbox): (afterSeq: number, linesMax: number) => Result<readonly EntryLine[], string> {
  return (afterSeq, linesMax) => outbox.linesAfter(afterSeq, linesMax)
}

function openFile(
  settings: NonNullable<AuditSettings['file']>,
  options: SinkSetOptions,
): Promise<Result<FileSink, string>> {
  const { outbox, instance, headLine, monotonicMs, lastSeq, onLost, onMoved } = options
  return openFileSink({
    settings,
    instance,
    headLine,
    nowMs: monotonicMs,
    lastSeq,
    ...(outbox && { buffer: { position: outbox.position('file'), linesAfter: replayOf(outbox) } }),
    onLost,
    onWritten: onMoved,
    ...failingTold('file', options),
  })
}
