import { invariant } from '../../core/assert.js'
import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { SqlWriter, Write } from '../sql/sql-writer.js'

/** What the server's own types are called, and how they are spelled in a statement: by literals and numbers alone. */

/** Of types that no column has: what a metric gives, and what an answer alone describes. */
const UNNAMED: Readonly<Record<LogicalType, string>> = {
  integer: 'bigint',
  bigint: 'bigint',
  decimal: 'decimal',
  float: 'float',
  text: 'nvarchar',
  boolean: 'bit',
  timestamp: 'datetime2',
  date: 'date',
  time: 'time',
  interval: 'nvarchar',
  uuid: 'uniqueidentifier',
  json: 'nvarchar',
  bytes: 'varbinary',
  enum: 'nvarchar',
  array: 'nvarchar',
  // Of what the system did not make, its text is asked for.
  unknown: '',
}

/** The name of the system's type that the value type is, or is an alias of. */
export function baseName({ typeRef, logical }: ValueType): string {
  return typeRef?.name ?? UNNAMED[logical]
}

type Spell = (w: SqlWriter, type: ValueType) => void

const DECIMAL_DIGITS_MAX = 38
const FRACTION_DIGITS_MAX = 7

const decimal: Spell = (w, { precision = DECIMAL_DIGITS_MAX, fractionDigitsMax = 0 }) => {
  w.keyword('decimal(').wholeNumber(precision).keyword(', ').wholeNumber(fractionDigitsMax).keyword(')')
}

/** Its length where it has one; the longest otherwise. */
function sized(w: SqlWriter, { charsMax }: ValueType): void {
  if (charsMax === undefined) w.keyword('(max)')
  else w.keyword('(').wholeNumber(charsMax).keyword(')')
}

function fraction(w: SqlWriter, { fractionDigitsMax = FRACTION_DIGITS_MAX }: ValueType): void {
  w.keyword('(').wholeNumber(fractionDigitsMax).keyword(')')
}

const varbinary: Spell = (w) => w.keyword('varbinary(max)')

const SPELLED: ReadonlyMap<string, Spell> = new Map<string, Spell>([
  ['tinyint', (w) => w.keyword('tinyint')],
  ['smallint', (w) => w.keyword('smallint')],
  ['int', (w) => w.keyword('int')],
  ['bigint', (w) => w.keyword('bigint')],
  ['bit', (w) => w.keyword('bit')],
  ['decimal', decimal],
  ['numeric', decimal],
  ['money', (w) => w.keyword('money')],
  ['smallmoney', (w) => w.keyword('smallmoney')],
  ['float', (w) => w.keyword('float(53)')],
  ['real', (w) => w.keyword('real')],
  ['char', (w, type) => sized(w.keyword('char'), type)],
  ['varchar', (w, type) => sized(w.keyword('varchar'), type)],
  ['nchar', (w, type) => sized(w.keyword('nchar'), type)],
  ['nvarchar', (w, type) => sized(w.keyword('nvarchar'), type)],
  ['sysname', (w, type) => sized(w.keyword('nvarchar'), type)],
  ['text', (w) => w.keyword('varchar(max)')],
  ['ntext', (w) => w.keyword('nvarchar(max)')],
  ['date', (w) => w.keyword('date')],
  ['time', (w, type) => fraction(w.keyword('time'), type)],
  ['datetime2', (w, type) => fraction(w.keyword('datetime2'), type)],
  ['datetimeoffset', (w, type) => fraction(w.keyword('datetimeoffset'), type)],
  ['datetime', (w) => w.keyword('datetime')],
  ['smalldatetime', (w) => w.keyword('smalldatetime')],
  ['uniqueidentifier', (w) => w.keyword('uniqueidentifier')],
  // The length of bytes is no part of their value type, and a longer variable holds them all the same.
  ['binary', varbinary],
  ['varbinary', varbinary],
  ['image', varbinary],
  ['timestamp', varbinary],
  ['rowversion', varbinary],
  ['xml', (w) => w.keyword('xml')],
  ['json', (w) => w.keyword('json')],
  ['sql_variant', (w) => w.keyword('sql_variant')],
  ['hierarchyid', (w) => w.keyword('hierarchyid')],
  ['geometry', (w) => w.keyword('geometry')],
  ['geography', (w) => w.keyword('geography')],
])

