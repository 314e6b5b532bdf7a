import { existsSync, readFileSync } from 'node:fs'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Scalar } from 'yaml'
import { z } from 'zod'
import { CONFIG_BYTES_MAX, CONFIG_DEPTH_MAX, CONFIG_NODES_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { type Complaint, type ConfigPath, type Fault, pathText, schemaAt } from './faults.js'
import { readableFault } from './files.js'
import { interpolate } from './interpolate.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** The file as plain values, environment variables filled in, with the place of every key. */
export interface Source {
  readonly file: string
  /** A null-prototype object. Where a variable was unset the text stands as written; `faults` has its path. */
  readonly value: Readonly<Record<string, unknown>>
  readonly faults: readonly Fault[]
  /** Puts a complaint at its line: that of the key, or of the nearest key around it. */
  locate(complaint: Complaint): Fault
}

/** What is needed to read a text as configuration. */
export interface SourceReading {
  /** Where the text comes from, as faults name it. */
  readonly file: string
  readonly env: Environment
  /** Of the whole text. */
  readonly schema: z.ZodType
  /** What the text should be, for one that is no mapping at all. */
  readonly expected: string
}

/** Reads the file. The error is about the file as a whole: missing, unreadable, or not YAML. */
export function readSource(reading: SourceReading): Result<Source, readonly Fault[]> {
  const { file } = reading
  const text = readText(file)
  return text.ok ? parseSource(text.value, reading) : fail([{ file, path: [], message: text.error }])
}

/** Reads YAML, or JSON, which is YAML too. The error is about the text as a whole. */
export function parseSource(
  text: string,
  { file, env, schema, expected }: SourceReading,
): Result<Source, readonly Fault[]> {
  const lineCounter = new LineCounter()
  // Duplicate keys are found by the walk instead, so that one inside a connector disables that connector alone.
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    schema: 'core',
    version: '1.2',
  })
  // One slip makes the parser complain about much that follows it: the first complaint is the one that helps.
  const [broken] = [...document.errors, ...document.warnings]
  if (broken !== undefined) {
    return fail([{ file, ...place(lineCounter, broken.pos[0]), path: [], message: yamlText(broken.code) }])
  }
  const walk = new Walk(file, document, lineCounter, env, schema)
  const value = walk.value(document.contents, [], 0)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail([{ file, path: [], message: `expected ${expected}` }])
  }
  // A mapping is built by the walk with text keys only.
  const record = value as Readonly<Record<string, unknown>>
  return ok({ file, value: record, faults: walk.faults, locate: (complaint) => walk.locate(complaint) })
}

function readText(file: string): Result<string, string> {
  try {
    const unreadable = existsSync(file) ? readableFault(file) : undefined
    if (unreadable !== undefined) return fail(unreadable)
    const bytes = readFileSync(file)
    if (bytes.length > CONFIG_BYTES_MAX) return fail(`the file is larger than ${CONFIG_BYTES_MAX} bytes`)
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return fail(readFailure(error))
  }
}

function readFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such file; "runku init" writes one to start from'
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read the file'
  if (code === 'EISDIR') return 'this is a folder, not a file'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'the file is not UTF-8 text'
  return `the file cannot be read (${String(code ?? 'unknown cause')})`
}

/** The parser's own messages may quote the file, and with it a secret: only its codes are used. */
const YAML_TEXTS: Readonly<Record<string, string>> = {
  BAD_INDENT: 'the indentation does not fit',
  MISSING_CHAR: 'something is missing here: a quote, a bracket, a comma or a colon',
  TAB_AS_INDENT: 'a tab indents this line: use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'this does not read as "key: value": quote a text that holds ": "',
  MULTILINE_IMPLICIT_KEY: 'a key goes over more than one line: is a colon missing?',
  UNEXPECTED_TOKEN: 'this does not belong here: quote a text that holds { } [ ] or a comma',
  BAD_SCALAR_START: 'a text may not start with this character: quote it',
  BAD_DQ_ESCAPE: 'an unknown escape in a quoted text: write \\\\ for a backslash',
  BAD_ALIAS: 'an alias is not usable here: quote a text that starts with *',
  MULTIPLE_DOCS: 'expected one document in the file',
  TAG_RESOLVE_FAILED: 'tags are not used here: quote a text that starts with !',
}

