import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeObject, encodeRows, type RowsToEncode } from '../../src/connector/encode-result.js'
import { CUT_ITEMS_MAX } from '../../src/core/limits.js'
import type { ValueType } from '../../src/core/schema-model.js'
import type { ResultColumn } from '../../src/core/statement.js'
import { encodeCell } from '../../src/engines/postgres/cells.js'
import { TYPES } from '../support/schema.js'

interface Cut {
  readonly what: string
  readonly where: string
  readonly next: string
}

interface Content {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly row_count: number
  readonly truncated: boolean
  readonly cut?: readonly Cut[]
}

const column = (name: string, type: ValueType, charsMax?: number): ResultColumn => ({
  name,
  type,
  ...(charsMax === undefined ? {} : { charsMax }),
})

function encode(
  columns: readonly ResultColumn[],
  rows: RowsToEncode['rows'],
  rest: Partial<RowsToEncode> = {},
): { readonly content: Content; readonly chars: number } {
  const { body, rows: count } = encodeRows({
    columns,
    rows,
    dialect: { encodeCell },
    responseCharsMax: 24_000,
    keyColumns: new Set(['id']),
    ...rest,
  })
  // The members were written by encodeRows, and this is the shape that the contract gives them.
  const result = JSON.parse(`{${Buffer.from(body).toString('utf8')}}`) as {
    readonly content: readonly { readonly type: string; readonly text: string }[]
    readonly structuredContent: Content
  }
  const [text] = result.content
  assert.deepEqual(Object.keys(result), ['content', 'structuredContent'])
  assert.deepEqual([result.content.length, text?.type], [1, 'text'])
  assert.ok(text)
  assert.equal(text.text, Buffer.from(body).toString('utf8').split('"structuredContent":').at(-1))
  assert.deepEqual(JSON.parse(text.text), result.structuredContent)
  const content = result.structuredContent
  assert.equal(content.row_count, content.rows.length)
  assert.equal(count, content.rows.length)
  assert.equal(content.truncated, content.cut !== undefined)
  return { content, chars: text.text.length }
}

const ID = column('id', TYPES.integer)
const NOTE = column('note', TYPES.text, 4_000)

