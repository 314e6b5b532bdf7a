import { unreachable } from './assert.js'
import { CHOICES_SHOWN_MAX, ECHO_CHARS_MAX } from './limits.js'
import { cleanText } from './names.js'
import type { TextForm } from './schema-model.js'
import { isWellKnownText } from './well-known-text.js'

/** What an engine reads as the place of a word where it is no word itself. */
const PLACE = /^\s*[-+]?[0-9]+\s*$/

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`)
const IPV6_CHARS_MAX = 45
const IPV6_GROUPS = 8

function isIpv6(text: string): boolean {
  if (text.length > IPV6_CHARS_MAX) return false
  const [left = '', right, ...others] = text.split('::')
  if (others.length > 0) return false
  const groups = [left, right ?? ''].flatMap((side) => (side === '' ? [] : side.split(':')))
  const last = text.endsWith(':') ? undefined : groups.at(-1)
  const inIpv4 = last !== undefined && IPV4.test(last)
  const hexadecimal = inIpv4 ? groups.slice(0, -1) : groups
  const count = groups.length + (inIpv4 ? 1 : 0)
  if (!hexadecimal.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false
  return right === undefined ? count === IPV6_GROUPS : count < IPV6_GROUPS
}

/** The one spelling of the text that the engine itself would give it, or undefined for what has not this form. */
export function formed(form: TextForm, text: string): string | undefined {
  switch (form.kind) {
    case 'set':
      return inOrder(form.members, text)
    case 'words':
      return form.shown.includes(text) || !PLACE.test(text) ? text : undefined
    case 'geometry':
      return isWellKnownText(text) ? text : undefined
    case 'inet4':
      return IPV4.test(text) ? text : undefined
    case 'inet6':
      return isIpv6(text) ? text : undefined
    default:
      return unreachable(form)
  }
}

/** Whether a text of the form may be written: an engine would put words in an order that is not known here. */
export function mayBeWritten(form: TextForm, text: string): boolean {
  return form.kind !== 'words' || form.several !== true || !text.includes(',')
}

function inOrder(members: readonly string[], text: string): string | undefined {
  if (text === '') return text
  const given = new Set(text.split(','))
  const kept = members.filter((member) => given.has(member)).join(',')
  // Shorter where a word is none of the members, or stands there twice.
  return kept.length === text.length ? kept : undefined
}

export function formPhrase(form: TextForm): string {
  switch (form.kind) {
    case 'set': {
      const shown = form.members.slice(0, CHOICES_SHOWN_MAX).map((word) => `"${cleanText(word, ECHO_CHARS_MAX)}"`)
      const more = form.members.length - shown.length
      return `words with commas between them, each once, of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    }
    case 'words':
      return `one of the column's words, and no number in its place`
    case 'geometry':
      return 'a geometry as well-known text such as POINT(1.5 -2), with nothing after it'
    case 'inet4':
      return 'an IPv4 address such as 10.0.0.1'
    case 'inet6':
      return 'an IPv6 address such as ::1 or ::ffff:10.0.0.1'
    default:
      return unreachable(form)
  }
}
