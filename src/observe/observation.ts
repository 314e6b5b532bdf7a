/**
 * What the gateway has to say about itself, as data. Business code observes; the log (and later the metrics) decide what to
 * do with it. No observation carries a row, a secret or a driver's message meant for a caller.
 */
export type Observation =
  | { readonly kind: 'gateway.listening'; readonly surface: 'mcp' | 'admin'; readonly url: string }
  | { readonly kind: 'gateway.draining'; readonly inFlight: number }
  | { readonly kind: 'gateway.stopped' }
  | {
      readonly kind: 'connector.ready'
      readonly connector: string
      readonly epoch: number
      readonly tables: number
      readonly warnings: readonly string[]
    }
  | {
      readonly kind: 'connector.unavailable'
      readonly connector: string
      readonly reason: string
      readonly retryInMs: number
    }
  | {
      readonly kind: 'connector.worker_exited'
      readonly connector: string
      readonly reason: string
      readonly callsLost: number
    }
  | { readonly kind: 'connector.drift'; readonly connector: string; readonly objects: readonly string[] }
  | {
      readonly kind: 'call.failed'
      readonly connector: string
      readonly auditId: string
      readonly code: string
      readonly detail: string
    }
  | { readonly kind: 'driver.connection_lost'; readonly connector: string; readonly detail: string }
  | { readonly kind: 'auth.store_failed'; readonly detail: string }
  | { readonly kind: 'audit.unavailable'; readonly detail: string }
  | { readonly kind: 'audit.available' }
  | { readonly kind: 'audit.stdout_closed'; readonly detail: string }
  | { readonly kind: 'http.failed'; readonly detail: string }
  | { readonly kind: 'http.fallback'; readonly reason: string }
  | { readonly kind: 'connector.disabled'; readonly connector: string; readonly faults: readonly string[] }

export type Observe = (observation: Observation) => void
