import { z } from 'zod'
import { ADMIN_TEXT_CHARS_MAX } from '../core/limits.js'

/** What operations take, in the forms that every store can keep and every entry can show. */

/** A lone surrogate is no Unicode, and no database keeps NUL. */
const CONTROL_OR_LONE = /[\p{Cc}\p{Cs}]/u

/** A name, an id or another short text. `what` completes "expected …". */
export function shortText(what: string): z.ZodString {
  return z
    .string({ error: `expected ${what}` })
    .min(1, { error: `expected ${what}` })
    .max(ADMIN_TEXT_CHARS_MAX, { error: `expected ${what}, at most ${ADMIN_TEXT_CHARS_MAX} characters` })
    .refine((text) => !CONTROL_OR_LONE.test(text), {
      error: `expected ${what}, without control characters and halves of surrogate pairs`,
    })
}

/** The number of a version: a number in a body, and in a query the same in plain digits. */
export const versionNumber = z.union(
  [
    z.int().min(1),
    z
      .string()
      .regex(/^[1-9][0-9]{0,14}$/)
      .transform(Number),
  ],
  { error: 'expected the number of a version in plain digits, such as 3' },
)

/**
 * A mapping whose names are checked by `schema` or later, so that none may go missing on the way: the one name that a plain object
 * cannot take over is refused. `expected` completes "expected …".
 */
export function mapping<S extends z.ZodType>(schema: S, expected: string) {
  return z.preprocess((value, context) => {
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
      context.addIssue({ code: 'custom', path: ['__proto__'], message: `expected ${expected}`, input: value })
    }
    return value
  }, schema)
}
