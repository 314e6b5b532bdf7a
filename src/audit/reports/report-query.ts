import type { Operation } from '../../core/audit-entry.js'
import { type Decision, ERRORS, type OutcomeCode } from '../../core/errors.js'
import { REPORT_INTERVALS_MAX, REPORT_PAGE, REPORT_PAGE_MAX } from '../../core/limits.js'
import { nearest } from '../../core/names.js'
import { fail, ok, type Result } from '../../core/result.js'

export const REPORTS = ['summary', 'calls', 'denials', 'identities', 'tools'] as const
export type ReportName = (typeof REPORTS)[number]

export const INTERVALS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
export type Interval = keyof typeof INTERVALS

/** What the entries of a report have in common. */
export interface ReportFilter {
  readonly connector?: string
  readonly identity?: string
  readonly keyId?: string
  readonly tool?: string
  readonly operation?: Operation
  readonly target?: string
  readonly decision?: Decision
  readonly code?: OutcomeCode
}

/** Whose entries somebody may read. */
export interface ReportScope {
  /** Absent: those of every connector. */
  readonly connectors?: readonly string[]
  /** Also entries of no connector: administration, and the gateway's own. */
  readonly gateway: boolean
}

/** Where the next page goes on: before an entry, or after a group of a count that was made up to `toSeq`. */
export type ReportCursor =
  | { readonly kind: 'entry'; readonly beforeSeq: number }
  | { readonly kind: 'group'; readonly toSeq: number; readonly calls: number; readonly group: string }

export interface ReportQuestion {
  readonly report: ReportName
  readonly format: 'json' | 'csv'
  readonly filter: ReportFilter
  /** Unix milliseconds: from, and up to but not including. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly limit: number
  readonly cursor?: ReportCursor
  readonly interval?: Interval
}

export interface ReportQuery extends ReportQuestion {
  readonly scope: ReportScope
}

/** What is wrong with a question. */
export interface QuestionFault {
  /** The member of the query. */
  readonly field: string
  readonly expected: string
  readonly suggestion?: string
}

const OPERATIONS: Readonly<Record<Operation, true>> = {
  get: true,
  search: true,
  aggregate: true,
  create: true,
  update: true,
  soft_delete: true,
  call: true,
  schema_overview: true,
  unknown: true,
  request: true,
  admin: true,
  gateway: true,
  audit: true,
}
const DECISIONS: Readonly<Record<Decision, true>> = { allowed: true, blocked: true, errored: true }
const NAME_CHARS_MAX = 512
/** It holds the names of a whole group. */
const CURSOR_CHARS_MAX = 8_192

const FILTERS = ['connector', 'identity', 'key_id', 'tool', 'operation', 'target', 'decision', 'code'] as const
const COMMON = ['from', 'to', ...FILTERS, 'format'] as const
const PAGED = [...COMMON, 'limit', 'cursor'] as const
const MEMBERS: Readonly<Record<ReportName, readonly string[]>> = {
  summary: [...COMMON, 'interval'],
  calls: PAGED,
  denials: PAGED,
  identities: PAGED,
  tools: PAGED,
}

function faultOf(field: string, expected: string, suggestion?: string): Result<never, QuestionFault> {
  return fail({ field, expected, ...(suggestion === undefined ? {} : { suggestion }) })
}

function chosen<T extends string>(
  field: string,
  text: string,
  choices: Readonly<Record<T, unknown>>,
): Result<T, QuestionFault> {
  const names = Object.keys(choices)
  // A key of the table is a member of its type.
  if (Object.hasOwn(choices, text)) return ok(text as T)
  const few =
    names.length <= 16 ? `one of ${names.join(', ')}` : 'a code that entries have, such as OK or POLICY_DENIED'
  return faultOf(field, few, nearest(text, names))
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
/** A plus sign in a query is a space unless it was escaped, so that one is taken for what was meant. */
const MOMENT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+ -]\d{2}:\d{2})$/

/** Unix milliseconds of a day (its beginning in UTC) or of a moment with its time zone; undefined for anything else. */
export function momentOf(text: string): number | undefined {
  const [, local, zone = ''] = MOMENT.exec(text) ?? []
  if (local === undefined && !DAY.test(text)) return undefined
  const ms = Date.parse(local === undefined ? text : local + zone.replace(' ', '+'))
  if (Number.isNaN(ms)) return undefined
  // The thirtieth of February is parsed as a day of March.
  const day = Number(text.slice(8, 10))
  const given = new Date(Date.parse(`${text.slice(0, 7)}-01`))
  given.setUTCDate(day)
  return given.toISOString().slice(0, 10) === text.slice(0, 10) ? ms : undefined
}

const MOMENT_EXPECTED =
  'a day such as 2026-11-30 (its beginning, UTC) or a moment with its zone such as 2026-11-30T17:00:00Z'

/** The text that a cursor is given as. */
export function cursorText(cursor: ReportCursor): string {
  if (cursor.kind === 'entry') return String(cursor.beforeSeq)
  const { toSeq, calls, group } = cursor
  return Buffer.from(JSON.stringify([toSeq, calls, group])).toString('base64url')
}

