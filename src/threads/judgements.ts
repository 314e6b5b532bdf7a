import { JUDGEMENT_TIMEOUT_MS } from '../core/limits.js'
import type { Lane } from './connector-pool.js'
import type { JudgedMessage } from './messages.js'

type Judged = Extract<JudgedMessage, { ok: true }>

/** What a policy that is not stored would be on a connector, or why nobody can tell. */
export type Judgement = Pick<Judged, 'ok' | 'findings' | 'known'> | { readonly ok: false; readonly reason: string }

interface Expected {
  readonly lane: Lane
  readonly timer: NodeJS.Timeout
  readonly resolve: (judgement: Judgement) => void
}

/** Policies that threads of one connector were asked to judge. */
export class Judgements {
  readonly #expected = new Map<number, Expected>()

  /** Settles with the answer, or without one when the thread is lost or takes too long. */
  expect(requestId: number, lane: Lane): Promise<Judgement> {
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.#end(requestId, { ok: false, reason: 'no answer in time' }),
        JUDGEMENT_TIMEOUT_MS,
      )
      this.#expected.set(requestId, { lane, timer, resolve })
    })
  }

  answered({ requestId, ...answer }: JudgedMessage): void {
    this.#end(requestId, answer)
  }

  lost(lane: Lane): void {
    for (const [requestId, expected] of this.#expected) {
      if (expected.lane === lane) this.#end(requestId, { ok: false, reason: 'the worker thread ended' })
    }
  }

  #end(requestId: number, judgement: Judgement): void {
    const expected = this.#expected.get(requestId)
    if (expected === undefined) return
    this.#expected.delete(requestId)
    clearTimeout(expected.timer)
    expected.resolve(judgement)
  }
}
