import type { TableRead } from '../../core/schema-model.js'
import { allReads, BodyWords, type DirectRead, objectKey, type Readable } from '../catalog/reads.js'
import { flag, isText, parseList, text } from './catalog-cells.js'
import type { Row } from './wire-query.js'

/** What views and routines read, from the rows of `VIEW_READS` and `ROUTINE_READS`. */
export interface CatalogReads {
  ofView(schema: string, name: string): { readonly reads?: readonly TableRead[] }
  /** By the catalog's own id. */
  ofRoutine(oid: string): { readonly reads?: readonly TableRead[] }
}

type Dependency = readonly [schema: string, name: string, column: string | null]

export function catalogReads(
  viewRows: readonly Row[],
  routineRows: readonly Row[],
  readable: readonly Readable[],
): CatalogReads {
  const views = viewReads(viewRows)
  const words = new BodyWords(readable)
  const routines = new Map(
    routineRows.map((row) => [text(row, 0), [...words.reads(text(row, 1)), ...dependencies(row)]] as const),
  )
  const told = (direct: readonly DirectRead[] | undefined) =>
    direct === undefined ? {} : { reads: allReads(direct, views) }
  return {
    ofView: (schema, name) => told(views.get(objectKey(schema, name))),
    ofRoutine: (oid) => told(routines.get(oid)),
  }
}

function viewReads(rows: readonly Row[]): ReadonlyMap<string, readonly DirectRead[]> {
  const views = new Map<string, DirectRead[]>()
  for (const row of rows) {
    const key = objectKey(text(row, 0), text(row, 1))
    const read = readOf([text(row, 2), text(row, 3), row[4] ?? null], flag(row, 5))
    const reads = views.get(key)
    if (reads === undefined) views.set(key, [read])
    else reads.push(read)
  }
  return views
}

function dependencies(row: Row): readonly DirectRead[] {
  return parseList(row, 2, isDependency).map((dependency) => readOf(dependency, flag(row, 3)))
}

function isDependency(value: unknown): value is Dependency {
  if (!Array.isArray(value)) return false
  const [schema, name, column] = value
  return isText(schema) && isText(name) && (column === null || isText(column))
}

function readOf([schema, name, column]: Dependency, whole: boolean): DirectRead {
  return { schema, name, columns: whole ? 'all' : column === null ? [] : [column] }
}