function cursorOf(report: ReportName, text: string): ReportCursor | undefined {
  if (report === 'calls') return /^\d{1,15}$/.test(text) ? { kind: 'entry', beforeSeq: Number(text) } : undefined
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined
  const [toSeq, calls, group]: readonly unknown[] = parts
  if (!Number.isSafeInteger(toSeq) || !Number.isSafeInteger(calls) || typeof group !== 'string') return undefined
  return { kind: 'group', toSeq: Number(toSeq), calls: Number(calls), group }
}

/** Members of a query string, each once and each known. */
function membersOf(report: ReportName, query: string): Result<ReadonlyMap<string, string>, QuestionFault> {
  const members = new Map<string, string>()
  const known = MEMBERS[report]
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.includes(name)) return faultOf(name, `one of ${known.join(', ')}`, nearest(name, known))
    if (members.has(name)) return faultOf(name, 'it once')
    const charsMax = name === 'cursor' ? CURSOR_CHARS_MAX : NAME_CHARS_MAX
    if (value === '' || value.length > charsMax) return faultOf(name, `1 to ${charsMax} characters`)
    members.set(name, value)
  }
  return ok(members)
}

function filterOf(members: ReadonlyMap<string, string>): Result<ReportFilter, QuestionFault> {
  const filter: { -readonly [K in keyof ReportFilter]: ReportFilter[K] } = {}
  for (const [member, key] of [
    ['connector', 'connector'],
    ['identity', 'identity'],
    ['key_id', 'keyId'],
    ['tool', 'tool'],
    ['target', 'target'],
  ] as const) {
    const text = members.get(member)
    if (text !== undefined) filter[key] = text
  }
  const operation = members.get('operation')
  if (operation !== undefined) {
    const known = chosen('operation', operation, OPERATIONS)
    if (!known.ok) return known
    filter.operation = known.value
  }
  const decision = members.get('decision')
  if (decision !== undefined) {
    const known = chosen('decision', decision, DECISIONS)
    if (!known.ok) return known
    filter.decision = known.value
  }
  const code = members.get('code')
  if (code !== undefined) {
    const known = chosen<OutcomeCode>('code', code, { OK: true, ...ERRORS })
    if (!known.ok) return known
    filter.code = known.value
  }
  return ok(filter)
}

interface Times {
  readonly fromMs?: number
  readonly toMs?: number
}

function timesOf(members: ReadonlyMap<string, string>): Result<Times, QuestionFault> {
  const times: { fromMs?: number; toMs?: number } = {}
  for (const [member, key] of [
    ['from', 'fromMs'],
    ['to', 'toMs'],
  ] as const) {
    const text = members.get(member)
    if (text === undefined) continue
    const ms = momentOf(text)
    if (ms === undefined) return faultOf(member, MOMENT_EXPECTED)
    times[key] = ms
  }
  if (times.fromMs !== undefined && times.toMs !== undefined && times.fromMs >= times.toMs) {
    return faultOf('to', 'a later moment than from')
  }
  return ok(times)
}

function intervalOf(text: string, { fromMs, toMs }: Times, nowMs: number): Result<Interval, QuestionFault> {
  const interval = chosen('interval', text, INTERVALS)
  if (!interval.ok) return interval
  if (fromMs === undefined) return faultOf('from', 'it together with interval')
  if (((toMs ?? nowMs) - fromMs) / INTERVALS[interval.value] > REPORT_INTERVALS_MAX) {
    return faultOf('interval', `at most ${REPORT_INTERVALS_MAX} intervals from from to to`)
  }
  return interval
}

/** The question in a query string. `accept` is the header: it decides where `format` is not given. */
export function parseQuestion(
  report: ReportName,
  query: string,
  accept: string,
  nowMs: number,
): Result<ReportQuestion, QuestionFault> {
  const members = membersOf(report, query)
  if (!members.ok) return members
  const filter = filterOf(members.value)
  if (!filter.ok) return filter
  const times = timesOf(members.value)
  if (!times.ok) return times
  const format = chosen('format', members.value.get('format') ?? acceptedFormat(accept), { json: true, csv: true })
  if (!format.ok) return format
  const limitText = members.value.get('limit') ?? String(REPORT_PAGE)
  const limit = /^\d{1,6}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > REPORT_PAGE_MAX) return faultOf('limit', `a number from 1 to ${REPORT_PAGE_MAX}`)
  const cursorGiven = members.value.get('cursor')
  const cursor = cursorGiven === undefined ? undefined : cursorOf(report, cursorGiven)
  if (cursorGiven !== undefined && cursor === undefined) return faultOf('cursor', '"next" of the page before')
  const intervalGiven = members.value.get('interval')
  const interval = intervalGiven === undefined ? undefined : intervalOf(intervalGiven, times.value, nowMs)
  if (interval !== undefined && !interval.ok) return interval
  return ok({
    report,
    format: format.value,
    filter: filter.value,
    ...times.value,
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(interval === undefined ? {} : { interval: interval.value }),
  })
}

/** CSV for who names it before JSON, or without it. */
function acceptedFormat(accept: string): 'json' | 'csv' {
  const csv = accept.indexOf('text/csv')
  const json = accept.indexOf('application/json')
  return csv !== -1 && (json === -1 || csv < json) ? 'csv' : 'json'
}
