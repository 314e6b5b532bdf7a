import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar, type YAMLMap } from 'yaml'
import { JSON_DEPTH_MAX, POLICY_ALIASES_MAX, POLICY_NODES_MAX, POLICY_TEXT_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import {
  bareRecord,
  documentFault,
  PART_CHARS_MAX,
  type PolicyFault,
  type PolicyPath,
  type PolicyTree,
  pathText,
} from './policy-tree.js'

const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
/** Decimal digits that every double keeps. */
const EXACT_DIGITS_MAX = 15
/** One slip can make the parser complain about every character after it. */
const SYNTAX_FAULTS_MAX = 10

/** Reads YAML 1.2 or JSON. Tags, merges, duplicate keys, and numbers that a double would round are faults. */
export function readPolicyText(text: string): Result<PolicyTree, readonly PolicyFault[]> {
  if (text.length > POLICY_TEXT_CHARS_MAX) {
    return fail([documentFault('too long', `at most ${POLICY_TEXT_CHARS_MAX} characters`)])
  }
  const lines = new LineCounter()
  let contents: Node | null
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      // At 'silent' a second document would be dropped without a word.
      logLevel: 'error',
      schema: 'core',
      merge: false,
      strict: true,
      stringKeys: false,
      // Checked here in linear time; the parser's own check is quadratic in the number of tables.
      uniqueKeys: false,
    })
    const problems = [...document.errors, ...document.warnings]
    if (problems.length > 0) {
      return fail(
        problems.slice(0, SYNTAX_FAULTS_MAX).map(({ pos: [start], message }) => ({
          line: lines.linePos(start).line,
          path: '',
          ...syntaxFault(message),
        })),
      )
    }
    contents = document.contents
  } catch (thrown) {
    // The parser descends by recursion, so absurd nesting ends it with a RangeError; anything else is a bug.
    if (!(thrown instanceof RangeError)) throw thrown
    return fail([documentFault('nested too deeply', `at most ${JSON_DEPTH_MAX} levels`)])
  }
  const reader = new TreeReader(lines)
  const value = reader.read(contents)
  if (reader.faults.length > 0) return fail(reader.faults)
  return ok({ value, lineOf: (path) => lineOf(reader.lines, value, path) })
}

/** What the parser says in its own terms, in those of an author. */
const SYNTAX: readonly (readonly [says: RegExp, problem: string, expected: string])[] = [
  [/call stack/, 'nested too deeply', `at most ${JSON_DEPTH_MAX} levels`],
  [/multiple documents/, 'a second document', 'one YAML 1.2 or JSON document, with no line of --- in it'],
  [/^Alias cannot be an empty string/, 'a star without quotes, which is the sign of an alias', "quotes around it: '*'"],
]

function syntaxFault(message: string): Pick<PolicyFault, 'problem' | 'expected'> {
  const known = SYNTAX.find(([says]) => says.test(message))
  if (known !== undefined) return { problem: known[1], expected: known[2] }
  return { problem: cleanText(message, 200), expected: 'one YAML 1.2 or JSON document without tags' }
}

type Lines = Map<object, Map<PropertyKey, number>>

/** The line of the deepest part of the path that exists. */
function lineOf(lines: Lines, root: unknown, path: PolicyPath): number {
  let line = 1
  let value: unknown = root
  for (const part of path) {
    if (typeof value !== 'object' || value === null) break
    const found = lines.get(value)?.get(part)
    if (found === undefined) break
    line = found
    value = Reflect.get(value, part)
  }
  return line
}

/** Turns syntax into plain values, in document order, within the budgets that keep a small text from becoming a large tree. */
class TreeReader {
  readonly faults: PolicyFault[] = []
  readonly lines: Lines = new Map()
  readonly #counter: LineCounter
  readonly #anchors = new Map<string, Node>()
  #nodes = 0
  #aliases = 0
  #line = 1

  constructor(counter: LineCounter) {
    this.#counter = counter
  }

  read(contents: Node | null): unknown {
    return this.#value(contents, [], true)
  }

