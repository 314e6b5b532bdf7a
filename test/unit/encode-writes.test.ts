import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type CallToEncode,
  type EncodedRows,
  encodeCall,
  encodeMutation,
  type MutationToEncode,
} from '../../src/connector/encode-result.js'
import type { ValueType } from '../../src/core/schema-model.js'
import type { ResultColumn } from '../../src/core/statement.js'
import { encodeCell } from '../../src/engines/postgres/cells.js'
import { TYPES } from '../support/schema.js'

interface Content {
  readonly cut?: readonly { readonly what: string; readonly where: string; readonly next: string }[]
  readonly [name: string]: unknown
}

const column = (name: string, type: ValueType, charsMax?: number): ResultColumn => ({
  name,
  type,
  ...(charsMax === undefined ? {} : { charsMax }),
})

const ID = column('id', TYPES.integer)
const NOTE = column('note', TYPES.text, 4_000)

/** The structure of a result, which its text repeats. */
function contentOf({ body }: EncodedRows): { readonly content: Content; readonly chars: number } {
  // The members were written by the encoder, and this is the shape that the contract gives them.
  const result = JSON.parse(`{${Buffer.from(body).toString('utf8')}}`) as {
    readonly content: readonly { readonly type: string; readonly text: string }[]
    readonly structuredContent: Content
  }
  assert.deepEqual(Object.keys(result), ['content', 'structuredContent'])
  const text = result.content[0]?.text ?? ''
  assert.deepEqual(JSON.parse(text), result.structuredContent)
  return { content: result.structuredContent, chars: text.length }
}

function mutation(rows: MutationToEncode['rows'], rest: Partial<MutationToEncode> = {}) {
  const encoded = encodeMutation({
    columns: [ID, NOTE],
    rows,
    dialect: { encodeCell },
    responseCharsMax: 24_000,
    keyColumns: new Set(['id']),
    affected: 1,
    changed: true,
    dryRun: false,
    ...rest,
  })
  return { ...contentOf(encoded), rows: encoded.rows }
}

function call(
  result: CallToEncode['result'],
  columns: readonly ResultColumn[],
  rows: CallToEncode['rows'],
  rest: Partial<CallToEncode> = {},
) {
  const encoded = encodeCall({
    result,
    columns,
    rows,
    dialect: { encodeCell },
    responseCharsMax: 24_000,
    dryRun: false,
    ...rest,
  })
  return { ...contentOf(encoded), rows: encoded.rows }
}

describe('the result of a mutation', () => {
  test('holds the rows as written, how many were changed, and that something was', () => {
    // The last cell is the engine's own and no column of the result.
    const { content, rows } = mutation([['7', 'x', 't']])
    assert.deepEqual(content, {
      rows: [{ id: 7, note: 'x' }],
      row_count: 1,
      affected_rows: 1,
      changed: true,
      truncated: false,
    })
    assert.equal(rows, 1)
  })

  test('says that nothing changed where the row held it already', () => {
    assert.deepEqual(mutation([['7', 'x']], { affected: 0, changed: false }).content, {
      rows: [{ id: 7, note: 'x' }],
      row_count: 1,
      affected_rows: 0,
      changed: false,
      truncated: false,
    })
  })

  test('says that it was a dry run, or that the call had ended before', () => {
    assert.equal(mutation([['7', null]], { dryRun: true }).content['dry_run'], true)
    const { content } = mutation([['7']], { columns: [ID], replayed: true })
    assert.deepEqual(content, {
      rows: [{ id: 7 }],
      row_count: 1,
      affected_rows: 1,
      changed: true,
      replayed: true,
      truncated: false,
    })
  })

  test('is no longer than an answer may be, keeps its key, and says what was cut', () => {
    for (const responseCharsMax of [400, 500, 1_000]) {
      const { content, chars } = mutation([['7', 'n'.repeat(3_000)]], { responseCharsMax })
      assert.ok(chars <= responseCharsMax, `${chars} of ${responseCharsMax}`)
      assert.deepEqual([content['affected_rows'], content['changed'], content['truncated']], [1, true, true])
      assert.equal(content.cut?.[0]?.where, 'rows[0].note')
      assert.match(content.cut?.[0]?.next ?? '', /the whole value was written/)
    }
    const many = Array.from({ length: 50 }, (_, i) => [String(i), 'n'.repeat(100)])
    const { content, chars } = mutation(many, { responseCharsMax: 2_000, affected: 50 })
    assert.ok(chars <= 2_000)
    assert.equal(content['affected_rows'], 50)
    assert.deepEqual(
      content.cut?.map(({ what }) => what),
      ['chars'],
    )
    assert.match(content.cut?.[0]?.next ?? '', /read the other rows by their keys/)
  })
})

