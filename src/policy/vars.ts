import { VALUE_CHARS_MAX } from '../core/limits.js'
import type {
  ClaimSource,
  PolicyDocument,
  PolicyFilter,
  PolicyLiteral,
  PresetSource,
  RolePolicy,
  TablePolicy,
  WritePolicy,
} from './policy-document.js'
import { Findings, type PolicyFinding, quoted } from './policy-finding.js'
import { bareRecord, type PolicyPath } from './policy-tree.js'

/**
 * `${vars.name}` in the literals of a policy: values that a connector gives, so that one policy serves many databases. A
 * literal that is one variable and nothing else takes its value with its type; within other text it is written as text.
 */

/** By name. Names are `[a-z][a-z0-9_]*`; any other is never looked up. */
export type PolicyVars = Readonly<Record<string, PolicyLiteral>>

const OPENING = '${vars.'
const VARIABLE = /\$\{vars\.([a-z][a-z0-9_]*)\}/g
const ALONE = /^\$\{vars\.([a-z][a-z0-9_]*)\}$/
const MALFORMED = /\$\{vars\.(?![a-z][a-z0-9_]*\})/
/** In a pattern a backslash escapes what follows: it would take the first character of the value, or leave a wildcard bare. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\\$\{vars\./
/**
 * What looks as if its author had meant a variable: other brackets, another prefix, spaces, capitals. Bounded, since a literal may be long.
 */
const SLIP =
  /\$\{[^{}]{0,80}\}|\$?\{\{?\s{0,8}vars?\b[^{}]{0,80}\}?\}|\$[([<]\s{0,8}vars?\b[^()[\]<>]{0,80}[)\]>]|\$vars?[.:][a-z0-9_]{1,80}/gi
/** What a pattern reads as more than itself. A variable is a value and no pattern: one of `%` would open every row. */
const WILD = /[\\%_]/g

/** Whether every `${vars.` in the text is the start of a variable, such as it may stand in a literal or in a pattern. */
export function hasWholeVariables(text: string, kind: 'literal' | 'pattern'): boolean {
  if (!text.includes(OPENING)) return true
  return !MALFORMED.test(text) && !(kind === 'pattern' && ESCAPED.test(text))
}

/**
 * The document with its variables filled in: in filters, presets and the marks of deleted rows, of tables and of roles.
 * One that the connector does not have stays as it is written, which `compilePolicy` takes for a finding that withholds
 * the table: the filter would otherwise match what nobody meant. With `findings` these are put there, under the names of
 * tables as the document spells them.
 */
export function withVars(document: PolicyDocument, vars: PolicyVars, findings?: Findings): PolicyDocument {
  if (!mentionsVars(document)) return document
  const filling = { vars, findings }
  const tables = Object.entries(document.tables).map(
    ([name, table]) => [name, filledTable(filling, name, table)] as const,
  )
  const roles = Object.entries(document.roles).map(([name, role]) => [name, filledRole(filling, name, role)] as const)
  return { ...document, tables: bareRecord(tables), roles: bareRecord(roles) }
}

/** Looked for once in the whole text: most policies have none, and hold thousands of tables. */
function mentionsVars({ tables, roles }: PolicyDocument): boolean {
  const text = JSON.stringify([tables, roles])
  return text.includes(OPENING) || text.search(SLIP) !== -1
}

/** A slip, and the variable that its author may have meant. */
function slipsIn(literal: string): readonly { readonly written: string; readonly meant?: string }[] {
  return [...literal.matchAll(SLIP)].flatMap(([written]) => {
    if (ALONE.test(written)) return []
    const words = written.toLowerCase().match(/[a-z][a-z0-9_]*/g) ?? []
    const name = words.find((word) => !/^vars?$/.test(word))
    return [{ written, ...(name === undefined ? {} : { meant: name }) }]
  })
}

/** What looks like a variable and is none, in a document that no connector is at hand for. */
export function misspeltVariables(document: PolicyDocument): readonly PolicyFinding[] {
  const findings = new Findings()
  withVars(document, {}, findings)
  return findings.list.filter(({ kind }) => kind === 'variable_misspelt')
}

interface Filling {
  readonly vars: PolicyVars
  readonly findings: Findings | undefined
}

/** Where a literal stands: the table that is withheld where it cannot be filled in, the column, and the place in the document. */
interface Place {
  readonly table: string
  readonly column: string
  readonly path: PolicyPath
}

function filledTable(filling: Filling, name: string, table: TablePolicy): TablePolicy {
  const path = ['tables', name]
  const { row_filter, create, update, soft_delete } = table
  return {
    ...table,
    ...(row_filter === undefined
      ? {}
      : { row_filter: filledFilters(filling, name, [...path, 'row_filter'], row_filter) }),
    ...(create === undefined ? {} : { create: filledWrite(filling, name, [...path, 'create'], create) }),
    ...(update === undefined ? {} : { update: filledWrite(filling, name, [...path, 'update'], update) }),
    ...(soft_delete === undefined
      ? {}
      : {
          soft_delete: {
            ...soft_delete,
            value: filled(filling, soft_delete.value, {
              table: name,
              column: soft_delete.column,
              path: [...path, 'soft_delete', 'value'],
            }),
          },
        }),
  }
}

