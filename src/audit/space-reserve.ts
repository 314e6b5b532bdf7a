import { randomFillSync } from 'node:crypto'
import { closeSync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs'
import { ensurePrivateFile } from './process-lock.js'

const CHUNK_BYTES = 1_048_576

/**
 * Space on the disk that is held for the outcomes of announced calls: a file beside the buffer, which is emptied when the disk is full
 * and one of them has to be kept. Calls are announced only as far as it reaches.
 */
export class SpaceReserve {
  readonly #path: string
  #bytes = 0

  constructor(path: string) {
    this.#path = path
  }

  /** What it holds for sure, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Takes so much space, where the disk has it, unless it holds some. The content is random, because a file system may store an empty
   * block as none.
   */
  fill(bytes: number): void {
    if (this.#bytes > 0 && statSync(this.#path, { throwIfNoEntry: false })?.size === this.#bytes) return
    this.#bytes = 0
    try {
      ensurePrivateFile(this.#path)
      const file = openSync(this.#path, 'r+')
      try {
        if (fillFile(file, bytes)) this.#bytes = bytes
      } finally {
        closeSync(file)
      }
    } catch {
      // Without it nothing is announced while the disk is nearly full, which is what it is for.
    }
  }

  /** Gives the space back; false when there was none to give. */
  release(): boolean {
    if (this.#bytes === 0) return false
    this.#bytes = 0
    try {
      const file = openSync(this.#path, 'r+')
      ftruncateSync(file, 0)
      closeSync(file)
      return true
    } catch {
      return false
    }
  }
}

/** Writes what is missing; a file that cannot be filled is emptied again, for a part of it serves nobody. */
function fillFile(file: number, bytes: number): boolean {
  const chunk = randomFillSync(Buffer.alloc(Math.min(CHUNK_BYTES, bytes)))
  try {
    let { size } = fstatSync(file)
    if (size > bytes) ftruncateSync(file, bytes)
    while (size < bytes) size += writeSync(file, chunk, 0, Math.min(chunk.length, bytes - size), size)
    return true
  } catch {
    ftruncateSync(file, 0)
    return false
  }
}
