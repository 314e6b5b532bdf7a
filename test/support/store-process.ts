import { randomBytes } from 'node:crypto'
import { openAdminStore } from '../../src/admin/open-admin-store.js'
import { Secret } from '../../src/config/secret.js'

/** A process of its own that opens a store and makes changes in turn. Exit code 0 when all were made. */
export interface StoreOrder {
  readonly settings:
    | { readonly type: 'sqlite'; readonly path: string }
    | { readonly type: 'postgres'; readonly url: string }
  readonly changes: readonly (
    | readonly ['createRole', string]
    | readonly ['revokeKey', string]
    | readonly ['addBinding', string, string]
  )[]
}

const order = JSON.parse(process.argv[2] ?? '{}') as StoreOrder
const { settings } = order
const opened = await openAdminStore(
  settings.type === 'sqlite' ? settings : { type: settings.type, url: new Secret(settings.url) },
  { clock: Date.now, randomBytes, busyTimeoutMs: 5_000 },
)
if (!opened.ok) throw new Error(opened.error)
const changes = opened.value.changes({ name: 'other process' })
for (const change of order.changes) {
  const made =
    change[0] === 'addBinding' ? await changes.addBinding(change[1], change[2]) : await changes[change[0]](change[1])
  if (!made.ok) throw new Error(made.error.message)
}
await opened.value.close()
