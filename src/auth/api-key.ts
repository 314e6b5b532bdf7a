import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * A key reads `rk_<keyid>_<secret>`: the id finds its record, the secret proves it. The secret has 256 random bits, so one
 * SHA-256 of it is as good as a slow hash and cheap enough for every request.
 */

export interface ParsedKey {
  readonly keyId: string
  readonly secret: string
}

export interface GeneratedKey {
  readonly keyId: string
  readonly secretHash: Uint8Array
  /** The whole key, for the person it is for. */
  readonly key: string
}

/** Gives that many cryptographically random bytes. */
export type RandomBytes = (count: number) => Uint8Array

export const KEY_ID = /^[a-z0-9]{12}$/
const KEY = /^rk_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/
const KEY_ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const KEY_ID_CHARS = 12
const SECRET_BYTES = 32

/** Undefined for a text that cannot be a key. */
export function parseKey(text: string): ParsedKey | undefined {
  const match = KEY.exec(text)
  const [, keyId, secret] = match ?? []
  return keyId === undefined || secret === undefined ? undefined : { keyId, secret }
}

const KEYS_WITHIN = /rk_([a-z0-9]{12})_[A-Za-z0-9_-]*/g

/** A text in which no key is whole, for entries: somebody may have put one where a name was expected. */
export function withoutSecrets(text: string): string {
  return parseKey(text)?.keyId ?? text.replace(KEYS_WITHIN, 'rk_$1_***')
}

export function generateKey(randomBytes: RandomBytes): GeneratedKey {
  const keyId = randomKeyId(randomBytes)
  const secret = Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url')
  return { keyId, secretHash: hashSecret(secret), key: `rk_${keyId}_${secret}` }
}

function randomKeyId(randomBytes: RandomBytes): string {
  let id = ''
  while (id.length < KEY_ID_CHARS) {
    for (const byte of randomBytes(KEY_ID_CHARS * 2)) {
      // 252 is the largest multiple of 36 in a byte: what lies above would make the first letters likelier.
      if (byte < 252 && id.length < KEY_ID_CHARS) id += KEY_ID_LETTERS.charAt(byte % KEY_ID_LETTERS.length)
    }
  }
  return id
}

/** SHA-256 of the secret's text, 32 bytes. */
export function hashSecret(secret: string): Uint8Array {
  return createHash('sha256').update(secret, 'utf8').digest()
}

const NO_HASH = new Uint8Array(32)

/** Compares in constant time. Without a hash the same work is done and the answer is no: an unknown id takes as long. */
export function secretMatches(secret: string, secretHash: Uint8Array | undefined): boolean {
  const known = secretHash?.length === NO_HASH.length ? secretHash : undefined
  const equal = timingSafeEqual(hashSecret(secret), known ?? NO_HASH)
  return equal && known !== undefined
}
