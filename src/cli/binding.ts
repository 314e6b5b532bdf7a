import { ACCESS_OPERATIONS } from '../admin/operations-access.js'
import { administer } from './administer.js'
import type { CommandResult, Surroundings } from './command.js'

export interface BindingArguments {
  readonly identity: string
  readonly role: string
  /** Absent: every connector. */
  readonly connector?: string
}

/** `runku binding add <identity> <role> [--connector id]` */
export function addBinding(surroundings: Surroundings, binding: BindingArguments): Promise<CommandResult> {
  return administer(surroundings, ACCESS_OPERATIONS['binding.add'], binding, () => [
    `"${binding.identity}" now has the role "${binding.role}" ${where(binding)}.`,
  ])
}

/** `runku binding remove <identity> <role> [--connector id]`; the connector may be one that is configured no longer. */
export function removeBinding(surroundings: Surroundings, binding: BindingArguments): Promise<CommandResult> {
  return administer(surroundings, ACCESS_OPERATIONS['binding.remove'], binding, () => [
    `"${binding.identity}" no longer has the role "${binding.role}" ${where(binding)}.`,
  ])
}

function where({ connector }: BindingArguments): string {
  return connector === undefined ? 'on every connector' : `on connector "${connector}"`
}
