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

type ReadsOfViews = ReadonlyMap<string, readonly DirectRead[]>

/** Schema and name apart: joined with a dot, `a.b` and `c` would be `a` and `b.c`. */
export function objectKey(schema: string, name: string): string {
  return JSON.stringify([schema, name])
}

/** What these reads come to, those of the views among them included, however deep. By schema and name, columns by name. */
export function allReads(direct: readonly DirectRead[], views: ReadsOfViews): readonly TableRead[] {
  const found = new Map<string, { readonly ref: TableRef; columns: Set<string> | 'all' }>()
  const opened = new Set<string>()
  const waiting = [...direct]
  for (let read = waiting.pop(); read !== undefined; read = waiting.pop()) {
    const { schema, name, columns } = read
    const key = objectKey(schema, name)
    const known = found.get(key) ?? {
      ref: { schema: catalogName(schema), name: catalogName(name) },
      columns: new Set(),
    }
    found.set(key, known)
    if (columns === 'all') known.columns = 'all'
    else if (known.columns !== 'all') for (const column of columns) known.columns.add(column)
    if (opened.has(key)) continue
    opened.add(key)
    waiting.push(...(views.get(key) ?? []))
  }
  return [...found.values()]
    .map(({ ref, columns }) => ({
      table: ref,
      columns: columns === 'all' ? columns : [...columns].sort(byCodeUnits).map(catalogName),
    }))
    .sort((a, b) => byCodeUnits(a.table.schema, b.table.schema) || byCodeUnits(a.table.name, b.table.name))
}

const WORD = /[\p{L}_][\p{L}\p{N}_$#@]*/gu
/** Every quoted name, whatever the engine's quotes; the text of a literal counts too, since it may be run. */
const QUOTED = /"([^"]+)"|`([^`]+)`|\[([^\]]+)\]/g
/** A star that stands for columns, and functions that take a row as one value. */
const WHOLE_ROWS =
  /\bselect\s+(?:(?:distinct|all|top\s*\(?\s*\d+\s*\)?)\s+)?\*|[.,]\s*\*|\breturning\s+\*|\b(?:row_)?to_jsonb?\s*\(|\bfor\s+(?:json|xml)\b/i

/**
 * What a body may read, told by its words: a table whose name stands in it, with those of its columns whose names do, and all
 * where it takes whole rows. It may name too much, since a word can be about something else; text that is put together at run
 * time can hide a name.
 */
export class BodyWords {
  readonly #byName = new Map<string, Readable[]>()

  constructor(readable: readonly Readable[]) {
    for (const each of readable) {
      const name = each.name.toLowerCase()
      const same = this.#byName.get(name)
      if (same === undefined) this.#byName.set(name, [each])
      else same.push(each)
    }
  }

  reads(body: string): readonly DirectRead[] {
    const words = new Set<string>()
    for (const [word] of body.matchAll(WORD)) words.add(word.toLowerCase())
    for (const [, double, back, bracket] of body.matchAll(QUOTED)) {
      words.add((double ?? back ?? bracket ?? '').toLowerCase())
    }
    const whole = WHOLE_ROWS.test(body)
    return [...words].flatMap((word) =>
      (this.#byName.get(word) ?? []).map(({ schema, name, columns }) => ({
        schema,
        name,
        columns: whole ? ('all' as const) : columns.filter((column) => words.has(column.toLowerCase())),
      })),
    )
  }
}
