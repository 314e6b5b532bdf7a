import { BodyWords } from '../catalog/body-words.js'
import {
  type Body,
  type DirectRead,
  type ObjectReads,
  objectKey,
  objectReads,
  type Readable,
} from '../catalog/reads.js'
import { flag, isText, parseList, text } from './catalog-cells.js'
import type { Row } from './wire-query.js'

/** What views and routines read, from the rows of `VIEW_READS` and `ROUTINE_READS`. */
export interface CatalogReads {
  ofView(schema: string, name: string): ObjectReads
  /** By the catalog's own id. */
  ofRoutine(oid: string): ObjectReads
}

type Dependency = readonly [schema: string, name: string, column: string | null]

/** A statement that is run from text; grants and triggers name what may be executed. */
const DYNAMIC = /\bexecute\b(?!\s+(?:function|procedure|on)\b)/i

export function catalogReads(
  viewRows: readonly Row[],
  routineRows: readonly Row[],
  readable: readonly Readable[],
): CatalogReads {
  const words = new BodyWords(
    readable,
    routineRows.map((row) => ({ key: text(row, 0), name: text(row, 5) })),
    DYNAMIC,
  )
  const routines = new Map(routineRows.map((row) => [text(row, 0), routineBody(row, words)] as const))
  const bodies = { views: viewBodies(viewRows), routines }
  return {
    ofView: (schema, name) => objectReads(bodies.views.get(objectKey(schema, name)), bodies),
    ofRoutine: (oid) => objectReads(routines.get(oid), bodies),
  }
}

/** A row is about a table that the view reads, or about a function that it calls. */
function viewBodies(rows: readonly Row[]): ReadonlyMap<string, Body> {
  const views = new Map<string, { readonly reads: DirectRead[]; readonly calls: string[]; readonly unsure: boolean }>()
  for (const row of rows) {
    const key = objectKey(text(row, 0), text(row, 1))
    const body = views.get(key) ?? { reads: [], calls: [], unsure: false }
    views.set(key, body)
    const called = row[6] ?? null
    if (called === null) body.reads.push(readOf([text(row, 2), text(row, 3), row[4] ?? null], flag(row, 5)))
    else body.calls.push(called)
  }
  return views
}

function routineBody(row: Row, words: BodyWords): Body {
  const told = words.body(text(row, 1))
  const reads = parseList(row, 2, isDependency).map((dependency) => readOf(dependency, flag(row, 3)))
  return { ...told, reads: [...told.reads, ...reads], calls: [...told.calls, ...parseList(row, 4, isText)] }
}

function isDependency(value: unknown): value is Dependency {
  if (!Array.isArray(value)) return false
  const [schema, name, column] = value
  return isText(schema) && isText(name) && (column === null || isText(column))
}

function readOf([schema, name, column]: Dependency, whole: boolean): DirectRead {
  return { schema, name, columns: whole ? 'all' : column === null ? [] : [column] }
}
