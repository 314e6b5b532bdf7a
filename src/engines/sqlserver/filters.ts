import { unreachable } from '../../core/assert.js'
import type { Place } from '../../core/float-value.js'
import { SQLSERVER_JSON_MEMBER_CHARS_MAX, SQLSERVER_LIST_PARAMS_MAX } from '../../core/limits.js'
import { bracketFree, patternTooLong, safePattern } from '../../core/pattern.js'
import type { Filter, FilterOp, PlanValue } from '../../core/plan.js'
import { canHold } from '../../core/repertoire.js'
import type { Column, ValueType } from '../../core/schema-model.js'
import { type Comparison, settle } from '../sql/places.js'
import type { SqlWriter, Write } from '../sql/sql-writer.js'
import { operand } from '../sql/table-statement.js'
import { listed, placeOf, writeBound } from './bound-values.js'
import { isCodePaged, TEXT_FORM_END, writeTextForm, writeType, writeWide } from './native-types.js'

type Range = 'gt' | 'gte' | 'lt' | 'lte'

const OPERATORS = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
} as const satisfies Record<Comparison, string>

const RANGES: ReadonlySet<FilterOp> = new Set<Range>(['gt', 'gte', 'lt', 'lte'])

/**
 * What a value is compared as. `native`: by the column's type. `paged`: text in the code page of the column, which is then
 * not converted. `wide`: text that may have characters beyond that page. `text`: the text of a type that is not compared.
 */
type Form = 'native' | 'paged' | 'wide' | 'text'

/** No character takes more bytes than four, and no `varchar` that is compared has more than 8,000. */
const PAGED_CHARS_MAX = 2_000

function formOf(type: ValueType, op: FilterOp, value: PlanValue): Form {
  if (!(RANGES.has(op) ? type.ordered : type.equality)) return 'text'
  if (type.logical !== 'text') return 'native'
  const fits = type.collation !== undefined && value.length <= PAGED_CHARS_MAX && canHold(type, value) === 'yes'
  return isCodePaged(type) && fits ? 'paged' : 'wide'
}

/** One condition. */
export function writeFilter(w: SqlWriter, column: Column, filter: Filter): void {
  switch (filter.op) {
    case 'is_null':
      w.column(column.name).keyword(' IS NULL')
      return
    case 'not_null':
      w.column(column.name).keyword(' IS NOT NULL')
      return
    case 'ilike':
      writeLike(w, column, filter.value)
      return
    case 'in':
      writeIn(w, column, filter.values)
      return
    default:
      writeComparison(w, column, filter.op, filter.value)
  }
}

function writeComparison(w: SqlWriter, column: Column, op: Comparison, value: PlanValue): void {
  const { type, name } = column
  const form = formOf(type, op, value)
  const settled = form === 'native' ? settle(op, placeOf(type, value)) : { op, value }
  if (settled === 'none') {
    w.keyword('1 = 0')
  } else if (settled === 'all') {
    w.column(name).keyword(' IS NOT NULL')
  } else {
    writeSubject(w, column, form)
    w.keyword(' ').keyword(OPERATORS[settled.op]).keyword(' ')
    writeValue(w, type, form, settled.value)
  }
}

function writeSubject(w: SqlWriter, column: Column, form: Form): void {
  if (form === 'text') writeTextForm(w, operand(column), column.type)
  else w.column(column.name)
}

/** By the column's own collation: the database may have another one, with other characters in its code page. */
function writeValue(w: SqlWriter, type: ValueType, form: Form, value: PlanValue): void {
  switch (form) {
    case 'native':
      writeBound(w, type, value)
      return
    case 'paged':
      w.keyword('CAST(').param(value)
      writeCollate(w, type)
      w.keyword(' AS varchar(8000))')
      return
    case 'wide':
      w.param(value)
      return
    case 'text':
      w.param(inTextForm(type, value))
      return
    default:
      unreachable(form)
  }
}

/** The text form of bytes is their digits, as the server writes them. */
function inTextForm(type: ValueType, value: PlanValue): string {
  return `${type.logical === 'bytes' ? listed(type, value).toUpperCase() : value}${TEXT_FORM_END}`
}

function writeCollate(w: SqlWriter, { collation }: ValueType): void {
  w.keyword(' COLLATE ')
  if (collation === undefined) w.keyword('DATABASE_DEFAULT')
  else w.collation(collation)
}

