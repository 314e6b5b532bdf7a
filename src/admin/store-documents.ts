import { fail, ok, type Result } from '../core/result.js'
import type { StoredConnector, StoredPolicy, StoreRefusal } from './admin-store.js'
import { CONNECTOR_ID, POLICY_NAME } from './names.js'
import { findPolicy } from './store-reads.js'
import { type ConnectorRow, storedConnector } from './store-rows.js'
import { connectorMembers, documentFault, nameFault, notFound, refuse } from './store-rules.js'
import { all, type Change, type ChangeContext, first, run, type Steps } from './store-steps.js'

/** Changes of policies and connectors: see `StoreChanges` for what each does. */

export function* applyPolicy(
  name: string,
  document: string,
  known: ReadonlyMap<string, string>,
  { author, nowMs }: ChangeContext,
): Change<StoredPolicy> {
  const fault = nameFault('policy', name, POLICY_NAME) ?? documentFault(document)
  if (fault !== undefined) return fail(fault)
  const version = yield* nextNumber(name)
  yield* run(
    'INSERT INTO policies (name, version, document, author, applied_at) VALUES (?, ?, ?, ?, ?)',
    name,
    version,
    document,
    author.name,
    nowMs,
  )
  for (const [connector, objects] of known) yield* recordKnownObjects(name, version, connector, objects, nowMs)
  const value = { name, version, document, author: author.name, appliedAt: nowMs }
  const detail = { version, confirmed: [...known.keys()].join(', ') }
  return ok({ value, entry: { action: 'policy.apply', target: name, detail } })
}

/** Numbers go on where a policy was deleted and made again: entries of both name versions by them. */
function* nextNumber(name: string): Steps<number> {
  const kept = yield* first<{ readonly highest: number }>('SELECT highest FROM policy_numbers WHERE name = ?', name)
  const newest = yield* findPolicy(name)
  // An older program that still runs on this store keeps no highest number.
  const number = Math.max(kept?.highest ?? 0, newest?.version ?? 0) + 1
  yield* run(
    'INSERT INTO policy_numbers (name, highest) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET highest = excluded.highest',
    name,
    number,
  )
  return number
}

/** The first confirmation stands: an instance that loads later must not accept what changed in between. */
export function* recordKnownObjects(
  policy: string,
  version: number,
  connector: string,
  objects: string,
  nowMs: number,
): Steps<void> {
  // A version that was deleted since has nothing to confirm.
  yield* run(
    `INSERT INTO known_objects (policy, version, connector, objects, confirmed_at)
     SELECT p.name, p.version, ?, ?, ? FROM policies p WHERE p.name = ? AND p.version = ?
     ON CONFLICT DO NOTHING`,
    connector,
    objects,
    nowMs,
    policy,
    version,
  )
}

export function* deletePolicy(name: string): Change<void> {
  const known = yield* all<{ readonly name: string }>('SELECT DISTINCT name FROM policies ORDER BY name')
  const names = known.map((row) => row.name)
  if (!names.includes(name)) return notFound('policy', name, names, ' See "runku policy list".')
  yield* run('DELETE FROM known_objects WHERE policy = ?', name)
  const versions = yield* all('DELETE FROM policies WHERE name = ? RETURNING version', name)
  const detail = { versions: versions.length }
  return ok({ value: undefined, entry: { action: 'policy.delete', target: name, detail } })
}

function* findConnector(id: string): Steps<StoredConnector | undefined> {
  const row = yield* first<ConnectorRow>('SELECT id, document, author, changed_at FROM connectors WHERE id = ?', id)
  return row === undefined ? undefined : storedConnector(row)
}

function* missingConnector(id: string): Steps<Result<never, StoreRefusal>> {
  const known = yield* all<{ readonly id: string }>('SELECT id FROM connectors ORDER BY id')
  const ids = known.map((row) => row.id)
  return notFound('connector in the admin store', id, ids, ' See "runku connector list".')
}

export function* putConnector(id: string, document: string, { author, nowMs }: ChangeContext): Change<StoredConnector> {
  const fault = nameFault('connector', id, CONNECTOR_ID)
  if (fault !== undefined) return fail(fault)
  const members = connectorMembers(id, document)
  if (!members.ok) return members
  const before = yield* findConnector(id)
  if (before?.document === document) return ok({ value: before })
  yield* run(
    `INSERT INTO connectors (id, document, author, changed_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET document = excluded.document, author = excluded.author, changed_at = excluded.changed_at`,
    id,
    document,
    author.name,
    nowMs,
  )
  const value = { id, document, author: author.name, changedAt: nowMs }
  return ok({ value, entry: { action: 'connector.put', target: id, detail: { added: before === undefined } } })
}

/** What was confirmed about its database goes with it: another one may come under this id. Bindings stay, as with files. */
export function* deleteConnector(id: string): Change<void> {
  if ((yield* findConnector(id)) === undefined) return yield* missingConnector(id)
  yield* run('DELETE FROM known_objects WHERE connector = ?', id)
  yield* run('DELETE FROM connectors WHERE id = ?', id)
  return ok({ value: undefined, entry: { action: 'connector.delete', target: id } })
}

export function* renameConnector(id: string, newId: string, { author, nowMs }: ChangeContext): Change<StoredConnector> {
  const fault = nameFault('connector', newId, CONNECTOR_ID)
  if (fault !== undefined) return fail(fault)
  const before = yield* findConnector(id)
  if (before === undefined) return yield* missingConnector(id)
  if (id === newId) return ok({ value: before })
  if ((yield* findConnector(newId)) !== undefined) {
    return refuse('EXISTS', `there is a connector "${newId}" in the admin store already`)
  }
  const members = connectorMembers(id, before.document)
  if (!members.ok) return members
  // A connector without a policy of its own uses the one with its id, and goes on using that one.
  const document = JSON.stringify({ ...members.value, id: newId, policy: members.value['policy'] ?? id })
  yield* run('DELETE FROM connectors WHERE id = ?', id)
  yield* run(
    'INSERT INTO connectors (id, document, author, changed_at) VALUES (?, ?, ?, ?)',
    newId,
    document,
    author.name,
    nowMs,
  )
  yield* moveBindings(id, newId)
  yield* moveRows('known_objects', ['policy', 'version'], id, newId)
  yield* moveRows('idempotency', ['identity', 'tool', 'key'], id, newId)
  const value = { id: newId, document, author: author.name, changedAt: nowMs }
  return ok({ value, entry: { action: 'connector.rename', target: id, detail: { to: newId } } })
}

/** Who holds the role under the new id already keeps it, once. */
function* moveBindings(id: string, newId: string): Steps<void> {
  yield* run(
    `INSERT INTO role_bindings (identity_id, role, connector)
     SELECT identity_id, role, ? FROM role_bindings WHERE connector = ? ON CONFLICT DO NOTHING`,
    newId,
    id,
  )
  yield* run('DELETE FROM role_bindings WHERE connector = ?', id)
}

/** Rows of another connector that had the new id before are in the way: they give way. */
function* moveRows(
  table: 'known_objects' | 'idempotency',
  rest: readonly string[],
  id: string,
  newId: string,
): Steps<void> {
  const same = rest.map((column) => `o.${column} = ${table}.${column}`).join(' AND ')
  yield* run(
    `DELETE FROM ${table} WHERE connector = ? AND EXISTS (SELECT 1 FROM ${table} o WHERE o.connector = ? AND ${same})`,
    newId,
    id,
  )
  yield* run(`UPDATE ${table} SET connector = ? WHERE connector = ?`, newId, id)
}
