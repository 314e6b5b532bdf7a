import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/**
 * The keyed hash chain. An entry's `hash` is HMAC-SHA256 under the chain key, in lower-case hex, over the entry's text
 * without the member `hash`; that text holds `prev_hash`, the hash of the entry before it. Who has no key can neither
 * change an entry nor make one, and what is missing shows as a gap in `seq`.
 */

/** `prev_hash` of an instance's first entry (`seq` 1). */
export const GENESIS_HASH = '0'.repeat(64)

/** Keys for one secret: the chain's own, and three derived from it, so that no digest of one kind can pass for another. */
export interface ChainKeys {
  readonly chain: KeyObject
  readonly values: KeyObject
  readonly head: KeyObject
  /** Of what a buffer keeps beside its chain. */
  readonly beside: KeyObject
}

export function chainKeys(secret: Uint8Array): ChainKeys {
  const derived = (label: string) => createSecretKey(new Uint8Array(hkdfSync('sha256', secret, '', label, 32)))
  return {
    chain: createSecretKey(secret),
    values: derived('runku audit filter values v1'),
    head: derived('runku audit chain head v1'),
    beside: derived('runku audit beside the chain v1'),
  }
}

function hmac(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

export interface ColumnName {
  readonly connector: string | undefined
  /** The entry's `target`: two tables may have a column of one name. */
  readonly target: string | undefined
  readonly column: string
}

/** Equal values of one column have one digest; without the key, and from another column, nothing can be compared. */
export function digestFilterValue(keys: ChainKeys, name: ColumnName, value: string): string {
  const text = JSON.stringify([name.connector ?? '', name.target ?? '', name.column, value])
  return `hmac:${hmac(keys.values, text).slice(0, 32)}`
}

export interface TableName {
  readonly connector: string | undefined
  /** `schema.table`. */
  readonly table: string
}

/**
 * One row of one table has one digest, whoever reads or changes it. Half as long as a value's: an entry may hold thousands, and
 * what it has to tell apart are rows, not guesses.
 */
export function digestRowKey(keys: ChainKeys, { connector, table }: TableName, key: string): string {
  return `hmac:${hmac(keys.values, JSON.stringify([connector ?? '', table, key])).slice(0, 16)}`
}

/** The last entry of a chain, and the place where the next one joins. */
export interface ChainHead {
  readonly seq: number
  readonly hash: string
}

export const GENESIS: ChainHead = { seq: 0, hash: GENESIS_HASH }

/** An entry as text: its line (without a line end) is what is stored and written. */
export interface EntryLine {
  readonly seq: number
  readonly line: string
}

export interface SealedEntry extends ChainHead, EntryLine {}

/** Appends to the chain. `members` comes from `recordMembers`. */
export function sealEntry(keys: ChainKeys, head: ChainHead, members: string): SealedEntry {
  const seq = head.seq + 1
  const open = `{"seq":${seq},${members},"prev_hash":"${head.hash}"`
  const hash = hmac(keys.chain, `${open}}`)
  return { seq, hash, line: `${open},"hash":"${hash}"}` }
}

/** What a buffer keeps beside its chain, as its head vouches for it. */
interface Beside {
  /** No two heads have the same. Neither `:` nor a line end is in it. */
  readonly nonce: string
  /** How many calls are announced. */
  readonly announced: number
  /** Rows of counted refusals. */
  readonly withheld: number
  /** Entries that the shipper's destination refused. */
  readonly undelivered: number
  /** Names of sinks, each of which has a position. */
  readonly sinks: readonly string[]
  /** Which calls, rows and entries these are: the sum of their elements, see `Seals`. */
  readonly sum: Uint8Array
}

/** A head as it is kept in a buffer. `beside` is absent in one from before what is beside the chain was sealed. */
export interface KeptHead extends ChainHead {
  readonly beside?: Beside
}

/** In bytes; half of what HMAC-SHA512 gives. */
export const SUM_BYTES = 32

function masked(sum: Uint8Array, mask: Uint8Array): Buffer {
  return Buffer.from(sum.map((byte, i) => byte ^ (mask[i] ?? 0)))
}

/** One half of the digest is the mac; the other, which nobody sees and which never comes twice, hides the sum. */
function besideDigest(keys: ChainKeys, instance: string, members: readonly (string | number)[]) {
  const text = JSON.stringify(['head', instance, ...members])
  const digest = createHmac('sha512', keys.beside).update(text).digest()
  return { mac: digest.toString('hex', 0, SUM_BYTES), mask: digest.subarray(SUM_BYTES) }
}

/**
 * A head that only a holder of the key can make: kept beside the entries, it shows that the last of them were removed, and that
 * something of what is kept beside them was. `seq:hash:mac`, with `beside` `seq:hash:nonce:announced:withheld:undelivered:sinks:mac:sum`, where
 * the mac is not of the sum: who knows no element can change that to none that fits.
 */
export function sealHead(keys: ChainKeys, instance: string, { seq, hash, beside }: KeptHead): string {
  if (beside === undefined) return `${seq}:${hash}:${hmac(keys.head, JSON.stringify([instance, seq, hash]))}`
  const { nonce, announced, withheld, undelivered, sinks, sum } = beside
  const members = [seq, hash, nonce, announced, withheld, undelivered, sinks.join(',')]
  const { mac, mask } = besideDigest(keys, instance, members)
  return `${members.join(':')}:${mac}:${masked(sum, mask).toString('hex')}`
}

/** The head in a sealed text, or undefined when the text was not made with these keys for this instance. */
export function openHead(keys: ChainKeys, instance: string, sealed: string): KeptHead | undefined {
  const parts = sealed.split(':')
  const [seq, hash = '', nonce = '', announced, withheld, undelivered, sinks = '', , hidden = ''] = parts
  const head = { seq: Number(seq), hash }
  if (parts.length <= 3) return sealHead(keys, instance, head) === sealed ? head : undefined
  const members = [Number(seq), hash, nonce, Number(announced), Number(withheld), Number(undelivered), sinks]
  const sum = masked(Buffer.from(hidden, 'hex'), besideDigest(keys, instance, members).mask)
  const beside = {
    nonce,
    announced: Number(announced),
    withheld: Number(withheld),
    undelivered: Number(undelivered),
    sinks: sinks === '' ? [] : sinks.split(','),
    sum,
  }
  const kept = { ...head, beside }
  return sealHead(keys, instance, kept) === sealed ? kept : undefined
}

/**
 * A sealed head as a line of its own, among entries on stdout, in files and in batches: whoever keeps it knows what the chain had
 * come to, and finds entries missing that came before it.
 */
export interface HeadLine extends ChainHead {
  readonly instance: string
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string
}

function headLineMac(keys: ChainKeys, { instance, seq, hash, time }: HeadLine): string {
  return hmac(keys.head, JSON.stringify(['line', instance, seq, hash, time]))
}

/** The line, without a line end. */
export function writeHeadLine(keys: ChainKeys, head: HeadLine): string {
  const { instance, seq, hash, time } = head
  return JSON.stringify({ head: { instance, seq, hash, time }, mac: headLineMac(keys, head) })
}

const HEAD_LINE =
  /^\{"head":\{"instance":"([^"\\]{1,128})","seq":(\d{1,15}),"hash":"([0-9a-f]{64})","time":"([^"\\]{1,40})"\},"mac":"([0-9a-f]{64})"\}$/

/** Whether a line means to be a head at all. */
export function isHeadLine(line: string): boolean {
  return line.startsWith('{"head":')
}

/** The head in a line that was made with these keys, else undefined. */
export function readHeadLine(keys: ChainKeys, line: string): HeadLine | undefined {
  const [, instance = '', seq = '', hash = '', time = '', mac] = HEAD_LINE.exec(line) ?? []
  const head: HeadLine = { instance, seq: Number(seq), hash, time }
  return mac !== undefined && mac === headLineMac(keys, head) ? head : undefined
}

/** Where a chain begins whose entries up to `seq` were deleted by the gateway itself. */
export interface Checkpoint extends HeadLine {
  /** Why the last of them went: too old, delivered and old, or to make room. */
  readonly reason: 'retention' | 'delivered' | 'room'
}

/** A checkpoint as text that only a holder of the key can make. */
export function sealCheckpoint(keys: ChainKeys, { instance, seq, hash, time, reason }: Checkpoint): string {
  const mac = hmac(keys.head, JSON.stringify(['checkpoint', instance, seq, hash, time, reason]))
  return JSON.stringify({ instance, seq, hash, time, reason, mac })
}

/** The checkpoint in a sealed text, or undefined when the text was not made with these keys for this instance. */
export function openCheckpoint(keys: ChainKeys, instance: string, sealed: string): Checkpoint | undefined {
  let parts: Partial<Record<keyof Checkpoint, unknown>> | null
  try {
    // Only compared and taken apart: a forged one does not seal to the same text.
    parts = JSON.parse(sealed) as typeof parts
  } catch {
    return undefined
  }
  const { seq, hash, time, reason } = parts ?? {}
  if (typeof seq !== 'number' || typeof hash !== 'string' || typeof time !== 'string') return undefined
  if (reason !== 'retention' && reason !== 'delivered' && reason !== 'room') return undefined
  const checkpoint: Checkpoint = { instance, seq, hash, time, reason }
  return sealCheckpoint(keys, checkpoint) === sealed ? checkpoint : undefined
}

/** The place of a genuine entry in its chain. */
export interface Link extends ChainHead {
  readonly instance: string
  readonly prevHash: string
}

const LINE = /^(\{"seq":(\d{1,15}),.*,"prev_hash":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"\}$/
const INSTANCE = /^\{"seq":\d+,"id":"(?:[^"\\]|\\.)*","time":"(?:[^"\\]|\\.)*","instance":"((?:[^"\\]|\\.)*)"/

/** The link in a line that was made with the key, else undefined with the `seq` it claims. */
export function readLink(keys: ChainKeys, line: string): { readonly link?: Link; readonly claims: number | undefined } {
  const match = LINE.exec(line)
  const [, open = '', seq = '', prevHash = '', hash = ''] = match ?? []
  const claims = Number(/^\{"seq":(\d{1,15}),/.exec(line)?.[1] ?? Number.NaN)
  if (match === null || hmac(keys.chain, `${open}}`) !== hash)
    return { claims: Number.isNaN(claims) ? undefined : claims }
  return { link: { seq: Number(seq), hash, prevHash, instance: INSTANCE.exec(line)?.[1] ?? '' }, claims }
}
