import { CANCEL_GRACE_MS } from '../../core/limits.js'
import type { StopCode } from '../driver/stoppable.js'
import { Cancellation, type SessionContext } from '../engine.js'
import { type BatchEnd, runBatch, type WireSession } from './run-batch.js'
import { setContext } from './session.js'
import type { Row, WireStatement } from './wire-query.js'

/** What stands around a reading statement. */
export interface ReadFrame {
  /** Whether it runs in a transaction of its own that cannot write and leaves nothing behind. */
  readonly transaction: boolean
  /** Behind a pooler: what sets the session's constants in the transaction, since any session may serve it. */
  readonly pooled: false | WireStatement
  readonly context?: SessionContext
}

export interface ReadLimits {
  readonly timeoutMs: number
  readonly bytesMax: number
}

/** How a read ended, and whether its session may serve another. */
export type ReadEnd =
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  | {
      readonly kind: 'failed'
      readonly error: unknown
      readonly reusable: boolean
      /** The statement was right when it was prepared. */
      readonly schemaChanged?: true
    }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'stopped'; readonly code: StopCode }

const BEGIN: WireStatement = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY', params: [] }

/**
 * The end of a read that ran in a transaction. Rolling back also undoes what a function SET for the whole session;
 * advisory locks that it took for the session would outlast even that.
 */
const LEAVE_NOTHING: readonly WireStatement[] = [
  { text: 'ROLLBACK', params: [] },
  { text: 'SELECT pg_catalog.pg_advisory_unlock_all()', params: [] },
]

/** Runs one statement that reads; with its frame it takes one round trip. */
export async function runRead(
  session: WireSession,
  statement: WireStatement,
  limits: ReadLimits,
  frame: ReadFrame,
  cancellation: Cancellation,
): Promise<ReadEnd> {
  const before = frame.transaction ? opening(BEGIN, frame) : []
  const after = frame.transaction ? LEAVE_NOTHING : []
  const end = await runBatch(session, { statements: [...before, statement, ...after], ...limits }, cancellation)
  switch (end.kind) {
    case 'done':
      return { kind: 'rows', rows: end.answers[before.length]?.rows ?? [] }
    case 'failed':
      return { kind: 'failed', error: end.error, reusable: !frame.transaction || (await leftNothing(session)) }
    case 'too_large':
      return { kind: 'too_large' }
    default:
      return { kind: 'stopped', code: end.code }
  }
}

/** What a transaction begins with, after which its own statements see the constants and the caller. */
export function opening(
  begin: WireStatement,
  { pooled, context }: Pick<ReadFrame, 'pooled' | 'context'>,
): readonly WireStatement[] {
  return [begin, ...(pooled === false ? [] : [pooled]), ...(context === undefined ? [] : [setContext(context)])]
}

async function leftNothing(session: WireSession): Promise<boolean> {
  return (await cleanUp(session, LEAVE_NOTHING)).kind === 'done'
}

/** Runs statements that tidy up after a failure. Nobody can call them off, and they have little time. */
export function cleanUp(session: WireSession, statements: readonly WireStatement[]): Promise<BatchEnd> {
  const limits = { timeoutMs: CANCEL_GRACE_MS, bytesMax: TIDY_BYTES_MAX }
  return runBatch(session, { statements, ...limits }, new Cancellation())
}

/** None of those statements returns more than a few empty cells. */
const TIDY_BYTES_MAX = 1_000
