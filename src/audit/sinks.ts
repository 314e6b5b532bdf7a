import { constants, fstatSync, openSync, write } from 'node:fs'
import {
  SINK_WRITE_TIMEOUT_MS,
  STDOUT_CHUNK_CHARS_MAX,
  STDOUT_CHUNK_LINES_MAX,
  STDOUT_FULL_RETRY_MS,
  STDOUT_QUEUE_LINES_MAX,
  STDOUT_RETRY_MAX_MS,
  STDOUT_RETRY_MIN_MS,
} from '../core/limits.js'
import type { Result } from '../core/result.js'
import type { EntryLine } from './chain.js'

/**
 * Writes some of the bytes and says how many; never waits for a reader on the calling thread. `first` is the entry whose line the
 * bytes begin with; absent where they go on with a line, or with one that is no entry.
 */
export type WriteBytes = (
  bytes: Uint8Array,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
  first?: EntryLine,
) => void

export interface LineSinkOptions {
  readonly write: WriteBytes
  /** The last `seq` that was written before, and the last that exists. */
  readonly position: number
  readonly lastSeq: number
  /** Entries that left memory, from the buffer. Absent without one: then the owner bounds what it pushes. */
  readonly replay?: (afterSeq: number, linesMax: number) => Result<readonly EntryLine[], string>
  /** A line written by an earlier worker may have been cut short: ends it. */
  readonly endCutLine: boolean
  /** Everything up to `seq` is written. */
  readonly onWritten: (seq: number) => void
  /** Nothing can be written any more, and never will be. Called once; absent where every failure may pass. */
  readonly onClosed?: (detail: string) => void
  /** Nothing is written at the moment: a full disk, or a write that does not end. Called once until `onRecovered`. */
  readonly onFailing?: (detail: string) => void
  readonly onRecovered?: () => void
}

const AGAIN = new Set(['EAGAIN', 'EWOULDBLOCK', 'EINTR'])
const FULL = new Set(['ENOSPC', 'EDQUOT'])

/** Bytes on their way, and the `seq` they end with. */
interface Chunk {
  bytes: Uint8Array
  readonly lastSeq: number
  /** Absent once a part of it is written. */
  first: EntryLine | undefined
}

/**
 * JSON lines on stdout or in a file, in order, at least once: the position is stored now and then, so after a crash some lines come
 * again. One write is under way at a time. Beyond `STDOUT_QUEUE_LINES_MAX` waiting lines memory is given up and the lines
 * are read back from the buffer, so a slow reader costs neither memory nor a call's time.
 */
export class LineSink {
  readonly #options: LineSinkOptions
  #queue: EntryLine[] = []
  #position: number
  #lastSeq: number
  /** Heads of the chain that wait for the end of a line. Only the last one is worth writing. */
  #headLine: string | undefined
  /** What is left of the chunk under way. */
  #chunk: Chunk | undefined
  #failing = false
  #stuckTimer: NodeJS.Timeout | undefined
  #busy = false
  #retryMs = STDOUT_RETRY_MIN_MS
  #retryTimer: NodeJS.Timeout | undefined
  #closed = false
  #idleWaits: (() => void)[] = []

  constructor(options: LineSinkOptions) {
    this.#options = options
    this.#position = options.position
    this.#lastSeq = options.lastSeq
    if (options.endCutLine) this.#chunk = { bytes: Buffer.from('\n'), lastSeq: options.position, first: undefined }
    this.#pump()
  }

  get position(): number {
    return this.#position
  }

  get closed(): boolean {
    return this.#closed
  }

  get queued(): number {
    return this.#queue.length
  }

  /** Whether nothing can be written at the moment. */
  get failing(): boolean {
    return this.#failing
  }

