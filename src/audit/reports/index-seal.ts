import { createCipheriv, createSecretKey, hkdfSync, type KeyObject, randomFillSync, timingSafeEqual } from 'node:crypto'
import type { ChainKeys } from '../chain.js'
import { fileFault } from './index-fault.js'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Before what is sealed; a multiple of eight, so that numbers behind it lie where they may. */
const HEAD_BYTES = 32

/**
 * What is kept in an index is kept with a mac over it and its place: whoever writes the file without the chain key can neither
 * make a number in it nor move one to where it does not belong. The mac is GMAC, AES-256-GCM over nothing but further data, since
 * each report checks megabytes; the key is of one index alone, so that nothing of an older one fits either.
 */
export class IndexSeal {
  readonly #key: KeyObject

  /** `made`: what tells this index from all that were made with the same chain key. */
  constructor(keys: ChainKeys, made: string) {
    this.#key = createSecretKey(new Uint8Array(hkdfSync('sha256', keys.chain, made, 'runku audit index v1', 32)))
  }

  #tag(nonce: Uint8Array, place: string, body: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    // No place has a line end in it.
    cipher.setAAD(Buffer.from(`${place}\n`))
    cipher.setAAD(body)
    cipher.final()
    return cipher.getAuthTag()
  }

  /** The bytes to store: `body` behind its mac. `place` says what it is and where it belongs. */
  seal(place: string, body: Uint8Array): Uint8Array {
    const stored = new Uint8Array(HEAD_BYTES + body.byteLength)
    // Numbers that are used once: drawn, as two processes may write one index.
    const nonce = randomFillSync(stored.subarray(0, NONCE_BYTES))
    stored.set(this.#tag(nonce, place, body), NONCE_BYTES)
    stored.set(body, HEAD_BYTES)
    return stored
  }

  /** What was sealed for this place, without a copy. Throws an index fault where it is anything else. */
  open(place: string, stored: unknown): Uint8Array {
    if (!(stored instanceof Uint8Array) || stored.byteLength < HEAD_BYTES) throw fileFault(`${place} is not sealed`)
    const body = stored.subarray(HEAD_BYTES)
    const tag = this.#tag(stored.subarray(0, NONCE_BYTES), place, body)
    if (!timingSafeEqual(tag, stored.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))) {
      throw fileFault(`${place} was not written by this gateway`)
    }
    return body
  }
}
