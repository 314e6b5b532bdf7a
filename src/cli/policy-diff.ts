import type { AdminStore, StoredPolicy } from '../admin/admin-store.js'
import { ANONYMOUS } from '../admin/names.js'
import { allConnectors, type ConnectorConfig, type LoadedConfig } from '../config/config.js'
import { parseKnownObjects } from '../core/known-objects.js'
import { nearest } from '../core/names.js'
import { ok, type Result } from '../core/result.js'
import type { SchemaModel } from '../core/schema-model.js'
import { type DiffIdentity, diffPolicies, type PolicyChange, type PolicySide } from '../policy/diff.js'
import { changeText } from '../policy/diff-text.js'
import {
  EMPTY_POLICY,
  type PolicyDocument,
  parsePolicy,
  policyFaultText,
  policyFromJson,
} from '../policy/policy-document.js'
import { readCatalogs } from './catalogs.js'
import { type CommandResult, type Refusal, refused, type Surroundings, withStore } from './command.js'
import { readDocument } from './policy.js'

/** What `--exit-code` gives where something changes; 1 stays what it is everywhere, a refusal. */
const EXIT_DIFFERS = 3

export interface DiffArguments {
  readonly name: string
  /** The document to compare with the newest version; absent: two versions are compared. */
  readonly file?: string
  readonly from?: string
  readonly to?: string
  readonly exitCode: boolean
}

/** A document that is compared, and the stored version that it is, if it is one. */
interface Compared {
  readonly document: PolicyDocument
  readonly version?: number
  readonly shown: string
}

/**
 * `runku policy diff <name> <file>` and `runku policy diff <name> --from 3 --to 5`: what becomes allowed and what ceases to be, for
 * whom, on each connector that uses the policy.
 */
export function diffPolicy(surroundings: Surroundings, given: DiffArguments): Promise<CommandResult> {
  return withStore(surroundings, 'reads', async (store, loaded) => {
    const sides = await comparedSides(store, given)
    if (!sides.ok) return sides
    const [before, after] = sides.value
    const set = allConnectors(loaded, await store.listConnectors(), surroundings.env)
    const users = set.connectors.filter(({ policy }) => policy === given.name)
    if (users.length === 0) {
      const used = [...set.connectors, ...set.faults].map(({ policy }) => policy)
      const near = nearest(given.name, used)
      const hint = near === undefined ? '' : `; did you mean "${near}"?`
      return refused(`no connector uses a policy "${given.name}", so there is no database to compare by${hint}`)
    }
    const catalogs = await readCatalogs(users)
    const away = catalogs.flatMap(({ connector, schema }) =>
      schema.ok ? [] : [`the catalog of connector "${connector.id}" cannot be read: ${schema.error}`],
    )
    if (away.length > 0) return refused(...away)
    const identities = await store.listIdentities()
    const connectors: ConnectorChanges[] = []
    for (const { connector, schema } of catalogs) {
      if (!schema.ok) continue
      const own = identities.map(({ name, bindings }): DiffIdentity => {
        const held = bindings.filter((binding) => binding.connector === undefined || binding.connector === connector.id)
        return { name, roles: [...new Set(held.map(({ role }) => role))].sort() }
      })
      own.push(...strangers(loaded, own, [before.document, after.document]))
      const old = await sideOf(store, given.name, before, connector, schema.value)
      const young = await sideOf(store, given.name, after, connector, schema.value)
      connectors.push({ connector: connector.id, changes: diffPolicies(old, young, own) })
    }
    return report(given, before, after, connectors)
  })
}

/**
 * Callers that the store does not have: whoever comes while authentication is off, and identities that only a document names, such as those of
 * tokens. The roles of these are not known here, so that they are taken to have every one, and where their own settings differ each by itself
 * too: beside all the others one role may hide what a setting does.
 */
function strangers(
  { config: { auth } }: LoadedConfig,
  known: readonly DiffIdentity[],
  documents: readonly PolicyDocument[],
): readonly DiffIdentity[] {
  const names = new Set(documents.flatMap(({ identities }) => Object.keys(identities)))
  names.delete(ANONYMOUS)
  for (const { name } of known) names.delete(name)
  const roles = [...new Set(documents.flatMap((document) => Object.keys(document.roles)))].sort()
  const anonymous = auth.enabled ? [] : [{ name: ANONYMOUS, roles: [...new Set(auth.anonymousRoles)].sort() }]
  const unknown = [...names].flatMap((name) => {
    const [old, young] = documents.map((document) => JSON.stringify(document.identities[name]))
    return [{ name, roles }, ...(old === young ? [] : roles.map((role) => ({ name, roles: [role] })))]
  })
  return [...anonymous, ...unknown]
}

interface ConnectorChanges {
  readonly connector: string
  readonly changes: readonly PolicyChange[]
}

