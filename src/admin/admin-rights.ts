import type { Binding } from './admin-store.js'
import { RESERVED_ROLES } from './names.js'

/** The roles whose meaning is the gateway's own. */
export type ReservedRole = (typeof RESERVED_ROLES)[number]

/** Where a reserved role holds: on every connector, or on those alone. */
export interface Reach {
  readonly everywhere: boolean
  readonly connectors: ReadonlySet<string>
}

/** What somebody may administer. */
export type AdminRights = Readonly<Record<ReservedRole, Reach>>

const NOWHERE: Reach = { everywhere: false, connectors: new Set() }
const EVERYWHERE: Reach = { everywhere: true, connectors: new Set() }

/** Of who works on the store's own file or database, where there is nothing left to keep from them. */
export const ALL_RIGHTS: AdminRights = { admin: EVERYWHERE, operator: EVERYWHERE, auditor: EVERYWHERE }

/** Reserved roles among the bindings; every other role gives nothing here. */
export function adminRights(bindings: readonly Binding[]): AdminRights {
  const reach = (role: ReservedRole): Reach => {
    const held = bindings.filter((binding) => binding.role === role)
    if (held.length === 0) return NOWHERE
    const connectors = held.flatMap(({ connector }) => (connector === undefined ? [] : [connector]))
    return { everywhere: connectors.length < held.length, connectors: new Set(connectors) }
  }
  return { admin: reach('admin'), operator: reach('operator'), auditor: reach('auditor') }
}

/** Whether one of the roles holds on every connector. */
export function everywhere(rights: AdminRights, roles: readonly ReservedRole[]): boolean {
  return roles.some((role) => rights[role].everywhere)
}

/** Whether one of the roles holds on this connector. */
export function reaches(rights: AdminRights, roles: readonly ReservedRole[], connector: string): boolean {
  return roles.some((role) => rights[role].everywhere || rights[role].connectors.has(connector))
}

/** Whether any reserved role holds anywhere. */
export function mayEnter(rights: AdminRights): boolean {
  return RESERVED_ROLES.some((role) => rights[role].everywhere || rights[role].connectors.size > 0)
}