  /** Writes a line that is no entry, behind the line that is being written. One that still waits gives way to it. */
  pushHead(line: string): void {
    if (this.#closed) return
    this.#headLine = line
    this.#pump()
  }

  push(entries: readonly EntryLine[]): void {
    const last = entries.at(-1)
    if (this.#closed || last === undefined) return
    this.#lastSeq = last.seq
    if (this.#options.replay !== undefined && this.#queue.length + entries.length > STDOUT_QUEUE_LINES_MAX)
      this.#queue = []
    else this.#queue.push(...entries)
    this.#pump()
  }

  /** Settles when everything pushed is written or nothing can be. The caller bounds the wait. */
  flushed(): Promise<void> {
    if (this.#idle()) return Promise.resolve()
    return new Promise((resolve) => this.#idleWaits.push(resolve))
  }

  #idle(): boolean {
    const nothingLeft = this.#chunk === undefined && this.#headLine === undefined
    return this.#closed || (nothingLeft && this.#position >= this.#lastSeq)
  }

  #pump(): void {
    if (this.#busy || this.#closed) return
    this.#chunk ??= this.#nextChunk()
    if (this.#chunk === undefined) {
      if (this.#idle()) this.#wakeIdleWaits()
      return
    }
    this.#busy = true
    const { bytes, first } = this.#chunk
    // A dead disk answers nothing at all.
    const stuck = `a write has not ended for ${SINK_WRITE_TIMEOUT_MS} ms`
    this.#stuckTimer = setTimeout(() => this.#fails(stuck), SINK_WRITE_TIMEOUT_MS)
    this.#options.write(bytes, (error, written) => this.#written(error, written), first)
  }

  #written(error: NodeJS.ErrnoException | null, written: number): void {
    this.#busy = false
    clearTimeout(this.#stuckTimer)
    if (this.#closed || this.#chunk === undefined) return
    if (error !== null) return this.#failed(error)
    const chunk = this.#chunk
    this.#retryMs = STDOUT_RETRY_MIN_MS
    this.#works()
    if (written < chunk.bytes.length) {
      chunk.bytes = chunk.bytes.subarray(written)
      if (written > 0) chunk.first = undefined
      return this.#pump()
    }
    this.#chunk = undefined
    this.#position = chunk.lastSeq
    this.#options.onWritten(chunk.lastSeq)
    this.#pump()
  }

  #failed(error: NodeJS.ErrnoException): void {
    const code = error.code ?? error.message
    if (AGAIN.has(code)) {
      this.#pumpAfter(this.#retryMs)
      this.#retryMs = Math.min(this.#retryMs * 2, STDOUT_RETRY_MAX_MS)
    } else if (FULL.has(code) || this.#options.onClosed === undefined) {
      this.#fails(FULL.has(code) ? `there is no room left (${code})` : code)
      this.#pumpAfter(STDOUT_FULL_RETRY_MS)
    } else {
      this.abandon()
      this.#options.onClosed(`stdout takes no more audit lines (${code})`)
    }
  }

  #fails(detail: string): void {
    if (this.#failing || this.#closed) return
    this.#failing = true
    this.#options.onFailing?.(detail)
  }

  #works(): void {
    if (!this.#failing) return
    this.#failing = false
    this.#options.onRecovered?.()
  }

  /** Gives up what is not written yet. Its position stays behind it, so a buffer's lines are written at the next start. */
  abandon(): void {
    this.#closed = true
    this.#queue = []
    this.#chunk = undefined
    this.#headLine = undefined
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#stuckTimer)
    this.#wakeIdleWaits()
  }

  #pumpAfter(delayMs: number): void {
    this.#busy = true
    this.#retryTimer = setTimeout(() => {
      this.#busy = false
      this.#pump()
    }, delayMs)
  }

  #wakeIdleWaits(): void {
    const waits = this.#idleWaits
    this.#idleWaits = []
    for (const wake of waits) wake()
  }

  /** A head that waits; else from memory where the next line is there, else from the buffer. */
  #nextChunk(): Chunk | undefined {
    if (this.#headLine !== undefined) {
      const bytes = Buffer.from(`${this.#headLine}\n`)
      this.#headLine = undefined
      return { bytes, lastSeq: this.#position, first: undefined }
    }
    if (this.#position >= this.#lastSeq) return undefined
    while (this.#queue[0] !== undefined && this.#queue[0].seq <= this.#position) this.#queue.shift()
    const { replay } = this.#options
    if (replay === undefined || this.#queue[0]?.seq === this.#position + 1) {
      const { text, count, first, lastSeq } = joined(this.#queue)
      this.#queue.splice(0, count)
      return lastSeq === undefined ? undefined : { bytes: Buffer.from(text), lastSeq, first }
    }
    const replayed = replay(this.#position, STDOUT_CHUNK_LINES_MAX)
    if (!replayed.ok) {
      this.#pumpAfter(STDOUT_FULL_RETRY_MS)
      return undefined
    }
    const { text, first, lastSeq } = joined(replayed.value)
    // Lines that are nowhere any more were removed from the buffer by someone: go on behind them.
    if (lastSeq === undefined) this.#position = (this.#queue[0]?.seq ?? this.#lastSeq + 1) - 1
    return lastSeq === undefined ? this.#nextChunk() : { bytes: Buffer.from(text), lastSeq, first }
  }
}

interface Joined {
  readonly text: string
  readonly count: number
  readonly first: EntryLine | undefined
  readonly lastSeq: number | undefined
}

function joined(entries: readonly EntryLine[]): Joined {
  let text = ''
  let count = 0
  let lastSeq: number | undefined
  for (const entry of entries) {
    if (count >= STDOUT_CHUNK_LINES_MAX || text.length >= STDOUT_CHUNK_CHARS_MAX) break
    text += `${entry.line}\n`
    lastSeq = entry.seq
    count += 1
  }
  return { text, count, first: entries[0], lastSeq }
}

/**
 * A terminal is opened anew without blocking, because a write that waits (the user pressed Ctrl-S) would hold a thread
 * that the end of the process waits for. Pipes and sockets were made non-blocking by the front thread; a file never waits.
 */
function openStdoutFile(): number {
  if (!fstatSync(1).isCharacterDevice()) return 1
  try {
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return 1
  }
}

export function openStdout(): WriteBytes {
  const fd = openStdoutFile()
  return (bytes, done) => write(fd, bytes, 0, bytes.length, null, done)
}
