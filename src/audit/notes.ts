import type { AuditRecord } from '../core/audit-entry.js'
import { AUDIT_TAMPERED_NOTES_MAX } from '../core/limits.js'
import type { Tampering } from './beside-chain.js'

/** What the trail says about itself, as records of the operation `audit`. */
export interface Note {
  /** Unique; the same when the same note may come twice. */
  readonly id: string
  readonly timeMs: number
  /**
   * `checkpoint`: entries were deleted. `gap`: entries could not be kept, or a file with them vanished. `adopted`: another buffer's were
   * taken over. `tampered`: what the buffer keeps beside its chain was changed by somebody without the key.
   * `begun`: a chain begins under a key that was there before it.
   */
  readonly tool: 'checkpoint' | 'gap' | 'adopted' | 'tampered' | 'begun'
  readonly detail: NonNullable<AuditRecord['detail']>
}

export function noteRecord({ id, timeMs, tool, detail }: Note): AuditRecord {
  const failed = tool === 'gap' || tool === 'tampered'
  return {
    id,
    time: new Date(timeMs).toISOString(),
    tool,
    operation: 'audit',
    decision: failed ? 'errored' : 'allowed',
    code: failed ? 'AUDIT_UNAVAILABLE' : 'OK',
    effect: 'none',
    detail,
    duration_ms: { total: 0 },
  }
}

/** The chain that a note is for, whose last entry is `seq`. */
interface NotedChain {
  readonly instance: string
  readonly seq: number
  readonly timeMs: number
}

/** Entries that a destination refused for good, and that are kept nowhere any more. */
export interface ForgottenEntries {
  readonly fromSeq: number
  readonly toSeq: number
  readonly entries: number
}

export function forgottenNote(
  { fromSeq, toSeq, entries }: ForgottenEntries,
  { instance, seq, timeMs }: NotedChain,
): AuditRecord {
  const id = `${instance}-gap-shipper-${fromSeq}-${toSeq}-${seq}`
  const detail = { sink: 'shipper', from_seq: fromSeq, to_seq: toSeq, lost: entries }
  return noteRecord({ id, timeMs, tool: 'gap', detail })
}

/** Notes of what was found changed beside the chain: one each, and one of all that are too many. */
export function tamperedNotes(
  tampered: readonly Tampering[],
  { instance, seq, timeMs }: NotedChain,
): readonly AuditRecord[] {
  const more = tampered.length - AUDIT_TAMPERED_NOTES_MAX
  const details: readonly Note['detail'][] = [
    ...tampered.slice(0, AUDIT_TAMPERED_NOTES_MAX).map((found) => ({ ...found })),
    ...(more > 0 ? [{ what: 'more', count: more }] : []),
  ]
  return details.map((detail, i) =>
    noteRecord({ id: `${instance}-tampered-${seq}-${i}`, timeMs, tool: 'tampered', detail }),
  )
}
