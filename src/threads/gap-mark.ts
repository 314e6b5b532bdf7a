import { close, closeSync, ftruncateSync, openSync, readFileSync, write, writeSync } from 'node:fs'
import type { DegradedTime } from './degraded-records.js'

/** What is left of a time without entries when its process ended in it. */
export interface MarkedGap extends DegradedTime {
  /** Until when it is known of, in Unix milliseconds. */
  readonly toMs: number
  /** Records that were in memory. */
  readonly waiting: number
}

const MARK_BYTES = 1_024
const REASON_CHARS_MAX = 200

function padded(gap: MarkedGap | undefined): Buffer {
  const mark = Buffer.alloc(MARK_BYTES, ' ')
  if (gap !== undefined) mark.write(JSON.stringify({ ...gap, reason: gap.reason.slice(0, REASON_CHARS_MAX) }))
  return mark
}

/**
 * A note beside the buffer of a time without entries, so that the process which comes after a `kill -9` can tell of it. Its space is
 * taken at the start and written over in place, because the time to write it is when the disk is full.
 */
export class GapMark {
  readonly #fd: number
  #busy = false
  #next: MarkedGap | undefined | 'none' = 'none'
  #ended: (() => void) | undefined

  private constructor(fd: number) {
    this.#fd = fd
  }

  /** Opens or makes the file (0600), and gives what an earlier process left in it. Undefined where that is not possible. */
  static open(path: string): { readonly mark: GapMark; readonly left: MarkedGap | undefined } | undefined {
    try {
      const fd = openSync(path, 'a+', 0o600)
      closeSync(fd)
      const left = readMark(readFileSync(path, 'utf8'))
      const writing = openSync(path, 'r+')
      if (left === undefined) {
        writeSync(writing, padded(undefined), 0, MARK_BYTES, 0)
        ftruncateSync(writing, MARK_BYTES)
      }
      return { mark: new GapMark(writing), left }
    } catch {
      return undefined
    }
  }

  /** Writes it, without anybody waiting; of what comes faster than the disk writes, the last counts. */
  put(gap: MarkedGap | undefined): void {
    if (this.#busy) {
      this.#next = gap
      return
    }
    this.#busy = true
    write(this.#fd, padded(gap), 0, MARK_BYTES, 0, () => {
      this.#busy = false
      const next = this.#next
      this.#next = 'none'
      if (next !== 'none') this.put(next)
      else if (this.#ended !== undefined) close(this.#fd, this.#ended)
    })
  }

  /**
   * Writes it for the last time, behind what is being written: settles when it is, or cannot be. Whoever could not keep entries may
   * not be able to keep this either.
   */
  end(gap: MarkedGap | undefined): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#ended = () => resolve()
    })
    this.put(gap)
    return ended
  }
}

function readMark(text: string): MarkedGap | undefined {
  try {
    // Whoever can write here can write to the buffer's folder: it is looked at for its shape alone.
    const gap = JSON.parse(text) as Partial<MarkedGap>
    const { fromMs, toMs, calls, lost, waiting, reason } = gap
    if (typeof fromMs !== 'number' || typeof toMs !== 'number' || typeof calls !== 'number') return undefined
    if (typeof lost !== 'number' || typeof waiting !== 'number' || typeof reason !== 'string') return undefined
    return { fromMs, toMs, calls, lost, waiting, reason }
  } catch {
    return undefined
  }
}
