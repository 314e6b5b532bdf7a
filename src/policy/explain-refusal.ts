import { READ_OPERATIONS, type TableOperation, WRITE_OPERATIONS } from '../core/access.js'
import type { Identity } from '../core/identity.js'
import { nearest } from '../core/names.js'
import { qualifiedName } from '../core/schema-model.js'
import { parseToolName, toolName } from '../tools/tool-names.js'
import type { CompiledPolicy, CompiledRole, CompiledTable } from './compiled-policy.js'
import { includes } from './compiled-policy.js'
import { type PolicyFinding, quoted } from './policy-finding.js'
import { pathText } from './policy-tree.js'
import type { Rule, RulePlaces } from './rule-places.js'

/** Why a caller has no tool of a name: for the operator, who is told what the caller is not. */
export interface RefusalGround {
  readonly places: RulePlaces
  readonly policy: CompiledPolicy
  readonly findings: readonly PolicyFinding[]
  readonly identity: Identity
  /** Those of the identity's roles that the policy has. */
  readonly roles: readonly CompiledRole[]
}

/** Everything that stands in the way, the first thing first. Never empty. */
export function explainMissingTool(ground: RefusalGround, tool: string): readonly Rule[] {
  const parsed = parseToolName(tool)
  const table = parsed && ground.policy.tables.find(({ toolBase }) => toolBase === parsed.toolBase)
  if (parsed !== undefined && table !== undefined) return explainMissingOperation(ground, table, parsed.operation)
  const procedure = ground.policy.procedures.find((each) => each.tool === tool)
  if (procedure !== undefined) {
    const name = ground.places.procedure(procedure)
    const writes = procedure.effect === 'write' && isReadOnly(ground)
    if (writes && ground.roles.some((role) => includes(role.calls, procedure))) return [readOnlyRule(ground)]
    const others = [...ground.policy.roles.values()].flatMap((role) => ground.places.calls(role, procedure))
    return [...noRoles(ground), notGranted(`call ${quoted(name)}`, others)]
  }
  return [noSuchTool(ground, tool)]
}

/** A finding about something that is not there may be why; else it is a slip of the pen. */
function noSuchTool({ policy, findings }: RefusalGround, tool: string): Rule {
  const withheld = findings.filter((finding) => finding.withholds)
  const names = [
    ...policy.tables.flatMap(({ toolBase }) =>
      [...READ_OPERATIONS, ...WRITE_OPERATIONS].map((operation) => toolName(operation, toolBase)),
    ),
    ...policy.procedures.map((procedure) => procedure.tool),
    'schema_overview',
  ]
  const near = nearest(tool, names)
  const hint = near === undefined ? '' : ` Did you mean ${quoted(near)}?`
  const first = withheld.map(({ text }) => text)
  const also = first.length === 0 ? '' : ` Withheld for now: ${first.join(' ')}`
  return { path: '', does: `No table or procedure of this policy has a tool ${quoted(tool)}.${hint}${also}` }
}

function explainMissingOperation(
  ground: RefusalGround,
  table: CompiledTable,
  operation: TableOperation,
): readonly Rule[] {
  const { places, roles, policy } = ground
  const name = quoted(places.table(table).name)
  const denied = roles.flatMap((role) => places.denies(role, table))
  if (denied.length > 0) return denied.map((path) => ({ path, does: `denies ${name}, whatever other roles grant` }))
  const unable = tableLacks(ground, table, operation)
  if (unable.length > 0) return unable
  const granting = roles.filter((role) => places.grants(role, table, operation).length > 0)
  if (granting.length === 0) {
    const others = [...policy.roles.values()].flatMap((role) => places.grants(role, table, operation))
    return [...noRoles(ground), notGranted(`${operation} ${name}`, others)]
  }
  if (isReadOnly(ground) && isWrite(operation)) return [readOnlyRule(ground)]
  return granting.flatMap((role) => [
    ...places.grants(role, table, operation).map((path) => ({ path, does: `grants ${operation} of ${name}` })),
    ...hiddenNeeds(ground, table, role, operation),
  ])
}

function isWrite(operation: TableOperation): boolean {
  return operation === 'create' || operation === 'update' || operation === 'soft_delete'
}

/** What keeps the operation from everybody. */
function tableLacks(
  { places, findings }: RefusalGround,
  table: CompiledTable,
  operation: TableOperation,
): readonly Rule[] {
  const { name, policy } = places.table(table)
  if (operation === 'aggregate' && table.aggregable === undefined) {
    return [{ path: places.ofTable(table, 'aggregate'), does: 'refuses aggregates to everybody' }]
  }
  if (operation === 'get' && table.key.length === 0) {
    return [{ path: places.ofTable(table), does: `${quoted(name)} has no key; give it one with "key:"` }]
  }
  if (operation !== 'create' && operation !== 'update' && operation !== 'soft_delete') return []
  if (policy[operation] === undefined) {
    return [{ path: places.ofTable(table), does: `${quoted(name)} has no section ${operation}` }]
  }
  if (table.writes[operation] !== undefined) return []
  const about = findings.filter((each) => each.section === 'tables' && each.table === qualifiedName(table.table.ref))
  return [
    { path: places.ofTable(table, operation), does: `is void. ${about.map(({ text }) => text).join(' ')}`.trim() },
  ]
}

/** What the role hides of what the operation cannot do without. */
function hiddenNeeds(
  { places }: RefusalGround,
  table: CompiledTable,
  role: CompiledRole,
  operation: TableOperation,
): readonly Rule[] {
  const masked = role.masks.get(table)
  const hidden = (position: number) => table.shown[position] !== true || masked?.has(position) === true
  const required = operation === 'create' ? (table.writes.create?.required ?? []) : []
  const needed =
    operation === 'search' || operation === 'aggregate' ? [] : operation === 'create' ? required : table.key
  const missing = needed.filter(hidden)
  if (missing.length === 0)
    return [{ path: places.ofTable(table), does: 'leaves no column that the operation could use' }]
  return missing.map((position) => {
    const column = table.table.columns[position]?.name ?? ''
    const paths = [...places.tableMasks(table, column), ...places.roleMasks(role, table, column)]
    const what = operation === 'create' ? 'without which no row can be made' : 'which is part of the key'
    return { path: paths[0] ?? places.ofTable(table), does: `hides ${quoted(column)}, ${what}` }
  })
}

function isReadOnly({ policy, identity }: RefusalGround): boolean {
  return policy.identities.get(identity.name)?.readOnly === true
}

function readOnlyRule({ identity }: RefusalGround): Rule {
  return { path: pathText(['identities', identity.name, 'read_only']), does: 'takes every change from the identity' }
}

function noRoles({ identity, roles }: RefusalGround): readonly Rule[] {
  if (roles.length > 0) return []
  const held =
    identity.roles.length === 0 ? 'has no role on this connector' : `has the roles ${identity.roles.join(', ')}`
  const does =
    identity.roles.length === 0
      ? `The identity ${quoted(identity.name)} ${held}.`
      : `The identity ${quoted(identity.name)} ${held}, none of which the policy has.`
  return [{ path: '', does }]
}

function notGranted(what: string, others: readonly string[]): Rule {
  const granted = others.length === 0 ? 'No role of the policy does.' : `It is granted by ${others.join(', ')}.`
  return { path: '', does: `No role of the identity grants to ${what}. ${granted}` }
}
