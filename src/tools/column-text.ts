import { COLUMN_LIST_CHARS_MAX, ECHO_CHARS_MAX, ENUM_LABELS_SHOWN_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import type { Column, LogicalType, ValueType } from '../core/schema-model.js'

/** How columns are put to a model: few words, since every character of a tool list is paid for on every turn. */

const TYPE_WORDS: Readonly<Record<LogicalType, string>> = {
  integer: 'integer',
  bigint: 'bigint',
  decimal: 'decimal',
  float: 'float',
  text: 'text',
  boolean: 'boolean',
  timestamp: 'timestamp',
  date: 'date',
  time: 'time',
  interval: 'ISO 8601 duration',
  uuid: 'uuid',
  json: 'json',
  bytes: 'base64 bytes',
  enum: 'enum',
  array: 'array',
  unknown: 'other',
}

/** The type without its labels: `timestamp with offset`, `integer array`. */
export function typeWord(type: ValueType): string {
  if (type.logical === 'array' && type.element !== undefined) return `${typeWord(type.element)} array`
  const { logical, unsigned, span } = type
  const word = `${unsigned === true ? 'unsigned ' : ''}${TYPE_WORDS[logical]}${span === true ? ' span' : ''}`
  return type.withZone === true ? `${word} with offset` : word
}

/** The labels a schema may list as they are, or undefined where there are too many or one is not fit to be shown. */
export function shownLabels(type: ValueType): readonly string[] | undefined {
  if (type.labels === undefined || type.labels.length === 0 || type.labels.length > ENUM_LABELS_SHOWN_MAX)
    return undefined
  return type.labels.every((label) => cleanText(label, ECHO_CHARS_MAX) === label) ? type.labels : undefined
}

/** The first labels in words, cleaned: `enum a|b|c|…`. */
function labelWords(type: ValueType): string {
  const labels = type.labels ?? []
  const shown = labels.slice(0, ENUM_LABELS_SHOWN_MAX).map((label) => cleanText(label, ECHO_CHARS_MAX))
  return `${shown.join('|')}${labels.length > shown.length ? '|…' : ''}`
}

export function typeText(type: ValueType): string {
  return type.labels === undefined ? typeWord(type) : `${typeWord(type)} ${labelWords(type)}`
}

/** One line a column: name, type, and in full also labels and the catalog's comment. */
function columnLine(column: Column, full: boolean): string {
  if (!full) return `${column.agentName} ${typeWord(column.type)}`
  const text = `${column.agentName} ${typeText(column.type)}`
  return column.comment === undefined ? text : `${text}: ${column.comment}`
}

/** The columns as lines; without labels and comments where those would make it too long, or where another tool has them. */
export function columnList(columns: Iterable<Column>, full: boolean): string {
  const all = [...columns]
  const text = all.map((column) => columnLine(column, full)).join('\n')
  if (!full || text.length <= COLUMN_LIST_CHARS_MAX) return text
  return all.map((column) => columnLine(column, false)).join('\n')
}
