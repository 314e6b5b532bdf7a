import type { LoadedConfig } from '../config/config.js'
import { nearest } from '../core/names.js'
import { ok, type Result } from '../core/result.js'
import { type CommandResult, type Refusal, refused, type Surroundings, storeRefused, withStore } from './command.js'

export interface BindingArguments {
  readonly identity: string
  readonly role: string
  /** Absent: every connector. */
  readonly connector?: string
}

/** `runku binding add <identity> <role> [--connector id]` */
export function addBinding(surroundings: Surroundings, binding: BindingArguments): CommandResult {
  return withStore(surroundings, (store, loaded) => {
    const known = knownConnector(loaded, binding.connector)
    if (!known.ok) return known
    const added = store.addBinding(binding.identity, binding.role, binding.connector)
    if (!added.ok) return storeRefused(added.error)
    return ok({ lines: [`"${binding.identity}" now has the role "${binding.role}" ${where(binding)}.`], json: binding })
  })
}

/** `runku binding remove <identity> <role> [--connector id]`; the connector may be one that is configured no longer. */
export function removeBinding(surroundings: Surroundings, binding: BindingArguments): CommandResult {
  return withStore(surroundings, (store) => {
    const removed = store.removeBinding(binding.identity, binding.role, binding.connector)
    if (!removed.ok) return storeRefused(removed.error)
    const line = `"${binding.identity}" no longer has the role "${binding.role}" ${where(binding)}.`
    return ok({ lines: [line], json: binding })
  })
}

function where({ connector }: BindingArguments): string {
  return connector === undefined ? 'on every connector' : `on connector "${connector}"`
}

function knownConnector(loaded: LoadedConfig, connector: string | undefined): Result<void, Refusal> {
  const ids = [...loaded.config.connectors, ...loaded.connectorFaults].map(({ id }) => id)
  if (connector === undefined || ids.includes(connector)) return ok(undefined)
  const near = nearest(connector, ids)
  const hint = near === undefined ? `The configured ones are: ${ids.join(', ') || 'none'}.` : `Did you mean "${near}"?`
  return refused(`there is no connector "${connector}". ${hint}`)
}
