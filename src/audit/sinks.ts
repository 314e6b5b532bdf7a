import { constants, fstatSync, openSync, write } from 'node:fs'
import {
  STDOUT_CHUNK_CHARS_MAX,
  STDOUT_CHUNK_LINES_MAX,
  STDOUT_FULL_RETRY_MS,
  STDOUT_QUEUE_LINES_MAX,
  STDOUT_RETRY_MAX_MS,
  STDOUT_RETRY_MIN_MS,
} from '../core/limits.js'
import type { Result } from '../core/result.js'
import type { EntryLine } from './chain.js'

/** Writes some of the bytes and says how many; never waits for a reader on the calling thread. */
export type WriteBytes = (
  bytes: Uint8Array,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
) => void

export interface StdoutSinkOptions {
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
  /** Nothing can be written any more. Called once. */
  readonly onClosed: (detail: string) => void
}

const AGAIN = new Set(['EAGAIN', 'EWOULDBLOCK', 'EINTR'])
const FULL = new Set(['ENOSPC', 'EDQUOT'])

/**
 * JSON lines on stdout, in order, at least once: the position is stored now and then, so after a crash some lines come
 * again. One write is under way at a time. Beyond `STDOUT_QUEUE_LINES_MAX` waiting lines memory is given up and the lines
 * are read back from the buffer, so a slow reader of stdout costs neither memory nor a call's time.
 */
export class StdoutSink {
  readonly #options: StdoutSinkOptions
  #queue: EntryLine[] = []
  #position: number
  #lastSeq: number
  /** What is left of the chunk under way, and the `seq` it ends with. */
  #chunk: { bytes: Uint8Array; readonly lastSeq: number } | undefined
  #busy = false
  #retryMs = STDOUT_RETRY_MIN_MS
  #retryTimer: NodeJS.Timeout | undefined
  #closed = false
  #idleWaits: (() => void)[] = []

  constructor(options: StdoutSinkOptions) {
    this.#options = options
    this.#position = options.position
    this.#lastSeq = options.lastSeq
    if (options.endCutLine) this.#chunk = { bytes: Buffer.from('\n'), lastSeq: options.position }
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
    return this.#closed || (this.#chunk === undefined && this.#position >= this.#lastSeq)
  }

  #pump(): void {
    if (this.#busy || this.#closed) return
    this.#chunk ??= this.#nextChunk()
    if (this.#chunk === undefined) {
      if (this.#idle()) this.#wakeIdleWaits()
      return
    }
    this.#busy = true
    this.#options.write(this.#chunk.bytes, (error, written) => this.#written(error, written))
  }

  #written(error: NodeJS.ErrnoException | null, written: number): void {
    this.#busy = false
    if (this.#closed || this.#chunk === undefined) return
    if (error !== null) return this.#failed(error)
    const chunk = this.#chunk
    this.#retryMs = STDOUT_RETRY_MIN_MS
    if (written < chunk.bytes.length) {
      chunk.bytes = chunk.bytes.subarray(written)
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
    } else if (FULL.has(code)) {
      this.#pumpAfter(STDOUT_FULL_RETRY_MS)
    } else {
      this.abandon()
      this.#options.onClosed(`stdout takes no more audit lines (${code})`)
    }
  }

  /** Gives up what is not written yet. Its position stays behind it, so a buffer's lines are written at the next start. */
  abandon(): void {
    this.#closed = true
    this.#queue = []
    this.#chunk = undefined
    clearTimeout(this.#retryTimer)
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

  /** From memory where the next line is there, else from the buffer. */
  #nextChunk(): { bytes: Uint8Array; readonly lastSeq: number } | undefined {
    if (this.#position >= this.#lastSeq) return undefined
    while (this.#queue[0] !== undefined && this.#queue[0].seq <= this.#position) this.#queue.shift()
    const { replay } = this.#options
    if (replay === undefined || this.#queue[0]?.seq === this.#position + 1) {
      const { text, count, lastSeq } = joined(this.#queue)
      this.#queue.splice(0, count)
      return lastSeq === undefined ? undefined : { bytes: Buffer.from(text), lastSeq }
    }
    const replayed = replay(this.#position, STDOUT_CHUNK_LINES_MAX)
    if (!replayed.ok) {
      this.#pumpAfter(STDOUT_FULL_RETRY_MS)
      return undefined
    }
    const { text, lastSeq } = joined(replayed.value)
    // Lines that are nowhere any more were removed from the buffer by someone: go on behind them.
    if (lastSeq === undefined) this.#position = (this.#queue[0]?.seq ?? this.#lastSeq + 1) - 1
    return lastSeq === undefined ? this.#nextChunk() : { bytes: Buffer.from(text), lastSeq }
  }
}

function joined(entries: readonly EntryLine[]): { text: string; count: number; lastSeq: number | undefined } {
  let text = ''
  let count = 0
  let lastSeq: number | undefined
  for (const entry of entries) {
    if (count >= STDOUT_CHUNK_LINES_MAX || text.length >= STDOUT_CHUNK_CHARS_MAX) break
    text += `${entry.line}\n`
    lastSeq = entry.seq
    count += 1
  }
  return { text, count, lastSeq }
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
