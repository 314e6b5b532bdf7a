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
   */
  readonly tool: 'checkpoint' | 'gap' | 'adopted' | 'tampered'
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

/** Notes of what was found changed beside the chain whose last entry is `seq`: one each, and one of all that are too many. */
export function tamperedNotes(
  tampered: readonly Tampering[],
  { instance, seq, timeMs }: { readonly instance: string; readonly seq: number; readonly timeMs: number },
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
