import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type CallToEncode, encodeCall } from '../../src/connector/encode-result.js'
import { agentColumnName } from '../../src/core/names.js'
import type { ValueType } from '../../src/core/schema-model.js'
import type { ResultColumn } from '../../src/core/statement.js'
import type { ResultSet } from '../../src/engines/engine.js'
import { encodeCell } from '../../src/engines/postgres/cells.js'
import { TYPES } from '../support/schema.js'

interface Results {
  readonly rows: readonly unknown[]
  readonly row_count: number
  readonly truncated: boolean
  readonly cut?: readonly { readonly what: string; readonly where: string; readonly next: string }[]
  readonly more_results?: readonly {
    readonly rows: readonly unknown[]
    readonly row_count: number
    readonly truncated: boolean
  }[]
  readonly out?: Readonly<Record<string, unknown>>
  readonly dry_run?: boolean
  readonly replayed?: boolean
}

const column = (name: string, type: ValueType, charsMax?: number): ResultColumn => ({
  name,
  type,
  ...(charsMax === undefined ? {} : { charsMax }),
})

const ID = column('id', TYPES.integer)
const NOTE = column('note', TYPES.text, 4_000)
const TOTAL = column('total', TYPES.decimal)

function given(sets: readonly ResultSet[], rest: Partial<CallToEncode> = {}) {
  const encoded = encodeCall({
    result: 'sets',
    columns: [],
    rows: [],
    sets,
    dialect: { encodeCell },
    responseCharsMax: 24_000,
    dryRun: false,
    ...rest,
  })
  // The members were written by the encoder, and this is the shape that the contract gives them.
  const result = JSON.parse(`{${Buffer.from(encoded.body).toString('utf8')}}`) as {
    readonly content: readonly { readonly text: string }[]
    readonly structuredContent: Results
  }
  const text = result.content[0]?.text ?? ''
  assert.deepEqual(JSON.parse(text), result.structuredContent)
  return { content: result.structuredContent, chars: text.length, rows: encoded.rows }
}

const numbers = (count: number): ResultSet => ({
  columns: [ID],
  rows: Array.from({ length: count }, (_, i) => [String(i)]),
})
const notes = (count: number, chars: number): ResultSet => ({
  columns: [ID, NOTE],
  rows: Array.from({ length: count }, (_, i) => [String(i), 'n'.repeat(chars)]),
})
const wheres = ({ cut = [] }: Results) => cut.map(({ what, where }) => [what, where])

