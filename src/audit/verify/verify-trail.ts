import { ok, type Result } from '../../core/result.js'
import type { ChainKeys } from '../chain.js'
import { checkBuffer, TrailBuffer } from './read-buffer.js'
import { readTrailFile } from './read-lines.js'
import { type ChainResult, TrailCheck } from './trail-check.js'

export interface TrailSources {
  /** Path of a buffer, whose gateway may be running. */
  readonly buffer?: string
  /** Lines as stdout or the file sink wrote them, or what a destination kept. */
  readonly files: readonly string[]
  /** Head lines that were kept elsewhere. */
  readonly heads: readonly string[]
  /** Whether the lines of files may stand in any order. Absent: no. */
  readonly anyOrder?: boolean
}

/** Checks everything together: what one source lacks another may have. Fails with one sentence when a source cannot be read. */
export async function verifyTrail(
  { buffer, files, heads, anyOrder = false }: TrailSources,
  keys: ChainKeys,
): Promise<Result<readonly ChainResult[], string>> {
  const check = new TrailCheck(keys)
  const given = check.source({ name: 'given head', repeats: true })
  for (const head of heads) given.visit(head)
  for (const file of files) {
    const source = check.source({ name: file, repeats: true, anyOrder })
    const read = await readTrailFile(file, (line) => source.visit(line))
    if (!read.ok) return read
  }
  if (buffer !== undefined) {
    const opened = TrailBuffer.open(buffer)
    if (!opened.ok) return opened
    try {
      checkBuffer(opened.value, keys, check)
    } finally {
      opened.value.close()
    }
  }
  return ok(check.finish())
}
