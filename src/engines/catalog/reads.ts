import { catalogName, type TableRead, type TableRef } from '../../core/schema-model.js'
import { byCodeUnits } from './rows.js'

/** What views and routines read, whichever engine told of it: for warnings to operators alone, never for what is served. */

/** A table or view that an object reads by itself. */
export interface DirectRead {
  readonly schema: string
  readonly name: string
  readonly columns: readonly string[] | 'all'
}

/** A table or view, with the columns that words of a body may name. */
export interface Readable {
  readonly schema: string
  readonly name: string
  readonly columns: readonly string[]
}

/** What one view or routine reads by itself, and what it calls. */
export interface Body {
  readonly reads: readonly DirectRead[]
  /** Routines, by key. */
  readonly calls: readonly string[]
  /** It may read more: it runs text that it puts together, or something that nothing is known of. */
  readonly unsure: boolean
}

/** Everything that may be read through. */
export interface Bodies {
  /** By `objectKey`. */
  readonly views: ReadonlyMap<string, Body>
  /** By the key that `calls` has. One that is called and not here is one whose text the login may not see. */
  readonly routines: ReadonlyMap<string, Body>
}

/** As a table or a routine of the model has it. Without `reads` nothing is known. */
export interface ObjectReads {
  readonly reads?: readonly TableRead[]
  readonly readsUnsure?: true
}

/** Schema and name apart: joined with a dot, `a.b` and `c` would be `a` and `b.c`. */
export function objectKey(schema: string, name: string): string {
  return JSON.stringify([schema, name])
}

/** What an object reads, itself and through the views that it reads and the routines that it calls, however deep. */
export function objectReads(body: Body | undefined, bodies: Bodies): ObjectReads {
  if (body === undefined) return {}
  const direct: DirectRead[] = []
  const opened = new Set<Body>()
  let unsure = false
  const waiting: (Body | undefined)[] = [body]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (next === undefined) unsure = true
    if (next === undefined || opened.has(next)) continue
    opened.add(next)
    direct.push(...next.reads)
    unsure ||= next.unsure
    for (const { schema, name } of next.reads) {
      const view = bodies.views.get(objectKey(schema, name))
      if (view !== undefined) waiting.push(view)
    }
    for (const key of next.calls) waiting.push(bodies.routines.get(key))
  }
  return { reads: together(direct), ...(unsure ? { readsUnsure: true } : {}) }
}

/** By schema and name, columns by name. */
function together(reads: readonly DirectRead[]): readonly TableRead[] {
  const found = new Map<string, { readonly ref: TableRef; columns: Set<string> | 'all' }>()
  for (const { schema, name, columns } of reads) {
    const key = objectKey(schema, name)
    const known = found.get(key) ?? {
      ref: { schema: catalogName(schema), name: catalogName(name) },
      columns: new Set(),
    }
    found.set(key, known)
    if (columns === 'all') known.columns = 'all'
    else if (known.columns !== 'all') for (const column of columns) known.columns.add(column)
  }
  return [...found.values()]
    .map(({ ref, columns }) => ({
      table: ref,
      columns: columns === 'all' ? columns : [...columns].sort(byCodeUnits).map(catalogName),
    }))
    .sort((a, b) => byCodeUnits(a.table.schema, b.table.schema) || byCodeUnits(a.table.name, b.table.name))
}
