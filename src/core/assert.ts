/** Closes an exhaustive switch: a new union member fails to type-check where it is not dealt with. */
export function unreachable(value: never): never {
  throw new Error(`unreachable case: ${JSON.stringify(value)}`)
}

/** States what must hold here. A failure is a bug in the gateway, never a fault of its input. */
export function invariant(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${rule}`)
}
