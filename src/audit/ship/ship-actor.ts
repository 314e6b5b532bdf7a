import { fail, ok } from '../../core/result.js'
import type { Deliver } from './deliver.js'
import { RefusalNotices } from './refusal-notices.js'
import { ShipHeaders } from './ship-headers.js'
import type { FromShipper, ShipWorkerStart, ToShipper } from './ship-messages.js'
import { ShipReader } from './ship-reader.js'
import { type KeepShipping, ShipSteps } from './ship-steps.js'
import { ShipLoop } from './shipper.js'

export interface ShipActorDeps {
  readonly deliver: Deliver
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

type Kept = Awaited<ReturnType<KeepShipping>>

/** The shipping thread's work: reads the buffer and sends, and has the buffer's owner write what came of it. */
export async function runShipActor(start: ShipWorkerStart, deps: ShipActorDeps): Promise<void> {
  const { port, settings, bufferPath, instance, state } = start
  const post = (message: FromShipper): void => port.postMessage(message)
  const waiting = new Map<number, (kept: Kept) => void>()
  let request = 0
  const keep: KeepShipping = (change, batch) =>
    new Promise((resolve) => {
      request += 1
      waiting.set(request, resolve)
      post({ kind: 'keep', request, change, batch })
    })
  const notices = new RefusalNotices((observation) => post({ kind: 'observed', observation }))
  const reader = new ShipReader(bufferPath)
  const steps = new ShipSteps({
    settings,
    instance,
    state,
    reader,
    headers: new ShipHeaders(settings.headers, deps.monotonicMs),
    deliver: deps.deliver,
    keep,
    nowMs: deps.nowMs,
    observe: (observation) => notices.observe(observation),
  })
  const loop = new ShipLoop({
    steps,
    batchMax: settings.batchMax,
    intervalMs: settings.intervalMs,
    nowMs: deps.monotonicMs,
    random: deps.random,
    onStatus: (failures, failing) => post({ kind: 'status', failures, failing }),
  })
  const answer = (of: number, kept: Kept): void => {
    waiting.get(of)?.(kept)
    waiting.delete(of)
  }
  port.on('message', (message: ToShipper) => {
    switch (message.kind) {
      case 'appended':
        return loop.appended(message.lastSeq)
      case 'kept':
        return answer(message.request, ok(message.batch))
      case 'not_kept':
        return answer(message.request, fail(message.reason))
      case 'stop':
        return loop.stop(message.withinMs)
    }
  })
  await loop.run()
  reader.close()
  notices.end()
  post({ kind: 'stopped' })
  port.close()
}
