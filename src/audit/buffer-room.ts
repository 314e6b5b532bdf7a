import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  AUDIT_RESERVE_BYTES,
  AUDIT_RESERVE_OF_FREE_RATIO,
  AUDIT_RESERVED_OUTCOME_BYTES,
  AUDIT_ROOM_HIGH_RATIO,
  AUDIT_ROOM_LOW_RATIO,
  AUDIT_SPACE_LOW_BYTES,
} from '../core/limits.js'
import { SpaceReserve } from './space-reserve.js'

export interface BufferRoomOptions {
  readonly path: string
  readonly onFull: 'prune' | 'block'
  readonly bytesMax: number | undefined
  readonly pageBytes: number
  /** Pages that hold something. */
  readonly usedPages: () => number
  /** What the file system of a folder would still take, in bytes; undefined where it does not say. `freeBytesOf` outside tests. */
  readonly freeBytes?: (folder: string) => number | undefined
}

/** What a user without privileges may still write, in bytes. */
export function freeBytesOf(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return undefined
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * How much room the buffer has. What entries take is counted in the pages that hold something, not in the size of the file: pages of deleted
 * entries are used again before the file grows, so that the file stays as large as it has ever had to be. Between two looks the
 * bytes that were added are counted, which costs nothing.
 */
export class BufferRoom {
  readonly #options: BufferRoomOptions
  #usedBytes = 0
  /** Counted, not seen. */
  #addedBytes = 0
  #freeBytes: number | undefined
  readonly #reserve: SpaceReserve

  constructor(options: BufferRoomOptions) {
    this.#options = options
    this.measure()
    this.#reserve = new SpaceReserve(`${options.path}.reserve`)
    this.fillReserve()
  }

  /** Whether the disk has, or the reserve holds, what the outcomes of so many announced calls may need. */
  canAnnounce(calls: number): boolean {
    return !this.spaceLow || calls * AUDIT_RESERVED_OUTCOME_BYTES <= this.#reserve.bytes
  }

  /** Gives the space that is held for outcomes to the disk; false where there is none. */
  releaseReserve(): boolean {
    return this.#reserve.release()
  }

  /** Takes that space, and takes it again where it was given up or somebody removed it: as much as the disk can well do without. */
  fillReserve(): void {
    const bytes = Math.floor(Math.min(AUDIT_RESERVE_BYTES, this.freeBytes * AUDIT_RESERVE_OF_FREE_RATIO))
    if (bytes >= AUDIT_RESERVED_OUTCOME_BYTES) this.#reserve.fill(bytes)
  }

  get fullSentence(): string {
    const { path, bytesMax, onFull } = this.#options
    const why = onFull === 'block' ? 'none of its entries is old enough to go' : 'none of its entries may go yet'
    return `the audit buffer "${path}" is full (bytes_max ${bytesMax}): ${why}`
  }

  get lowSentence(): string {
    return `the disk of the audit buffer "${this.#options.path}" has no space for the outcomes of more calls that write`
  }

  /** Looks again at the file and the disk. */
  measure(): void {
    const { path, freeBytes = freeBytesOf } = this.#options
    this.measureUsed()
    this.#freeBytes = freeBytes(dirname(path))
  }

  /** Looks again at the file alone. */
  measureUsed(): void {
    this.#usedBytes = this.#options.usedPages() * this.#options.pageBytes
    this.#addedBytes = 0
  }

  /** Counts what was written since the last look. The nearer the bound, the sooner the file is looked at again. */
  added(bytes: number): void {
    const { bytesMax } = this.#options
    this.#usedBytes += bytes
    this.#addedBytes += bytes
    if (bytesMax !== undefined && this.#addedBytes * 8 > bytesMax - this.#usedBytes) this.measureUsed()
  }

  /** What the disk would still take when that was last looked at, in bytes; no end where it does not say. */
  get freeBytes(): number {
    return this.#freeBytes ?? Number.POSITIVE_INFINITY
  }

  /** Whether calls that write are let go only as far as there is space held for their outcomes. */
  get spaceLow(): boolean {
    return this.freeBytes < AUDIT_SPACE_LOW_BYTES
  }

  get walBytes(): number {
    return sizeOf(`${this.#options.path}-wal`)
  }

  /** What the entries might take altogether, in bytes: as configured, or as the disk allows. */
  get capacityBytes(): number {
    const { bytesMax = Number.POSITIVE_INFINITY } = this.#options
    return Math.min(bytesMax, this.#usedBytes + this.freeBytes)
  }

  /** Of what is configured, or of what the disk could take, whichever is nearer to full: 0 to 1. */
  fillRatio(reservedBytes: number): number {
    return Math.min(1, (this.#usedBytes + reservedBytes) / this.capacityBytes)
  }

  /** Whether there is no room for `bytes` more under the configured bound. */
  isFull(bytes: number): boolean {
    const { bytesMax } = this.#options
    return bytesMax !== undefined && this.#usedBytes + bytes >= bytesMax
  }

  /**
   * What the oldest entries are to give up, in bytes: nothing below the mark where making room begins, and down to a lower one once it
   * has begun. `neededBytes`: what is to fit in beside what is there.
   */
  excessBytes(neededBytes: number, making: boolean): number {
    const { bytesMax } = this.#options
    if (bytesMax === undefined) return 0
    const bytes = this.#usedBytes + neededBytes
    const begins = bytesMax * (making ? AUDIT_ROOM_LOW_RATIO : AUDIT_ROOM_HIGH_RATIO)
    return bytes < begins ? 0 : bytes - bytesMax * AUDIT_ROOM_LOW_RATIO
  }

  /** What one of so many entries takes, about. */
  entryBytes(entries: number): number {
    return this.#usedBytes / Math.max(entries, 1)
  }
}
