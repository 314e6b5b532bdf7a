import { readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { z } from 'zod'
import type { StoredConnector } from '../admin/admin-store.js'
import { unreachable } from '../core/assert.js'
import { CONNECTOR_FILES_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import { type ConnectorConfig, type ConnectorOrigin, defaultPath, resolveConnector } from './connector-config.js'
import { type Complaint, type ConfigPath, complaints, type Fault, withoutRepeats } from './faults.js'
import { accessText } from './files.js'
import { type ConnectorInput, connectorSchema } from './schema.js'
import { type Environment, parseSource, readSource, type Source } from './source.js'

/** A connector that is configured but cannot be used. What is known of it answers calls to it, and names it. */
export interface ConnectorFault {
  /** Its own; of a file whose id cannot be read, the file's name. */
  readonly id: string
  /** Absent when it has no place of its own: another connector has its id or its path, or its file cannot be read. */
  readonly path?: string
  /** The name of its policy, where that much could be read. */
  readonly policy: string
  readonly origin: ConnectorOrigin
  /** Its id could not be read: it may be a connector that was known by this origin before. */
  readonly unread?: true
  readonly faults: readonly Fault[]
}

/** Connectors of any sources, in their order, no two with one id or one path. */
export interface ConnectorSet {
  /** Those without a fault. */
  readonly connectors: readonly ConnectorConfig[]
  readonly faults: readonly ConnectorFault[]
}

/** One connector as its source has it, not yet compared with the others. */
export interface ConnectorCandidate {
  readonly origin: ConnectorOrigin
  readonly id: string
  readonly path: string
  readonly policy: string
  readonly unread?: true
  readonly outcome: Result<ConnectorConfig, readonly Fault[]>
  /** Puts a complaint about one of its keys at its place. */
  locate(key: 'id' | 'path', message: string): Fault
}

const CONNECTOR_KEYS = 'the keys of one connector, such as id, type and url'

/** Where a connector comes from, for messages. */
export function originText(origin: ConnectorOrigin): string {
  switch (origin.kind) {
    case 'file':
      return origin.line === undefined ? origin.file : `${origin.file}:${origin.line}`
    case 'folder':
      return origin.file
    case 'store':
      return 'the admin store'
    default:
      return unreachable(origin)
  }
}

/** Those under `connectors:`. The complaints are what leaves a connector without a name, and so ends the start. */
export function listedCandidates(
  listed: unknown,
  source: Source,
  folder: string,
): { readonly candidates: readonly ConnectorCandidate[]; readonly ending: readonly Complaint[] } {
  if (!Array.isArray(listed)) {
    const message = 'expected a list of connectors, each beginning with "- id:"'
    return { candidates: [], ending: [{ path: ['connectors'], message }] }
  }
  const candidates: ConnectorCandidate[] = []
  const ending: Complaint[] = []
  listed.forEach((raw: unknown, index) => {
    const at: ConfigPath = ['connectors', index]
    const unusable = complaints(connectorSchema.pick({ id: true }).loose(), raw, at)
    ending.push(...unusable)
    if (unusable.length > 0) return
    const { line } = source.locate({ path: at, message: '' })
    const origin: ConnectorOrigin = { kind: 'file', file: source.file, ...(line === undefined ? {} : { line }) }
    candidates.push(candidateOf(raw, { source, at, origin, folder }))
  })
  return { candidates, ending }
}

/** One connector a file, in the order of the names. The error is about the folder as a whole. */
export function folderCandidates(
  directory: string,
  base: { readonly file: string; readonly folder: string },
  env: Environment,
): Result<readonly ConnectorCandidate[], string> {
  const shown = isAbsolute(directory) ? directory : join(base.file, '..', directory)
  let names: readonly string[]
  try {
    names = readdirSync(isAbsolute(directory) ? directory : join(base.folder, directory))
  } catch (error) {
    return fail(`the folder ${shown} ${folderText(error)}`)
  }
  const files = names.filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort()
  if (files.length > CONNECTOR_FILES_MAX) return fail(`${shown} holds more than ${CONNECTOR_FILES_MAX} connectors`)
  return ok(files.map((name) => fileCandidate(join(shown, name), name, base.folder, env)))
}

function folderText(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOTDIR' ? 'is no folder' : accessText(error)
}

function fileCandidate(file: string, name: string, folder: string, env: Environment): ConnectorCandidate {
  const origin: ConnectorOrigin = { kind: 'folder', file }
  const read = readSource({ file, env, schema: connectorSchema, expected: CONNECTOR_KEYS })
  const unread = (faults: readonly Fault[]): ConnectorCandidate => {
    const id = cleanText(name.replace(/\.ya?ml$/, ''), 64)
    return { ...faulty(id, origin, faults), unread: true }
  }
  if (!read.ok) return unread(read.error)
  const source = read.value
  const unnamed = complaints(connectorSchema.pick({ id: true }).loose(), source.value, [])
  if (unnamed.length > 0) return unread(unnamed.map((item) => source.locate(item)))
  return candidateOf(source.value, { source, at: [], origin, folder })
}

/** A connector of the admin store. Relative paths in it start at the folder of `config.yaml`. */
export function storedCandidate(
  stored: Pick<StoredConnector, 'id' | 'document'>,
  env: Environment,
  folder: string,
): ConnectorCandidate {
  const origin: ConnectorOrigin = { kind: 'store' }
  const file = `connector "${stored.id}" of the admin store`
  const read = parseSource(stored.document, { file, env, schema: connectorSchema, expected: CONNECTOR_KEYS })
  if (!read.ok) return faulty(stored.id, origin, read.error.map(withoutPlace))
  // One line of JSON has no places worth naming.
  const source: Source = {
    ...read.value,
    faults: read.value.faults.map(withoutPlace),
    locate: (complaint) => withoutPlace(read.value.locate(complaint)),
  }
  if (source.value['id'] !== stored.id) {
    const message = `expected ${stored.id}, the id under which it is stored`
    return faulty(stored.id, origin, [source.locate({ path: ['id'], message })])
  }
  const unnamed = complaints(connectorSchema.pick({ id: true }).loose(), source.value, [])
  if (unnamed.length > 0)
    return faulty(
      stored.id,
      origin,
      unnamed.map((item) => source.locate(item)),
    )
  return candidateOf(source.value, { source, at: [], origin, folder })
}

function withoutPlace({ line: _line, column: _column, ...fault }: Fault): Fault {
  return fault
}

/** One of which nothing but its name is known. */
function faulty(id: string, origin: ConnectorOrigin, faults: readonly Fault[]): ConnectorCandidate {
  const locate = (key: string, message: string): Fault => ({ file: originText(origin), path: [key], message })
  return { origin, id, path: defaultPath(id), policy: id, outcome: fail(faults), locate }
}

/** Where in its source a connector stands. */
interface Place {
  readonly source: Source
  readonly at: ConfigPath
  readonly origin: ConnectorOrigin
  /** Where relative paths start. */
  readonly folder: string
}

/** `raw` is a mapping with a valid id. What else it holds is read as far as it is usable. */
function candidateOf(raw: unknown, place: Place): ConnectorCandidate {
  const { shape } = connectorSchema
  const loose = z.looseObject({
    id: shape.id,
    path: shape.path.catch(undefined),
    policy: shape.policy.catch(undefined),
  })
  const { id, path, policy } = loose.parse(raw)
  const { source, at, origin } = place
  return {
    origin,
    id,
    path: path ?? defaultPath(id),
    policy: policy ?? id,
    outcome: readConnector(raw, place),
    locate: (key, message) => source.locate({ path: [...at, key], message }),
  }
}

function readConnector(raw: unknown, { source, at, origin, folder }: Place): Result<ConnectorConfig, readonly Fault[]> {
  const own = source.faults.filter((fault) => at.every((step, i) => fault.path[i] === step))
  const wrong = complaints(connectorSchema, raw, at).map((item) => source.locate(item))
  if (own.length + wrong.length > 0) return fail(withoutRepeats([...own, ...wrong]))
  const input: ConnectorInput = connectorSchema.parse(raw)
  const resolved = resolveConnector(input, folder, origin)
  if (resolved.ok) return resolved
  return fail(resolved.error.map(({ path, message }) => source.locate({ path: [...at, ...path], message })))
}

/** Compares the candidates with those before them: of two with one id or one path the later one is disabled. */
export function settleConnectors(candidates: readonly ConnectorCandidate[], before?: ConnectorSet): ConnectorSet {
  const connectors = [...(before?.connectors ?? [])]
  const faults = [...(before?.faults ?? [])]
  const ids = new Map<string, ConnectorOrigin>()
  const paths = new Map<string, ConnectorOrigin>()
  const claim = (id: string | undefined, path: string | undefined, origin: ConnectorOrigin) => {
    if (id !== undefined && !ids.has(id)) ids.set(id, origin)
    if (path !== undefined && !paths.has(path)) paths.set(path, origin)
  }
  for (const { id, path, origin } of connectors) claim(id, path, origin)
  for (const { id, path, origin, unread } of faults) claim(unread ? undefined : id, path, origin)

  for (const candidate of candidates) {
    const { id, path, policy, origin, unread, outcome } = candidate
    const shown = { id, policy, origin }
    if (unread) {
      // Its name is that of its file: it has neither place nor id that another could be asked to leave to it.
      faults.push({ ...shown, unread, faults: outcome.ok ? [] : outcome.error })
      continue
    }
    const twice = ids.get(id) ?? paths.get(path)
    if (twice !== undefined) {
      const key = ids.has(id) ? 'id' : 'path'
      const own = outcome.ok ? [] : outcome.error
      const repeated = candidate.locate(key, `another connector has this ${key}: ${originText(twice)}`)
      faults.push({ ...shown, faults: [repeated, ...own] })
      claim(id, undefined, origin)
      continue
    }
    claim(id, path, origin)
    if (outcome.ok) connectors.push(outcome.value)
    else faults.push({ ...shown, path, faults: outcome.error })
  }
  return { connectors, faults }
}
