import { nameHash } from '../core/names.js'
import { qualifiedName, type ResultField, type Routine, type RoutineParameter } from '../core/schema-model.js'
import type { MentionFinder } from './comment-mentions.js'
import type { CompiledProcedure } from './compiled-policy.js'
import type { ProcedurePolicy } from './policy-document.js'
import { type FindingKind, type Findings, quoted } from './policy-finding.js'
import { isUnqualified } from './qualified-names.js'

/** Clients prefix tool names and cap the sum. */
const TOOL_CHARS_MAX = 40
const TOOL = /^[a-z0-9_]{1,40}$/

/**
 * Names that the gateway's own tools have, or could have for some table: what a procedure is called must not depend on
 * which tables there are.
 */
const RESERVED =
  /^(?:get_.+_by_pk|search_.+|aggregate_.+|create_.+|update_.+_by_pk|soft_delete_.+_by_pk|get_row|update_row|soft_delete_row|call_procedure|schema_overview)$/

/** Types that stand for others until a call is made, or that are no value at all, as engines write them. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  'any',
  '"any"',
  'anyarray',
  'anycompatible',
  'anycompatiblearray',
  'anycompatiblemultirange',
  'anycompatiblenonarray',
  'anycompatiblerange',
  'anyelement',
  'anyenum',
  'anymultirange',
  'anynonarray',
  'anyrange',
  'cstring',
  'cursor',
  'internal',
  'record',
  'record[]',
  'table type',
])

interface Surroundings {
  /** The connector's configured schemas: with several, every tool carries its schema. */
  readonly schemas: readonly string[]
  readonly finder: MentionFinder
}

/** Resolves the procedures of a policy, by the name that the policy gives each. What cannot be served does not exist. */
export function compileProcedures(
  procedures: Readonly<Record<string, ProcedurePolicy>>,
  routines: readonly Routine[],
  surroundings: Surroundings,
  findings: Findings,
): ReadonlyMap<string, CompiledProcedure> {
  const names = Object.entries(procedures)
  const catalog = new RoutineCatalog(names.length === 0 ? [] : routines)
  const drafts = new Map<string, CompiledProcedure>()
  for (const [name, policy] of names) {
    const routine = catalog.find(name, findings)
    const compiled = routine && compileProcedure(name, policy, routine, surroundings, findings)
    if (compiled !== undefined) drafts.set(name, compiled)
  }
  return withoutClashes(drafts, findings)
}

/** Routines by the names that a policy may give them. */
class RoutineCatalog {
  readonly #byName = new Map<string, Routine[]>()
  readonly #bySpelling = new Map<string, Routine[]>()

