import { BODY_DISCARD_BYTES_MAX } from '../core/limits.js'
import type { BodyFraming } from './request-head.js'

const FIRST_BYTES = 4_096

/**
 * Collects one body into one growing buffer, so that many tiny pieces cost no more than their bytes. Past the cap it only
 * counts and throws away, until the client has finished writing: a reply before that is often lost to a reset.
 */
export class BodyReader {
  readonly #bytesMax: number
  readonly #onBody: (body: Uint8Array) => void
  readonly #onTooLarge: () => void
  #buffer: Uint8Array | undefined
  #received = 0
  #settled = false

  constructor(bytesMax: number, onBody: (body: Uint8Array) => void, onTooLarge: () => void) {
    this.#bytesMax = bytesMax
    this.#onBody = onBody
    this.#onTooLarge = onTooLarge
  }

  /** Refuses at once what the client itself announced to be too large even to throw away. */
  start(framing: BodyFraming): void {
    if (framing.kind === 'length' && framing.bytes > this.#bytesMax + BODY_DISCARD_BYTES_MAX) this.#refuse()
  }

  /** `piece` is read during the call only, so it may be native memory. */
  take(piece: Uint8Array, isLast: boolean): void {
    if (this.#settled) return
    const received = this.#received + piece.length
    if (received > this.#bytesMax) {
      this.#buffer = undefined
      if (isLast || received > this.#bytesMax + BODY_DISCARD_BYTES_MAX) this.#refuse()
    } else if (isLast) {
      this.#settled = true
      this.#onBody(this.#whole(piece, received))
      return
    } else {
      this.#append(piece, received)
    }
    this.#received = received
  }

  #refuse(): void {
    this.#settled = true
    this.#onTooLarge()
  }

  /** The usual body comes in one piece and is copied exactly once. */
  #whole(last: Uint8Array, received: number): Uint8Array {
    if (this.#buffer === undefined) return new Uint8Array(last)
    this.#append(last, received)
    const whole = this.#buffer.subarray(0, received)
    this.#buffer = undefined
    return whole
  }

  #append(piece: Uint8Array, received: number): void {
    let buffer = this.#buffer
    if (buffer === undefined || buffer.length < received) {
      const larger = new Uint8Array(Math.min(this.#bytesMax, Math.max(FIRST_BYTES, received * 2)))
      if (buffer !== undefined) larger.set(buffer.subarray(0, this.#received))
      buffer = larger
      this.#buffer = larger
    }
    buffer.set(piece, this.#received)
  }
}
