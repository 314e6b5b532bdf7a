import { invariant } from '../../core/assert.js'
import type { PlanValue } from '../../core/plan.js'
import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { Param } from '../../core/statement.js'
import type { SqlWriter, Write } from '../sql/sql-writer.js'
import { utcText } from './utc-text.js'

/**
 * How a plan's value is bound. Numbers and bytes carry their own type: beside a number, text would be compared as a double.
 * All else is text, of which the column's type and collation decide what it means, so that an index stays usable.
 */

type Bind = (value: PlanValue, type: ValueType) => Param

const text: Bind = (value) => value
const integer: Bind = (value) => ({ type: 'integer', value })

const BINDINGS: Readonly<Record<LogicalType, Bind>> = {
  integer,
  bigint: (value, { unsigned }) => ({ type: unsigned === true ? 'unsigned' : 'integer', value }),
  decimal: (value) => ({ type: 'decimal', value }),
  float: (value, type) => ({ type: 'float', value: type.single === true ? writtenSingle(value) : value }),
  bytes: (value) => ({ type: 'bytes', value }),
  // A number stands in for the type, and its other values are given as they are.
  boolean: (value, type) => integer(TRUTHS.get(value) ?? value, type),
  timestamp: (value) => utcText(value),
  text,
  date: text,
  time: text,
  interval: text,
  uuid: text,
  json: text,
  enum: text,
  array: text,
  unknown: text,
}

const TRUTHS: ReadonlyMap<PlanValue, string> = new Map([
  ['true', '1'],
  ['false', '0'],
])

/** A value that is written or passed. */
export function bound(type: ValueType, value: PlanValue): Param {
  return BINDINGS[type.logical](value, type)
}

/** The position of a label among the enum's, from 1, as MySQL counts. */
export function boundPosition({ labels = [] }: ValueType, label: PlanValue): Param {
  const index = labels.indexOf(label)
  invariant(index >= 0, 'a value of an enum is one of its labels')
  return { type: 'integer', value: String(index + 1) }
}

/**
 * A value to compare with a column of the type. A `FLOAT` holds another number than a double does for `0.1`, and is
 * compared with what it holds in that value's stead, which MySQL's cast does not give. It is one that the column can hold.
 */
export function boundToCompare(type: ValueType, value: PlanValue): Param {
  return bound(type, type.single === true ? String(Math.fround(Number(value))) : value)
}

const SINGLE_MAX = 2 ** 128 - 2 ** 104

/** The largest `FLOAT` is shown by the fewest digits that tell it, which round it up: as it is shown it would be refused. */
function writtenSingle(value: PlanValue): PlanValue {
  const single = Math.fround(Number(value))
  return Math.abs(Number(value)) > SINGLE_MAX && Number.isFinite(single) ? String(single) : value
}

/** Types whose values are bytes of the engine's own making: outside of it they are well-known text. */
export function isGeometry({ form }: ValueType): boolean {
  return form?.kind === 'geometry'
}

/** `BIT(n)` is a string of bytes wherever it is not used as a number. */
export function isBits({ native }: ValueType): boolean {
  return native.startsWith('bit')
}

/** The operand as it is given out: geometry as well-known text, bits as a number. */
export function writeWhole(w: SqlWriter, operand: Write, type: ValueType): void {
  if (isGeometry(type)) {
    w.keyword('ST_AsText(')
    operand(w)
    w.keyword(')')
  } else {
    operand(w)
    if (isBits(type)) w.keyword(' + 0')
  }
}

/** The operand's text in UTF-8. Its collation is the character set's default, so nothing may be compared by it. */
export function writeUtf8(w: SqlWriter, operand: Write, type: ValueType): void {
  w.keyword('CONVERT(')
  writeWhole(w, operand, type)
  w.keyword(' USING utf8mb4)')
}

/** The bytes of the operand's text in UTF-8, which compare without padding and by no collation; bytes are their own. */
export function writeTextBytes(w: SqlWriter, operand: Write, type: ValueType): void {
  w.keyword('CAST(')
  if (type.logical === 'bytes') operand(w)
  else writeUtf8(w, operand, type)
  w.keyword(' AS BINARY)')
}