  /** `original`: not within an alias, whose anchors are already known. */
  #value(node: unknown, path: PolicyPath, original: boolean): unknown {
    this.#locate(node)
    this.#nodes += 1
    if (this.#nodes > POLICY_NODES_MAX || this.#aliases > POLICY_ALIASES_MAX) return this.#exhausted(path)
    if (path.length > JSON_DEPTH_MAX) return this.#fault(path, 'nested too deeply', `at most ${JSON_DEPTH_MAX} levels`)
    if (isAlias(node)) return this.#alias(node.source, path)
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.tag !== undefined) {
      return this.#fault(path, `the tag ${cleanText(node.tag.replace(CORE_TAG, '!!'), PART_CHARS_MAX)}`, 'no tags')
    }
    const value = this.#content(node, path, original)
    // Known only from here on, so that an alias within its own anchor finds nothing instead of going round for ever.
    if (original && (isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) {
      this.#anchors.set(node.anchor, node)
    }
    return value
  }

  #content(node: unknown, path: PolicyPath, original: boolean): unknown {
    if (isMap(node)) return this.#mapping(node, path, original)
    if (isSeq(node)) {
      const value: unknown[] = []
      const lines = new Map<PropertyKey, number>()
      this.lines.set(value, lines)
      for (const [index, item] of node.items.entries()) {
        lines.set(index, this.#locate(item))
        value.push(this.#value(item, [...path, index], original))
      }
      return value
    }
    if (isScalar(node)) return this.#scalar(node, path)
    return null
  }

  #mapping(node: YAMLMap, path: PolicyPath, original: boolean): unknown {
    const entries = new Map<string, unknown>()
    const lines = new Map<PropertyKey, number>()
    for (const { key, value } of node.items) {
      const line = this.#locate(key)
      const name = keyText(key)
      if (name === undefined) {
        this.#fault(path, 'a key that is not a plain name', 'keys that are text')
        continue
      }
      if (entries.has(name)) this.#fault([...path, name], 'this key stands here twice', 'each key once')
      lines.set(name, line)
      entries.set(name, this.#value(value, [...path, name], original))
    }
    const record = bareRecord(entries)
    this.lines.set(record, lines)
    return record
  }

  #scalar(node: Scalar, path: PolicyPath): unknown {
    const { value } = node
    if (typeof value === 'number' && !isExact(node.source ?? '', value)) {
      return this.#fault(
        path,
        'a number that would be rounded or read in another base',
        'plain digits, or quotes around it',
      )
    }
    return value
  }

  #alias(name: string, path: PolicyPath): unknown {
    this.#aliases += 1
    const target = this.#anchors.get(name)
    if (target === undefined) return this.#fault(path, 'an alias without an anchor before it', `&${name} earlier`)
    return this.#value(target, path, false)
  }

  #exhausted(path: PolicyPath): undefined {
    const said = this.faults.some((fault) => fault.problem === TOO_LARGE)
    if (!said) this.#fault(path, TOO_LARGE, `at most ${POLICY_NODES_MAX} values and ${POLICY_ALIASES_MAX} aliases`)
  }

  #fault(path: PolicyPath, problem: string, expected: string): undefined {
    this.faults.push({ line: this.#line, path: pathText(path), problem, expected })
  }

  /** Remembers the line of the node, for faults and for the tree. A node without a place keeps the line before it. */
  #locate(node: unknown): number {
    const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined
    if (range !== undefined && range !== null) this.#line = this.#counter.linePos(range[0]).line
    return this.#line
  }
}

const CORE_TAG = /^tag:yaml\.org,2002:/
const TOO_LARGE = 'too large once its aliases are written out'

/** A key as it was written: an identity may be called `0042`. */
function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined
  if (typeof key.value === 'string') return key.value
  return key.source
}

function isExact(source: string, value: number): boolean {
  if (!JSON_NUMBER.test(source)) return false
  if (Number.isInteger(value)) return Number.isSafeInteger(value) && !Object.is(value, -0)
  return (
    Number.isFinite(value) &&
    source
      .replace(/[eE].*$/, '')
      .replace(/\D/g, '')
      .replace(/^0+/, '').length <= EXACT_DIGITS_MAX
  )
}
