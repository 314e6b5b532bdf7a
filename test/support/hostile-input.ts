import type { AdminOperation } from '../../src/admin/operation.js'

/** What nobody means to send to an administrative operation, for each place of a request. */

/** Texts that no name may be: no store keeps them, or no entry could show them. */
export const UNKEEPABLE_TEXTS: readonly string[] = [
  '\u0000',
  'a\u0000b',
  'line\nbreak',
  '\u001b[2J',
  '\u007f',
  '\u0085',
  '\ud800',
  'x\udfff',
  'x'.repeat(257),
  'x'.repeat(100_000),
  '',
]

/** Texts that could be a name, and are that of nothing. */
export const ODD_TEXTS: readonly string[] = [
  '__proto__',
  'hasOwnProperty',
  '../../etc/passwd',
  "x'; DROP TABLE roles; --",
  '%00',
  '\u202e',
  '💥',
  ' ',
  '-1',
  '0',
  '01',
  '1e0',
  '1.0',
  '0x1',
  '+1',
  ' 1',
  'NaN',
  '9'.repeat(30),
]

/** Of every other kind that JSON has. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  -1,
  0,
  1.5,
  1e300,
  true,
  [],
  [null],
  [['a']],
  ['\u0000'],
  {},
  { a: { b: {} } },
  JSON.parse('{"__proto__":1}'),
  JSON.parse('{"__proto__":{"a":"b"}}'),
]

/** Parts of an address as they are sent: escapes that are none or that are not UTF-8, and what only looks like a path. */
export const ODD_ESCAPES: readonly string[] = [
  '%00',
  'a%00b',
  '%zz',
  '%',
  '%e',
  '%FF',
  '%C0%80',
  '%ED%A0%80',
  '%F8%88%80%80%80',
  'caf\u00e9',
  '%0d%0aX-A:%20b',
  '%1b[2J',
  '%2F',
  '..%2f..%2froles',
  '%252F',
  '%E2%80%AE',
  '__proto__',
  '%5F%5Fproto__',
  `${'x'.repeat(300)}`,
  `${'y'.repeat(6_000)}`,
]

/** Whole bodies that are no request, whatever is asked. */
export const ODD_BODIES: readonly (string | Uint8Array)[] = [
  '[]',
  'null',
  '"x"',
  '1',
  'NaN',
  '{',
  '{}x',
  '{} {}',
  '{}\u0000',
  '\ufeff{}',
  '{"nothing":1}',
  '{"__proto__":{}}',
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":1}',
  '{"a":{"b":[{"c":1,"c":2}]}}',
  "{'a':1}",
  '{"a":1,}',
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
]

const SAMPLES: Readonly<Record<string, unknown>> = {
  role: 'nothing',
  identity: 'nobody',
  key_id: 'aaaaaaaaaaaa',
  connector: 'nowhere',
  policy: 'nothing',
  id: 'nowhere',
  new_id: 'nowhere-else',
  expires: '90d',
  claims: { tenant: '1' },
  document: { nothing: 1 },
}

/** Input of the right form that names nothing which exists. */
export function sampleInput(operation: AdminOperation): Readonly<Record<string, unknown>> {
  const names = Object.keys(operation.input.shape).filter((name) => Object.hasOwn(SAMPLES, name))
  return Object.fromEntries(names.map((name) => [name, SAMPLES[name]]))
}
