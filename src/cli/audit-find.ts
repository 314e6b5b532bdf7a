import { type ChainKeys, digestFilterValue, digestRowKey, isHeadLine, readLink } from '../audit/chain.js'
import { printable } from '../audit/entry-text.js'
import { digestsOf, entryIn, parseEntry } from '../audit/reports/entry-facts.js'
import { openIndex } from '../audit/reports/index-file.js'
import { TrailBuffer } from '../audit/verify/read-buffer.js'
import { readTrailFile } from '../audit/verify/read-lines.js'
import type { AuditEntry } from '../core/audit-entry.js'
import { monotonicMs } from '../core/clock.js'
import { fail, ok, type Result } from '../core/result.js'
import { findTrail, type SourceOptions } from './audit-sources.js'
import { type CommandResult, EXIT_NOT_WHOLE, type Refusal, refused, type Surroundings, table } from './command.js'

export interface FindOptions extends SourceOptions {
  /** Files to look through instead of the buffer. */
  readonly files: readonly string[]
  readonly limit: number
}

interface Found {
  /** Newest first. */
  readonly entries: readonly AuditEntry[]
  /** Whether there are more than were asked for. */
  readonly more: boolean
  /** Lines that the gateway did not write as they are, whatever they named. They are among no entries. */
  readonly notGenuine: number
}

/** Whether the entry was made by somebody who got the row or changed it, or only named it. */
function relation({ effect, operation }: AuditEntry): string {
  if (effect === 'committed') return 'changed'
  if (effect === 'unknown') return 'may have changed'
  return operation === 'get' || operation === 'search' ? 'read' : 'read, tried'
}

/** The key as entries have it: its one value, or a JSON array of several. */
function keyTextOf(parts: readonly string[]): string {
  const [only = ''] = parts
  return parts.length === 1 ? only : JSON.stringify(parts)
}

/** `runku audit who <connector> <table> <key>…`: every call that returned or changed that row. */
export async function who(
  surroundings: Surroundings,
  row: { readonly connector: string; readonly table: string; readonly key: readonly string[] },
  options: FindOptions,
): Promise<CommandResult> {
  const { connector, table: name, key } = row
  const trail = findTrail(surroundings, options)
  if (!trail.ok) return trail
  const digest = digestRowKey(trail.value.keys, { connector, table: name }, keyTextOf(key))
  const found = await find(trail.value, digest, options, surroundings)
  if (!found.ok) return found
  const none = printable(
    `No call that is in the trail returned or changed the row ${keyTextOf(key)} of "${name}" on "${connector}".`,
  )
  return ok({
    lines: listed(found.value, none, relation),
    json: asJson(digest, found.value),
    ...exitCodeOf(found.value),
  })
}

/** `runku audit hash <connector> <table> <column> <value>`: the hash of a value, and every call that named it. */
export async function hash(
  surroundings: Surroundings,
  named: { readonly connector: string; readonly target: string; readonly column: string; readonly value: string },
  options: FindOptions,
): Promise<CommandResult> {
  const { value, ...name } = named
  const trail = findTrail(surroundings, options)
  if (!trail.ok) return trail
  const digest = digestFilterValue(trail.value.keys, name, value)
  const found = await find(trail.value, digest, options, surroundings)
  if (!found.ok) return found
  const lines = listed(found.value, 'No call that is in the trail named this value.', ({ operation }) => operation)
  return ok({ lines: [digest, '', ...lines], json: asJson(digest, found.value), ...exitCodeOf(found.value) })
}

interface Wanted {
  readonly keys: ChainKeys
  readonly digest: string
  readonly limit: number
  readonly note: Surroundings['note']
}

function find(
  { buffer, keys }: { readonly buffer?: string; readonly keys: ChainKeys },
  digest: string,
  { files, limit }: FindOptions,
  { note }: Surroundings,
): Promise<Result<Found, Refusal>> | Result<Found, Refusal> {
  const wanted = { keys, digest, limit, note }
  if (files.length > 0) return findInFiles(files, wanted)
  if (buffer === undefined) return refused('there is no audit buffer: give --buffer, or files with --file')
  return findInBuffer(buffer, wanted)
}

