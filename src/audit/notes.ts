import type { AuditRecord } from '../core/audit-entry.js'

/** What the trail says about itself, as records of the operation `audit`. */
export interface Note {
  /** Unique; the same when the same note may come twice. */
  readonly id: string
  readonly timeMs: number
  /** `checkpoint`: entries were deleted. `gap`: entries could not be kept, or a file with them vanished. `adopted`: another buffer's were taken over. */
  readonly tool: 'checkpoint' | 'gap' | 'adopted'
  readonly detail: NonNullable<AuditRecord['detail']>
}

export function noteRecord({ id, timeMs, tool, detail }: Note): AuditRecord {
  const failed = tool === 'gap'
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
