import type { Secret } from '../config/secret.js'
import type { Result } from '../core/result.js'
import type { AdminStore } from './admin-store.js'
import type { StoreSurroundings } from './operated-store.js'
import { openSqliteAdminStore } from './sqlite-admin-store.js'

/** Where identities, keys, roles and policies are kept. */
export type AdminStoreSettings =
  | { readonly type: 'sqlite'; readonly path: string }
  /** See `parseStoreAddress`. */
  | { readonly type: 'postgres'; readonly url: Secret }

export interface OpenAdminStoreSurroundings extends StoreSurroundings {
  /** How long an operation on an SQLite store waits for another writer. A serving thread takes ADMIN_SERVE_BUSY_TIMEOUT_MS. */
  readonly busyTimeoutMs: number
}

/** Opens the store, made or migrated as needed. The error is one sentence that names the place, and no secret. */
export async function openAdminStore(
  settings: AdminStoreSettings,
  surroundings: OpenAdminStoreSurroundings,
): Promise<Result<AdminStore, string>> {
  if (settings.type === 'sqlite') return openSqliteAdminStore({ ...surroundings, path: settings.path })
  // Loaded here, so that a gateway with an SQLite store does not load a database driver into the front thread.
  const { openPostgresAdminStore } = await import('./postgres-admin-store.js')
  return openPostgresAdminStore({ ...surroundings, url: settings.url.reveal() })
}
