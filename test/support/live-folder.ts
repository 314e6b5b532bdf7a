import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { AdminStore, StoreChanges } from '../../src/admin/admin-store.js'
import { openAdminStore } from '../../src/admin/open-admin-store.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { connectorYaml, type GatewayFolder, must, type TestConnector } from './gateway.js'

/** Changes a prepared folder under a gateway that serves from it. */
export interface LiveFolder {
  /** The store as another process would have it open. */
  readonly store: AdminStore
  readonly changes: StoreChanges
  /** Stores a policy, given as YAML, as a new version. */
  apply(name: string, policy: string): Promise<void>
  /** Puts these in place of all that stands under `connectors:`. */
  connectors(connectors: readonly Omit<TestConnector, 'policy'>[]): void
  /** Changes the text of the configuration as a person would. */
  edit(change: (text: string) => string): void
}

export async function liveFolder(folder: GatewayFolder): Promise<LiveFolder> {
  const options = { clock: Date.now, randomBytes, busyTimeoutMs: 5_000 }
  const store = must(await openAdminStore({ type: 'sqlite', path: folder.storeFile }, options))
  const changes = store.changes({ name: 'test' })
  const edit = (change: (text: string) => string) => {
    writeFileSync(folder.configFile, change(readFileSync(folder.configFile, 'utf8')))
  }
  return {
    store,
    changes,
    apply: async (name, policy) => {
      must(await changes.applyPolicy(name, JSON.stringify(must(parsePolicy(policy)))))
    },
    connectors: (connectors) => {
      edit(
        (text) =>
          `${text.slice(0, text.indexOf('connectors:\n'))}connectors:\n${connectors.map(connectorYaml).join('\n')}\n`,
      )
    },
    edit,
  }
}

/** A connector as it stands in the admin store, or in a file of its own: JSON is YAML too. */
export function connectorDocument({ id, settings }: Pick<TestConnector, 'id' | 'settings'>, more: object = {}): string {
  const { host, port, user, password = '', database } = settings.connection
  const { max, acquireTimeoutMs } = settings.pool
  return JSON.stringify({
    id,
    type: settings.engine,
    ...{ host, port, user, password, database, tls: 'disable', schemas: settings.schemas },
    pool: { max, acquire_timeout_ms: acquireTimeoutMs },
    ...more,
  })
}