describe('a result', () => {
  test('holds rows with NULL as null, the count, and whether more exists; text and structure are the same JSON', () => {
    const { content } = encode(
      [ID, column('big', TYPES.bigint), NOTE, column('doc', TYPES.jsonb), column('constructor', TYPES.boolean)],
      [
        ['1', '9223372036854775807', 'O\u2019Brien "\\\n\u{1f600}', '{"a": 1}', 't'],
        ['2', '5', null, null, null],
      ],
    )
    assert.deepEqual(content, {
      rows: [
        { id: 1, big: '9223372036854775807', note: 'O\u2019Brien "\\\n\u{1f600}', doc: { a: 1 }, constructor: true },
        { id: 2, big: 5, note: null, doc: null, constructor: null },
      ],
      row_count: 2,
      truncated: false,
    })
    assert.deepEqual(encode([ID], []).content, { rows: [], row_count: 0, truncated: false })
  })

  test('is truncated by its limit only when a further row came', () => {
    const rows = [['1'], ['2'], ['3']]
    const { content } = encode([ID], rows, { limit: 2 })
    assert.deepEqual(content.rows, [{ id: 1 }, { id: 2 }])
    assert.deepEqual(
      content.cut?.map(({ what, where }) => [what, where]),
      [['rows', 'rows']],
    )
    assert.match(content.cut?.[0]?.next ?? '', /filters.*limit/)
    assert.equal(encode([ID], rows, { limit: 3 }).content.truncated, false)
    assert.equal(encode([ID], rows).content.truncated, false)
  })

  test('loses whole rows from its end when it would be too long, says so, and fits', () => {
    const rows = Array.from({ length: 100 }, (_, i) => [String(i), 'x'.repeat(100)])
    for (const responseCharsMax of [1_000, 1_130, 1_131, 1_132, 5_000, 11_000, 12_000]) {
      const { content, chars } = encode([ID, NOTE], rows, { responseCharsMax, limit: 99 })
      assert.ok(chars <= responseCharsMax, `${chars} of ${responseCharsMax}`)
      // No more was left out than had to be: one more row would not have fitted.
      assert.ok(chars + 130 > responseCharsMax || content.row_count === 99)
      assert.deepEqual(content.rows[0], { id: 0, note: 'x'.repeat(100) })
      const what = content.row_count < 99 ? 'chars' : 'rows'
      assert.deepEqual(
        content.cut?.map((item) => item.what),
        [what],
      )
    }
    const { cut } = encode([ID, NOTE], rows, { responseCharsMax: 1_000 }).content
    assert.match(cut?.[0]?.next ?? '', /1000 characters: name fewer columns, or add filters/)
  })

  test('a single row that is too long loses its longest cells, never its key', () => {
    const columns = [column('id', TYPES.text), NOTE, column('doc', TYPES.json), column('at', TYPES.timestamptz)]
    const row = ['k'.repeat(300), 'n'.repeat(2_000), JSON.stringify('d'.repeat(900)), '2024-05-31 00:00:00+00']
    const { content, chars } = encode(columns, [row, row], { responseCharsMax: 1_800 })
    assert.ok(chars <= 1_800)
    const [first] = content.rows
    assert.equal(first?.['id'], 'k'.repeat(300))
    assert.equal(first?.['at'], '2024-05-31T00:00:00Z')
    assert.match(String(first?.['note']), /^n+$/)
    assert.equal(first?.['doc'], 'd'.repeat(900))
    assert.deepEqual(
      content.cut?.map(({ what, where }) => [what, where]),
      [
        ['chars', 'rows'],
        ['cell', 'rows[0].note'],
      ],
    )
    // Where that is not enough, the next longest goes as well, and a value without a shorter form becomes null.
    const tight = encode(columns, [row], { responseCharsMax: 1_000 })
    assert.ok(tight.chars <= 1_000)
    assert.equal(tight.content.rows[0]?.['doc'], null)
    assert.equal(tight.content.rows[0]?.['id'], 'k'.repeat(300))
    // Keys alone beyond the limit are given whole: a row without its key would be of no use.
    const keyed = encode([column('id', TYPES.text)], [['k'.repeat(500)]], { responseCharsMax: 200 })
    assert.deepEqual(keyed.content, { rows: [{ id: 'k'.repeat(500) }], row_count: 1, truncated: false })
  })

  test('a row of very many long cells fits as well', () => {
    const columns = [ID, ...Array.from({ length: 200 }, (_, i) => column(`c${i}`, TYPES.json, 1_000))]
    const { content, chars } = encode(columns, [['1', ...Array(200).fill(`"${'x'.repeat(900)}"`)]], {
      responseCharsMax: 8_000,
    })
    assert.ok(chars <= 8_000, `${chars}`)
    assert.equal(content.cut?.length, CUT_ITEMS_MAX + 1)
    assert.equal(content.rows[0]?.['id'], 1)
  })

  test('a cut text keeps whole characters', () => {
    for (let responseCharsMax = 300; responseCharsMax < 310; responseCharsMax++) {
      const { content, chars } = encode([ID, NOTE], [['1', '\u{1f600}"\n'.repeat(500)]], { responseCharsMax })
      assert.ok(chars <= responseCharsMax, `${chars} of ${responseCharsMax}`)
      assert.doesNotMatch(String(content.rows[0]?.['note']), /[\ud800-\udfff]/u)
    }
  })

  test('names each cell that the engine cut, up to a cap, and how many more', () => {
    const columns = [ID, column('note', TYPES.text, 3), column('doc', TYPES.json, 3)]
    const one = encode(columns, [['1', 'abcd', '[1,2,3]']])
    assert.deepEqual(one.content.rows, [{ id: 1, note: 'abc', doc: null }])
    assert.deepEqual(one.content.cut, [
      { what: 'cell', where: 'rows[0].note', next: 'The first 3 characters are shown; filters see the whole value.' },
      { what: 'cell', where: 'rows[0].doc', next: 'Null stands for a value of more than 3 characters.' },
    ])
    const rows = Array.from({ length: CUT_ITEMS_MAX + 5 }, (_, i) => [String(i), 'abcd', null])
    const many = encode(columns, rows).content.cut ?? []
    assert.equal(many.length, CUT_ITEMS_MAX + 1)
    assert.match(many.at(-1)?.next ?? '', /^5 more cells/)
  })

  test('the words about cut cells count towards its length', () => {
    const columns = [ID, column('note', TYPES.text, 3)]
    const rows = Array.from({ length: 30 }, (_, i) => [String(i), 'abcd'])
    for (let responseCharsMax = 400; responseCharsMax < 3_000; responseCharsMax += 37) {
      const { chars } = encode(columns, rows, { responseCharsMax })
      assert.ok(chars <= responseCharsMax, `${chars} of ${responseCharsMax}`)
    }
  })

  test('an object of the gateway travels in the same two forms', () => {
    const body = Buffer.from(encodeObject({ tables: [{ name: 'a"b' }] })).toString('utf8')
    assert.deepEqual(JSON.parse(`{${body}}`), {
      content: [{ type: 'text', text: '{"tables":[{"name":"a\\"b"}]}' }],
      structuredContent: { tables: [{ name: 'a"b' }] },
    })
  })
})