describe('the result of a procedure', () => {
  test('is rows with fields, cut at the row cap only when a further row came', () => {
    const rows = [
      ['1', 'a'],
      ['2', null],
      ['3', 'c'],
    ]
    assert.deepEqual(call('rows', [ID, NOTE], rows.slice(0, 2), { limit: 2 }).content, {
      rows: [
        { id: 1, note: 'a' },
        { id: 2, note: null },
      ],
      row_count: 2,
      truncated: false,
    })
    const { content } = call('rows', [ID, NOTE], rows, { limit: 2, dryRun: true })
    assert.deepEqual([content['row_count'], content['truncated'], content['dry_run']], [2, true, true])
    assert.match(content.cut?.[0]?.next ?? '', /more rows than a call may return: narrow it by its parameters/)
  })

  test('that is too long loses rows from its end and fits', () => {
    const rows = Array.from({ length: 100 }, (_, i) => [String(i), 'x'.repeat(100)])
    const { content, chars } = call('rows', [ID, NOTE], rows, { responseCharsMax: 3_000 })
    assert.ok(chars <= 3_000)
    assert.deepEqual(
      content.cut?.map(({ what }) => what),
      ['chars'],
    )
  })

  test('is one value under result, null included', () => {
    assert.deepEqual(call('value', [column('result', TYPES.bigint)], [['9007199254740993']]).content, {
      result: '9007199254740993',
    })
    assert.deepEqual(call('value', [column('result', TYPES.jsonb)], [['{"a": 1}']]).content, { result: { a: 1 } })
    assert.deepEqual(call('value', [column('v', TYPES.text)], [[null]]).content, { result: null })
    assert.deepEqual(call('value', [column('v', TYPES.text)], [], { dryRun: true }).content, {
      result: null,
      dry_run: true,
    })
  })

  test('that is one value too long is cut like a cell, and fits', () => {
    const cut = call('value', [column('result', TYPES.text, 3)], [['abcd']]).content
    assert.deepEqual([cut['result'], cut['truncated'], cut.cut?.[0]?.where], ['abc', true, 'result'])
    for (const responseCharsMax of [200, 300, 1_000]) {
      const { content, chars } = call('value', [column('result', TYPES.text, 4_000)], [['\u{1f600}'.repeat(1_500)]], {
        responseCharsMax,
      })
      assert.ok(chars <= responseCharsMax, `${chars} of ${responseCharsMax}`)
      assert.match(String(content['result']), /^(?:\u{1f600})+$/u)
      assert.deepEqual([content['truncated'], content.cut?.length], [true, 1])
    }
    const json = call('value', [column('result', TYPES.jsonb)], [[JSON.stringify('d'.repeat(900))]], {
      responseCharsMax: 500,
    })
    assert.ok(json.chars <= 500)
    assert.equal(json.content['result'], null)
  })

  test('is ok where there is nothing to give', () => {
    assert.deepEqual(call('nothing', [], []).content, { ok: true })
    assert.deepEqual(call('nothing', [], [[null]], { dryRun: true }).content, { ok: true, dry_run: true })
  })

  test('that had ended before says that what it gave is not kept', () => {
    const rows = call('rows', [ID], [], { replayed: true }).content
    assert.deepEqual([rows['rows'], rows['truncated'], rows['replayed']], [[], true, true])
    assert.match(rows.cut?.[0]?.next ?? '', /not run again: what it gave is not kept/)
    const value = call('value', [column('result', TYPES.text)], [], { replayed: true }).content
    assert.deepEqual([value['result'], value['replayed'], value.cut?.[0]?.where], [null, true, 'result'])
    assert.deepEqual(call('nothing', [], [], { replayed: true }).content, { ok: true, replayed: true })
  })
})
