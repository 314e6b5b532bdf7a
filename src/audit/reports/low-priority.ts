import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

const NICENESS = 10

/**
 * Lets every other thread of the machine go first, where the system knows priorities of threads. Elsewhere nothing happens: the
 * thread pauses between its steps as well.
 */
export function lowerOwnPriority(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (Number.isInteger(thread)) setPriority(thread, NICENESS)
  } catch {
    // Without /proc, or where a container forbids it.
  }
}
