import { isIPv6 } from 'node:net'
import { ADDRESSES_TRACKED_MAX, AUTH_FAILURES_PER_MINUTE_MAX } from '../core/limits.js'

const MINUTE_MS = 60_000

/** Counts failing attempts by address, a minute at a time. Memory is bounded: the address tracked longest goes first. */
export class FailureLimit {
  readonly #clock: () => number
  readonly #windows = new Map<string, { startedAt: number; failures: number }>()

  /** `clock` gives milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Counts one more failure, and says whether it is beyond what a minute allows. */
  exceeded(address: string): boolean {
    const network = networkOf(address)
    const now = this.#clock()
    const window = this.#windows.get(network)
    if (window === undefined || now - window.startedAt >= MINUTE_MS || now < window.startedAt) {
      this.#start(network, now)
      return false
    }
    window.failures += 1
    return window.failures > AUTH_FAILURES_PER_MINUTE_MAX
  }

  get tracked(): number {
    return this.#windows.size
  }

  #start(network: string, now: number): void {
    this.#windows.delete(network)
    if (this.#windows.size >= ADDRESSES_TRACKED_MAX) {
      const [oldest] = this.#windows.keys()
      if (oldest !== undefined) this.#windows.delete(oldest)
    }
    this.#windows.set(network, { startedAt: now, failures: 1 })
  }
}

/** One subscriber holds a whole /64 of IPv6 and can use each address once, so those share a count. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':')
    // A dotted end stands for two groups.
    const width = after.length + (tail.includes('.') ? 1 : 0)
    groups.push(...Array.from({ length: Math.max(0, 8 - groups.length - width) }, () => '0'), ...after)
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
