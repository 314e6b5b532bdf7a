import type { AuditEntry } from '../../core/audit-entry.js'
import { type ChainKeys, digestFilterValue, digestRowKey } from '../chain.js'
import { COLUMN_MAX } from './layout.js'
import { type DigestPrefix, digestPrefix } from './row-pairs.js'
import type { Shape } from './shapes.js'

/** What the index keeps of one entry. */
export interface EntryFacts {
  readonly shape: Shape
  /** Unix milliseconds. */
  readonly timeMs: number
  readonly calls: number
  readonly rows: number
  readonly affected: number
  readonly totalUs: number
  /** Of the rows it returned or changed, and of the values in its plan. */
  readonly digests: readonly DigestPrefix[]
}

/** The entry in a line of a buffer. Only the gateway writes there, and whoever doubts that runs `runku audit verify`. */
export function parseEntry(line: string): AuditEntry {
  return JSON.parse(line) as AuditEntry
}

/**
 * What `work` makes of the entry in a line; undefined where it cannot be made, since somebody changed the line. That is for
 * verification to find, and must not spoil what is said of the entries around it.
 */
export function ofEntry<T>(line: string, work: (entry: AuditEntry) => T): T | undefined {
  try {
    return work(parseEntry(line))
  } catch {
    return undefined
  }
}

/** The entry in a line that may be anything; heads and what is no entry hold none. */
export function entryIn(line: string): AuditEntry | undefined {
  try {
    const entry: Partial<AuditEntry> | null = parseEntry(line)
    return typeof entry?.seq === 'number' && typeof entry.duration_ms === 'object' ? parseEntry(line) : undefined
  } catch {
    return undefined
  }
}

function measure(value: number | undefined): number {
  return value === undefined || !(value > 0) ? 0 : Math.min(COLUMN_MAX, Math.round(value))
}

function shapeOf(entry: AuditEntry): Shape {
  const { connector, identity, key_id, tool, operation, target, decision, code } = entry
  return {
    connector,
    identity,
    keyId: key_id,
    // A name that the caller made up would be one more for every call.
    tool: operation === 'unknown' ? undefined : tool,
    operation,
    target,
    decision,
    code,
  }
}

/** Every digest that the entry can be found by, as text: those it holds, and those of values that it holds in full. */
export function digestsOf(entry: AuditEntry, keys: ChainKeys): readonly string[] {
  const { connector, target, plan, result_keys = [] } = entry
  const digests: string[] = []
  for (const { table, keys: rowKeys } of result_keys) {
    for (const key of rowKeys) {
      digests.push(digestPrefix(key) === undefined ? digestRowKey(keys, { connector, table }, key) : key)
    }
  }
  for (const list of [plan?.filters, plan?.values, plan?.expected]) {
    for (const { column, values = [] } of list ?? []) {
      for (const value of values) {
        const isDigest = digestPrefix(value) !== undefined
        digests.push(isDigest ? value : digestFilterValue(keys, { connector, target, column }, value))
      }
    }
  }
  return digests
}

export function factsOf(entry: AuditEntry, keys: ChainKeys): EntryFacts {
  const timeMs = Date.parse(entry.time)
  const digests: DigestPrefix[] = []
  for (const digest of digestsOf(entry, keys)) {
    const prefix = digestPrefix(digest)
    if (prefix !== undefined) digests.push(prefix)
  }
  return {
    shape: shapeOf(entry),
    timeMs: Number.isNaN(timeMs) ? 0 : timeMs,
    calls: measure(entry.count ?? 1),
    rows: measure(entry.rows),
    affected: measure(entry.affected),
    totalUs: measure(entry.duration_ms.total * 1_000),
    digests,
  }
}
