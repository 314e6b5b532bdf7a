import type { z } from 'zod'
import { nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import type { PolicyDocument } from './policy-document.js'
import { documentSchema, keysAt, wordsAt } from './policy-grammar.js'
import {
  bareRecord,
  documentFault,
  type PolicyFault,
  type PolicyPath,
  type PolicyTree,
  pathText,
} from './policy-tree.js'

/** The document back from the JSON text that the admin store keeps; the same checks, without the cost of YAML. */
export function policyFromJson(text: string): Result<PolicyDocument, readonly PolicyFault[]> {
  const tree = readPolicyJson(text)
  return tree.ok ? checkedPolicy(tree.value) : tree
}

/** Reads the JSON text that the admin store keeps. There is one line, so every fault is on it. */
function readPolicyJson(text: string): Result<PolicyTree, readonly PolicyFault[]> {
  try {
    return ok({ value: withoutPrototypes(JSON.parse(text)), lineOf: () => 1 })
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof RangeError)) throw thrown
    return fail([documentFault('not JSON', 'the JSON text of a policy, as the admin store keeps it')])
  }
}

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  if (typeof value !== 'object' || value === null) return value
  return bareRecord(Object.entries(value).map(([key, member]) => [key, withoutPrototypes(member)] as const))
}

/** A tree as a document, or everything that is wrong with it. */
export function checkedPolicy(tree: PolicyTree): Result<PolicyDocument, readonly PolicyFault[]> {
  const parsed = documentSchema.safeParse(tree.value)
  if (!parsed.success) return fail(parsed.error.issues.flatMap((issue) => faultsOf(issue, tree)))
  const document: PolicyDocument = parsed.data
  const faults = [...tableFaults(document, tree), ...procedureFaults(document, tree), ...roleFaults(document, tree)]
  return faults.length > 0 ? fail(faults) : ok(document)
}

function valueAt(root: unknown, path: PolicyPath): unknown {
  let value = root
  for (const part of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined
  return value
}

function faultsOf(issue: z.core.$ZodIssue, tree: PolicyTree): readonly PolicyFault[] {
  const { path } = issue
  const at = (where: PolicyPath) => ({ line: tree.lineOf(where), path: pathText(where) })
  const value = valueAt(tree.value, path)
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, tree))
  // Of alternatives none fits, and which was meant the keys may tell. An operator that is missing is told at its own place.
  const mapping = value === undefined ? path.slice(0, -1) : path
  const unknown = issue.code === 'invalid_union' ? unknownKeys(mapping, tree) : []
  if (unknown.length > 0) return unknown
  const suggestion = typeof value === 'string' ? nearest(value, wordsAt(path)) : undefined
  const problem = value === undefined ? 'missing' : 'does not fit'
  return [{ ...at(path), problem, expected: issue.message, ...hint(suggestion) }]
}

function unknownKey(key: string, path: PolicyPath, tree: PolicyTree): PolicyFault {
  const keys = keysAt(path, valueAt(tree.value, path))
  const where = [...path, key]
  const expected = `one of ${keys.join(', ')}`
  const place = { line: tree.lineOf(where), path: pathText(where) }
  return { ...place, problem: 'unknown key', expected, ...hint(nearest(key, keys)) }
}

function unknownKeys(path: PolicyPath, tree: PolicyTree): readonly PolicyFault[] {
  const value = valueAt(tree.value, path)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const keys = keysAt(path, value)
  return Object.keys(value).flatMap((key) => (keys.includes(key) ? [] : [unknownKey(key, path, tree)]))
}

function hint(suggestion: string | undefined): { readonly suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion }
}

function tableFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  const faults: PolicyFault[] = []
  for (const [tableName, policy] of Object.entries(document.tables)) {
    const path = ['tables', tableName]
    const fault = (problem: string, expected: string, where: PolicyPath = path) =>
      faults.push({ line: tree.lineOf(where), path: pathText(where), problem, expected })
    if (!isName(tableName)) fault('no name of a table', 'schema.table, such as public.customers, or the table alone')
    if (policy.mask !== undefined && policy.columns !== undefined) {
      fault('both mask and columns', 'mask (what to hide) or columns (all that is shown), not both', [...path, 'mask'])
    }
  }
  return faults
}

/** With its schema, or without one: then it is that of a connector which has no other. */
function isName(name: string): boolean {
  return name !== '' && name !== '*' && (!name.includes('.') || /^.+\..+$/s.test(name))
}

function procedureFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  return Object.keys(document.procedures).flatMap((procedure) => {
    if (isName(procedure)) return []
    const path = ['procedures', procedure]
    const expected = 'schema.name, such as public.monthly_revenue, or the name alone'
    return [{ line: tree.lineOf(path), path: pathText(path), problem: 'no name of a procedure', expected }]
  })
}

/** Every table that a role names must stand under `tables:`, or a slip of the pen would grant nothing, or deny nothing. */
function roleFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  const faults: PolicyFault[] = []
  const checkIn = (section: 'tables' | 'procedures') => {
    const known = Object.keys(document[section])
    const knownSet = new Set(known)
    return (named: string, where: PolicyPath) => {
      if (knownSet.has(named)) return
      faults.push({
        line: tree.lineOf(where),
        path: pathText(where),
        problem: `no such ${section === 'tables' ? 'table' : 'procedure'} under ${section}: ${JSON.stringify(named)}`,
        expected: `a ${section === 'tables' ? 'table' : 'procedure'} that stands under ${section}`,
        ...hint(nearest(named, known)),
      })
    }
  }
  const checkTable = checkIn('tables')
  const checkProcedure = checkIn('procedures')
  for (const [roleName, role] of Object.entries(document.roles)) {
    for (const grant of ROLE_LISTS) {
      const check = grant === 'call' ? checkProcedure : checkTable
      for (const [index, named] of (role[grant] ?? []).entries()) {
        if (named !== '*') check(named, ['roles', roleName, grant, index])
      }
    }
    for (const part of ['mask', 'row_filter'] as const) {
      for (const named of Object.keys(role[part] ?? {})) checkTable(named, ['roles', roleName, part, named])
    }
  }
  return faults
}

const ROLE_LISTS = ['read', 'aggregate', 'create', 'update', 'soft_delete', 'call', 'deny'] as const