function yamlText(code: string): string {
  return `not valid YAML: ${YAML_TEXTS[code] ?? code.toLowerCase().replaceAll('_', ' ')}`
}

function place(counter: LineCounter, offset: number): { readonly line: number; readonly column: number } {
  const { line, col } = counter.linePos(offset)
  return { line, column: col }
}

/** One pass over the document: values out, faults and places noted. */
class Walk {
  readonly faults: Fault[] = []
  readonly #places = new Map<string, { readonly line: number; readonly column: number }>()
  #nodes = 0
  #overflowed = false
  readonly #file: string
  readonly #document: Document
  readonly #counter: LineCounter
  readonly #env: Environment
  readonly #schema: z.ZodType

  constructor(file: string, document: Document, counter: LineCounter, env: Environment, schema: z.ZodType) {
    this.#file = file
    this.#document = document
    this.#counter = counter
    this.#env = env
    this.#schema = schema
  }

  locate(complaint: Complaint): Fault {
    for (let length = complaint.path.length; length > 0; length--) {
      const found = this.#places.get(pathText(complaint.path.slice(0, length)))
      if (found !== undefined) return { file: this.#file, ...found, ...complaint }
    }
    return { file: this.#file, ...complaint }
  }

  value(node: unknown, path: ConfigPath, depth: number): unknown {
    this.#nodes += 1
    if (depth > CONFIG_DEPTH_MAX || this.#nodes > CONFIG_NODES_MAX) {
      if (!this.#overflowed) this.#complain(path, 'nested too deeply or too large')
      this.#overflowed = true
      return undefined
    }
    if (isAlias(node)) return this.value(node.resolve(this.#document), path, depth + 1)
    if (isMap(node)) return this.#mapping(node.items, path, depth)
    if (isSeq(node)) {
      return node.items.map((item, i) => {
        const itemPath = [...path, i]
        this.#note(itemPath, item)
        return this.value(item, itemPath, depth + 1)
      })
    }
    return isScalar(node) ? this.#scalar(node, path) : null
  }

  #mapping(pairs: readonly { key: unknown; value: unknown }[], path: ConfigPath, depth: number): unknown {
    const out: Record<string, unknown> = Object.create(null)
    const seen = new Set<string>()
    for (const pair of pairs) {
      const key = isScalar(pair.key) ? String(pair.key.value) : undefined
      if (key === undefined) {
        this.#complain(path, 'a key must be a plain text')
        continue
      }
      const keyPath = [...path, key]
      this.#note(keyPath, pair.key)
      if (seen.has(key)) this.#complain(keyPath, 'this key repeats')
      seen.add(key)
      const value = this.value(pair.value, keyPath, depth + 1)
      // `server:` with every key under it commented out means the defaults.
      const schema = value === null ? schemaAt(this.#schema, keyPath) : undefined
      if (schema instanceof z.ZodObject || schema instanceof z.ZodArray || schema instanceof z.ZodRecord) continue
      out[key] = value
    }
    return out
  }

  #scalar(node: Scalar, path: ConfigPath): unknown {
    if (typeof node.value !== 'string' || !node.value.includes('${')) return node.value
    const filled = interpolate(node.value, this.#env)
    if (!filled.ok) {
      this.#complain(path, filled.error)
      return node.value
    }
    return this.#typed(filled.value, path)
  }

  /** A variable is text; where a number or a truth value is expected, its text is read as one. */
  #typed(text: string, path: ConfigPath): unknown {
    const schema = schemaAt(this.#schema, path)
    if (schema instanceof z.ZodNumber && /^-?\d{1,15}$/.test(text)) return Number(text)
    if (schema instanceof z.ZodBoolean && (text === 'true' || text === 'false')) return text === 'true'
    return text
  }

  #note(path: ConfigPath, node: unknown): void {
    const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined
    if (range !== undefined && range !== null) this.#places.set(pathText(path), place(this.#counter, range[0]))
  }

  #complain(path: ConfigPath, message: string): void {
    this.faults.push(this.locate({ path, message }))
  }
}
