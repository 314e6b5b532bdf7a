import type { TableRead } from '../../core/schema-model.js'
import { allReads, BodyWords, type DirectRead, objectKey, type Readable } from '../catalog/reads.js'
import { type CatalogRow, textCell } from '../catalog/rows.js'

/** By the catalog's own number: what views and routines read, by the words of their text, where the login may see that. */
export type CatalogReads = (number: string) => { readonly reads?: readonly TableRead[] }

/** Rows of `MODULE_TEXTS`. The text names the object itself first, which reads nothing of itself. */
export function catalogReads(rows: readonly CatalogRow[], readable: readonly Readable[]): CatalogReads {
  const words = new BodyWords(readable)
  const byNumber = new Map<string, readonly DirectRead[]>()
  const views = new Map<string, readonly DirectRead[]>()
  for (const row of rows) {
    const definition = row[4] ?? ''
    if (definition === '') continue
    const [schema, name] = [textCell(row, 1), textCell(row, 2)]
    const reads = words.reads(definition).filter((read) => read.schema !== schema || read.name !== name)
    byNumber.set(textCell(row, 0), reads)
    if (textCell(row, 3) === 'V') views.set(objectKey(schema, name), reads)
  }
  return (number) => {
    const direct = byNumber.get(number)
    return direct === undefined ? {} : { reads: allReads(direct, views) }
  }
}
