/**
 * Durations are counted in steps of fixed width on a logarithmic scale, eight to a doubling: a percentile is then known to nine
 * per cent whatever was counted, and counts of any two sets of calls add up.
 */
export const LATENCY_STEPS = 256
const STEPS_A_DOUBLING = 8

/** The step of a duration in microseconds. */
export function latencyStep(us: number): number {
  return us <= 1 ? 0 : Math.min(LATENCY_STEPS - 1, Math.ceil(Math.log2(us) * STEPS_A_DOUBLING))
}

/** The longest duration of a step, in microseconds. */
function stepEndUs(step: number): number {
  return 2 ** (step / STEPS_A_DOUBLING)
}

/**
 * The duration, in microseconds, that this share of the counted calls did not pass; at most nine per cent too long, and never
 * longer than the longest.
 */
export function percentileUs(steps: ArrayLike<number>, counted: number, share: number, maxUs: number): number {
  const rank = Math.ceil(share * counted)
  let seen = 0
  for (let step = 0; step < LATENCY_STEPS; step++) {
    seen += steps[step] ?? 0
    if (seen >= rank) return Math.min(stepEndUs(step), maxUs)
  }
  return maxUs
}
