import type { PlanValue } from './plan.js'
import type { ValueType } from './schema-model.js'

/**
 * Where a value lies among those of its column's type. `at`: the column can hold it, as this one. `above`: it lies between
 * this one and the next that the column can hold. `over`, `under`: it is greater or less than all of them.
 */
export type Place =
  | { readonly kind: 'at' | 'above'; readonly value: PlanValue }
  | { readonly kind: 'over' }
  | { readonly kind: 'under' }

/** Digits that are enough to tell any number of half a double's width from all others. */
const SINGLE_DIGITS_MAX = 9

/** The shortest text that reads back as the same number of half width, which is one: 0.1, not 0.10000000149011612. */
export function shortestSingle(single: number): string {
  for (let digits = 1; digits < SINGLE_DIGITS_MAX; digits++) {
    const shorter = Number(single.toPrecision(digits))
    if (Math.fround(shorter) === single) return String(shorter)
  }
  return String(Number(single.toPrecision(SINGLE_DIGITS_MAX)))
}

/** The number nearest to zero that has all of its digits: of half width, and of a double. */
const LEAST_NORMAL_SINGLE = 2 ** -126
const LEAST_NORMAL = 2 ** -1022
const LEAST_SINGLE = 2 ** -149

/** The number nearest to zero that the type holds apart from zero itself. */
function leastOf({ single, normal }: ValueType): number {
  if (single === true) return normal === true ? LEAST_NORMAL_SINGLE : LEAST_SINGLE
  return normal === true ? LEAST_NORMAL : Number.MIN_VALUE
}

/**
 * A number of half width is held as another than a double for most texts, and is meant by two: itself, and what it is shown
 * as. All others lie between two that are held, by what those are shown as: so a reader's order of the numbers is kept. Not
 * a number and the infinities are where they are, in engines that hold them.
 */
export function floatPlace(type: ValueType, value: PlanValue): Place {
  const wanted = Number(value)
  if (!Number.isFinite(wanted)) return { kind: 'at', value }
  const least = leastOf(type)
  if (type.single !== true) return Math.abs(wanted) < least ? aboutZero(wanted, least, value) : { kind: 'at', value }
  const held = Math.fround(wanted)
  if (!Number.isFinite(held)) return { kind: held > 0 ? 'over' : 'under' }
  if (Math.abs(held) < least) return aboutZero(wanted, least, '0')
  const shown = Number(shortestSingle(held))
  if (held === wanted || shown === wanted) return { kind: 'at', value: String(held) }
  return { kind: 'above', value: String(wanted > shown ? held : singleBefore(held, least)) }
}

/** `zero`: how a value that is zero is spelt. */
function aboutZero(wanted: number, least: number, zero: PlanValue): Place {
  if (wanted === 0) return { kind: 'at', value: zero }
  return { kind: 'above', value: wanted > 0 ? '0' : String(-least) }
}

/** The greatest number of half width that is less, or the lowest of all. */
function singleBefore(single: number, least: number): number {
  if (single === least) return 0
  const bits = new DataView(new ArrayBuffer(4))
  bits.setFloat32(0, single)
  // The bits of numbers of one sign are in the numbers' order, counted away from zero.
  bits.setInt32(0, bits.getInt32(0) + (single > 0 ? -1 : 1))
  return bits.getFloat32(0)
}

/** Whether a float column keeps the number: it is one that is held, or what that is shown as. */
export function keepsFloat(type: ValueType, text: string): boolean {
  return floatPlace(type, text).kind === 'at'
}
