import { type ChainKeys, digestFilterValue, digestRowKey } from '../audit/chain.js'
import { printable } from '../audit/entry-text.js'
import { digestsOf, entryIn, parseEntry } from '../audit/reports/entry-facts.js'
import { openIndex } from '../audit/reports/index-file.js'
import { readTrailFile } from '../audit/verify/read-lines.js'
import type { AuditEntry } from '../core/audit-entry.js'
import { monotonicMs } from '../core/clock.js'
import { ok, type Result } from '../core/result.js'
import { findTrail, type SourceOptions } from './audit-sources.js'
import { type CommandResult, type Refusal, refused, type Surroundings, table } from './command.js'

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
  const found = await find(trail.value, digest, options)
  if (!found.ok) return found
  const none = printable(
    `No call that is in the trail returned or changed the row ${keyTextOf(key)} of "${name}" on "${connector}".`,
  )
  return ok({ lines: listed(found.value, none, relation), json: asJson(digest, found.value) })
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
  const found = await find(trail.value, digest, options)
  if (!found.ok) return found
  const lines = listed(found.value, 'No call that is in the trail named this value.', ({ operation }) => operation)
  return ok({ lines: [digest, '', ...lines], json: asJson(digest, found.value) })
}

function find(
  { buffer, keys }: { readonly buffer?: string; readonly keys: ChainKeys },
  digest: string,
  { files, limit }: FindOptions,
): Promise<Result<Found, Refusal>> | Result<Found, Refusal> {
  if (files.length > 0) return findInFiles(files, keys, digest, limit)
  if (buffer === undefined) return refused('there is no audit buffer: give --buffer, or files with --file')
  return findInBuffer(buffer, keys, digest, limit)
}

function findInBuffer(buffer: string, keys: ChainKeys, digest: string, limit: number): Result<Found, Refusal> {
  const opened = openIndex({ buffer, keys })
  if (!opened.ok) return refused(opened.error)
  const index = opened.value
  try {
    // All of it: an answer that leaves out the last minute would be a wrong one.
    const followed = index.follow(Number.POSITIVE_INFINITY, monotonicMs)
    if (!followed.ok) return refused(followed.error)
    const found = index.entriesOf(digest, { limit: limit + 1 })
    return found.ok
      ? ok(
          firstOf(
            found.value.map(({ line }) => parseEntry(line)),
            limit,
          ),
        )
      : refused(found.error)
  } finally {
    index.close()
  }
}

async function findInFiles(
  files: readonly string[],
  keys: ChainKeys,
  digest: string,
  limit: number,
): Promise<Result<Found, Refusal>> {
  const found = new Map<string, AuditEntry>()
  for (const file of files) {
    const read = await readTrailFile(file, (line) => {
      const entry = entryIn(line)
      if (entry !== undefined && digestsOf(entry, keys).includes(digest))
        found.set(`${entry.instance} ${entry.seq}`, entry)
    })
    if (!read.ok) return refused(read.error)
  }
  const newest = [...found.values()].sort((a, b) => (a.time === b.time ? b.seq - a.seq : a.time < b.time ? 1 : -1))
  return ok(firstOf(newest, limit))
}

function firstOf(entries: readonly AuditEntry[], limit: number): Found {
  return { entries: entries.slice(0, limit), more: entries.length > limit }
}

function listed({ entries, more }: Found, none: string, what: (entry: AuditEntry) => string): readonly string[] {
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
  return more
    ? [...lines, `There are more: these are the newest ${entries.length}. Raise --limit for the others.`]
    : lines
}

function asJson(digest: string, { entries, more }: Found): unknown {
  return { digest, entries, more }
}
