import { readFileSync, statSync } from 'node:fs'
import { POLICY_OPERATIONS } from '../admin/operations-policies.js'
import { accessText } from '../config/files.js'
import { POLICY_TEXT_CHARS_MAX } from '../core/limits.js'
import { ok, type Result } from '../core/result.js'
import { parsePolicyText, policyFaultText } from '../policy/policy-document.js'
import { misspeltVariables } from '../policy/vars.js'
import { administer } from './administer.js'
import {
  type CommandResult,
  type Refusal,
  refused,
  type Surroundings,
  storeRefused,
  table,
  withStore,
} from './command.js'
import { confirmed } from './confirm.js'
import { findingText, judgePolicy } from './judge-policy.js'

export interface ApplyArguments {
  readonly name: string
  readonly file: string
  /** Check the document in itself only, and no database. */
  readonly offline: boolean
  /** Leave connectors that cannot be reached to their first load. */
  readonly partial: boolean
}

/**
 * `runku policy apply <name> <file> [--offline | --partial]`. Unless offline, every connector that uses the policy is asked for its
 * catalog, and a document that names what does not exist there is refused.
 */
export async function applyPolicy(surroundings: Surroundings, given: ApplyArguments): Promise<CommandResult> {
  const text = readDocument(given.file)
  if (!text.ok) return text
  return withStore(surroundings, 'changes', async (store, loaded) => {
    const judged = await judgePolicy(surroundings, store, loaded, { ...given, text: text.value })
    if (!judged.ok) return refusedIn(given.file, judged.error)
    const { json, known, findings, compared, unreached } = judged.value
    const applied = await store.changes({ name: surroundings.author }).applyPolicy(given.name, json, known)
    if (!applied.ok) return storeRefused(applied.error)
    const { name, version, author } = applied.value
    const checked = given.offline ? ' It was not checked against a database.' : ''
    const away = unreached.length === 0 ? '' : ` Not confirmed on: ${unreached.join(', ')}.`
    return ok({
      lines: [
        ...findings.map((finding) => `${given.file}: ${findingText(finding)}`),
        `Applied version ${version} of the policy "${name}".${checked}${away}`,
      ],
      json: { policy: name, version, author, offline: given.offline, compared, unreached, findings },
    })
  })
}

export interface ValidateArguments {
  readonly file: string
  /** Against the connectors that use this policy. */
  readonly name?: string
  /** Against this connector alone. */
  readonly connector?: string
}

/** `runku policy validate <file> [--name policy | --connector id]`. Without either the document alone is checked. Nothing is stored. */
export async function validatePolicy(surroundings: Surroundings, given: ValidateArguments): Promise<CommandResult> {
  const { file, name, connector } = given
  const text = readDocument(file)
  if (!text.ok) return text
  if (name !== undefined && connector !== undefined) return refused('expected --name or --connector, not both')
  if (name === undefined && connector === undefined) return validateAlone(file, text.value)
  return withStore(surroundings, 'reads', async (store, loaded) => {
    const asked = {
      name: name ?? '',
      text: text.value,
      offline: false,
      asked: true as const,
      ...(connector === undefined ? {} : { connector }),
    }
    const judged = await judgePolicy(surroundings, store, loaded, asked)
    if (!judged.ok) return refusedIn(file, judged.error)
    const { findings, compared } = judged.value
    const lines = findings.map((finding) => `${file}: ${findingText(finding)}`)
    return ok({ lines: [...lines, `${file} fits ${compared.join(', ')}.`], json: { file, compared, findings } })
  })
}

/** Needs neither a configuration nor a store, so that it can run wherever documents are kept. */
function validateAlone(file: string, text: string): CommandResult {
  const parsed = parsePolicyText(text)
  if (!parsed.ok) return refused(...parsed.error.map((fault) => `${file}: ${policyFaultText(fault)}`))
  const { document, tree } = parsed.value
  const findings = misspeltVariables(document).map(({ severity, path, text: said }) => {
    return { severity, line: tree.lineOf(path), text: said }
  })
  const line = `${file} is a policy. It was not checked against a database: see --connector and --name.`
  const lines = findings.map((finding) => `${file}: ${findingText({ connector: undefined, ...finding })}`)
  return ok({ lines: [...lines, line], json: { file, compared: [], findings } })
}