function filledRole(filling: Filling, name: string, role: RolePolicy): RolePolicy {
  if (role.row_filter === undefined) return role
  const lists = Object.entries(role.row_filter).map(
    ([table, list]) => [table, filledFilters(filling, table, ['roles', name, 'row_filter', table], list)] as const,
  )
  return { ...role, row_filter: bareRecord(lists) }
}

function filledFilters(
  filling: Filling,
  table: string,
  path: PolicyPath,
  list: readonly PolicyFilter[],
): readonly PolicyFilter[] {
  return list.map((filter, index) => {
    if ('parent' in filter) return filter
    const at = (...more: PolicyPath): Place => ({ table, column: filter.column, path: [...path, index, ...more] })
    if ('values' in filter) {
      if (isClaim(filter.values)) return filter
      const values = filter.values.map((value, place) => filled(filling, value, at('values', place)))
      return { ...filter, values }
    }
    if (!('value' in filter) || isClaim(filter.value)) return filter
    const value = filled(filling, filter.value, at('value'), filter.op === 'ilike' ? 'pattern' : 'literal')
    return { ...filter, value }
  })
}

function filledWrite(filling: Filling, table: string, path: PolicyPath, write: WritePolicy): WritePolicy {
  if (write.preset === undefined) return write
  const presets = Object.entries(write.preset).map(([column, source]): readonly [string, PresetSource] => {
    if (isClaim(source)) return [column, source]
    return [column, filled(filling, source, { table, column, path: [...path, 'preset', column] })]
  })
  return { ...write, preset: bareRecord(presets) }
}

function isClaim(source: PolicyLiteral | ClaimSource | readonly PolicyLiteral[]): source is ClaimSource {
  return typeof source === 'object' && 'claim' in source
}

/** The literal as it was where a variable of it is unknown, so that nothing takes half of one for the whole. */
function filled(
  { vars, findings }: Filling,
  literal: PolicyLiteral,
  place: Place,
  kind: 'literal' | 'pattern' = 'literal',
): PolicyLiteral {
  if (typeof literal !== 'string') return literal
  if (findings !== undefined) {
    for (const slip of slipsIn(literal)) findings.warn(misspelt(slip, place, vars, findings))
  }
  if (!literal.includes(OPENING)) return literal
  const unknown = [...literal.matchAll(VARIABLE)].flatMap(([, name = '']) => (Object.hasOwn(vars, name) ? [] : [name]))
  for (const name of new Set(unknown)) findings?.withhold(unknownVariable(name, place, vars, findings))
  if (unknown.length > 0) return literal
  const alone = ALONE.exec(literal)?.[1]
  const whole = kind === 'literal' && alone !== undefined ? vars[alone] : undefined
  const value = whole ?? literal.replaceAll(VARIABLE, (_, name: string) => textOf(vars[name], kind))
  if (typeof value !== 'string' || value.length <= VALUE_CHARS_MAX) return value
  const text = `${where(place)} is longer than ${VALUE_CHARS_MAX} characters once its variables are filled in; the table is withheld.`
  findings?.withhold({ kind: 'literal_unusable', ...place, text })
  return literal
}

function textOf(value: PolicyLiteral | undefined, kind: 'literal' | 'pattern'): string {
  const text = String(value)
  return kind === 'pattern' ? text.replace(WILD, '\\$&') : text
}

function misspelt(
  { written, meant = 'name' }: ReturnType<typeof slipsIn>[number],
  place: Place,
  vars: PolicyVars,
  findings: Findings,
) {
  const spelt = `\${vars.${meant}}`
  const hint = Object.hasOwn(vars, meant) ? '' : findings.suggestion(meant, Object.keys(vars))
  const text = `${where(place)} holds ${quoted(written)}, which is no variable and is taken as plain text; a variable is written ${quoted(spelt)}.`
  return { kind: 'variable_misspelt', ...place, text: text + hint } as const
}

function unknownVariable(name: string, place: Place, vars: PolicyVars, findings: Findings) {
  const text = `${where(place)} needs the variable ${quoted(name)}, which the connector does not have; the table is withheld.`
  const hint = findings.suggestion(name, Object.keys(vars))
  return { kind: 'variable_unknown', ...place, text: text + hint } as const
}

function where({ table, column, path }: Place): string {
  const rule = path[0] === 'roles' ? path.slice(0, 3) : path.slice(2, path[2] === 'row_filter' ? 3 : 4)
  return `In ${rule.join('.')}, the literal for column ${quoted(column)} of ${quoted(table)}`
}
