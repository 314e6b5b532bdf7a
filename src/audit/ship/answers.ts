import { SHIP_BACKOFF_MIN_MS } from '../../core/limits.js'
import type { ShipFormat } from '../../threads/messages.js'
import { retryAfterMs } from './back-off.js'
import type { Attempt } from './deliver.js'

/** What an attempt came to. Places are those of entries in the request, from 0; the head's comes after the last one. */
export type Verdict =
  | { readonly kind: 'taken' }
  /** Some were settled. `refused` are not wanted and `left` are to be sent again; all others were taken. */
  | {
      readonly kind: 'parted'
      readonly refused: readonly number[]
      readonly left: readonly number[]
      /** Why the refused ones are. */
      readonly refusal: string
      /** How long the destination is to be left alone before what is left is sent; 0 where that can be at once. */
      readonly pauseMs: number
    }
  /** Nothing of it was taken, because there was too much of it. */
  | { readonly kind: 'too_large' }
  | {
      readonly kind: 'failed'
      readonly reason: string
      /** The destination does not take the headers. */
      readonly unauthorized: boolean
      /** How long it asked to be left alone. */
      readonly pauseMs: number | undefined
      /** It kept some that it had not, so that the attempt was not in vain. */
      readonly progress: boolean
    }

/** What an attempt sent. */
export interface SentDocuments {
  /** How many entries. */
  readonly entries: number
  /** The ids of the entries, then that of the head where there is one. */
  readonly ids: readonly string[]
}

type Answer = Extract<Attempt, { kind: 'answered' }>
type Members = Readonly<Record<string, unknown>>

function failed(reason: string, pauseMs?: number, progress = false): Verdict {
  return { kind: 'failed', reason, unauthorized: false, pauseMs, progress }
}

