import { randomUUID } from 'node:crypto'
import type { Observation } from '../../src/observe/observation.js'
import { AuditMailbox } from '../../src/threads/audit-mailbox.js'
import type { AuditSettings } from '../../src/threads/messages.js'
import { auditRecord } from './audit-records.js'

/** A program that appends entries through the mailbox and tells its parent, over IPC, what became of them. */
export interface AppenderOrder {
  readonly settings: AuditSettings
  /** How many records; absent: until it is killed. */
  readonly count?: number
  /** How many wait at a time. */
  readonly concurrency: number
  /** Appends one more record before the others, whose listener throws. */
  readonly firstThrows?: boolean
}

export type AppenderReport =
  | { readonly kind: 'answered'; readonly id: string; readonly durable: boolean; readonly available: boolean }
  | { readonly kind: 'observed'; readonly observation: Observation }
  | { readonly kind: 'start_failed'; readonly reason: string }
  /** Every record was answered; `stop` (any message from the parent) ends the program. */
  | { readonly kind: 'answered_all' }
  /** The listener of `firstThrows` threw and the error surfaced. */
  | { readonly kind: 'threw'; readonly text: string }

function report(message: AppenderReport): void {
  process.send?.(message)
}

function appendAll(mailbox: AuditMailbox, order: AppenderOrder): Promise<void> {
  let started = 0
  let answered = 0
  return new Promise((resolve) => {
    const next = () => {
      if (started === order.count) return
      started += 1
      const id = randomUUID()
      mailbox.append(auditRecord(id), (durable) => {
        report({ kind: 'answered', id, durable, available: mailbox.available })
        answered += 1
        if (answered === order.count) resolve()
        else next()
      })
    }
    if (order.count === 0) resolve()
    for (let i = 0; i < order.concurrency; i++) next()
  })
}

async function main(): Promise<void> {
  // A limit on file size (`ulimit -f`) ends the process by this signal, unless it is heard; then writes fail instead.
  process.on('SIGXFSZ', () => {})
  const order = JSON.parse(process.argv[2] ?? '{}') as AppenderOrder
  const stopAsked = new Promise((resolve) => process.once('message', resolve))
  const started = await AuditMailbox.start(order.settings, {
    observe: (observation) => report({ kind: 'observed', observation }),
    nowMs: () => performance.now(),
  })
  if (!started.ok) {
    report({ kind: 'start_failed', reason: started.error })
    process.disconnect?.()
    return
  }
  if (order.firstThrows === true) {
    process.once('uncaughtException', (error) => report({ kind: 'threw', text: error.message }))
    started.value.append(auditRecord(randomUUID()), () => {
      throw new Error('a listener with a bug')
    })
  }
  await appendAll(started.value, order)
  report({ kind: 'answered_all' })
  await stopAsked
  await started.value.stop()
  process.disconnect?.()
}

await main()
