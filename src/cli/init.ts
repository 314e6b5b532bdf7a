import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ok } from '../core/result.js'
import { type CommandResult, onStore, readConfig, refused, type Surroundings, storeRefused } from './command.js'
import { packageRoot } from './package-root.js'

const ADMIN = 'admin'

/**
 * `runku init`: writes a commented `config.yaml`, makes the admin store with an identity `admin`, and prints its key once.
 * Nothing is overwritten; when something is in the way, nothing is left behind.
 */
export async function init(surroundings: Surroundings): Promise<CommandResult> {
  const { configFile } = surroundings
  if (existsSync(configFile)) return refused(`${configFile} exists already and is left as it is`)
  const unwritten = writeExample(configFile)
  if (unwritten !== undefined) return refused(unwritten)
  const outcome = await makeStore(surroundings)
  if (!outcome.ok) unlinkSync(configFile)
  return outcome
}

function writeExample(configFile: string): string | undefined {
  const example = readFileSync(join(packageRoot(), 'config.example.yaml'), 'utf8')
  try {
    writeFileSync(configFile, example, { flag: 'wx', mode: 0o600 })
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause'
    if (code === 'ENOENT') return `${configFile} cannot be written: its folder does not exist`
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
      return `${configFile} may not be written by this user`
    return `${configFile} cannot be written (${code})`
  }
}

async function makeStore(surroundings: Surroundings): Promise<CommandResult> {
  const loaded = readConfig(surroundings)
  if (!loaded.ok) return loaded
  return onStore({ ...surroundings, note: () => {} }, loaded.value, 'changes', async (store) => {
    const { place } = store
    const changes = store.changes({ name: surroundings.author })
    const identity = await changes.createIdentity(ADMIN, [ADMIN], new Map())
    if (!identity.ok && identity.error.code === 'EXISTS') {
      return refused(
        `the admin store ${place} has an identity "${ADMIN}" already: move the store away, or keep its config`,
      )
    }
    if (!identity.ok) return storeRefused(identity.error)
    const made = await changes.createKey(ADMIN)
    if (!made.ok) return storeRefused(made.error)
    const { keyId, key } = made.value
    return ok({
      lines: [
        `Wrote ${surroundings.configFile} and the admin store ${place}.`,
        `The key of the identity "${ADMIN}" is not shown again:`,
        '',
        key,
        '',
        `Next: put your database into ${surroundings.configFile}, apply a policy with "runku policy apply <name> <file>",`,
        'and start the gateway with "runku serve".',
      ],
      json: { config: surroundings.configFile, admin_store: place, identity: ADMIN, key_id: keyId, key },
    })
  })
}
