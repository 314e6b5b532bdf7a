import { BodyWords } from '../catalog/body-words.js'
import {
  type Body,
  type DirectRead,
  type ObjectReads,
  objectKey,
  objectReads,
  type Readable,
} from '../catalog/reads.js'
import { type CatalogRow, textCell } from '../catalog/rows.js'

/** What views and routines read, from the rows of `VIEW_TEXTS` and `ROUTINE_TEXTS`; nothing where the login may not see them. */
export interface CatalogReads {
  ofView(name: string): ObjectReads
  /** By type and name, such as `PROCEDURE run`. */
  ofRoutine(key: string): ObjectReads
}

/** A statement that is run from text. */
const DYNAMIC = /\bprepare\b|\bexecute\s+immediate\b/i

export function catalogReads(
  database: string,
  viewRows: readonly CatalogRow[],
  routineRows: readonly CatalogRow[],
  readable: readonly Readable[],
): CatalogReads {
  const keys = routineRows.map((row) => textCell(row, 0))
  const words = new BodyWords(
    readable,
    keys.map((key) => ({ key, name: key.slice(key.indexOf(' ') + 1) })),
    DYNAMIC,
  )
  const viewBody = (text: string): Body => {
    const { known, unknown } = words.calls(text)
    return { reads: viewReads(text), calls: known, unsure: unknown }
  }
  const bodies = {
    views: new Map(textsOf(viewRows).map(([name, text]) => [objectKey(database, name), viewBody(text)] as const)),
    routines: new Map(textsOf(routineRows).map(([key, text]) => [key, words.body(text)] as const)),
  }
  return {
    ofView: (name) => objectReads(bodies.views.get(objectKey(database, name)), bodies),
    ofRoutine: (key) => objectReads(bodies.routines.get(key), bodies),
  }
}

function textsOf(rows: readonly CatalogRow[]): readonly (readonly [string, string])[] {
  return rows.flatMap((row) => {
    const body = row[1] ?? ''
    return body === '' ? [] : [[textCell(row, 0), body] as const]
  })
}

const NAME = '`((?:[^`]|``)+)`'
/** A table in the text of a view, with the name by which its columns are asked for where that is another. */
const TABLE = new RegExp(`\\b(?:from|join)\\s*\\(*\\s*${NAME}\\.${NAME}(?:\\s+(?:as\\s+)?${NAME})?`, 'gi')
/** A column: of a table's alias, or of a table with its database before it. */
const COLUMN = new RegExp(`${NAME}\\.${NAME}(?:\\.${NAME})?`, 'g')

/**
 * The server keeps a view's text with every star written out, every column under its table or that one's alias, and every
 * name quoted: so what is read can be told from it.
 */
export function viewReads(body: string): readonly DirectRead[] {
  const tables = new Map<string, { readonly schema: string; readonly name: string; readonly columns: Set<string> }>()
  const byAlias = new Map<string, Set<string>>()
  for (const [, schema = '', name = '', alias = name] of body.matchAll(TABLE)) {
    const key = objectKey(plain(schema), plain(name))
    if (!tables.has(key)) tables.set(key, { schema: plain(schema), name: plain(name), columns: new Set() })
    const aliased = byAlias.get(plain(alias)) ?? new Set()
    byAlias.set(plain(alias), aliased.add(key))
  }
  for (const [, first = '', second = '', third] of body.matchAll(COLUMN)) {
    const column = plain(third ?? second)
    const keys = third === undefined ? (byAlias.get(plain(first)) ?? []) : [objectKey(plain(first), plain(second))]
    for (const key of keys) tables.get(key)?.columns.add(column)
  }
  return [...tables.values()].map(({ schema, name, columns }) => ({ schema, name, columns: [...columns] }))
}

/** A quote within a name is doubled. */
function plain(name: string): string {
  return name.replaceAll('``', '`')
}
