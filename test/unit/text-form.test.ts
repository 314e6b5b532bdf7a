import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TextForm } from '../../src/core/schema-model.js'
import { formed, formPhrase, mayBeWritten } from '../../src/core/text-form.js'

function takes(form: TextForm, ...texts: readonly string[]): void {
  for (const text of texts) assert.equal(formed(form, text), text)
}

function refuses(form: TextForm, ...texts: readonly string[]): void {
  for (const text of texts) assert.equal(formed(form, text), undefined, text.slice(0, 80))
}

test('a set is a list of its members in any order, and is given the order of the catalog', () => {
  const set: TextForm = { kind: 'set', members: ['y', 'x', '3', "it's"] }
  takes(set, '', 'y', 'x', '3', 'y,x', "y,x,3,it's")
  assert.equal(formed(set, "it's,3,x,y"), "y,x,3,it's")
  // The server takes a number for the members whose bits it has, a letter in another case for the member.
  refuses(set, '1', '0', '2', 'X', 'z', 'x,z', 'x,x', 'y,', ',', ' x', 'x, y', '3,3')
  assert.equal(formPhrase(set), `words with commas between them, each once, of "y", "x", "3", "it's"`)
})

test('a word that the catalog may not show whole is taken, a number in its place is not', () => {
  const words: TextForm = { kind: 'words', shown: ['ok', '7'] }
  takes(words, 'ok', '7', '😀', '', '1st', '1,2')
  refuses(words, '1', '0', '12', ' 1', '+1', '-1', '1 ')
  assert.ok(mayBeWritten(words, 'a,b'), 'a label may have a comma')
  const several: TextForm = { ...words, several: true }
  takes(several, 'a,b')
  assert.ok(mayBeWritten(several, '😀'))
  assert.ok(!mayBeWritten(several, 'b,a'), 'the server would put them in an order that is not known')
})

test('a geometry is well-known text from its first character to its last', () => {
  const geometry: TextForm = { kind: 'geometry' }
  takes(
    geometry,
    ...['POINT(1.5 -2)', 'point (1e3 +.5)', 'LINESTRING(0 0,1 1)', 'POLYGON((0 0,1 0,1 1,0 0),(0 0,1 0,1 1,0 0))'],
    ...['MULTIPOINT(0 0,1 1)', 'MULTIPOINT((0 0),(1 1))', 'MULTILINESTRING((0 0,1 1),(2 2,3 3))'],
    ...['MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))', 'GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))'],
    ...['GEOMETRYCOLLECTION EMPTY', 'GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)))', ' POINT( 1 2 ) '],
    `LINESTRING(${'1 2,'.repeat(100_000)}3 4)`,
  )
  refuses(
    geometry,
    ...['', 'POINT(1 2) trailing', 'POINT(1 2)POINT(1 2)', 'POINT(1 2))', 'POINT(1 2', 'POINT(1)', 'POINT(1 2 3)'],
    ...['POINT 1 2', 'POINT(1,2)', 'POINT(1 x)', 'POINT(1 0x2)', 'POINT(1 1e999)', 'POINT()', 'CIRCLE(1 2)'],
    ...['LINESTRING((0 0,1 1))', 'LINESTRING(0 0,)', 'MULTIPOINT((0 0)', 'GEOMETRYCOLLECTION()', 'POINT(1 2);', 'x'],
    `${'GEOMETRYCOLLECTION('.repeat(50_000)}POINT(1 2)`,
  )
})

test('an address has the grammar of its type', () => {
  takes({ kind: 'inet4' }, '10.0.0.1', '255.255.255.255', '0.0.0.0')
  refuses({ kind: 'inet4' }, '', '10.0.0', '256.0.0.1', '10.0.0.01', '10.0.0.1 ', '::1', 'zzz', '1.2.3.4.5')
  takes(
    { kind: 'inet6' },
    ...['::', '::1', '1::', 'fe80::1:2', '1:2:3:4:5:6:7:8', '::ffff:10.0.0.1', '1:2:3:4:5:6:1.2.3.4', 'ABCD::'],
  )
  refuses(
    { kind: 'inet6' },
    ...['', '10.0.0.1', ':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '12345::', 'fe80::1%eth0', '::g'],
    ...['1:2:3:4:5:6:7:1.2.3.4', '::1.2.3.4:1', '::1 ', ':1', '1:', '1.2.3.4::', '1:2:3:4::5:6:7:8', 'zzz'],
  )
})
