import { dirname } from 'node:path'
import type { StoredConnector } from '../admin/admin-store.js'
import type { ConnectorUse } from '../admin/operation.js'
import { fail, ok, type Result } from '../core/result.js'
import { allConnectors, faultText, type LoadedConfig, originText, storedCandidate } from './config.js'
import type { Environment } from './source.js'

/** Every connector of every source, for whoever administers and serves none of them. */
export function connectorUses(
  loaded: LoadedConfig,
  stored: readonly StoredConnector[],
  env: Environment,
): readonly ConnectorUse[] {
  const { connectors, faults } = allConnectors(loaded, stored, env)
  return [
    ...connectors.map(({ id, path, policy, origin }) => ({
      id,
      path,
      policy,
      source: origin.kind,
      origin: originText(origin),
      faults: [],
    })),
    ...faults.map((fault) => ({
      id: fault.id,
      ...(fault.path === undefined ? {} : { path: fault.path }),
      policy: fault.policy,
      source: fault.origin.kind,
      origin: originText(fault.origin),
      faults: fault.faults.map(faultText),
    })),
  ]
}

export interface CheckedConnector {
  readonly id: string
  /** As the store keeps it. */
  readonly json: string
}

/**
 * Checks what would stand under `connectors:` before it is stored. The error has a sentence for each fault. `elsewhere`: it is served by
 * processes with an environment of their own, so that a variable that is not set here is no fault.
 */
export function checkConnector(
  configFile: string,
  document: unknown,
  env: Environment,
  elsewhere: boolean,
): Result<CheckedConnector, readonly string[]> {
  const id = typeof document === 'object' && document !== null && 'id' in document ? document.id : undefined
  if (typeof id !== 'string') return fail(['id: expected the id of the connector'])
  const json = JSON.stringify(document)
  const { outcome } = storedCandidate({ id, document: json }, env, dirname(configFile))
  if (outcome.ok) return ok({ id, json })
  const faults = elsewhere ? outcome.error.filter(({ message }) => !UNSET_VARIABLE.test(message)) : outcome.error
  return faults.length === 0 ? ok({ id, json }) : fail(faults.map(faultText))
}

const UNSET_VARIABLE = /^the environment variable \w+ is not set$/
