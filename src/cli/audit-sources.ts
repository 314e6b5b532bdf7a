import { resolve } from 'node:path'
import { type ChainKeys, chainKeys } from '../audit/chain.js'
import { loadChainKey } from '../audit/chain-key.js'
import { fail, ok, type Result } from '../core/result.js'
import { type Refusal, readConfig, refused, type Surroundings } from './command.js'

/** Where a command that reads the trail finds it. Whoever names both needs no configuration: a trail can be read anywhere. */
export interface SourceOptions {
  readonly buffer?: string
  readonly keyFile?: string
}

export interface TrailPlace {
  /** Absolute; absent where the configuration has none. */
  readonly buffer?: string
  /** The file of the file sink, where the configuration has one. */
  readonly file?: string
  readonly keys: ChainKeys
}

function keysIn(path: string): Result<ChainKeys, Refusal> {
  const secret = loadChainKey({ path, mayCreate: false, randomBytes: () => new Uint8Array() })
  return secret.ok ? ok(chainKeys(secret.value)) : refused(secret.error)
}

/** The trail of the options, and of the configuration for what they leave out. */
export function findTrail(surroundings: Surroundings, { buffer, keyFile }: SourceOptions): Result<TrailPlace, Refusal> {
  if (buffer !== undefined) {
    const path = resolve(buffer)
    const keys = keysIn(keyFile ?? `${path}.key`)
    return keys.ok ? ok({ buffer: path, keys: keys.value }) : keys
  }
  const loaded = readConfig(surroundings)
  if (!loaded.ok) {
    // With a key and files alone nothing else is needed.
    if (keyFile === undefined) return loaded
    const keys = keysIn(keyFile)
    return keys.ok ? ok({ keys: keys.value }) : keys
  }
  const { audit } = loaded.value.config
  const path = keyFile ?? audit.chainKeyFile
  if (path === undefined) {
    return fail({
      lines: [
        'the configuration names no audit.buffer and no audit.chain_key_file: give --key-file, and --buffer or files',
      ],
    })
  }
  const keys = keysIn(path)
  if (!keys.ok) return keys
  return ok({
    keys: keys.value,
    ...(audit.buffer === undefined ? {} : { buffer: audit.buffer.path }),
    ...(audit.file === undefined ? {} : { file: audit.file.path }),
  })
}
