import { createHmac, randomBytes } from 'node:crypto'
import type { Withheld } from './buffer-file.js'
import { type ChainKeys, readLink, SUM_BYTES } from './chain.js'

/** Of a row: what is stored beside it, and what the head's sum over all rows is made of, which is stored nowhere. */
export interface Sealed {
  readonly mac: string
  /** `SUM_BYTES` long. */
  readonly element: Buffer
}

const MAC_CHARS = 2 * SUM_BYTES

/** Takes a row into the sum, or out of it, which is the same: modulo 2 in each bit. */
export function addTo(sum: Uint8Array, element: Uint8Array): void {
  for (let i = 0; i < SUM_BYTES; i++) sum[i] = (sum[i] ?? 0) ^ (element[i] ?? 0)
}

/**
 * Seals of what a buffer keeps beside its chain: who has no key can make none of it. Something genuine can be put back as it was
 * earlier; so that this shows, the head, which moves with each entry, is sealed over the sum of all rows that there are.
 */
export class Seals {
  readonly #keys: ChainKeys
  readonly #instance: string
  /** Drawn, since a buffer may lose heads that somebody has seen. */
  readonly #drawn = randomBytes(12).toString('hex')
  #nonces = 0

  constructor({ keys, instance }: { readonly keys: ChainKeys; readonly instance: string }) {
    this.#keys = keys
    this.#instance = instance
  }

  /** Of one head, whether that is stored or not. */
  nonce(): string {
    this.#nonces += 1
    return `${this.#drawn}-${this.#nonces}`
  }

  /** `text` has no bound, so that it stands behind the rest, which has no line end. */
  #seal(
    kind: 'intent' | 'withheld' | 'position' | 'batch' | 'undelivered',
    members: readonly unknown[],
    text = '',
  ): Sealed {
    const sealed = `${JSON.stringify([kind, this.#instance, ...members])}\n${text}`
    const digest = createHmac('sha512', this.#keys.beside).update(sealed).digest()
    return { mac: digest.toString('hex', 0, SUM_BYTES), element: digest.subarray(SUM_BYTES) }
  }

  intent(id: string, timeMs: number, body: string): Sealed {
    return this.#seal('intent', [id, timeMs], body)
  }

  withheld({ connector, operation, code, count, since_ms }: Withheld): Sealed {
    return this.#seal('withheld', [connector, operation, code, count, since_ms])
  }

  /** The element of an entry that the destination refused. */
  undelivered(seq: number): Buffer {
    return this.#seal('undelivered', [seq]).element
  }

  /** Whether it is the line of that entry. */
  isLine(seq: number, line: unknown): boolean {
    const { link } = typeof line === 'string' ? readLink(this.#keys, line) : {}
    return link?.seq === seq && link.instance === this.#instance
  }

  /** `seq:mac`. */
  position(sink: string, seq: number): string {
    return `${seq}:${this.#seal('position', [sink, seq]).mac}`
  }

  /** The position in a stored value, or undefined when that was not made with the key for this sink. */
  openPosition(sink: string, stored: unknown): number | undefined {
    if (typeof stored !== 'string') return undefined
    const seq = Number(stored.split(':')[0])
    return this.position(sink, seq) === stored ? seq : undefined
  }

  /** `text` behind its mac. */
  batch(text: string): string {
    return this.#seal('batch', [], text).mac + text
  }

  /** The text in a stored value, or undefined when that was not made with the key. */
  openBatch(stored: unknown): string | undefined {
    if (typeof stored !== 'string') return undefined
    const text = stored.slice(MAC_CHARS)
    return this.batch(text) === stored ? text : undefined
  }
}
