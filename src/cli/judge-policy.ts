import type { AdminStore } from '../admin/admin-store.js'
import type { JudgedPolicy, OperationRefusal, PolicyFindingShown } from '../admin/operation.js'
import { warnOfNames } from '../admin/policy-names.js'
import { allConnectors, type ConnectorSet, faultText, type LoadedConfig } from '../config/config.js'
import { cleanText, nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import { meetCatalog } from '../policy/meet-catalog.js'
import { type PolicyDocument, parsePolicyText, policyFaultText } from '../policy/policy-document.js'
import type { PolicyTree } from '../policy/policy-tree.js'
import { readCatalogs } from './catalogs.js'
import type { Surroundings } from './command.js'

export interface PolicyGiven {
  /** The stored policy; its users are asked for their catalogs. */
  readonly name: string
  /** YAML or JSON. */
  readonly text: string
  /** Against no database. */
  readonly offline: boolean
  /** Connectors that cannot be reached are left for their first load to confirm. */
  readonly partial?: boolean
  /** Only this one, whichever policy it uses. */
  readonly connector?: string
  /** Nothing is stored, so that there is nothing to advise of applying it without a database. */
  readonly asked?: true
}

export interface JudgedByCatalogs extends JudgedPolicy {
  /** Connectors whose catalogs it was compared with, and those that could not be reached. */
  readonly compared: readonly string[]
  readonly unreached: readonly string[]
}

/**
 * Meets a document with the catalog of every connector that uses the policy, a few at a time. INVALID with a line for each thing that
 * refuses it: faults of the document, errors of every connector, and connectors that cannot be reached.
 */
export async function judgePolicy(
  { env }: Pick<Surroundings, 'env'>,
  store: AdminStore,
  loaded: LoadedConfig,
  given: PolicyGiven,
): Promise<Result<JudgedByCatalogs, OperationRefusal>> {
  const parsed = parsePolicyText(given.text)
  if (!parsed.ok) return invalid(parsed.error.map(policyFaultText))
  const { document, tree } = parsed.value
  const named = await warnOfNames(store, document, tree, loaded.config.auth.anonymousRoles)
  const judged = { json: JSON.stringify(document), known: new Map<string, string>(), findings: named }
  if (given.offline) return ok({ ...judged, compared: [], unreached: [] })
  const users = usersOf(allConnectors(loaded, await store.listConnectors(), env), given)
  if (!users.ok) return users
  const met = await compared(document, tree, users.value)
  const refusing = met.findings.filter(({ severity }) => severity === 'error').map(findingText)
  const away = given.partial === true ? [] : met.unreached.map((each) => unreachedText(each, given))
  if (refusing.length + away.length > 0) return invalid([...refusing, ...away])
  const findings = [...named, ...met.findings, ...met.unreached.map(unconfirmed)]
  const unreached = met.unreached.map(({ connector }) => connector)
  return ok({ ...judged, known: met.known, findings, compared: [...met.known.keys()], unreached })
}

function invalid(details: readonly string[]): Result<never, OperationRefusal> {
  return fail({ code: 'INVALID', message: details[0] ?? 'the policy does not fit', details })
}

/** The connectors to ask. One that uses the policy and has a faulty configuration refuses: nobody could say what it would serve. */
function usersOf(
  { connectors, faults }: ConnectorSet,
  { name, connector, asked }: PolicyGiven,
): Result<ConnectorSet['connectors'], OperationRefusal> {
  const isUser = (each: { readonly id: string; readonly policy: string }) =>
    connector === undefined ? each.policy === name : each.id === connector
  const broken = faults.filter(isUser)
  if (broken.length > 0) return invalid(broken.flatMap((each) => each.faults.map(faultText)))
  const users = connectors.filter(isUser)
  if (users.length > 0) return ok(users)
  const all = [...connectors, ...faults]
  if (connector !== undefined) {
    const near = nearest(
      connector,
      all.map(({ id }) => id),
    )
    return invalid([`there is no connector "${connector}"${near === undefined ? '' : `; did you mean "${near}"?`}`])
  }
  const near = nearest(
    name,
    all.map(({ policy }) => policy),
  )
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  const advice = asked === true ? '.' : '; --offline applies it all the same.'
  return invalid([`no connector uses a policy "${name}", so there is no database to check it against${advice}${hint}`])
}

interface Compared {
  readonly findings: readonly PolicyFindingShown[]
  /** By connector, the objects that the policy is about (JSON). */
  readonly known: ReadonlyMap<string, string>
  readonly unreached: readonly { readonly connector: string; readonly reason: string }[]
}

async function compared(
  document: PolicyDocument,
  tree: PolicyTree,
  users: ConnectorSet['connectors'],
): Promise<Compared> {
  const findings: PolicyFindingShown[] = []
  const known = new Map<string, string>()
  const unreached: { connector: string; reason: string }[] = []
  for (const { connector, schema } of await readCatalogs(users)) {
    if (!schema.ok) {
      unreached.push({ connector: connector.id, reason: schema.error })
      continue
    }
    const met = meetCatalog(document, tree, schema.value, connector)
    known.set(connector.id, JSON.stringify(met.known))
    for (const { severity, line, text } of met.findings)
      findings.push({ connector: connector.id, severity, line, text })
  }
  return { findings, known, unreached }
}

function unreachedText(
  { connector, reason }: { readonly connector: string; readonly reason: string },
  { asked }: PolicyGiven,
): string {
  const advice = asked === true ? '' : '; --partial applies without this one, --offline without any'
  return `the catalog of connector "${connector}" cannot be read: ${reason}${advice}`
}

function unconfirmed({
  connector,
  reason,
}: {
  readonly connector: string
  readonly reason: string
}): PolicyFindingShown {
  const text = `the catalog cannot be read: ${reason}; every column stays hidden there until its first load confirms the policy`
  return { connector, severity: 'warning', text }
}

const TEXT_CHARS_MAX = 1_000

/** One line for a terminal. */
export function findingText({
  connector,
  severity,
  line,
  text,
}: {
  readonly [K in keyof PolicyFindingShown]: PolicyFindingShown[K] | undefined
}): string {
  const at = line === undefined ? '' : `line ${line}: `
  const where = connector === undefined ? '' : ` on connector "${connector}"`
  return `${at}${severity}${where}: ${cleanText(text ?? '', TEXT_CHARS_MAX)}`
}
