import { createHmac } from 'node:crypto'
import type { AuditEntry } from '../../core/audit-entry.js'
import type { ChainKeys, EntryLine } from '../chain.js'
import { ofEntry } from './entry-facts.js'

/** What stands behind the text that an entry's hash is of: `,"hash":"` with the hash and `"}`. */
const HASH_CHARS = 64
const TAIL_CHARS = ',"hash":""}'.length + HASH_CHARS

/** A line ends in its own hash. */
export function hashOf(line: string): string {
  return line.slice(-HASH_CHARS - 2, -2)
}

function isSealed(keys: ChainKeys, line: string): boolean {
  const text = `${line.slice(0, -TAIL_CHARS)}}`
  return createHmac('sha256', keys.chain).update(text).digest('hex') === hashOf(line)
}

/**
 * What `work` makes of an entry that was made with the key, for this instance and this number; undefined of any other line, since
 * somebody changed it or put it there. Whether all entries are there, and in their order, is for verification to say.
 */
export function ofGenuine<T>(
  keys: ChainKeys,
  instance: string,
  { seq, line }: EntryLine,
  work: (entry: AuditEntry) => T,
): T | undefined {
  if (!isSealed(keys, line)) return undefined
  return ofEntry(line, (entry) => (entry.seq === seq && entry.instance === instance ? work(entry) : undefined))
}
