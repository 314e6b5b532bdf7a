/** Names that agents see. Pure and stable: a name depends on its own original alone, never on other objects. */

/** What every model provider takes as a property key. */
export const PROPERTY_KEY = /^[a-zA-Z0-9_.-]{1,64}$/

/** Tool names stay under 40 characters; the longest frame is `soft_delete_…_by_pk` (18), which leaves the table 22. */
const TOOL_BASE_CHARS_MAX = 22
const TOOL_BASE = /^[a-z0-9_]{1,22}$/

/** A 53-bit non-cryptographic hash of UTF-16 code units, as 8 characters of base 36: distinguishes names, protects nothing. */
export function nameHash(text: string): string {
  let h1 = 0xdeadbeef
  let h2 = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    h1 = Math.imul(h1 ^ unit, 2654435761)
    h2 = Math.imul(h2 ^ unit, 1597334677)
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909)
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909)
  const value = 4294967296 * (2097151 & h2) + (h1 >>> 0)
  return value.toString(36).padStart(8, '0').slice(-8)
}

/** The agent-facing name of a column: its own where clients can take it as a property key, else an alias. */
export function agentColumnName(name: string): string {
  if (PROPERTY_KEY.test(name) && name !== '__proto__') return name
  const readable = name
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 48)
  return `${readable === '' ? 'column' : readable}_${nameHash(name)}`
}

/** The `<t>` of a tool name: the wanted name where it fits, else a readable start and a hash of the whole. */
export function toolBaseName(wanted: string): string {
  if (TOOL_BASE.test(wanted)) return wanted
  const readable = wanted
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, TOOL_BASE_CHARS_MAX - 9)
  return `${readable === '' ? 'table' : readable}_${nameHash(wanted)}`
}

/** Levenshtein distance, for suggestions among a caller's own names. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}

/** The candidate nearest to `name` when it is near enough to be what was meant. Ties go to the first in order. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.slice(0, 64).toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates) {
    const d = distance(wanted, candidate.toLowerCase())
    if (d < bestDistance) {
      best = candidate
      bestDistance = d
    }
  }
  return best
}

/** Soft hyphen, zero-width and bidirectional characters, variation selectors, interlinear marks and tags. */
const INVISIBLE =
  /\u00ad|\u061c|\u180e|[\u200b-\u200f]|[\u202a-\u202e]|[\u2060-\u206f]|[\ufe00-\ufe0f]|\ufeff|[\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu

/**
 * Text out of a database or a caller, made fit to be shown to a model or written to a log: control, zero-width and
 * bidirectional characters go, white space runs become one space, and the length is capped (in characters).
 */
export function cleanText(text: string, charsMax: number): string {
  const clean = text
    .replace(INVISIBLE, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  const points = [...clean.slice(0, charsMax * 2 + 2)]
  return points.length > charsMax ? `${points.slice(0, charsMax - 1).join('')}…` : clean
}
