import { destination, type Logger, pino } from 'pino'
import type { Observation, Observe } from './observation.js'

type Level = 'info' | 'warn' | 'error'

const LEVELS: Readonly<Record<Observation['kind'], Level>> = {
  'gateway.listening': 'info',
  'gateway.draining': 'info',
  'gateway.stopped': 'info',
  'gateway.stuck': 'error',
  'connector.ready': 'info',
  'connector.unchanged': 'info',
  'connector.unavailable': 'error',
  'connector.worker_exited': 'error',
  'connector.drift': 'warn',
  'call.failed': 'error',
  'driver.connection_lost': 'warn',
  'auth.store_failed': 'error',
  'store.created': 'info',
  'audit.unavailable': 'error',
  'audit.available': 'info',
  'audit.gap': 'warn',
  'audit.buffer_begun': 'warn',
  'audit.lost': 'error',
  'audit.stdout_closed': 'error',
  'audit.tampered': 'error',
  'audit.sink_failing': 'error',
  'audit.sink_recovered': 'info',
  'audit.ship_refused': 'error',
  'audit.ship_accepted': 'info',
  'audit.ship_unprotected': 'warn',
  'reports.worker_exited': 'error',
  'reports.unavailable': 'error',
  'reports.available': 'info',
  'reports.index_remade': 'warn',
  'admin.failed': 'error',
  'http.failed': 'error',
  'http.fallback': 'warn',
  'connector.disabled': 'error',
  'connector.kept': 'error',
  'connector.replaced': 'info',
  'connector.removed': 'info',
  'reload.started': 'info',
  'reload.ended': 'info',
  'reload.refused': 'error',
  'reload.needs_restart': 'warn',
}

/** The operator log: JSON lines on stderr, so that stdout carries audit entries alone. */
export function createLog(level: 'silent' | 'info' | 'warn' | 'error'): {
  readonly observe: Observe
  readonly log: Logger
} {
  const stderr = destination({ fd: 2, sync: true })
  // A log that cannot be written (a full disk, a closed pipe) loses lines; it must not end what it tells of.
  stderr.on('error', () => {})
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stderr)
  const observe: Observe = (observation) => {
    const { kind, ...fields } = observation
    log[LEVELS[kind]](fields, kind)
  }
  return { observe, log }
}
