import { readFileSync } from 'node:fs'
import { parse, YAMLParseError } from 'yaml'
import { CONNECTOR_OPERATIONS } from '../admin/operations-connectors.js'
import { accessText } from '../config/files.js'
import { fail, ok, type Result } from '../core/result.js'
import { administer } from './administer.js'
import { type CommandResult, type Refusal, refused, type Surroundings, table } from './command.js'
import { confirmed } from './confirm.js'

/** `runku connector list` */
export function listConnectors(surroundings: Surroundings): Promise<CommandResult> {
  return administer(surroundings, CONNECTOR_OPERATIONS['connector.list'], {}, ({ connectors }) => {
    const rows = connectors.map((one) => [
      one.id,
      one.path ?? '',
      one.policy,
      one.origin,
      one.faults.length === 0 ? '' : (one.faults[0] ?? ''),
    ])
    return table(['CONNECTOR', 'PATH', 'POLICY', 'FROM', 'FAULT'], rows, 'There are no connectors.')
  })
}

/** `runku connector show <id>` */
export function showConnector(surroundings: Surroundings, id: string): Promise<CommandResult> {
  return administer(surroundings, CONNECTOR_OPERATIONS['connector.show'], { id }, (one) => [
    `connector  ${one.id}`,
    `path       ${one.path ?? 'none'}`,
    `policy     ${one.policy}`,
    `from       ${one.origin}`,
    ...(one.author === undefined ? [] : [`changed    ${one.changed_at ?? ''} by ${one.author}`]),
    ...one.faults.map((fault) => `FAULT      ${fault}`),
    ...(one.document === undefined ? [] : ['', JSON.stringify(one.document, undefined, 2)]),
  ])
}

/** `runku connector add <id> --file f`, or `set` for one that may exist: a file with what would stand under `connectors:`. */
export async function putConnector(
  surroundings: Surroundings,
  id: string,
  file: string,
  create: boolean,
): Promise<CommandResult> {
  const document = readDocument(file)
  if (!document.ok) return document
  const input = { id, document: document.value, create }
  return administer(surroundings, CONNECTOR_OPERATIONS['connector.put'], input, () => [
    `${create ? 'Added' : 'Set'} the connector "${id}". Running gateways take it over by themselves.`,
  ])
}

/** `runku connector rename <id> <new id>` */
export function renameConnector(surroundings: Surroundings, id: string, newId: string): Promise<CommandResult> {
  const input = { id, new_id: newId }
  return administer(surroundings, CONNECTOR_OPERATIONS['connector.rename'], input, () => [
    `The connector "${id}" is now "${newId}".`,
  ])
}

/** `runku connector remove <id> [--yes]` */
export async function removeConnector(surroundings: Surroundings, id: string, yes: boolean): Promise<CommandResult> {
  const asked = await confirmed(`removes the connector "${id}" from every gateway of this store`, yes)
  if (!asked.ok) return asked
  return administer(surroundings, CONNECTOR_OPERATIONS['connector.delete'], { id }, () => [
    `Removed the connector "${id}".`,
  ])
}

function readDocument(file: string): Result<unknown, Refusal> {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    return refused(`the file ${file} ${accessText(error)}`)
  }
  try {
    return ok(parse(text, { schema: 'core' }))
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error
    // The parser's own words may quote the file, and with it a secret.
    const line = error.linePos?.[0].line
    return fail({ lines: [`${file}:${line ?? 1}: this is not YAML`] })
  }
}
