import { AUDIT_FILLING_RATIO } from './core/limits.js'
import type { Readiness } from './http/routes.js'
import type { AuditStatus } from './threads/messages.js'

/** The part of the audit mailbox that health and metrics look at. */
export interface TrailHealth {
  /** Whether entries are kept. */
  readonly available: boolean
  /** Whether calls that read are served although entries are not. */
  readonly degraded: boolean
  readonly status: AuditStatus
}

/** What the audit trail adds to health: names alone, for nobody is asked for a key. */
export function auditReadiness({ available, degraded, status }: TrailHealth): Readiness {
  const filling = status.fillRatio >= AUDIT_FILLING_RATIO
  return {
    failing: available || degraded ? [] : ['audit'],
    degraded: degraded ? ['audit'] : [],
    warnings: [
      ...(filling ? ['audit_buffer_filling'] : []),
      ...(status.spaceLow ? ['audit_space_low'] : []),
      ...(status.failingSinks.length > 0 ? ['audit_sink_failing'] : []),
    ],
  }
}
