import type { CallTicket } from '../call.js'
import type { Identity } from '../core/identity.js'

/**
 * Finds the call that a `notifications/cancelled` means. Clients all count their requests from zero, so a key's id may
 * name several calls at once; then none of them is stopped.
 */
export class CallsInFlight {
  readonly #calls = new Map<string, Set<CallTicket>>()

  /** Returns the function that forgets the call again. */
  add(identity: Identity, requestId: string | number, ticket: CallTicket): () => void {
    const name = nameOf(identity, requestId)
    const tickets = this.#calls.get(name) ?? new Set()
    tickets.add(ticket)
    this.#calls.set(name, tickets)
    return () => {
      tickets.delete(ticket)
      if (tickets.size === 0) this.#calls.delete(name)
    }
  }

  /** Cancels the call when exactly one in flight has this key and request id. */
  cancel(identity: Identity, requestId: unknown): void {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    const tickets = this.#calls.get(nameOf(identity, requestId))
    if (tickets?.size !== 1) return
    for (const ticket of tickets) ticket.cancel()
  }
}

function nameOf(identity: Identity, requestId: string | number): string {
  return JSON.stringify([identity.keyId ?? '', requestId])
}
