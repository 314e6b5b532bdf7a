import { ACCESS_OPERATIONS } from '../admin/operations-access.js'
import { administer } from './administer.js'
import { type CommandResult, type Surroundings, table } from './command.js'
import { confirmed } from './confirm.js'

/** `runku role create <role>` */
export function createRole(surroundings: Surroundings, role: string): Promise<CommandResult> {
  return administer(surroundings, ACCESS_OPERATIONS['role.create'], { role }, () => [`Made the role "${role}".`])
}

/** `runku role list` */
export function listRoles(surroundings: Surroundings): Promise<CommandResult> {
  return administer(surroundings, ACCESS_OPERATIONS['role.list'], {}, ({ roles }) => {
    const rows = roles.map(({ name, reserved }) => [name, reserved ? 'reserved' : ''])
    return table(['ROLE', ''], rows, 'There are no roles.')
  })
}

/** `runku role delete <role> [--unbind] [--yes]` */
export async function deleteRole(
  surroundings: Surroundings,
  role: string,
  options: { readonly unbind: boolean; readonly yes: boolean },
): Promise<CommandResult> {
  const asked = await confirmed(`deletes the role "${role}"`, options.yes)
  if (!asked.ok) return asked
  const input = { role, unbind: options.unbind }
  return administer(surroundings, ACCESS_OPERATIONS['role.delete'], input, () => [`Deleted the role "${role}".`])
}
