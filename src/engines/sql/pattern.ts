/**
 * A pattern of `LIKE` in which every backslash escapes something. Engines disagree on a lone one at the end, which may be an
 * error; here it means the backslash itself.
 */
export function safePattern(pattern: string): string {
  let backslashes = 0
  while (pattern.charCodeAt(pattern.length - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1 ? `${pattern}\\` : pattern
}