/** Values of different forms are in lists of their own, so that those that an index finds are looked up in it. */
function writeIn(w: SqlWriter, column: Column, values: readonly PlanValue[]): void {
  const { type } = column
  const forms = new Map<Form, PlanValue[]>()
  for (const value of values) {
    const form = formOf(type, 'in', value)
    const place: Place = form === 'native' ? placeOf(type, value) : { kind: 'at', value }
    if (place.kind !== 'at') continue
    const list = forms.get(form)
    if (list === undefined) forms.set(form, [place.value])
    else list.push(place.value)
  }
  if (forms.size === 0) {
    w.keyword('1 = 0')
    return
  }
  if (forms.size > 1) w.keyword('(')
  w.list([...forms], ' OR ', ([form, list]) => {
    writeSubject(w, column, form)
    w.keyword(' IN (')
    writeList(w, type, form, list)
    w.keyword(')')
  })
  if (forms.size > 1) w.keyword(')')
}

/** A short list is as many parameters as it has values. A longer one is a single parameter, since a statement takes few. */
function writeList(w: SqlWriter, type: ValueType, form: Form, values: readonly PlanValue[]): void {
  if (values.length <= SQLSERVER_LIST_PARAMS_MAX) {
    w.list(padded(values), ', ', (value) => writeValue(w, type, form, value))
  } else if (w.readsInserted) {
    writeListInPlace(w, type, form, values)
  } else {
    w.keyword('SELECT ')
    writeMember(w, type, form, (inner) => inner.keyword('v'))
    const members = values.map((value) => member(type, form, value))
    w.keyword(' FROM OPENJSON(').param(JSON.stringify(members)).keyword(") WITH (v nvarchar(max) '$')")
  }
}

function member(type: ValueType, form: Form, value: PlanValue): string {
  return form === 'text' ? inTextForm(type, value) : listed(type, value)
}

/**
 * Beside a row that is just being written stands no subquery, so that each member is taken out of the JSON text by its place.
 * What is taken so has a greatest length: longer members, of which there are hardly ever any, are parameters of their own.
 */
function writeListInPlace(w: SqlWriter, type: ValueType, form: Form, values: readonly PlanValue[]): void {
  const fits = (value: PlanValue) => member(type, form, value).length <= SQLSERVER_JSON_MEMBER_CHARS_MAX
  const members = values.filter(fits).map((value) => member(type, form, value))
  const longer = values.filter((value) => !fits(value))
  w.list([...members.keys()], ', ', (index) =>
    writeMember(w, type, form, (inner) => {
      inner.keyword('JSON_VALUE(')
      if (index === 0) inner.param(JSON.stringify(members))
      else inner.again()
      inner.keyword(", '$[").wholeNumber(index).keyword("]')")
    }),
  )
  if (members.length > 0 && longer.length > 0) w.keyword(', ')
  w.list(longer, ', ', (value) => writeValue(w, type, form, value))
}

/** A member of a JSON list as the value it stands for. It has a collation of its own, beside which the column's counts not. */
function writeMember(w: SqlWriter, type: ValueType, form: Form, text: Write): void {
  if (form === 'native' && type.logical === 'bytes') {
    w.keyword('CONVERT(varbinary(max), ')
    text(w)
    w.keyword(', 2)')
  } else if (form === 'native') {
    w.keyword('CAST(')
    text(w)
    w.keyword(' AS ')
    writeType(w, type)
    w.keyword(')')
  } else if (form === 'text') {
    text(w)
  } else {
    if (form === 'paged') w.keyword('CAST(')
    text(w)
    writeCollate(w, type)
    if (form === 'paged') w.keyword(' AS varchar(8000))')
  }
}

/** The last value again, up to a power of two: lists of all lengths then make few different statements. */
function padded(values: readonly PlanValue[]): readonly PlanValue[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return [...values, ...values.slice(-1).flatMap((last) => new Array<PlanValue>(length - values.length).fill(last))]
}

/**
 * By the column's own collation where that disregards case, along with whatever else it disregards. Elsewhere by one that
 * disregards case alone. Text that is no column of text is folded too.
 */
function writeLike(w: SqlWriter, column: Column, pattern: string): void {
  const { type, name } = column
  const tooLong = patternTooLong('sqlserver', pattern)
  if (tooLong !== undefined) w.tooLarge(tooLong)
  if (type.logical === 'text' && type.foldsCase === true) {
    w.column(name)
  } else {
    writeWide(w, operand(column), type)
    w.keyword(' COLLATE Latin1_General_100_CI_AS_KS_WS_SC')
  }
  w.keyword(' LIKE ')
    .param(bracketFree(safePattern(pattern)))
    .keyword(" ESCAPE N'\\'")
}
