import type Database from 'better-sqlite3'
import type { Withheld } from './buffer-file.js'
import { type KeptHead, SUM_BYTES } from './chain.js'
import { addTo, type Sealed, type Seals } from './seals.js'

/** Whatever sink has a position. */
const SINKS: readonly string[] = ['stdout', 'file', 'shipper']

/** Something beside the chain that is not as a gateway with the key left it. */
export type Tampering =
  /** The intent was changed, or put there. */
  | { readonly what: 'intent'; readonly id: string }
  /** So many announced calls have no genuine intent. */
  | { readonly what: 'intents'; readonly missing: number }
  /** The count was changed, or put there. */
  | { readonly what: 'withheld'; readonly connector: string; readonly operation: string; readonly code: string }
  /** So many counts are not there, or not genuine. */
  | { readonly what: 'counts'; readonly missing: number }
  /** The line that such an entry left behind was changed or removed. */
  | { readonly what: 'undelivered_line'; readonly seq: number }
  /** So many entries that the shipper's destination refused are not among those any more. */
  | { readonly what: 'undelivered'; readonly missing: number }
  /** All are genuine and as many as there were, but not those: older ones were put back, or what says so was changed. */
  | { readonly what: 'put_back' }
  /** It was changed, put there or removed, or is beyond the last entry. */
  | { readonly what: 'position'; readonly sink: string }
  /** What the shipper was sending was changed, or put there. */
  | { readonly what: 'batch' }

/** One clause for the operator. */
export function tamperedText(found: Tampering): string {
  switch (found.what) {
    case 'intent':
      return `the intent ${JSON.stringify(found.id)} was changed or was not written by the gateway`
    case 'intents':
      return `the intents of ${found.missing} announced calls are missing or were changed`
    case 'withheld':
      return `the count of refusals of ${JSON.stringify([found.connector, found.operation, found.code])} was changed or was not written by the gateway`
    case 'counts':
      return `${found.missing} counts of refusals are missing or were changed`
    case 'undelivered_line':
      return `the line of the refused entry ${found.seq} was changed or removed`
    case 'undelivered':
      return `${found.missing} entries that the destination refused are missing among those that it did`
    case 'put_back':
      return 'intents, counts of refusals or refused entries are not those that there were last: older ones were put back'
    case 'position':
      return `how far ${found.sink} has come was changed or removed`
    case 'batch':
      return 'what the shipper was sending was changed'
  }
}

/** A column holds whatever somebody puts there: `StoredIntent` and `StoredCount` are what they say only once their macs match. */
interface StoredIntent {
  readonly id: string
  readonly time_ms: number
  readonly body: unknown
  readonly mac: unknown
}

interface StoredCount extends Withheld {
  readonly mac: unknown
}

interface StoredUndelivered {
  readonly seq: number
  readonly body: unknown
  /** 1 while the entry is there, and needs no line of its own. */
  readonly there: number
}

interface StoredBeside {
  /** Oldest first. */
  readonly intents: readonly StoredIntent[]
  readonly withheld: readonly StoredCount[]
  /** May be many, with long lines. */
  readonly undelivered: () => Iterable<StoredUndelivered>
  readonly positions: ReadonlyMap<string, unknown>
  readonly batch: unknown
}

/** What a buffer holds beside its chain. The caller sees to it that nothing changes meanwhile. Throws what SQLite says. */
export function readBeside(db: Database.Database): StoredBeside {
  const get = db.prepare<[string], unknown>('SELECT value FROM meta WHERE key = ?').pluck()
  const positions = SINKS.map((sink) => [sink, get.get(`position.${sink}`)] as const)
  const undelivered = db.prepare<[], StoredUndelivered>(
    'SELECT seq, body, EXISTS (SELECT 1 FROM entries e WHERE e.seq = u.seq) AS there FROM undelivered u',
  )
  return {
    undelivered: () => undelivered.iterate(),
    intents: db.prepare<[], StoredIntent>('SELECT id, time_ms, body, mac FROM intents ORDER BY time_ms, id').all(),
    withheld: db
      .prepare<[], StoredCount>('SELECT connector, operation, code, count, since_ms, mac FROM withheld')
      .all(),
    positions: new Map(positions.filter(([, value]) => value !== undefined)),
    batch: get.get('ship.batch'),
  }
}

/** Names a row of `withheld`. */
export function countName({ connector, operation, code }: Withheld): string {
  return JSON.stringify([connector, operation, code])
}

export interface KeptCount {
  readonly row: Withheld
  readonly element: Buffer
}

