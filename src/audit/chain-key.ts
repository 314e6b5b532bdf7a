import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { fail, ok, type Result } from '../core/result.js'

const KEY_BYTES = 32
const KEY_TEXT = /^[0-9a-f]{64}$/i

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/**
 * Writes a new key under a name of its own and links it into place: the link fails where a file exists, and no crash
 * leaves half a key. File and folder are synced, because entries that outlive their key could never be verified.
 */
function createKeyFile(path: string, secret: Uint8Array, draft: string): void {
  const file = openSync(draft, 'wx', 0o600)
  try {
    fchmodSync(file, 0o600)
    writeSync(file, `${Buffer.from(secret).toString('hex')}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/** Whoever can read the key can forge the trail. A file that this user may not change, such as a mounted secret, stays. */
function keepToOwner(path: string): void {
  try {
    const found = statSync(path)
    if (found.isFile() && (found.mode & 0o077) !== 0) chmodSync(path, 0o600)
  } catch {
    // Reading it comes next, and says what is wrong.
  }
}

/** Reads the chain key, 32 bytes as 64 hex digits. Fails with one sentence for the operator. */
function readKeyFile(path: string): Result<Uint8Array, string> {
  let text: string
  keepToOwner(path)
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    return fail(`the audit chain key file "${path}" cannot be read (${codeOf(error)})`)
  }
  if (KEY_TEXT.test(text)) return ok(Buffer.from(text, 'hex'))
  return fail(
    `the audit chain key file "${path}" does not hold a key: expected 64 hex digits (32 bytes), found ${text.length} characters`,
  )
}

export interface ChainKeyOptions {
  readonly path: string
  /** False where entries exist already: they were made with a key that must be put back, not replaced. */
  readonly mayCreate: boolean
  readonly randomBytes: (count: number) => Uint8Array
}

/** The chain key's 32 bytes, from its file (made with mode 0600 when it does not exist). Fails with one sentence. */
export function loadChainKey({ path, mayCreate, randomBytes }: ChainKeyOptions): Result<Uint8Array, string> {
  if (existsSync(path)) return readKeyFile(path)
  if (!mayCreate) {
    return fail(
      `the audit chain key file "${path}" is missing although the buffer has entries made with it: put the key back, or move the buffer away to start a new one`,
    )
  }
  try {
    createKeyFile(path, randomBytes(KEY_BYTES), `${path}.${Buffer.from(randomBytes(6)).toString('hex')}`)
  } catch (error) {
    // Another process may have made the key in between: then its key is the one to use.
    if (codeOf(error) !== 'EEXIST') {
      return fail(
        `the audit chain key file "${path}" cannot be made (${codeOf(error)}): is its folder there and writable?`,
      )
    }
  }
  return readKeyFile(path)
}
