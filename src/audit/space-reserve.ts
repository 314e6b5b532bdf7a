import { randomFillSync } from 'node:crypto'
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { ensurePrivateFile } from './process-lock.js'

const CHUNK_BYTES = 1_048_576

/**
 * Space on the disk that is held for the outcomes of announced calls: a file beside the buffer, which is emptied when the disk is full
 * and one of them has to be kept. Calls are announced only as far as it reaches.
 */
export class SpaceReserve {
  readonly #path: string
  readonly #bytes: number
  #whole = false

  constructor(path: string, bytes: number) {
    this.#path = path
    this.#bytes = bytes
  }

  /** What it holds for sure, in bytes. */
  get bytes(): number {
    return this.#whole ? this.#bytes : 0
  }

  /** Takes the space, where the disk has it. The content is random, because a file system may store an empty block as none. */
  fill(): void {
    if (this.#whole) return
    try {
      ensurePrivateFile(this.#path)
      const file = openSync(this.#path, 'r+')
      try {
        this.#whole = fillFile(file, this.#bytes)
      } finally {
        closeSync(file)
      }
    } catch {
      // Without it nothing is announced while the disk is nearly full, which is what it is for.
      this.#whole = false
    }
  }

  /** Gives the space back; false when there was none to give. */
  release(): boolean {
    if (!this.#whole) return false
    this.#whole = false
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