/** What of it is genuine. */
export interface ProvenBeside {
  /** Elements by id. */
  readonly announced: ReadonlyMap<string, Buffer>
  readonly lost: readonly StoredIntent[]
  /** By name. */
  readonly counts: ReadonlyMap<string, KeptCount>
  /** How many entries there are that the destination refused. */
  readonly undelivered: number
  /** Those of them whose line is not genuine. */
  readonly unproven: readonly number[]
  /** Of the elements of all these. */
  readonly sum: Uint8Array
  /** Names of sinks that have a position. */
  readonly sinks: ReadonlySet<string>
  /** Intents that are not. */
  readonly forged: readonly StoredIntent[]
  /** Where sinks have come, by name; absent where that is not known. */
  readonly positions: ReadonlyMap<string, number>
  /** What the shipper was sending, as it wrote it. */
  readonly batch: string | undefined
  readonly tampered: readonly Tampering[]
}

/** Of what anybody may have put there. */
const NAME_CHARS_MAX = 128

function asText(value: unknown): string {
  return String(value).slice(0, NAME_CHARS_MAX)
}

function sealOf({ id, time_ms: timeMs, body }: StoredIntent, seals: Seals): Sealed | undefined {
  return typeof body === 'string' ? seals.intent(id, timeMs, body) : undefined
}

/** `old`: a buffer from before there were macs, of which nothing is known to be genuine, and which is taken as it is. */
export function proveBeside(stored: StoredBeside, head: KeptHead, seals: Seals): ProvenBeside {
  const old = head.beside === undefined
  const tampered: Tampering[] = []
  const announced = new Map<string, Buffer>()
  const counts = new Map<string, KeptCount>()
  const lost: StoredIntent[] = []
  const forged: StoredIntent[] = []
  const sum = new Uint8Array(SUM_BYTES)
  for (const intent of stored.intents) {
    const sealed = sealOf(intent, seals)
    if (sealed === undefined || !(old || sealed.mac === intent.mac)) {
      forged.push(intent)
      tampered.push({ what: 'intent', id: asText(intent.id) })
      continue
    }
    lost.push(intent)
    announced.set(intent.id, sealed.element)
    addTo(sum, sealed.element)
  }
  for (const { mac, ...row } of stored.withheld) {
    const sealed = seals.withheld(row)
    if (!(old ? isCount(row) : sealed.mac === mac)) {
      const { connector, operation, code } = row
      tampered.push({
        what: 'withheld',
        connector: asText(connector),
        operation: asText(operation),
        code: asText(code),
      })
      continue
    }
    counts.set(countName(row), { row, element: sealed.element })
    addTo(sum, sealed.element)
  }
  let undelivered = 0
  const unproven: number[] = []
  for (const { seq, body, there } of stored.undelivered()) {
    const proven = there === 1 ? body === null : seals.isLine(seq, body)
    if (!proven) {
      unproven.push(seq)
      tampered.push({ what: 'undelivered_line', seq })
    }
    if (!proven && there === 0) continue
    undelivered += 1
    addTo(sum, seals.undelivered(seq))
  }
  const sinks = new Set<string>([...stored.positions.keys(), ...(head.beside?.sinks ?? [])])
  const genuine = { announced: announced.size, counts: counts.size, undelivered, sum }
  tampered.push(...missing(head, genuine, tampered.length > 0))
  const positions = new Map<string, number>()
  for (const sink of sinks) {
    const seq = provenPosition(stored.positions.get(sink), sink, head, seals)
    if (seq === undefined) tampered.push({ what: 'position', sink })
    else positions.set(sink, seq)
  }
  const batch = old && typeof stored.batch === 'string' ? stored.batch : seals.openBatch(stored.batch)
  if (stored.batch !== undefined && batch === undefined) tampered.push({ what: 'batch' })
  return { announced, lost, counts, undelivered, unproven, sum, sinks, forged, positions, batch, tampered }
}

function isCount({ count, since_ms: sinceMs }: Withheld): boolean {
  return Number.isSafeInteger(count) && count > 0 && Number.isSafeInteger(sinceMs) && sinceMs >= 0
}

interface Genuine {
  readonly announced: number
  readonly counts: number
  readonly undelivered: number
  readonly sum: Uint8Array
}

function missing({ beside }: KeptHead, genuine: Genuine, forged: boolean): readonly Tampering[] {
  if (beside === undefined || Buffer.compare(beside.sum, genuine.sum) === 0) return []
  const intents = beside.announced - genuine.announced
  const counts = beside.withheld - genuine.counts
  const found: Tampering[] = []
  if (intents > 0) found.push({ what: 'intents', missing: intents })
  if (counts > 0) found.push({ what: 'counts', missing: counts })
  const undelivered = beside.undelivered - genuine.undelivered
  if (undelivered > 0) found.push({ what: 'undelivered', missing: undelivered })
  if (found.length === 0 && !forged) found.push({ what: 'put_back' })
  return found
}

function provenPosition(stored: unknown, sink: string, head: KeptHead, seals: Seals): number | undefined {
  const seq = head.beside === undefined && typeof stored === 'number' ? stored : seals.openPosition(sink, stored)
  return seq !== undefined && Number.isSafeInteger(seq) && seq >= 0 && seq <= head.seq ? seq : undefined
}
