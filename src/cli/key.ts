import { ACCESS_OPERATIONS } from '../admin/operations-access.js'
import { withoutSecrets } from '../auth/api-key.js'
import { administer } from './administer.js'
import { type CommandResult, type Surroundings, table } from './command.js'
import { confirmed } from './confirm.js'

/** `runku key create <identity> [--expires 90d]`: prints the key, this once. */
export function createKey(
  surroundings: Surroundings,
  identity: string,
  expires: string | undefined,
): Promise<CommandResult> {
  const input = { identity, ...(expires === undefined ? {} : { expires }) }
  return administer(surroundings, ACCESS_OPERATIONS['key.create'], input, ({ key, expires_at }) => [
    `A key for "${identity}"${expires_at === undefined ? '' : `, good until ${expires_at}`}. It is not shown again:`,
    '',
    key,
  ])
}

/** `runku key revoke <keyid> [--yes]`: effective with the next request, on every running gateway. A whole key is taken too. */
export async function revokeKey(surroundings: Surroundings, keyIdOrKey: string, yes: boolean): Promise<CommandResult> {
  // The question goes to a terminal, where a secret has no place.
  const asked = await confirmed(`ends the key ${withoutSecrets(keyIdOrKey)} for good`, yes)
  if (!asked.ok) return asked
  return administer(surroundings, ACCESS_OPERATIONS['key.revoke'], { key_id: keyIdOrKey }, ({ key_id }) => [
    `Revoked the key ${key_id}.`,
  ])
}

/** `runku key list [--identity name]` */
export function listKeys(surroundings: Surroundings, identity: string | undefined): Promise<CommandResult> {
  const input = identity === undefined ? {} : { identity }
  return administer(surroundings, ACCESS_OPERATIONS['key.list'], input, ({ keys }) => {
    const rows = keys.map((key) => [
      key.key_id,
      key.identity,
      key.state,
      key.created_at,
      key.expires_at ?? 'never',
      key.last_used_at ?? 'never',
    ])
    return table(['KEY ID', 'IDENTITY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'], rows, 'There are no keys.')
  })
}