describe('several results of a call', () => {
  test('are the rows of the first, the others, and the outputs; the entry counts all rows', () => {
    const { content, rows } = given(
      [numbers(2), { columns: [NOTE], rows: [['a'], [null]] }, { columns: [ID], rows: [] }],
      {
        columns: [TOTAL, NOTE],
        rows: [['12.50', null]],
      },
    )
    assert.deepEqual(content, {
      rows: [{ id: 0 }, { id: 1 }],
      row_count: 2,
      truncated: false,
      more_results: [
        { rows: [{ note: 'a' }, { note: null }], row_count: 2, truncated: false },
        { rows: [], row_count: 0, truncated: false },
      ],
      out: { total: '12.50', note: null },
    })
    assert.equal(rows, 4)
  })

  test('are no rows where there is none, or none that may be given, and say nothing of outputs then', () => {
    const none = { rows: [], row_count: 0, truncated: false }
    assert.deepEqual(given([]).content, none)
    assert.deepEqual(given([{ columns: [], rows: [[], []] }]).content, none)
    assert.deepEqual(given([], { rows: [[]] }).content, none)
    const { content, rows } = given([], { columns: [TOTAL], rows: [['1']] })
    assert.deepEqual([content, rows], [{ ...none, out: { total: '1' } }, 0])
    // A result of which nothing is let through takes no place among the others.
    const { content: second } = given([{ columns: [], rows: [[]] }, numbers(1)])
    assert.deepEqual([second.rows, second.more_results], [[{ id: 0 }], undefined])
  })

  test('have names that agents can be given, each once', () => {
    const odd = {
      columns: [column('gross sum', TYPES.text), ID, ID, column('__proto__', TYPES.text)],
      rows: [['1', '2', '3', '4']],
    }
    const [row] = given([odd]).content.rows
    assert.deepEqual(Object.entries(Object(row)), [
      [agentColumnName('gross sum'), '1'],
      ['id', 2],
      [agentColumnName('__proto__'), '4'],
    ])
  })

  test('have at most the row cap each, and say which have more', () => {
    const { content, rows } = given([numbers(3), numbers(2), numbers(3)], { limit: 2, dryRun: true })
    assert.deepEqual([content.row_count, content.truncated, content.dry_run], [2, true, true])
    assert.deepEqual(
      content.more_results?.map(({ row_count, truncated }) => [row_count, truncated]),
      [
        [2, false],
        [2, true],
      ],
    )
    assert.deepEqual(wheres(content), [
      ['rows', 'rows'],
      ['rows', 'more_results[1].rows'],
    ])
    assert.match(content.cut?.[0]?.next ?? '', /more rows than a call may return/)
    assert.equal(rows, 6)
  })

  test('that are too long together lose rows of the last first, then whole results, and fit', () => {
    const sets = [notes(20, 50), notes(20, 50), notes(20, 50)]
    const seen: string[] = []
    for (const responseCharsMax of [4_300, 3_500, 2_500, 2_000, 1_200, 700, 500]) {
      const { content, chars, rows } = given(sets, { responseCharsMax, columns: [TOTAL], rows: [['7']] })
      assert.ok(chars <= responseCharsMax, `${chars} of ${responseCharsMax}`)
      assert.deepEqual(content.out, { total: '7' })
      const counts = [content.row_count, ...(content.more_results ?? []).map(({ row_count }) => row_count)]
      assert.equal(content.rows.length, content.row_count)
      assert.equal(
        rows,
        counts.reduce((sum, count) => sum + count, 0),
      )
      // All but the last that is given are whole.
      assert.ok(counts.slice(0, -1).every((count) => count === 20))
      assert.ok(counts.every((count) => count > 0))
      assert.equal(content.truncated, true)
      const last = counts.length - 1
      const where = last === 0 ? 'rows' : `more_results[${last - 1}].rows`
      assert.equal(
        wheres(content).some(([, at]) => at === where),
        (counts[last] ?? 0) < 20,
      )
      assert.equal(
        wheres(content).some(([, at]) => at === 'more_results'),
        counts.length < 3,
      )
      seen.push(counts.join())
    }
    assert.ok(new Set(seen).size > 4, seen.join(' '))
  })

  test('that are very many are not all given, and the answer says how many are not', () => {
    const { content, chars } = given(
      Array.from({ length: 2_000 }, () => numbers(0)),
      { responseCharsMax: 3_000 },
    )
    assert.ok(chars <= 3_000)
    const left = 2_000 - 1 - (content.more_results?.length ?? 0)
    assert.deepEqual(wheres(content), [['chars', 'more_results']])
    assert.match(content.cut?.[0]?.next ?? '', new RegExp(`^${left} more left out\\. `))
  })

  test('name the cells that were cut by where they are', () => {
    const long = column('note', TYPES.text, 3)
    const { content } = given(
      [
        { columns: [ID, long], rows: [['1', 'abcd']] },
        {
          columns: [ID, long],
          rows: [
            ['1', 'abc'],
            ['2', 'abcd'],
          ],
        },
      ],
      { columns: [long], rows: [['abcd']] },
    )
    assert.deepEqual(wheres(content), [
      ['cell', 'out.note'],
      ['cell', 'rows[0].note'],
      ['cell', 'more_results[0].rows[1].note'],
    ])
    assert.deepEqual(content.out, { note: 'abc' })
    assert.equal(content.more_results?.[0]?.truncated, true)
    const many = given([{ columns: [long], rows: Array.from({ length: 50 }, () => ['abcd']) }, numbers(1)]).content
    assert.match(many.cut?.at(-1)?.next ?? '', /^30 more cells are cut/)
    assert.equal(many.more_results?.[0]?.truncated, false)
  })

  test('of which one row, or the outputs, are too long lose their longest cells, and fit', () => {
    for (const responseCharsMax of [600, 800, 1_500]) {
      const { content, chars } = given([notes(3, 3_000)], {
        responseCharsMax,
        columns: [NOTE, TOTAL],
        rows: [['o'.repeat(2_000), '7']],
      })
      assert.ok(chars <= responseCharsMax, `${chars} of ${responseCharsMax}`)
      assert.equal(content.row_count, 1)
      assert.equal(content.out?.['total'], '7')
      assert.match(String(content.out?.['note']), /^o+$/)
      assert.deepEqual(wheres(content), [
        ['chars', 'rows'],
        ['cell', 'out.note'],
        ['cell', 'rows[0].note'],
      ])
    }
    const alone = given([], { responseCharsMax: 400, columns: [NOTE], rows: [['o'.repeat(2_000)]] })
    assert.ok(alone.chars <= 400)
    assert.deepEqual(wheres(alone.content), [['cell', 'out.note']])
  })

  test('are never longer than an answer may be, never cut without a word, and cut only where they have to be', () => {
    const set = fc
      .record({ count: fc.nat(12), chars: fc.nat(120), narrow: fc.boolean() })
      .map(({ count, chars, narrow }) => (narrow ? numbers(count) : notes(count, chars)))
    const out = fc.option(fc.nat(600), { nil: undefined })
    fc.assert(
      fc.property(fc.array(set, { maxLength: 6 }), out, fc.integer({ min: 600, max: 4_000 }), (sets, chars, max) => {
        const outputs = chars === undefined ? {} : { columns: [NOTE], rows: [['o'.repeat(chars)]] }
        const whole = given(sets, { responseCharsMax: 1_000_000, ...outputs })
        assert.equal(whole.content.truncated, false)
        assert.equal(given(sets, { responseCharsMax: whole.chars, ...outputs }).content.truncated, false)
        const cut = given(sets, { responseCharsMax: max, ...outputs })
        assert.ok(cut.chars <= max, `${cut.chars} of ${max}`)
        assert.equal(cut.content.truncated, whole.chars > max)
        assert.equal((cut.content.cut ?? []).length > 0, cut.content.truncated)
        assert.equal(cut.content.rows.length > 0, whole.content.rows.length > 0)
      }),
      { numRuns: 500 },
    )
  })

  test('of a call that had ended before are not kept', () => {
    const { content } = given([], { replayed: true, columns: [TOTAL] })
    assert.deepEqual([content.rows, content.replayed, content.truncated, content.out], [[], true, true, undefined])
    assert.match(content.cut?.[0]?.next ?? '', /not run again: what it gave is not kept/)
  })
})
