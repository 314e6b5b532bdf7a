/**
 * Milliseconds on the process-wide monotonic clock, with sub-millisecond digits. Unlike `performance.now()` it has one
 * origin for all threads, so that a stamp made on one can be read on another.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}
