import { invariant } from '../../core/assert.js'
import type { Row } from './wire-query.js'

/** Cells of catalog queries. What they hold is fixed by the query, so anything else is a bug in it. */

export function text(row: Row, cell: number): string {
  const value = row[cell]
  invariant(isText(value), `catalog cell ${cell} is not NULL`)
  return value
}

export function flag(row: Row, cell: number): boolean {
  return row[cell] === 'true'
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

export function parseList<T>(row: Row, cell: number, member: (value: unknown) => value is T): readonly T[] {
  const list: unknown = JSON.parse(text(row, cell))
  invariant(Array.isArray(list) && list.every(member), `catalog cell ${cell} is a list of one kind`)
  return list
}