function findInBuffer(path: string, wanted: Wanted): Result<Found, Refusal> {
  const opened = TrailBuffer.open(path)
  if (!opened.ok) return refused(opened.error)
  const buffer = opened.value
  try {
    const found = findByIndex(path, wanted)
    if (found.ok) return found
    // A folder that can only be read, or a full disk: the answer is there all the same.
    wanted.note(`${found.error}; all entries of the buffer were read instead, which takes longer`)
    const finding = new Finding(wanted)
    const { instance } = buffer.meta()
    for (const { line } of buffer.after(0)) finding.visit(line, instance)
    return ok(finding.finish())
  } finally {
    buffer.close()
  }
}

/** Whatever keeps an index from being used, there is the buffer to read. */
function findByIndex(buffer: string, wanted: Wanted): Result<Found, string> {
  try {
    return searchIndex(buffer, wanted)
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function searchIndex(buffer: string, { keys, digest, limit, note }: Wanted): Result<Found, string> {
  const onRemade = (why: string) => note(`the index of the buffer was made anew: ${why}`)
  const opened = openIndex({ buffer, keys, onRemade })
  if (!opened.ok) return opened
  const index = opened.value
  try {
    // All of it: an answer that leaves out the last minute would be a wrong one.
    const followed = index.follow(Number.POSITIVE_INFINITY, monotonicMs)
    if (!followed.ok) return followed
    const found = index.search(digest, { limit: limit + 1 })
    if (!found.ok) return found
    const entries = found.value.entries.map(({ line }) => parseEntry(line))
    return ok(firstOf(entries, limit, found.value.notGenuine))
  } finally {
    index.close()
  }
}

/** Entries that hold a digest, found by looking at all of them. */
class Finding {
  readonly #wanted: Wanted
  /** By instance and number: what is in several files is one entry. */
  readonly #found = new Map<string, AuditEntry>()
  #notGenuine = 0

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  /** `instance`: that of all lines, where it is known. */
  visit(line: string, instance?: string): void {
    const { keys, digest } = this.#wanted
    if (isHeadLine(line)) return
    const { link } = readLink(keys, line)
    const entry = link === undefined || link.instance !== (instance ?? link.instance) ? undefined : entryIn(line)
    if (entry === undefined) this.#notGenuine += 1
    else if (digestsOf(entry, keys).includes(digest)) this.#found.set(`${entry.instance} ${entry.seq}`, entry)
  }

  finish(): Found {
    const found = [...this.#found.values()]
    const newest = found.sort((a, b) => (a.time === b.time ? b.seq - a.seq : a.time < b.time ? 1 : -1))
    return firstOf(newest, this.#wanted.limit, this.#notGenuine)
  }
}

async function findInFiles(files: readonly string[], wanted: Wanted): Promise<Result<Found, Refusal>> {
  const finding = new Finding(wanted)
  for (const file of files) {
    const read = await readTrailFile(file, (line) => finding.visit(line))
    if (!read.ok) return refused(read.error)
  }
  return ok(finding.finish())
}

function firstOf(entries: readonly AuditEntry[], limit: number, notGenuine: number): Found {
  return { entries: entries.slice(0, limit), more: entries.length > limit, notGenuine }
}

function exitCodeOf({ notGenuine }: Found): { readonly exitCode?: number } {
  return notGenuine === 0 ? {} : { exitCode: EXIT_NOT_WHOLE }
}

function listed(
  { entries, more, notGenuine }: Found,
  none: string,
  what: (entry: AuditEntry) => string,
): readonly string[] {
  const rows = entries.map((entry) => [
    entry.time,
    entry.instance,
    String(entry.seq),
    what(entry),
    entry.identity ?? '',
    entry.key_id ?? '',
    entry.connector ?? '',
    entry.tool ?? '',
    entry.code,
    entry.effect,
  ])
  const heads = ['TIME', 'INSTANCE', 'SEQ', 'WHAT', 'IDENTITY', 'KEY', 'CONNECTOR', 'TOOL', 'CODE', 'EFFECT']
  const lines = table(
    heads,
    rows.map((row) => row.map(printable)),
    none,
  )
  return [
    ...lines,
    ...(more ? [`There are more: these are the newest ${entries.length}. Raise --limit for the others.`] : []),
    ...(notGenuine > 0
      ? [`NOT GENUINE: ${notGenuine} in the trail, whatever they named. "runku audit verify" says what was done to it.`]
      : []),
  ]
}

function asJson(digest: string, { entries, more, notGenuine }: Found): unknown {
  return { digest, entries, more, not_genuine: notGenuine }
}
