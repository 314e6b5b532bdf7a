import type { Identity } from '../core/identity.js'
import type { CallListener, CallRequest, Connector } from './connector.js'
import type { ListListener } from './tool-lists.js'

/**
 * What stands at a connector's path for as long as the connector is configured, whichever supervisor serves it: a request that came
 * through it calls the one that serves at that moment.
 */
export class Door implements Connector {
  readonly id: string
  #target: Connector
  /** Those that still have calls of this door. */
  readonly #former = new Set<Connector>()
  #visits = 0
  #onEmpty: (() => void) | undefined

  constructor(target: Connector) {
    this.id = target.id
    this.#target = target
  }

  /** Calls that come now go there. The one before has its calls cancelled through this door until it is forgotten. */
  lead(target: Connector): void {
    this.#former.add(this.#target)
    this.#target = target
  }

  forget(target: Connector): void {
    this.#former.delete(target)
  }

  call(request: CallRequest, listener: CallListener): number {
    return this.#target.call(request, listener)
  }

  cancel(callId: number): void {
    this.#target.cancel(callId)
    // Numbers of calls are unlike over all supervisors: only the one that has it knows it.
    for (const former of this.#former) former.cancel(callId)
  }

  list(identity: Identity, listener: ListListener): void {
    this.#target.list(identity, listener)
  }

  visited(change: 1 | -1): void {
    this.#visits += change
    if (this.#visits === 0) this.#onEmpty?.()
  }

  /** Settles when every request that came through this door is answered, or after the deadline. */
  async whenEmpty(deadlineMs: number): Promise<void> {
    if (this.#visits === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve
      timer = setTimeout(resolve, deadlineMs)
    })
    clearTimeout(timer)
  }
}
