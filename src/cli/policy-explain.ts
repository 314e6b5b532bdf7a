import type { AdminStore } from '../admin/admin-store.js'
import type { LoadedConfig } from '../config/config.js'
import type { Identity } from '../core/identity.js'
import { nearest } from '../core/names.js'
import { ok, type Result } from '../core/result.js'
import { readCatalogs } from './catalogs.js'
import { type CommandResult, type Refusal, refused, type Surroundings, withStore } from './command.js'
import { sideOf, theConnector, versionSide } from './policy-diff.js'

export interface ExplainArguments {
  readonly identity: string
  readonly tool: string
  /** The arguments of the call as JSON; absent: none. */
  readonly args?: string
  readonly connector?: string
}

/**
 * `runku policy explain <identity> <tool> [json] [--connector id]`: what a call by the identity, with the roles and claims that the
 * store has, would meet before the database, and by which rules.
 */
export function explainPolicy(surroundings: Surroundings, given: ExplainArguments): Promise<CommandResult> {
  const args = readArguments(given.args)
  if (!args.ok) return Promise.resolve(args)
  return withStore(surroundings, 'reads', async (store, loaded) => {
    const connector = await theConnector(surroundings, store, loaded, given.connector)
    if (!connector.ok) return connector
    const { id, policy } = connector.value
    const identity = await identityOn(store, loaded, given.identity, id)
    if (!identity.ok) return identity
    if ((await store.findPolicy(policy)) === undefined)
      return refused(
        `connector "${id}" uses the policy "${policy}", which nobody has applied: it serves nothing to anybody`,
      )
    const stored = await versionSide(store, policy, undefined)
    if (!stored.ok) return stored
    const [catalog] = await readCatalogs([connector.value])
    if (catalog?.schema.ok !== true) {
      const reason = catalog?.schema.ok === false ? `: ${catalog.schema.error}` : ''
      return refused(`the catalog of connector "${id}" cannot be read${reason}`)
    }
    // Loaded here: the stages of a call are no part of commands that only change the store.
    const [{ explainCall, explainedPolicy }, { explanationLines }] = await Promise.all([
      import('../policy/explain.js'),
      import('../policy/explain-text.js'),
    ])
    const side = await sideOf(store, policy, stored.value, connector.value, catalog.schema.value)
    const explanation = explainCall(explainedPolicy(side), identity.value, given.tool, args.value)
    const about = `connector ${id}, ${stored.value.shown} of the policy "${policy}"`
    return ok({
      lines: [...explanationLines(explanation), `  ${'judged'.padEnd(9)} ${about}`],
      json: { connector: id, policy, version: stored.value.version, ...explanation },
    })
  })
}

function readArguments(text: string | undefined): Result<unknown, Refusal> {
  if (text === undefined) return ok(undefined)
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return ok(parsed)
  } catch {
    // Said below, like any other text that is no object.
  }
  return refused('the arguments of the call: expected a JSON object, such as {"id": 7}')
}

async function identityOn(
  store: AdminStore,
  { config: { auth } }: LoadedConfig,
  name: string,
  connector: string,
): Promise<Result<Identity, Refusal>> {
  if (!auth.enabled && name === 'anonymous') {
    return ok({ id: name, name, roles: [...new Set(auth.anonymousRoles)].sort(), claims: new Map() })
  }
  const found = await store.findIdentity(name)
  if (found === undefined) {
    const near = nearest(
      name,
      (await store.listIdentities()).map((identity) => identity.name),
    )
    return refused(`there is no identity "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`)
  }
  if (found.disabled)
    return refused(`the identity "${name}" is disabled: each of its calls is refused with AUTH_INVALID`)
  const held = found.bindings.filter((binding) => binding.connector === undefined || binding.connector === connector)
  const roles = [...new Set(held.map(({ role }) => role))].sort()
  return ok({ id: found.id, name, roles, claims: found.claims })
}
