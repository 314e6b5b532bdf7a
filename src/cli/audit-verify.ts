import { existsSync } from 'node:fs'
import { rotatedFiles } from '../audit/file-sink.js'
import type { ChainResult, Place, TrailFault } from '../audit/verify/trail-check.js'
import { verifyTrail } from '../audit/verify/verify-trail.js'
import { unreachable } from '../core/assert.js'
import { AUDIT_FAULTS_SHOWN_MAX } from '../core/limits.js'
import { ok } from '../core/result.js'
import { findTrail, type SourceOptions, type TrailPlace } from './audit-sources.js'
import { type CommandResult, EXIT_NOT_WHOLE, refused, type Surroundings } from './command.js'

export interface VerifyOptions extends SourceOptions {
  readonly files: readonly string[]
  readonly heads: readonly string[]
  /** Whether a later part of a trail is not enough. */
  readonly complete: boolean
  /** Whether the lines of files may stand in any order. */
  readonly anyOrder: boolean
}

/** What the configuration says there is: the buffer, and the file with those that were rotated. */
async function configuredFiles({ file }: TrailPlace): Promise<readonly string[]> {
  if (file === undefined) return []
  const rotated = await rotatedFiles(file).catch(() => [])
  return [...rotated, file].filter((path) => existsSync(path))
}

/** `runku audit verify [file]…`: checks the chain over everything that is given. */
export async function verify(surroundings: Surroundings, options: VerifyOptions): Promise<CommandResult> {
  const found = findTrail(surroundings, options)
  if (!found.ok) return found
  const { buffer, keys } = found.value
  const asked = options.files.length > 0
  const files = asked ? options.files : await configuredFiles(found.value)
  // Files alone are what is meant where they are given without a buffer.
  const read = asked ? options.buffer !== undefined : true
  if (files.length === 0 && (!read || buffer === undefined)) {
    return refused('there is nothing to verify: give files, or --buffer')
  }
  const checked = await verifyTrail(
    { ...(read && buffer !== undefined ? { buffer } : {}), files, heads: options.heads, anyOrder: options.anyOrder },
    keys,
  )
  if (!checked.ok) return refused(checked.error)
  const instances = checked.value
  const entries = instances.reduce((sum, each) => sum + each.entries, 0)
  const sound = instances.every(({ faults }) => faults.length === 0)
  if (entries === 0 && sound)
    return refused('there are no entries in what was given, and nothing says that there should be')
  const parts = instances.filter(({ begins }) => begins === 'head')
  const complete = parts.length === 0
  const passes = sound && (complete || !options.complete)
  return ok({
    lines: [...instances.flatMap(shown), verdict(sound, parts, options.complete)],
    json: { sound, complete, instances: instances.map(asJson) },
    ...(passes ? {} : { exitCode: EXIT_NOT_WHOLE }),
  })
}

/** `parts`: instances of which only a later part is there. */
function verdict(sound: boolean, parts: readonly ChainResult[], complete: boolean): string {
  if (!sound) return 'The trail is NOT whole.'
  if (parts.length === 0) return 'The trail is whole.'
  const since = parts.map(({ instance, range }) => `entry ${range?.from ?? 0} of ${instance}`).join(', ')
  return complete
    ? `The trail is NOT complete: what comes before ${since} is not in what was given.`
    : `The trail is whole from ${since} on. What came before is not in what was given.`
}

function beginning({ begins, range }: ChainResult): string {
  const first = range?.from ?? 0
  switch (begins) {
    case 'genesis':
      return 'from the first entry on'
    case 'checkpoint':
      return 'behind the checkpoint: the gateway deleted what was before'
    case 'head':
      return `from ${first} on, where a head of the chain joins; entries before it are not in what was given`
    default:
      return unreachable(begins)
  }
}

function shown(result: ChainResult): readonly string[] {
  const { instance, entries, range, repeated, faults } = result
  const which = instance === '' ? 'of no instance' : `instance ${instance}`
  const span = range === undefined ? '' : ` (${range.from} to ${range.to})`
  const more = faults.length - AUDIT_FAULTS_SHOWN_MAX
  return [
    `${which}: ${entries} entries${span}, ${beginning(result)}`,
    ...(repeated === 0 ? [] : [`  ${repeated} were there more than once, byte for byte`]),
    ...faults.slice(0, AUDIT_FAULTS_SHOWN_MAX).map((fault) => `  FAULT ${faultText(fault)}`),
    ...(more > 0 ? [`  FAULT and ${more} more`] : []),
  ]
}

function at({ source, position }: Place): string {
  return `${source}, line ${position + 1}`
}

function span(from: number, to: number): string {
  return from === to ? `entry ${from} is` : `entries ${from} to ${to} are`
}

function faultText(fault: TrailFault): string {
  switch (fault.kind) {
    case 'edited':
      return `entry ${fault.seq} was changed (${at(fault.place)})`
    case 'inserted':
      return `a line was added that the gateway did not write there (${at(fault.place)})`
    case 'removed':
      return `${span(fault.fromSeq, fault.toSeq)} missing`
    case 'reordered':
      return `entry ${fault.seq} is not in its place (${at(fault.place)})`
    case 'unlinked':
      return `entry ${fault.seq} does not follow from what is before it: two histories of one chain${fault.place === undefined ? '' : ` (${at(fault.place)})`}`
    case 'truncated':
      return `${span(fault.fromSeq, fault.toSeq)} missing at the end`
    case 'head':
      return `a head or checkpoint of the chain is missing or was changed (${at(fault.place)})`
    case 'unsealed':
      return `beside the chain: ${fault.what} (${fault.place.source})`
    default:
      return unreachable(fault)
  }
}

function asJson({ instance, entries, range, begins, repeated, faults }: ChainResult): unknown {
  const placeOf = (place: Place) => ({ source: place.source, line: place.position + 1 })
  return {
    instance,
    entries,
    ...(range === undefined ? {} : { from_seq: range.from, to_seq: range.to }),
    begins,
    repeated,
    faults: faults.map((fault) => ({
      kind: fault.kind,
      text: faultText(fault),
      ...('seq' in fault ? { seq: fault.seq } : {}),
      ...('fromSeq' in fault ? { from_seq: fault.fromSeq, to_seq: fault.toSeq } : {}),
      ...('place' in fault && fault.place !== undefined ? placeOf(fault.place) : {}),
    })),
  }
}
