import { ok } from '../core/result.js'
import { type CommandResult, type Surroundings, storeRefused, table, withStore } from './command.js'

/** `runku role create <role>` */
export function createRole(surroundings: Surroundings, role: string): CommandResult {
  return withStore(surroundings, (store) => {
    const made = store.createRole(role)
    return made.ok ? ok({ lines: [`Made the role "${role}".`], json: { role } }) : storeRefused(made.error)
  })
}

/** `runku role list` */
export function listRoles(surroundings: Surroundings): CommandResult {
  return withStore(surroundings, (store) => {
    const roles = store.listRoles()
    const rows = roles.map(({ name, reserved }) => [name, reserved ? 'reserved' : ''])
    return ok({ lines: table(['ROLE', ''], rows, 'There are no roles.'), json: { roles } })
  })
}