function refusedIn(file: string, { message, details = [message] }: { message: string; details?: readonly string[] }) {
  return refused(...details.map((detail) => `${file}: ${detail}`))
}

/** A policy as it is written in a file: UTF-8, and no longer than a policy may be. */
export function readDocument(file: string): Result<string, Refusal> {
  try {
    // A character takes at most four bytes; the exact limit is the parser's.
    if (statSync(file).size > POLICY_TEXT_CHARS_MAX * 4) return refused(`${file}: the file is too large for a policy`)
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)))
  } catch (error) {
    if (error instanceof TypeError) return refused(`${file}: the file is not UTF-8 text`)
    return refused(`the file ${file} ${accessText(error)}`)
  }
}

/** `runku policy list` */
export function listPolicies(surroundings: Surroundings): Promise<CommandResult> {
  return administer(surroundings, POLICY_OPERATIONS['policy.list'], {}, ({ policies }) => {
    const rows = policies.map((one) => [
      one.policy,
      String(one.version),
      one.author,
      one.applied_at,
      one.connectors.join(', '),
    ])
    return table(['POLICY', 'VERSION', 'AUTHOR', 'APPLIED', 'CONNECTORS'], rows, 'There are no policies.')
  })
}

/** `runku policy history <name>` */
export function policyHistory(surroundings: Surroundings, name: string): Promise<CommandResult> {
  return administer(surroundings, POLICY_OPERATIONS['policy.history'], { policy: name }, ({ versions }) => {
    const rows = versions.map(({ version, author, applied_at }) => [String(version), author, applied_at])
    return table(['VERSION', 'AUTHOR', 'APPLIED'], rows, `There is no policy "${name}".`)
  })
}

/** `runku policy show <name> [--version n]`: the document, as YAML for a person. */
export async function showPolicy(surroundings: Surroundings, name: string, version?: string): Promise<CommandResult> {
  const { stringify } = await import('yaml')
  const input = { policy: name, ...(version === undefined ? {} : { version }) }
  return administer(surroundings, POLICY_OPERATIONS['policy.show'], input, ({ document, ...about }) => [
    `# Version ${about.version} of the policy "${about.policy}", by ${about.author} at ${about.applied_at}`,
    stringify(document, { lineWidth: 120, aliasDuplicateObjects: false }).trimEnd(),
  ])
}

/** `runku policy rollback <name> [--to n] [--yes]`: the older document becomes the newest version, checked like any other. */
export async function rollBackPolicy(
  surroundings: Surroundings,
  name: string,
  options: { readonly to?: string; readonly yes: boolean },
): Promise<CommandResult> {
  const { to, yes } = options
  const which = to === undefined ? 'the version before the newest' : `version ${to}`
  const asked = await confirmed(`puts ${which} of the policy "${name}" in force again`, yes)
  if (!asked.ok) return asked
  const input = { policy: name, ...(to === undefined ? {} : { to }) }
  return administer(surroundings, POLICY_OPERATIONS['policy.rollback'], input, (done) => [
    ...done.findings.map(findingText),
    `Applied version ${done.version} of the policy "${name}", which is version ${done.restored} again.`,
  ])
}

/** `runku policy delete <name> [--yes]` */
export async function deletePolicy(surroundings: Surroundings, name: string, yes: boolean): Promise<CommandResult> {
  const what = `deletes every version of the policy "${name}", and connectors that use it serve nothing from then on`
  const asked = await confirmed(what, yes)
  if (!asked.ok) return asked
  return administer(surroundings, POLICY_OPERATIONS['policy.delete'], { policy: name }, () => [
    `Deleted the policy "${name}".`,
  ])
}