/** The type's name with its length, precision and scale; where the type is not known here, a text of the greatest length. */
export function writeType(w: SqlWriter, type: ValueType): void {
  const spell = SPELLED.get(baseName(type))
  if (spell === undefined) w.keyword('nvarchar(max)')
  else spell(w, type)
}

/** Text whose characters are those of a code page. */
export function isCodePaged(type: ValueType): boolean {
  const base = baseName(type)
  return type.logical === 'text' && (base === 'varchar' || base === 'char')
}

/** Values of the server's own making whose text only they give. */
const TOLD_BY_METHOD: ReadonlySet<string> = new Set(['hierarchyid', 'geometry', 'geography'])

type WriteText = (w: SqlWriter, operand: Write) => void

/** All numbers of an exact type are within this many characters, sign and point included. */
const number: WriteText = (w, operand) => {
  w.keyword('CONVERT(varchar(50), ')
  operand(w)
  w.keyword(')')
}

/** As money itself, a text would lose two of the four digits. */
const money: WriteText = (w, operand) => {
  w.keyword('CONVERT(varchar(50), CONVERT(decimal(19, 4), ')
  operand(w)
  w.keyword('))')
}

/** Of 17 digits, which tell every double from every other. */
const float: WriteText = (w, operand) => {
  w.keyword('CONVERT(varchar(50), ')
  operand(w)
  w.keyword(', 3)')
}

/** Year first, with all digits of the fraction, and an offset as it is held. */
const moment: WriteText = (w, operand) => {
  w.keyword('CONVERT(varchar(50), ')
  operand(w)
  w.keyword(', 121)')
}

const date: WriteText = (w, operand) => {
  w.keyword('CONVERT(varchar(10), ')
  operand(w)
  w.keyword(', 23)')
}

const whole: WriteText = (w, operand) => operand(w)

/** By bytes it is told from a text that has the same. */
const variantBytes: WriteText = (w, operand) => {
  w.keyword('CONVERT(varchar(max), ')
  operand(w)
  w.keyword(', 1)')
}

/** Types of a variant's values of which its own text would leave digits out, as which they are converted, and how. */
const VARIANTS: readonly (readonly [bases: readonly VariantBase[], type: Write, text: WriteText])[] = [
  [["N'money'", "N'smallmoney'"], (w) => w.keyword('money'), money],
  [["N'float'"], (w) => w.keyword('float(53)'), float],
  [["N'real'"], (w) => w.keyword('real'), float],
  [["N'date'"], (w) => w.keyword('date'), date],
  [["N'time'"], (w) => w.keyword('time(7)'), moment],
  [["N'datetime'", "N'smalldatetime'"], (w) => w.keyword('datetime'), moment],
  [["N'datetime2'"], (w) => w.keyword('datetime2(7)'), moment],
  [["N'datetimeoffset'"], (w) => w.keyword('datetimeoffset(7)'), moment],
  [["N'binary'", "N'varbinary'"], (w) => w.keyword('varbinary(8000)'), variantBytes],
]

type VariantBase =
  `N'${'money' | 'smallmoney' | 'float' | 'real' | 'date' | 'time' | 'datetime' | 'smalldatetime' | 'datetime2' | 'datetimeoffset' | 'binary' | 'varbinary'}'`

/** Each value by its own type. Its own text has six digits of a float, two of money, and of a time hours and minutes. */
const variant: WriteText = (w, operand) => {
  w.keyword('CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(')
  operand(w)
  w.keyword(", 'BaseType'))")
  for (const [bases, type, text] of VARIANTS) {
    for (const base of bases) {
      w.keyword(' WHEN ').keyword(base).keyword(' THEN ')
      text(w, (inner) => {
        inner.keyword('CONVERT(')
        type(inner)
        inner.keyword(', ')
        operand(inner)
        inner.keyword(')')
      })
    }
  }
  w.keyword(' ELSE CONVERT(nvarchar(max), ')
  operand(w)
  w.keyword(') END')
}

