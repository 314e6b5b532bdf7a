import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PackedColumns, packColumns } from '../../src/audit/reports/columns.js'
import { isFileFault } from '../../src/audit/reports/index-fault.js'

const whole = fc.oneof(
  fc.constantFrom(0, 1, 255, 256, 65_535, 65_536, 0xffff_ffff, 1_780_000_000_000, -5),
  fc.nat(300),
  fc.integer({ min: 1_780_000_000_000, max: 1_780_000_100_000 }),
)

test('columns of whole numbers are what was packed, however wide, whole or in part of their room', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(whole, { minLength: 7, maxLength: 7 }), { minLength: 1, maxLength: 6 }),
      (columns) => {
        const packed = packColumns(columns)
        // At an odd place, as bytes in a page lie.
        const stored = new Uint8Array(packed.length + 3).subarray(3)
        stored.set(packed)
        const found = new PackedColumns(stored, columns.length)
        assert.equal(found.rows, 7)
        const room = new Float64Array(9)
        for (const [i, column] of columns.entries()) {
          found.into(i, room)
          assert.deepEqual([...room.subarray(0, 7)], column)
          if (column.every((number) => number >= 0 && number <= 0xffff_ffff))
            assert.deepEqual([...found.small(i)], column)
        }
      },
    ),
  )
})

test('small numbers take a byte each, and one number for all rows takes none', () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => n)
  const bytes = (column: readonly number[]) => packColumns([column]).byteLength
  const none = bytes(rows.map(() => 7))
  assert.ok(none < 64, `${none}`)
  assert.equal(bytes(rows.map((n) => n % 200)) - none, 1_000)
  assert.equal(bytes(rows.map((n) => 1_780_000_000_000 + (n % 200))) - none, 1_000)
  assert.equal(bytes(rows) - none, 2_000)
  assert.equal(packColumns([[], []]).byteLength, packColumns([[1], [1]]).byteLength)
})

test('columns that are cut short, or of another number, are a fault of the file', () => {
  const packed = packColumns([
    [1, 2, 3],
    [70_000, 0, 9],
  ])
  for (const stored of [packed.subarray(0, 8), packed.subarray(0, -8), new Uint8Array(0)]) {
    assert.throws(() => new PackedColumns(stored, 2), isFileFault)
  }
  assert.throws(() => new PackedColumns(packed, 1), isFileFault)
  assert.throws(() => new PackedColumns(packed, 3), isFileFault)
})