function parsed(text: string | undefined): Members | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isMembers(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is alike in all formats. What a destination says in words stays out of it: it may repeat a header. */
function byStatus({ status, retryAfter }: Answer, nowMs: number): Verdict {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  if (status >= 300 && status < 400) {
    return failed(
      `it answers with a redirect (HTTP ${status}), which is not followed: give the address that it redirects to`,
    )
  }
  if (status === 413) return { kind: 'too_large' }
  if (status === 401 || status === 403) {
    return {
      kind: 'failed',
      reason: `it does not take the headers (HTTP ${status})`,
      unauthorized: true,
      pauseMs: undefined,
      progress: false,
    }
  }
  return failed(`it answers HTTP ${status}`, retryAfterMs(retryAfter, nowMs))
}

/** Codes that say that one event is not wanted as it is. Others, such as a wrong index, are about all of them. */
const SPLUNK_EVENT_CODES: ReadonlySet<unknown> = new Set([6, 12, 13, 15])
/** Success, and success with a warning that its queues fill. */
const SPLUNK_TAKEN_CODES: ReadonlySet<unknown> = new Set([0, 24, 25])

/**
 * Splunk stops at the first event that it does not want and says its number. Whether it keeps those before it is not documented, and
 * collectors that speak its protocol differ: all but the refused one are sent again.
 */
function bySplunk(answer: Answer, { entries, ids }: SentDocuments, nowMs: number): Verdict {
  const said = parsed(answer.text)
  const { code, 'invalid-event-number': place } = said ?? {}
  if (answer.status >= 200 && answer.status < 300) {
    if (typeof code === 'number' && !SPLUNK_TAKEN_CODES.has(code)) return failed(`it answers with the code ${code}`)
    return { kind: 'taken' }
  }
  if (answer.status !== 400 || typeof code !== 'number') return byStatus(answer, nowMs)
  if (!SPLUNK_EVENT_CODES.has(code) || typeof place !== 'number') {
    return failed(`it answers HTTP 400 with the code ${code}`)
  }
  if (!Number.isInteger(place) || place < 0 || place >= ids.length) {
    return failed(
      `its answer makes no sense: the code ${code} about an event that was not among the ${ids.length} of the request`,
    )
  }
  if (place >= entries) return failed(`it refuses the head of the chain with the code ${code}`)
  const left = Array.from({ length: entries }, (_, i) => i).filter((i) => i !== place)
  return {
    kind: 'parted',
    refused: [place],
    left,
    refusal: `the destination answers with the code ${code}`,
    pauseMs: 0,
  }
}

interface ItemAnswer {
  /** Absent where the answer does not say which document it is about. */
  readonly id: unknown
  readonly status: number
  readonly type: string
}

/** One word of the destination's; anything else could be a value of an entry. */
const ERROR_TYPE = /^[a-z][a-z0-9_]{0,63}$/

function itemAnswers(items: unknown): readonly ItemAnswer[] | undefined {
  if (!Array.isArray(items)) return undefined
  const answers: ItemAnswer[] = []
  for (const item of items as readonly unknown[]) {
    const answer = isMembers(item) ? item['create'] : undefined
    if (!isMembers(answer) || typeof answer['status'] !== 'number') return undefined
    const error = answer['error']
    const type = isMembers(error) && typeof error['type'] === 'string' ? error['type'] : ''
    answers.push({ id: answer['_id'], status: answer['status'], type: ERROR_TYPE.test(type) ? type : 'an error' })
  }
  return answers
}

/** Statuses of an item that say that the cluster, its index or the rights have to change, and not the entry. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 404, 408, 429])

function isTaken(status: number): boolean {
  // 409: a document of this id is there, from an attempt whose answer was lost.
  return (status >= 200 && status < 300) || status === 409
}

/** Why the answers are not about the documents that were sent; undefined when they are, one by one and in their order. */
function mismatch(answers: readonly ItemAnswer[], ids: readonly string[]): string | undefined {
  if (answers.length !== ids.length) {
    return `its answer makes no sense: it tells of ${answers.length} documents where ${ids.length} were sent`
  }
  const isOther = ({ id }: ItemAnswer, place: number) => id !== undefined && id !== ids[place]
  return answers.some(isOther)
    ? 'its answer makes no sense: it tells of other documents than were sent, or in another order'
    : undefined
}

function byElastic(answer: Answer, { entries, ids }: SentDocuments, nowMs: number): Verdict {
  if (answer.status < 200 || answer.status >= 300) return byStatus(answer, nowMs)
  const said = parsed(answer.text)
  const answers = itemAnswers(said?.['items'])
  if (answers === undefined) {
    return failed(
      `it answers HTTP ${answer.status}, but not as a bulk request is answered: the address should end in /_bulk`,
    )
  }
  const other = mismatch(answers, ids)
  if (other !== undefined) return failed(other)
  const refused: number[] = []
  const left: number[] = []
  answers.forEach(({ status }, place) => {
    if (isTaken(status)) return
    if (status >= 500 || PASSING.has(status)) left.push(place)
    else refused.push(place)
  })
  if (refused.length === 0 && left.length === 0) return { kind: 'taken' }
  const refusal = `the destination answers ${saidOfFirst(answers, refused)}`
  const pauseMs = left.length === 0 ? undefined : retryAfterMs(answer.retryAfter, nowMs)
  const leftEntries = left.filter((place) => place < entries)
  // A head alone that has to wait is sent again with its entries, which are there then. So is all of it where no entry was settled.
  if (left.length > 0 && (leftEntries.length === entries || leftEntries.length === 0)) {
    const isNew = ({ status }: ItemAnswer) => status >= 200 && status < 300
    const delay = `it answers ${saidOfFirst(answers, left)} for ${left.length} of ${answers.length} documents`
    return failed(delay, pauseMs, answers.slice(0, entries).some(isNew))
  }
  // A destination that took the smaller part has more than it can do at the moment.
  const minMs = leftEntries.length * 2 > entries ? SHIP_BACKOFF_MIN_MS : 0
  return { kind: 'parted', refused, left: leftEntries, refusal, pauseMs: Math.max(minMs, pauseMs ?? 0) }
}

/** What was answered about the first of some. */
function saidOfFirst(answers: readonly ItemAnswer[], places: readonly number[]): string {
  const { type = 'an error', status = 0 } = answers[places[0] ?? 0] ?? {}
  return `${type} (${status})`
}

/** Judges an attempt to send these. `nowMs`: Unix milliseconds, for dates in the answer. */
export function judge(format: ShipFormat, attempt: Attempt, sent: SentDocuments, nowMs: number): Verdict {
  if (attempt.kind === 'unanswered') return failed(attempt.reason)
  switch (format) {
    case 'splunk_hec':
      return bySplunk(attempt, sent, nowMs)
    case 'elastic_bulk':
      return byElastic(attempt, sent, nowMs)
    default:
      return byStatus(attempt, nowMs)
  }
}
