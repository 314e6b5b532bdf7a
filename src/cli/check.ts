import { randomBytes } from 'node:crypto'
import { type AdminStore, type StoredPolicy, StoreFailure } from '../admin/admin-store.js'
import { openAdminStore } from '../admin/open-admin-store.js'
import {
  allConnectors,
  type ConnectorConfig,
  type ConnectorFault,
  type ConnectorSet,
  connectorSettings,
  faultText,
  loadConfig,
  originText,
} from '../config/config.js'
import { loginWarnings } from '../connector/login-warnings.js'
import { monotonicMs } from '../core/clock.js'
import { parseKnownObjects } from '../core/known-objects.js'
import { ADMIN_COMMAND_BUSY_TIMEOUT_MS, TOOLS_WARNED_ABOVE } from '../core/limits.js'
import { qualifiedName, type SchemaModel, type Table } from '../core/schema-model.js'
import { createEngine } from '../engines/create-engine.js'
import { EMPTY_POLICY, type PolicyDocument, policyFaultText, policyFromJson } from '../policy/policy-document.js'
import { compilePolicy, type PolicyEngine } from '../policy/policy-engine.js'
import { schemasOf, withQualifiedNames } from '../policy/qualified-names.js'
import { withVars } from '../policy/vars.js'
import { encodeTools } from '../tools/generate-tools.js'
import { refusalText } from './command.js'

export interface CheckOptions {
  readonly config: string
  readonly json: boolean
}

/** What one role's callers would be offered. */
export interface RoleReport {
  readonly role: string
  readonly tools: number
  /** Length of the whole tool list as a client receives it. */
  readonly tool_list_chars: number
}

export interface TableReport {
  readonly name: string
  readonly kind: string
  /** The policy's, where it gives one. */
  readonly key: readonly string[]
  readonly foreign_keys: readonly { readonly columns: readonly string[]; readonly references: string }[]
  readonly enums: readonly { readonly column: string; readonly labels: readonly string[] }[]
  readonly exposed: boolean
}

