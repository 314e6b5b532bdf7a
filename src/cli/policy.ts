import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { type ConnectorConfig, connectorSettings, faultText, type LoadedConfig } from '../config/config.js'
import { accessText } from '../config/files.js'
import { monotonicMs } from '../core/clock.js'
import { knownObjects } from '../core/known-objects.js'
import { POLICY_TEXT_CHARS_MAX } from '../core/limits.js'
import { cleanText, nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import { type PolicyDocument, parsePolicy, policyFaultText } from '../policy/policy-document.js'
import type { PolicyFinding } from '../policy/policy-finding.js'
import { readPolicyText } from '../policy/policy-text.js'
import { type Schemas, schemasOf, spelledName, withQualifiedNames } from '../policy/qualified-names.js'
import {
  type CommandResult,
  isoTime,
  onStore,
  type Refusal,
  readConfig,
  refused,
  type Surroundings,
  storeRefused,
  table,
  withStore,
} from './command.js'

export interface PolicyArguments {
  readonly name: string
  readonly file: string
  /** Check the document in itself only, and no database. */
  readonly offline: boolean
}

/** What the databases say of a document: findings, and per connector the objects it is about (JSON). */
interface Confirmed {
  readonly findings: readonly LocatedFinding[]
  readonly known: ReadonlyMap<string, string>
}

const UNCONFIRMED: Confirmed = { findings: [], known: new Map() }

interface LocatedFinding extends PolicyFinding {
  readonly connector: string
  readonly line: number
}

const TEXT_CHARS_MAX = 1_000

/**
 * `runku policy apply <name> <file> [--offline]`. Unless offline, every connector that uses the policy is asked for its
 * catalog, and a document that names what does not exist there is refused.
 */
export async function applyPolicy(surroundings: Surroundings, given: PolicyArguments): Promise<CommandResult> {
  const text = readPolicyFile(given.file)
  if (!text.ok) return text
  const document = parsePolicy(text.value)
  if (!document.ok) return refused(...document.error.map((fault) => `${given.file}: ${policyFaultText(fault)}`))
  const loaded = readConfig(surroundings)
  if (!loaded.ok) return loaded
  const confirmed = given.offline ? ok(UNCONFIRMED) : await confirm(document.value, text.value, given, loaded.value)
  if (!confirmed.ok) return confirmed
  const { findings, known } = confirmed.value

  return onStore(surroundings, loaded.value, (store) => {
    const applied = store.applyPolicy(given.name, JSON.stringify(document.value), surroundings.author)
    if (!applied.ok) return storeRefused(applied.error)
    const { name, version } = applied.value
    for (const [connector, objects] of known) store.recordKnownObjects(name, version, connector, objects)
    const checked = given.offline ? ' It was not checked against a database.' : ''
    return ok({
      lines: [
        ...findings.map((finding) => findingText(given, finding)),
        `Applied version ${version} of the policy "${name}".${checked}`,
      ],
      json: { policy: name, version, author: surroundings.author, offline: given.offline, findings },
    })
  })
}

function readPolicyFile(file: string): Result<string, Refusal> {
  try {
    // A character takes at most four bytes; the exact limit is the parser's.
    if (statSync(file).size > POLICY_TEXT_CHARS_MAX * 4) return refused(`${file}: the file is too large for a policy`)
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)))
  } catch (error) {
    if (error instanceof TypeError) return refused(`${file}: the file is not UTF-8 text`)
    return refused(`the file ${file} ${accessText(error)}`)
  }
}

