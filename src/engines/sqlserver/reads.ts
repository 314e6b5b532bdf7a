import { BodyWords } from '../catalog/body-words.js'
import { type Body, type ObjectReads, objectKey, objectReads, type Readable } from '../catalog/reads.js'
import { type CatalogRow, textCell } from '../catalog/rows.js'

/** By the catalog's own number: what views and routines read, by the words of their text, where the login may see that. */
export type CatalogReads = (number: string) => ObjectReads

/** A statement that is run from text. */
const DYNAMIC = /\bsp_executesql\b|\bexec(?:ute)?\s*\(/i

/** Rows of `MODULE_TEXTS`. The text names the object itself first, which reads nothing of itself. */
export function catalogReads(rows: readonly CatalogRow[], readable: readonly Readable[]): CatalogReads {
  const callable = rows.filter((row) => textCell(row, 3) !== 'V')
  const words = new BodyWords(
    readable,
    callable.map((row) => ({ key: textCell(row, 0), name: textCell(row, 2) })),
    DYNAMIC,
  )
  const routines = new Map<string, Body>()
  const views = new Map<string, Body>()
  for (const row of rows) {
    const definition = row[4] ?? ''
    if (definition === '') continue
    const [schema, name] = [textCell(row, 1), textCell(row, 2)]
    const body = words.body(definition)
    const reads = body.reads.filter((read) => read.schema !== schema || read.name !== name)
    routines.set(textCell(row, 0), { ...body, reads })
    if (textCell(row, 3) === 'V') views.set(objectKey(schema, name), { ...body, reads })
  }
  return (number) => objectReads(routines.get(number), { views, routines })
}
