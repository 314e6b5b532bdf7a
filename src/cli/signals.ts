import { monotonicMs } from '../core/clock.js'
import { SIGNAL_ECHO_MS } from '../core/limits.js'

/** Of a process that a second signal ended. */
export const EXIT_SECOND_SIGNAL = 130

/** What a hang-up asks for: `end` like the other two, or something of its own. */
export type OnHangUp = 'end' | (() => void)

/**
 * Settles at the first SIGTERM or SIGINT; another one later ends the process at once. One that comes with the first is the
 * same request, delivered twice, as `npm` and `timeout` do. SIGHUP does as asked. `endNow`: ends the process, by default with exit code 130.
 */
export function untilSignalled(
  onHangUp: OnHangUp,
  endNow: () => void = () => process.exit(EXIT_SECOND_SIGNAL),
): Promise<void> {
  return new Promise((resolve) => {
    let askedAtMs: number | undefined
    const end = () => {
      if (askedAtMs !== undefined && monotonicMs() - askedAtMs >= SIGNAL_ECHO_MS) endNow()
      askedAtMs ??= monotonicMs()
      resolve()
    }
    process.on('SIGTERM', end)
    process.on('SIGINT', end)
    process.on('SIGHUP', onHangUp === 'end' ? end : onHangUp)
  })
}
