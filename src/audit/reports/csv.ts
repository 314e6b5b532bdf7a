import { visible } from '../entry-text.js'

/**
 * CSV as RFC 4180 has it. A text that a spreadsheet would take for a formula gets an apostrophe before it: whoever opens a report
 * must not run what a caller wrote into its `User-Agent`. What a terminal or a line reader would act on is shown as an escape.
 */

export type Cell = string | number | boolean | undefined

const FORMULA = /^[=+\-@\t\r]/
const QUOTED = /[",]/

function cellText(cell: Cell): string {
  if (cell === undefined) return ''
  // Numbers are the gateway's own, and a minus before one is no formula.
  if (typeof cell !== 'string') return String(cell)
  const shown = visible(cell)
  const text = FORMULA.test(cell) ? `'${shown}` : shown
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

/** A table with its heading; `members` in order. */
export function csvTable<K extends string>(
  members: readonly K[],
  rows: Iterable<Readonly<Partial<Record<K, Cell>>>>,
): string {
  const lines = [csvLine(members)]
  for (const row of rows) lines.push(csvLine(members.map((member) => row[member])))
  return lines.join('')
}
