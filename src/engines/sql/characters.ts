/**
 * The position after the first `count` characters, or the length when there are no more. A character is a code point, as it
 * is to the engines' own `left`, so a surrogate pair is never split.
 */
export function endOfCharacters(text: string, count: number): number {
  if (text.length <= count) return text.length
  let end = 0
  for (let left = count; left > 0 && end < text.length; left--) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  return end
}