/** Meets the document with the catalog of every connector that uses it. Gives the warnings; errors refuse. */
async function confirm(
  document: PolicyDocument,
  text: string,
  given: PolicyArguments,
  loaded: LoadedConfig,
): Promise<Result<Confirmed, Refusal>> {
  const broken = loaded.connectorFaults.filter(({ policy }) => policy === given.name)
  if (broken.length > 0) return refused(...broken.flatMap(({ faults }) => faults.map(faultText)))
  const users = loaded.config.connectors.filter(({ policy }) => policy === given.name)
  if (users.length === 0) return refused(nobodyUses(given.name, loaded))

  const tree = readPolicyText(text)
  const findings: LocatedFinding[] = []
  const known = new Map<string, string>()
  for (const connector of users) {
    const found = await compareWithCatalog(document, connector)
    if (!found.ok) return found
    known.set(connector.id, found.value.known)
    for (const finding of found.value.findings) {
      const spelled = spelledName(document[finding.section], finding.table, found.value.schemas) ?? finding.table
      const line = tree.ok ? tree.value.lineOf([finding.section, spelled]) : 1
      findings.push({ ...finding, connector: connector.id, line })
    }
  }
  const errors = findings.filter(({ severity }) => severity === 'error')
  return errors.length === 0
    ? ok({ findings, known })
    : fail({ lines: errors.map((finding) => findingText(given, finding)) })
}

function nobodyUses(name: string, loaded: LoadedConfig): string {
  const used = [...loaded.config.connectors, ...loaded.connectorFaults].map(({ policy }) => policy)
  const near = nearest(name, used)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  return `no connector uses a policy "${name}", so there is no database to check it against; --offline applies it all the same.${hint}`
}

interface Compared {
  readonly findings: readonly PolicyFinding[]
  readonly known: string
  /** As the catalog spells them. */
  readonly schemas: Schemas
}

async function compareWithCatalog(
  document: PolicyDocument,
  connector: ConnectorConfig,
): Promise<Result<Compared, Refusal>> {
  // Loaded here, so that commands which only write the store do not load a database driver.
  const [{ createEngine }, { compilePolicy }] = await Promise.all([
    import('../engines/create-engine.js'),
    import('../policy/policy-engine.js'),
  ])
  // What the driver observes is also in its result, and a command has no log.
  const surroundings = { observe: () => {}, nowMs: monotonicMs, randomBytes }
  const { driver } = await createEngine(connectorSettings(connector), surroundings)
  try {
    const schema = await driver.introspect(connector.schemas)
    if (schema.ok) {
      const schemas = schemasOf(connector.schemas, schema.value)
      const { findings } = compilePolicy(document, schema.value, { schemas })
      const { tables } = withQualifiedNames(document, schemas)
      return ok({ findings, known: JSON.stringify(knownObjects(schema.value, Object.keys(tables))), schemas })
    }
    const reason = cleanText(schema.error.detail ?? schema.error.reason ?? schema.error.code, TEXT_CHARS_MAX)
    return refused(`the catalog of connector "${connector.id}" cannot be read: ${reason}; --offline applies without it`)
  } finally {
    await driver.close()
  }
}

function findingText(given: PolicyArguments, finding: LocatedFinding): string {
  const text = cleanText(finding.text, TEXT_CHARS_MAX)
  return `${given.file}: line ${finding.line}: ${finding.severity} on connector "${finding.connector}": ${text}`
}

/** `runku policy list` */
export function listPolicies(surroundings: Surroundings): CommandResult {
  return withStore(surroundings, (store, loaded) => {
    const policies = store.listPolicies().map((policy) => ({
      policy: policy.name,
      version: policy.version,
      author: policy.author,
      applied_at: isoTime(policy.appliedAt),
      connectors: loaded.config.connectors.filter((connector) => connector.policy === policy.name).map(({ id }) => id),
    }))
    const rows = policies.map((policy) => [
      policy.policy,
      String(policy.version),
      policy.author,
      policy.applied_at,
      policy.connectors.join(', '),
    ])
    const header = ['POLICY', 'VERSION', 'AUTHOR', 'APPLIED', 'CONNECTORS']
    return ok({ lines: table(header, rows, 'There are no policies.'), json: { policies } })
  })
}
