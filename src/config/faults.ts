import { z } from 'zod'
import { nearest } from '../core/names.js'

export type ConfigPath = readonly (string | number)[]

/** What is wrong at one place of the configuration. No member ever holds a value of the file or of the environment. */
export interface Fault {
  /** As the person wrote it. */
  readonly file: string
  /** Both from 1; absent when the file itself is the trouble. */
  readonly line?: number
  readonly column?: number
  readonly path: ConfigPath
  readonly message: string
  /** The nearest valid key or value. */
  readonly suggestion?: string
}

/** `connectors[0].pool.max`, the spelling of a path in messages. */
export function pathText(path: ConfigPath): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')
}

/** One line for a person: `config.yaml:12:5: connectors[0].polcy: unknown key. Did you mean "policy"?` */
export function faultText(fault: Fault): string {
  const place = [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(':')
  const key = fault.path.length === 0 ? '' : `${pathText(fault.path)}: `
  const hint = fault.suggestion === undefined ? '' : `. Did you mean "${fault.suggestion}"?`
  return `${place}: ${key}${fault.message}${hint}`
}

/** The first fault at a path says it: an unset variable is not also a malformed address. */
export function withoutRepeats(faults: readonly Fault[]): readonly Fault[] {
  const seen = new Set<string>()
  return faults.filter(({ file, path }) => {
    const key = `${file}\0${pathText(path)}`
    return seen.has(key) ? false : seen.add(key)
  })
}

/** The schema inside optional and default wrappers. */
export function innerSchema(schema: unknown): unknown {
  let inner = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
    inner = inner.unwrap()
  }
  return inner
}

/** The schema of the value at a path, without wrappers; of a union, the member that has keys. Undefined: no such key. */
export function schemaAt(root: unknown, path: ConfigPath): unknown {
  let schema = withKeys(innerSchema(root))
  for (const step of path) {
    if (schema instanceof z.ZodObject && typeof step === 'string') {
      schema = Object.hasOwn(schema.shape, step) ? schema.shape[step] : undefined
    } else if (schema instanceof z.ZodArray && typeof step === 'number') schema = schema.element
    else return undefined
    schema = withKeys(innerSchema(schema))
  }
  return schema
}

function withKeys(schema: unknown): unknown {
  if (!(schema instanceof z.ZodUnion)) return schema
  return schema.options.map(innerSchema).find((option) => option instanceof z.ZodObject) ?? schema
}

export function keysOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** A fault without its place in the file. */
export interface Complaint {
  readonly path: ConfigPath
  readonly message: string
  readonly suggestion?: string
}

/** Checks a value against the part of the schema at `path`, and says what is wrong in the product's own words. */
export function complaints(schema: z.ZodType, value: unknown, path: ConfigPath): readonly Complaint[] {
  const outcome = schema.safeParse(value)
  if (outcome.success) return []
  return outcome.error.issues.flatMap((issue) => issueComplaints(schema, value, path, issue, issue.path))
}

type Issue = z.core.$ZodIssue

function issueComplaints(
  schema: z.ZodType,
  value: unknown,
  base: ConfigPath,
  issue: Issue,
  at: readonly PropertyKey[],
): readonly Complaint[] {
  const inside = at.map((step) => (typeof step === 'number' ? step : String(step)))
  const path = [...base, ...inside]
  const there = schemaAt(schema, inside)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey([...path, key], key, keysOf(there)))
  }
  const found = valueAt(value, inside)
  if (issue.code === 'invalid_union') {
    const branch = issue.errors.find((errors) => isMapping(found) === errors.every((e) => !atRoot(e)))
    if (isMapping(found) && branch !== undefined) {
      return branch.flatMap((inner) => issueComplaints(schema, value, base, inner, [...at, ...inner.path]))
    }
    const keyed = keysOf(there).length > 0
    return [{ path, message: keyed ? `expected ${unionText(issue, there)}` : issue.message }]
  }
  if (found === undefined) return [{ path, message: `missing: ${wanted(issue, there)}` }]
  const near =
    typeof found === 'string' && issue.code === 'invalid_value' ? nearest(found, issue.values.map(String)) : undefined
  return [{ path, message: wanted(issue, there), ...(near === undefined ? {} : { suggestion: near }) }]
}

export function unknownKey(path: ConfigPath, key: string, candidates: readonly string[]): Complaint {
  const near = nearest(key, candidates) ?? candidates.find((candidate) => candidate.startsWith(`${key}_`))
  if (near !== undefined) return { path, message: 'unknown key', suggestion: near }
  return {
    path,
    message: candidates.length === 0 ? 'unknown key' : `unknown key: the keys here are ${candidates.join(', ')}`,
  }
}

function wanted(issue: Issue, schema: unknown): string {
  if (issue.code !== 'invalid_type' || !(schema instanceof z.ZodObject)) return issue.message
  return `expected keys: ${keysOf(schema).join(', ')}`
}

function unionText(issue: Issue & { readonly code: 'invalid_union' }, schema: unknown): string {
  const words = issue.errors.flat().flatMap((error) => (error.code === 'invalid_value' ? error.values.map(String) : []))
  return [...words, `the keys ${keysOf(schema).join(', ')}`].join(', or ')
}

function atRoot(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys'
}

function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(root: unknown, path: ConfigPath): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined
  }
  return value
}