  constructor(routines: readonly Routine[]) {
    for (const routine of routines) {
      add(this.#byName, qualifiedName(routine.ref), routine)
      for (const spelling of spellings(routine)) add(this.#bySpelling, spelling, routine)
    }
  }

  /** The one routine of this name, with its signature or without. */
  find(name: string, findings: Findings): Routine | undefined {
    const found = this.#byName.get(name) ?? this.#bySpelling.get(evenly(name)) ?? []
    const [routine] = found
    if (routine !== undefined && found.length === 1) return routine
    if (routine === undefined) {
      const text = isUnqualified(name)
        ? `The policy exposes ${quoted(name)} without its schema, and the connector has several; every grant on it is void.`
        : `The policy exposes ${quoted(name)}, which the database does not have or the login may not execute; every grant on it is void.`
      const hint = findings.suggestion(name, [...this.#byName.keys(), ...this.#bySpelling.keys()])
      return refuse(findings, name, 'procedure_unknown', text + hint)
    }
    const all = found.map((each) => quoted(`${qualifiedName(each.ref)}(${each.signature})`)).join(' or ')
    const text = `${quoted(name)} names ${found.length} procedures; it is withheld. Name one by its signature: ${all}.`
    return refuse(findings, name, 'procedure_ambiguous', text)
  }
}

function add(groups: Map<string, Routine[]>, key: string, routine: Routine): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [routine])
  else group.push(routine)
}

/** With the signature as the catalog has it, and with the types alone. */
function spellings(routine: Routine): ReadonlySet<string> {
  const name = qualifiedName(routine.ref)
  const types = taken(routine).map(({ type }) => type.native)
  return new Set([`${name}(${routine.signature})`, `${name}(${types.join(', ')})`].map(evenly))
}

/** White space around brackets and commas tells nothing apart. */
function evenly(name: string): string {
  return name.replace(/\s*([(),])\s*/g, '$1')
}

function taken(routine: Routine): readonly RoutineParameter[] {
  return routine.parameters.filter(({ mode }) => mode !== 'out')
}

function refuse(findings: Findings, name: string, kind: FindingKind, text: string): undefined {
  findings.procedure(name, { kind, severity: 'error', withholds: true, text })
}

function compileProcedure(
  name: string,
  policy: ProcedurePolicy,
  routine: Routine,
  { schemas, finder }: Surroundings,
  findings: Findings,
): CompiledProcedure | undefined {
  const tool = toolOf(policy, routine, schemas)
  const why = RESERVED.test(tool)
    ? `its tool would be called ${quoted(tool)}, as a tool of the gateway's own; give it a tool_name`
    : unusable(routine)
  if (why !== undefined) return refuse(findings, name, 'procedure_unusable', `${quoted(name)} is withheld: ${why}.`)
  const given = routine.result.kind === 'sets' ? setsGiven(name, policy, routine, findings) : undefined
  const fields = given?.fields ?? resultFields(name, policy, routine, findings)
  if (fields === 'none') return undefined
  if (policy.effect === 'read' && !routine.declaredReadOnly) {
    const text = `${quoted(name)} is declared to read, but its author did not promise that it changes nothing; whatever it changes is refused or undone.`
    findings.procedure(name, { kind: 'effect_unproven', severity: 'warning', withholds: false, text })
  }
  const shown = new Set(fields)
  const hidden = allFields(routine).filter((field) => !shown.has(field))
  return {
    routine,
    tool,
    effect: policy.effect,
    comment: finder.commentOf(
      routine.comment,
      hidden.map((field) => field.name),
    ),
    parameters: taken(routine),
    fields,
    setColumns: given?.setColumns,
    limits: policy,
  }
}

/** The wanted name where it fits, else a readable start and a hash of the whole: as the names of tables are made. */
function toolOf(policy: ProcedurePolicy, { ref }: Routine, schemas: readonly string[]): string {
  const wanted = policy.tool_name ?? (schemas.length > 1 ? `${ref.schema}_${ref.name}` : ref.name)
  if (TOOL.test(wanted)) return wanted
  const readable = wanted
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, TOOL_CHARS_MAX - 9)
  return `${readable === '' ? 'procedure' : readable}_${nameHash(wanted)}`
}

/** Why no tool can stand for the routine. */
function unusable(routine: Routine): string | undefined {
  if (routine.result.kind === 'unknown') return 'it returns a record whose columns only the call itself decides'
  const parameters = taken(routine)
  const odd = parameters.find(({ type }) => NOT_PASSED.has(type.native))
  if (odd !== undefined) return `no value can be passed for ${quoted(odd.agentName)}, whose type is ${odd.type.native}`
  const shape = routine.parameters.find(({ type, mode }) => type.form?.kind === 'geometry' && mode !== 'in')
  if (shape !== undefined) return `${quoted(shape.agentName)} gives a geometry, which only a function can`
  const twin = twice(parameters) ?? twice(allFields(routine))
  return twin === undefined ? undefined : `two of its parameters or result columns are called ${quoted(twin)}`
}

function twice(members: readonly { readonly agentName: string }[]): string | undefined {
  const seen = new Set<string>()
  for (const { agentName } of members) {
    if (seen.has(agentName)) return agentName
    seen.add(agentName)
  }
  return undefined
}

function allFields({ result }: Routine): readonly ResultField[] {
  return result.kind === 'record' || result.kind === 'sets' ? result.fields : []
}

/**
 * What the policy lets through of outputs that the catalog describes and of result sets that only the call does. Without a
 * list no set is given: nobody could have judged what is in it. A name that is no output is a column of the sets.
 */
function setsGiven(
  name: string,
  { result_columns }: ProcedurePolicy,
  routine: Routine,
  findings: Findings,
): Pick<CompiledProcedure, 'setColumns'> & { readonly fields: readonly ResultField[] } {
  const outputs = allFields(routine)
  if (result_columns === undefined) return { fields: outputs, setColumns: undefined }
  const listed = new Set(result_columns)
  const repeated = result_columns.find((column, index) => result_columns.indexOf(column) !== index)
  if (repeated !== undefined) {
    const text = `result_columns of ${quoted(name)} names ${quoted(repeated)} more than once.`
    const finding = { kind: 'result_column_repeated', severity: 'error', withholds: false, column: repeated } as const
    findings.procedure(name, { ...finding, text })
  }
  const fields = outputs.filter((field) => listed.has(field.name))
  const names: ReadonlySet<string> = new Set(fields.map((field) => field.name))
  const others = [...listed].filter((column) => !names.has(column))
  return { fields, setColumns: others.length === 0 ? undefined : others }
}

/** What the policy lets through of the result; `none`: a limit that lets nothing through, so there is nothing to serve. */
function resultFields(
  name: string,
  policy: ProcedurePolicy,
  routine: Routine,
  findings: Findings,
): readonly ResultField[] | 'none' | undefined {
  const { result } = routine
  const { result_columns } = policy
  if (result_columns === undefined) return result.kind === 'record' ? result.fields : undefined
  const fields = allFields(routine)
  const names: ReadonlySet<string> = new Set(fields.map((field) => field.name))
  for (const [index, column] of result_columns.entries()) {
    if (names.has(column)) continue
    const path = ['procedures', name, 'result_columns', index]
    const text = `result_columns names ${quoted(column)}, which the result of ${quoted(name)} does not have; it is void.`
    const hint = findings.suggestion(column, names)
    const finding = { kind: 'result_column_unknown', severity: 'error', withholds: false, column, path } as const
    findings.procedure(name, { ...finding, text: text + hint })
  }
  const shown = fields.filter((field) => result_columns.includes(field.name))
  if (shown.length > 0) return shown
  refuse(findings, name, 'procedure_unusable', `${quoted(name)} is withheld: result_columns lets nothing through.`)
  return 'none'
}

function withoutClashes(
  drafts: ReadonlyMap<string, CompiledProcedure>,
  findings: Findings,
): ReadonlyMap<string, CompiledProcedure> {
  const byTool = new Map<string, string[]>()
  for (const [name, { tool }] of drafts) byTool.set(tool, [...(byTool.get(tool) ?? []), name])
  const served = new Map(drafts)
  for (const [tool, names] of byTool) {
    if (names.length === 1) continue
    const all = names.map(quoted).join(' and ')
    for (const name of names) {
      const text = `${all} would all have the tool ${quoted(tool)}; they are withheld. Give each a tool_name of its own.`
      refuse(findings, name, 'tool_name_clash', text)
      served.delete(name)
    }
  }
  return served
}
