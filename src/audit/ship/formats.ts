import type { ShipFormat } from '../../threads/messages.js'

/** An entry as it is sent. */
export interface ShipItem {
  readonly seq: number
  readonly id: string
  /** Unix milliseconds. */
  readonly timeMs: number
  /** Byte for byte as it was sealed. */
  readonly line: string
}

/** What a request says of itself. */
export interface ShipFacts {
  /** The same whenever the same bytes are sent. */
  readonly id: string
  readonly instance: string
  readonly from: number
  readonly to: number
  /** A head line; absent where refused entries are sent again. */
  readonly head: string | undefined
}

/** What Splunk and the like show as an entry's origin. */
const SOURCE = 'runku'
const ENTRY_TYPE = 'runku:audit'
const HEAD_TYPE = 'runku:audit:head'

export const CONTENT_TYPES: Readonly<Record<ShipFormat, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  splunk_hec: 'application/json',
  elastic_bulk: 'application/x-ndjson',
}

/** `<instance>-<from>-<to>`, and `.<round>` for what is left of a batch of which a part was settled. */
export function batchId(instance: string, from: number, to: number, round: number): string {
  return `${instance}-${from}-${to}${round === 0 ? '' : `.${round}`}`
}

function headTimeMs(head: string): number {
  // Written by `writeHeadLine` alone.
  return Date.parse((JSON.parse(head) as { readonly head: { readonly time: string } }).head.time)
}

/** One object. The head's members stand in it as they stand in its line. */
function json({ id, instance, from, to, head }: ShipFacts, items: readonly ShipItem[]): string {
  const batch = JSON.stringify({ id, instance, from_seq: from, to_seq: to, entries: items.length })
  const headMembers = head === undefined ? '' : `${head.slice(1, -1)},`
  return `{"batch":${batch},${headMembers}"entries":[${items.map(({ line }) => line).join(',')}]}`
}

/** A head line, then one line an entry. */
function ndjson({ head }: ShipFacts, items: readonly ShipItem[]): string {
  const lines = items.map(({ line }) => line)
  return `${(head === undefined ? lines : [head, ...lines]).join('\n')}\n`
}

function splunkEvent(timeMs: number, sourcetype: string, event: string): string {
  return `{"time":${(timeMs / 1_000).toFixed(3)},"source":"${SOURCE}","sourcetype":"${sourcetype}","event":${event}}`
}

/** One event an entry, then one for the head, so that the number of an event is that of its entry. */
function splunkHec({ head }: ShipFacts, items: readonly ShipItem[]): string {
  const events = items.map(({ timeMs, line }) => splunkEvent(timeMs, ENTRY_TYPE, line))
  if (head !== undefined) events.push(splunkEvent(headTimeMs(head), HEAD_TYPE, head))
  return `${events.join('\n')}\n`
}

/** Data streams want `@timestamp`. The rest of the document is the line: without that one member it is what was sealed. */
function elasticDocument(id: string, timeMs: number, line: string): string {
  const time = new Date(timeMs).toISOString()
  return `{"create":{"_id":${JSON.stringify(id)}}}\n{"@timestamp":"${time}",${line.slice(1)}\n`
}

function headId({ instance, from, to }: ShipFacts): string {
  return `${batchId(instance, from, to, 0)}-head`
}

/** The ids of what a request holds where each entry, and the head after them, is a document or an event of its own. */
export function documentIds(facts: ShipFacts, items: readonly ShipItem[]): readonly string[] {
  const ids = items.map(({ id }) => id)
  return facts.head === undefined ? ids : [...ids, headId(facts)]
}

/** One document an entry, then one for the head. `create` refuses a second one of the same id. */
function elasticBulk(facts: ShipFacts, items: readonly ShipItem[]): string {
  const documents = items.map(({ id, timeMs, line }) => elasticDocument(id, timeMs, line))
  const { head } = facts
  if (head !== undefined) documents.push(elasticDocument(headId(facts), headTimeMs(head), head))
  return documents.join('')
}

const WRITERS: Readonly<Record<ShipFormat, (facts: ShipFacts, items: readonly ShipItem[]) => string>> = {
  json,
  ndjson,
  splunk_hec: splunkHec,
  elastic_bulk: elasticBulk,
}

/** The body of a request, of at least one entry. */
export function writeBody(format: ShipFormat, facts: ShipFacts, items: readonly ShipItem[]): string {
  return WRITERS[format](facts, items)
}