export interface ConnectorReport {
  readonly connector: string
  /** Absent when it has no place of its own, as one whose id another has. */
  readonly path?: string
  /** Where it is configured. */
  readonly source: string
  /** True when calls would be answered. */
  readonly serves: boolean
  readonly server_version?: string
  readonly policy: string
  readonly policy_version?: number
  readonly tables: readonly TableReport[]
  /** Functions and procedures that the login may execute. */
  readonly routines: number
  readonly roles: readonly RoleReport[]
  /** What keeps something from being served. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** How many databases are asked at once: each is waited for most of the time. */
const CONNECTORS_AT_ONCE = 16

/**
 * `runku check`: connects to every database, introspects it, applies the stored policy, and prints what would be served
 * and what is wrong. Exit code 0 when everything would be served, 1 when something would not.
 */
export async function check(options: CheckOptions): Promise<number> {
  const loaded = loadConfig({ file: options.config, env: process.env })
  if (!loaded.ok) return unchecked(loaded.error.map(faultText), options.json)
  const opened = await openAdminStore(loaded.value.config.adminStore, {
    clock: Date.now,
    randomBytes,
    busyTimeoutMs: ADMIN_COMMAND_BUSY_TIMEOUT_MS,
    whereNone: 'refuse',
  })
  if (!opened.ok) return unchecked([opened.error], options.json)
  const store = opened.value
  let reports: readonly ConnectorReport[]
  try {
    const set = allConnectors(loaded.value, await store.listConnectors(), process.env)
    reports = await reportAll(set, await readPolicies(set, store))
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    return unchecked([error.message], options.json)
  } finally {
    await store.close()
  }
  const broken = reports.filter((report) => !isWell(report)).map(({ connector }) => connector)
  if (options.json)
    process.stdout.write(`${JSON.stringify({ ok: broken.length === 0, broken, connectors: reports })}\n`)
  else process.stdout.write(allText(reports, broken))
  return broken.length === 0 ? 0 : 1
}

/** What keeps anything from being checked is a finding too: with `--json` it stands where findings do. */
function unchecked(faults: readonly string[], json: boolean): number {
  if (json) process.stdout.write(`${JSON.stringify({ ok: false, faults })}\n`)
  else process.stderr.write(refusalText(faults, json))
  return 1
}

function isWell({ serves, problems }: ConnectorReport): boolean {
  return serves && problems.length === 0
}

/** A stored policy as one connector uses it. */
interface PolicyFor {
  readonly stored: StoredPolicy
  readonly known?: string
}

/** By connector id. Read one after the other: a store answers soon, and databases are not waited for meanwhile. */
async function readPolicies(set: ConnectorSet, store: AdminStore): Promise<ReadonlyMap<string, PolicyFor>> {
  const byName = new Map<string, StoredPolicy | undefined>()
  const policies = new Map<string, PolicyFor>()
  for (const { id, policy } of set.connectors) {
    if (!byName.has(policy)) byName.set(policy, await store.findPolicy(policy))
    const stored = byName.get(policy)
    if (stored === undefined) continue
    const known = await store.findKnownObjects(policy, stored.version, id)
    policies.set(id, { stored, ...(known === undefined ? {} : { known }) })
  }
  return policies
}

async function reportAll(
  set: ConnectorSet,
  policies: ReadonlyMap<string, PolicyFor>,
): Promise<readonly ConnectorReport[]> {
  const reports: ConnectorReport[] = []
  let next = 0
  const work = async () => {
    while (next < set.connectors.length) {
      const place = next++
      const connector = set.connectors[place]
      if (connector !== undefined) reports[place] = await reportOn(connector, policies.get(connector.id))
    }
  }
  await Promise.all(Array.from({ length: CONNECTORS_AT_ONCE }, work))
  const faulty = set.faults.map((fault) => ({ ...nothing(fault), problems: fault.faults.map(faultText) }))
  return [...reports, ...faulty]
}

function nothing({ id, path, policy, origin }: ConnectorConfig | ConnectorFault): ConnectorReport {
  return {
    connector: id,
    ...(path === undefined ? {} : { path }),
    source: originText(origin),
    policy,
    serves: false,
    tables: [],
    routines: 0,
    roles: [],
    problems: [],
    warnings: [],
  }
}

async function reportOn(connector: ConnectorConfig, policy: PolicyFor | undefined): Promise<ConnectorReport> {
  const settings = connectorSettings(connector)
  const { driver } = await createEngine(settings, { observe: () => {}, nowMs: monotonicMs, randomBytes })
  try {
    const schema = await driver.introspect(settings.schemas)
    if (!schema.ok) {
      const problem = `${schema.error.code}: ${schema.error.detail ?? schema.error.reason ?? 'the database could not be introspected'}`
      return { ...nothing(connector), problems: [problem] }
    }
    return judge(connector, policy, schema.value)
  } finally {
    await driver.close()
  }
}

function judge(connector: ConnectorConfig, policy: PolicyFor | undefined, schema: SchemaModel): ConnectorReport {
  const stored = policy?.stored
  const parsed = stored === undefined ? undefined : policyFromJson(stored.document)
  const problems: string[] = []
  if (stored === undefined) {
    problems.push(
      `no policy "${connector.policy}" has been applied: run "runku policy apply ${connector.policy} <file>"`,
    )
  }
  if (parsed?.ok === false) problems.push(...parsed.error.map(policyFaultText))
  const written = withVars(parsed?.ok === true ? parsed.value : EMPTY_POLICY, connector.vars)
  const document = withQualifiedNames(written, schemasOf(connector.schemas, schema))
  const known = policy?.known === undefined ? undefined : parseKnownObjects(policy.known)
  const { engine, findings } = compilePolicy(written, schema, {
    schemas: connector.schemas,
    ...(known === undefined ? {} : { known }),
  })
  problems.push(...findings.filter((finding) => finding.severity === 'error').map((finding) => finding.text))
  const withheld = new Set(
    findings.filter(({ withholds, section }) => withholds && section === 'tables').map(({ table }) => table),
  )
  const warnings = findings.filter((finding) => finding.severity === 'warning').map((finding) => finding.text)
  const roles = rolesOf(document, engine)
  warnings.push(...loginWarnings(schema.login, connector.pool.max * connector.threads.max, document))
  for (const { role, tools } of roles) {
    if (tools > TOOLS_WARNED_ABOVE) {
      warnings.push(
        `role ${role} gets ${tools} tools; many clients stop at ${TOOLS_WARNED_ABOVE} over all their servers`,
      )
    }
  }
  return {
    ...nothing(connector),
    serves: parsed?.ok === true,
    server_version: schema.serverVersion,
    ...(stored === undefined ? {} : { policy_version: stored.version }),
    tables: schema.tables.map((table) => tableReport(table, document, withheld)),
    routines: schema.routines.length,
    roles,
    problems,
    warnings,
  }
}

function tableReport(table: Table, document: PolicyDocument, withheld: ReadonlySet<string>): TableReport {
  const name = qualifiedName(table.ref)
  const policy = Object.hasOwn(document.tables, name) ? document.tables[name] : undefined
  return {
    name,
    kind: table.kind,
    key: policy?.key ?? table.primaryKey,
    foreign_keys: table.foreignKeys.map(({ columns, references }) => ({
      columns,
      references: qualifiedName(references),
    })),
    enums: table.columns.flatMap(({ name, type: { labels } }) =>
      labels === undefined ? [] : [{ column: name, labels }],
    ),
    exposed: policy !== undefined && !withheld.has(name),
  }
}

function rolesOf(document: PolicyDocument, engine: PolicyEngine): readonly RoleReport[] {
  return Object.keys(document.roles).map((role) => {
    // An identity that exists nowhere, with this one role: names of real ones may have overrides.
    const { body, tools } = encodeTools(engine.rights({ id: '', name: '', roles: [role], claims: new Map() }))
    return { role, tools, tool_list_chars: Buffer.from(body).toString('utf8').length }
  })
}

function tableText({ name, kind, key, foreign_keys, enums }: TableReport): readonly string[] {
  const what = kind === 'table' ? '' : ` (${kind.replaceAll('_', ' ')})`
  const lines = [`            ${name}${what}${key.length === 0 ? ' no key' : ` key ${key.join(', ')}`}`]
  for (const { columns, references } of foreign_keys) lines.push(`              ${columns.join(', ')} -> ${references}`)
  for (const { column, labels } of enums) lines.push(`              ${column}: ${labels.join(' | ')}`)
  return lines
}

/** Each connector, and where there are many the broken ones once more by name: nobody reads through a hundred. */
function allText(reports: readonly ConnectorReport[], broken: readonly string[]): string {
  if (reports.length === 0) return 'There are no connectors.\n'
  const whole = reports.length - broken.length
  const verdict =
    broken.length === 0
      ? `All ${reports.length} connectors would be served.`
      : `${whole} of ${reports.length} connectors would be served whole. Not so: ${broken.join(', ')}`
  return `${reports.map(asText).join('\n')}\n${verdict}\n`
}

function asText(report: ConnectorReport): string {
  const {
    connector,
    path = '(no path)',
    source,
    serves,
    server_version,
    policy,
    policy_version,
    tables,
    routines,
    roles,
  } = report
  const { problems, warnings } = report
  const verdict = !serves ? 'WOULD NOT SERVE' : problems.length > 0 ? 'would serve in part' : 'would serve'
  const exposed = tables.filter((table) => table.exposed)
  const lines = [`${connector}  ${path}  ${verdict}`, `  from      ${source}`]
  if (server_version !== undefined) lines.push(`  server    ${server_version}`)
  lines.push(`  policy    ${policy}${policy_version === undefined ? '' : ` (version ${policy_version})`}`)
  if (tables.length > 0) lines.push(`  tables    ${tables.length} in the catalog, ${exposed.length} exposed`)
  if (routines > 0) lines.push(`  routines  ${routines} in the catalog`)
  for (const table of exposed) lines.push(...tableText(table))
  for (const { role, tools, tool_list_chars } of roles) {
    lines.push(`  role      ${role}: ${tools} tools, ${tool_list_chars} characters`)
  }
  for (const problem of problems) lines.push(`  PROBLEM   ${problem}`)
  for (const warning of warnings) lines.push(`  warning   ${warning}`)
  return `${lines.join('\n')}\n`
}