const TEXTS: ReadonlyMap<string, WriteText> = new Map<string, WriteText>([
  ['tinyint', number],
  ['smallint', number],
  ['int', number],
  ['bigint', number],
  ['bit', number],
  ['decimal', number],
  ['numeric', number],
  ['money', money],
  ['smallmoney', money],
  ['float', float],
  ['real', float],
  ['nchar', whole],
  ['nvarchar', whole],
  ['sysname', whole],
  ['date', date],
  ['time', moment],
  ['datetime2', moment],
  ['datetimeoffset', moment],
  ['datetime', moment],
  ['smalldatetime', moment],
  ['uniqueidentifier', number],
  ['sql_variant', variant],
])

/** The operand's bytes as hexadecimal digits. */
export function writeHex(w: SqlWriter, bytes: Write): void {
  w.keyword('CONVERT(varchar(max), ')
  bytes(w)
  w.keyword(', 2)')
}

export function writeBytes(w: SqlWriter, operand: Write): void {
  w.keyword('CONVERT(varbinary(max), ')
  operand(w)
  w.keyword(')')
}

/**
 * The operand's text as it leaves the server, so that nothing of it depends on how a client reads numbers, times and code
 * pages: what is no text of characters wide enough for all is converted here.
 */
export function writeWhole(w: SqlWriter, operand: Write, type: ValueType): void {
  const base = baseName(type)
  if (isConverted(type)) {
    writeWide(w, operand, type)
  } else if (type.logical === 'bytes') {
    writeHex(w, (inner) => writeBytes(inner, operand))
  } else if (TOLD_BY_METHOD.has(base)) {
    operand(w)
    w.keyword('.ToString()')
  } else {
    TEXTS.get(base)?.(w, operand)
  }
}

/** Text of other characters, and types that have no form of their own here. */
function isConverted(type: ValueType): boolean {
  const base = baseName(type)
  return type.logical !== 'bytes' && !TOLD_BY_METHOD.has(base) && !TEXTS.has(base)
}

/** The same as wide characters of any number. */
export function writeWide(w: SqlWriter, operand: Write, type: ValueType): void {
  w.keyword('CONVERT(nvarchar(max), ')
  // Of what is converted to that by itself, the operand is enough.
  if (isConverted(type)) operand(w)
  else writeWhole(w, operand, type)
  w.keyword(')')
}

/**
 * The operand's text, compared by its characters' numbers. Every collation lets spaces follow a shorter text; the point
 * behind each keeps `a` and `a ` apart.
 */
export function writeTextForm(w: SqlWriter, operand: Write, type: ValueType): void {
  w.keyword('(')
  writeWide(w, operand, type)
  w.keyword(" + N'.') COLLATE Latin1_General_BIN2")
}

/** What stands behind a text in the form above, for a value that is compared with it. */
export const TEXT_FORM_END = '.'

/** The first of the operands' texts in that form, without the point. */
export function writeFirstText(w: SqlWriter, operand: Write, type: ValueType): void {
  const first: Write = (inner) => {
    inner.keyword('MIN(')
    writeTextForm(inner, operand, type)
    inner.keyword(')')
  }
  w.keyword('LEFT(')
  first(w)
  w.keyword(', LEN(')
  first(w)
  w.keyword(') - 1)')
}

/**
 * The operand's first characters. By a collation that knows of characters beyond U+FFFF each of them counts as one, and none
 * is cut in two.
 */
export function writeStart(w: SqlWriter, operand: Write, type: ValueType, charsMax: number): void {
  invariant(charsMax > 0, 'a cell has characters')
  if (type.logical === 'bytes') {
    writeHex(w, (inner) => {
      inner.keyword('SUBSTRING(')
      writeBytes(inner, operand)
      inner.keyword(', 1, ').wholeNumber(charsMax).keyword(')')
    })
    return
  }
  w.keyword('LEFT(')
  writeWide(w, operand, type)
  w.keyword(' COLLATE Latin1_General_100_CI_AS_SC, ').wholeNumber(charsMax).keyword(')')
}
