import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { AUDIT_JSON_FILE_BYTES_MAX } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import { repeatedMember } from '../../http/json-text.js'
import { isHeadLine } from '../chain.js'
import { canonicalLine, isEntry, isMembers } from './canonical-entry.js'

/** Lines as the gateway writes them. */
const ENTRY_LINE = /^\{"seq":\d{1,15},.*,"hash":"[0-9a-f]{64}"\}$/
/** Where collectors put what they were sent. */
const WRAPPERS = ['event', '_source', 'message', 'log', 'entry', 'data'] as const
/** What stands before a document in a bulk request. */
const ACTIONS = ['create', 'index'] as const
const NESTED_MAX = 8

/** Entry lines and head lines in something read from JSON, whatever a destination wrapped around them. */
function* linesIn(value: unknown, depth = 0): Generator<string> {
  if (depth > NESTED_MAX) return
  if (typeof value === 'string') return yield* linesOf(value, depth + 1)
  if (Array.isArray(value)) {
    for (const item of value) yield* linesIn(item, depth + 1)
    return
  }
  if (!isMembers(value)) return
  if (isEntry(value)) return yield canonicalLine(value)
  if (isMembers(value['head']) && typeof value['mac'] === 'string') {
    const { instance, seq, hash, time } = value['head']
    yield JSON.stringify({ head: { instance, seq, hash, time }, mac: value['mac'] })
  }
  if (Array.isArray(value['entries'])) yield* linesIn(value['entries'], depth + 1)
  for (const wrapper of WRAPPERS) if (value[wrapper] !== undefined) yield* linesIn(value[wrapper], depth + 1)
}

/** Undefined also where a member stands twice in one object: what the parser keeps of it need not be what others read. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return repeatedMember(text) === undefined ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * What one line of a file holds: itself where it is as the gateway wrote it, else what is found in it. A line in which nothing is found
 * is given as it is, since it may be an entry that was changed; one that belongs to how a batch is written is nothing.
 */
function* linesOf(line: string, depth = 0): Generator<string> {
  if (ENTRY_LINE.test(line) || isHeadLine(line)) return yield line
  if (line.trim() === '') return
  const value = parsed(line)
  let found = false
  for (const inner of linesIn(value, depth)) {
    found = true
    yield inner
  }
  if (found) return
  if (isMembers(value) && ACTIONS.some((action) => isMembers(value[action])) && Object.keys(value).length === 1) return
  if (depth === 0) yield line
}

interface Opening {
  readonly gzip: boolean
  /** Whether the file is one JSON value over several lines. */
  readonly whole: boolean
  readonly size: number
}

async function lookAt(path: string): Promise<Opening> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(64)
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
    const gzip = bytesRead > 1 && bytes[0] === 0x1f && bytes[1] === 0x8b
    const text = bytes
      .subarray(0, bytesRead)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trimStart()
    return { gzip, whole: !gzip && (text.startsWith('[') || /^\{\s*\n/.test(text)), size }
  } finally {
    await handle.close()
  }
}

async function readWhole(path: string): Promise<string> {
  const handle = await open(path, 'r')
  try {
    return (await handle.readFile('utf8')).replace(/^\ufeff/, '')
  } finally {
    await handle.close()
  }
}

/**
 * Reads entries and heads from a file: lines as written to stdout or by the file sink, or what a destination kept of shipped batches;
 * compressed with gzip or not. Fails with one sentence when the file cannot be read.
 */
export async function readTrailFile(path: string, visit: (line: string) => void): Promise<Result<void, string>> {
  try {
    const { gzip, whole, size } = await lookAt(path)
    if (whole) {
      if (size > AUDIT_JSON_FILE_BYTES_MAX) {
        return fail(
          `"${path}" is one JSON value of more than ${AUDIT_JSON_FILE_BYTES_MAX} bytes: give it as one entry a line`,
        )
      }
      const value = parsed(await readWhole(path))
      if (value === undefined)
        return fail(`"${path}" is not JSON without repeated members: expected one entry a line, or one JSON value`)
      for (const line of linesIn(value)) visit(line)
      return ok(undefined)
    }
    const file = createReadStream(path)
    const input = gzip ? file.pipe(createGunzip()) : file
    // An error of the file does not pass through a pipe by itself.
    const failed = new Promise<never>((_, reject) => file.once('error', reject))
    let first = true
    const read = async () => {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        // A byte order mark, which some editors put before the first line, is no part of it.
        const text = first ? line.replace(/^\ufeff/, '') : line
        first = false
        for (const inner of linesOf(text)) visit(inner)
      }
    }
    await Promise.race([read(), failed])
    return ok(undefined)
  } catch (error) {
    return fail(`"${path}" ${unreadable(error)}`)
  }
}

/** Why a file cannot be read, and what to do about it. */
function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  switch (code) {
    case 'ENOENT':
      return 'is not there'
    case 'EISDIR':
      return 'is a folder: name the files in it'
    case 'EACCES':
      return 'may not be read by this user'
    case 'Z_BUF_ERROR':
      return 'is cut off: its end is missing, or it is still being written. What there is of it, "gzip -dc" writes to a file that can be given instead'
    case 'Z_DATA_ERROR':
      return 'is damaged: it cannot be decompressed. What comes before the damage, "gzip -dc" writes to a file that can be given instead'
    default:
      return `cannot be read (${code})`
  }
}