function report(
  { name, exitCode }: DiffArguments,
  before: Compared,
  after: Compared,
  connectors: readonly ConnectorChanges[],
): CommandResult {
  const differs = connectors.some(({ changes }) => changes.length > 0)
  const heading = `${before.shown} -> ${after.shown}`
  return ok({
    lines: differs ? [heading, ...changeLines(connectors)] : [`${heading}: nothing changes for anybody.`],
    json: { policy: name, before: before.shown, after: after.shown, differs, connectors },
    ...(exitCode && differs ? { exitCode: EXIT_DIFFERS } : {}),
  })
}

/** Connectors on which the same changes are told of together. */
function changeLines(connectors: readonly ConnectorChanges[]): readonly string[] {
  const groups = new Map<string, { readonly ids: string[]; readonly lines: readonly string[] }>()
  for (const { connector, changes } of connectors) {
    const lines = changes.length === 0 ? ['nothing changes for anybody'] : changes.map(changeText)
    const group = groups.get(lines.join('\n')) ?? { ids: [], lines }
    group.ids.push(connector)
    groups.set(lines.join('\n'), group)
  }
  return [...groups.values()].flatMap(({ ids, lines }) => [
    `on ${ids.join(', ')}:`,
    ...lines.map((line) => `  ${line}`),
  ])
}

async function comparedSides(
  store: AdminStore,
  { name, file, from, to }: DiffArguments,
): Promise<Result<readonly [Compared, Compared], Refusal>> {
  if (file !== undefined) {
    if (from !== undefined || to !== undefined) return refused('expected a file, or --from and --to, not both')
    const text = readDocument(file)
    if (!text.ok) return text
    const parsed = parsePolicy(text.value)
    if (!parsed.ok) return refused(...parsed.error.map((fault) => `${file}: ${policyFaultText(fault)}`))
    const newest = await store.findPolicy(name)
    const before = newest === undefined ? ok(NOTHING) : storedSide(newest)
    return before.ok ? ok([before.value, { document: parsed.value, shown: file }]) : before
  }
  if (from === undefined) return refused('expected a file to compare with the newest version, or --from and --to')
  const before = await versionSide(store, name, from)
  if (!before.ok) return before
  const after = await versionSide(store, name, to)
  return after.ok ? ok([before.value, after.value]) : after
}

const NOTHING: Compared = { document: EMPTY_POLICY, shown: 'no policy' }

function storedSide({ version, document }: StoredPolicy): Result<Compared, Refusal> {
  const parsed = policyFromJson(document)
  return parsed.ok
    ? ok({ document: parsed.value, version, shown: `version ${version}` })
    : refused(...parsed.error.map((fault) => `version ${version} is unusable: ${policyFaultText(fault)}`))
}

/** Without a version the newest. */
export async function versionSide(
  store: AdminStore,
  name: string,
  version: string | undefined,
): Promise<Result<Compared, Refusal>> {
  if (version !== undefined && !/^[1-9]\d{0,8}$/.test(version))
    return refused(`expected the number of a version, not "${version}"`)
  const stored = await store.findPolicy(name, version === undefined ? undefined : Number(version))
  if (stored !== undefined) return storedSide(stored)
  const names = (await store.listPolicies()).map((policy) => policy.name)
  if (version !== undefined && names.includes(name)) return refused(`the policy "${name}" has no version ${version}`)
  const near = nearest(name, names)
  return refused(`there is no policy "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`)
}

/** A stored version is judged by what it was confirmed to be about, another document as if it were applied now. */
export async function sideOf(
  store: AdminStore,
  name: string,
  { document, version }: Compared,
  { id, schemas, vars }: ConnectorConfig,
  schema: SchemaModel,
): Promise<PolicySide> {
  const recorded = version === undefined ? undefined : await store.findKnownObjects(name, version, id)
  const known = recorded === undefined ? undefined : parseKnownObjects(recorded)
  return { document, schema, options: { schemas, vars, ...(known === undefined ? {} : { known }) } }
}

/** The connector of this id, or the only one there is. */
export async function theConnector(
  surroundings: Surroundings,
  store: AdminStore,
  loaded: LoadedConfig,
  id: string | undefined,
): Promise<Result<ConnectorConfig, Refusal>> {
  const { connectors, faults } = allConnectors(loaded, await store.listConnectors(), surroundings.env)
  const ids = [...connectors, ...faults].map((each) => each.id)
  if (id === undefined) {
    const [only, ...others] = connectors
    if (only !== undefined && others.length + faults.length === 0) return ok(only)
    return refused(
      `there are ${ids.length} connectors: name one with --connector; there are ${ids.join(', ') || 'none'}`,
    )
  }
  const found = connectors.find((each) => each.id === id)
  if (found !== undefined) return ok(found)
  if (faults.some((each) => each.id === id))
    return refused(`connector "${id}" has a faulty configuration; see "runku check"`)
  const near = nearest(id, ids)
  return refused(`there is no connector "${id}"${near === undefined ? '' : `; did you mean "${near}"?`}`)
}
