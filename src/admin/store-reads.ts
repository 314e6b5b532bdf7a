import type {
  ListedIdentity,
  ListedKey,
  ListedPolicy,
  ListedRole,
  StoredConnector,
  StoredPolicy,
  StoreVersions,
} from './admin-store.js'
import {
  type BindingRow,
  type ConnectorRow,
  type IdentityRow,
  type ListedKeyRow,
  type ListedPolicyRow,
  listedIdentity,
  listedKey,
  listedPolicy,
  type PolicyRow,
  storedConnector,
  storedPolicy,
} from './store-rows.js'
import { all, first, type Steps } from './store-steps.js'

/** What is read of the store: see `StoreReads` for what each gives. */

/** A store without its numbers is damaged: `undefined`. */
export function* readVersions(): Steps<StoreVersions | undefined> {
  const rows = yield* all<{ readonly name: string; readonly value: number }>(
    "SELECT name, value FROM settings WHERE name IN ('version', 'reload', 'mark')",
  )
  return versionsOf(rows)
}

export function versionsOf(
  rows: readonly { readonly name: string; readonly value: number }[],
): StoreVersions | undefined {
  const numberOf = (wanted: string) => rows.find(({ name }) => name === wanted)?.value
  const [change, reload, mark] = [numberOf('version'), numberOf('reload'), numberOf('mark')]
  return change === undefined || reload === undefined || mark === undefined ? undefined : { change, reload, mark }
}

/** Nothing has changed between the two. */
export function sameVersions(a: StoreVersions, b: StoreVersions): boolean {
  return a.change === b.change && a.reload === b.reload && a.mark === b.mark
}

/** What was read last cannot have come after this by changes alone: another state was put in its place, such as a backup. */
export function wentBack(last: StoreVersions, now: StoreVersions): boolean {
  if (now.change < last.change || now.reload < last.reload) return true
  return now.change === last.change && now.reload === last.reload && now.mark !== last.mark
}

export function* listRoles(): Steps<readonly ListedRole[]> {
  const rows = yield* all<{ readonly name: string; readonly reserved: number }>(
    'SELECT name, reserved FROM roles ORDER BY name',
  )
  return rows.map(({ name, reserved }) => ({ name, reserved: reserved !== 0 }))
}

const IDENTITY_COLUMNS = 'id, name, disabled, claims, created_at'

export function* listIdentities(): Steps<readonly ListedIdentity[]> {
  const identities = yield* all<IdentityRow>(`SELECT ${IDENTITY_COLUMNS} FROM identities ORDER BY name`)
  const bindings = yield* all<BindingRow>('SELECT identity_id, role, connector FROM role_bindings')
  const byIdentity = new Map<string, BindingRow[]>()
  for (const binding of bindings) {
    const own = byIdentity.get(binding.identity_id)
    if (own === undefined) byIdentity.set(binding.identity_id, [binding])
    else own.push(binding)
  }
  return identities.map((row) => listedIdentity(row, byIdentity.get(row.id) ?? []))
}

export function* findIdentity(name: string): Steps<ListedIdentity | undefined> {
  const row = yield* first<IdentityRow>(`SELECT ${IDENTITY_COLUMNS} FROM identities WHERE name = ?`, name)
  if (row === undefined) return undefined
  const bindings = yield* all<BindingRow>(
    'SELECT identity_id, role, connector FROM role_bindings WHERE identity_id = ?',
    row.id,
  )
  return listedIdentity(row, bindings)
}

export function* listKeys(): Steps<readonly ListedKey[]> {
  const rows = yield* all<ListedKeyRow>(
    `SELECT k.key_id, i.name AS identity, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
     FROM api_keys k JOIN identities i ON i.id = k.identity_id
     ORDER BY i.name, k.created_at, k.key_id`,
  )
  return rows.map(listedKey)
}

export function* listPolicies(): Steps<readonly ListedPolicy[]> {
  const rows = yield* all<ListedPolicyRow>(
    `SELECT name, version, author, applied_at FROM policies p
     WHERE version = (SELECT max(version) FROM policies WHERE name = p.name) ORDER BY name`,
  )
  return rows.map(listedPolicy)
}

export function* policyHistory(name: string): Steps<readonly ListedPolicy[]> {
  const rows = yield* all<ListedPolicyRow>(
    'SELECT name, version, author, applied_at FROM policies WHERE name = ? ORDER BY version DESC',
    name,
  )
  return rows.map(listedPolicy)
}

export function* findPolicy(name: string, version?: number): Steps<StoredPolicy | undefined> {
  const select = 'SELECT name, version, document, author, applied_at FROM policies WHERE name = ?'
  const row =
    version === undefined
      ? yield* first<PolicyRow>(`${select} ORDER BY version DESC LIMIT 1`, name)
      : yield* first<PolicyRow>(`${select} AND version = ?`, name, version)
  return row === undefined ? undefined : storedPolicy(row)
}

export function* connectorsConfirmed(policy: string): Steps<readonly string[]> {
  const rows = yield* all<{ readonly connector: string }>(
    'SELECT DISTINCT connector FROM known_objects WHERE policy = ? ORDER BY connector',
    policy,
  )
  return rows.map(({ connector }) => connector)
}

export function* findKnownObjects(policy: string, version: number, connector: string): Steps<string | undefined> {
  const row = yield* first<{ readonly objects: string }>(
    'SELECT objects FROM known_objects WHERE policy = ? AND version = ? AND connector = ?',
    policy,
    version,
    connector,
  )
  return row?.objects
}

export function* listConnectors(): Steps<readonly StoredConnector[]> {
  const rows = yield* all<ConnectorRow>('SELECT id, document, author, changed_at FROM connectors ORDER BY id')
  return rows.map(storedConnector)
}
