import { randomBytes } from 'node:crypto'
import { openSqliteAdminStore } from '../../src/admin/sqlite-admin-store.js'
import { IdempotencyKeys } from '../../src/idempotency.js'

/** A gateway's run that claims keys of a store in order and tells its parent, over IPC, which it may start. */
export interface ClaimOrder {
  readonly storeFile: string
  readonly gateway: string
  readonly keys: readonly string[]
}

const order = JSON.parse(process.argv[2] ?? '{}') as ClaimOrder
const store = openSqliteAdminStore({ path: order.storeFile, clock: Date.now, randomBytes, busyTimeoutMs: 5_000 })
if (!store.ok) throw new Error(store.error)
const keys = new IdempotencyKeys({
  store: store.value,
  gateway: order.gateway,
  run: 'r1',
  wallMs: Date.now,
  windowMs: 3_600_000,
  onFailed: (detail) => {
    throw new Error(detail)
  },
})
process.once('message', async () => {
  const started: string[] = []
  for (const key of order.keys) {
    const begun = await keys.begin({ identity: 'i', connector: 'c', tool: 't', key }, 'h')
    if (begun.kind === 'started') started.push(key)
  }
  // Ends without ending any call, as a crash would.
  process.send?.(started, () => process.exit(0))
})
process.send?.('ready')
