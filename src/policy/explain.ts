import { READ_OPERATIONS, type ReadOperation, type TableOperation } from '../core/access.js'
import { unreachable } from '../core/assert.js'
import { type ErrorCode, type GatewayError, publicText } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import type { CallLimits, Plan } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import { type Column, qualifiedName, type TableRef } from '../core/schema-model.js'
import { buildPlan } from '../plan/build-plan.js'
import { schemaOverview } from '../tools/schema-overview.js'
import { type PlanTarget, resolveTarget } from '../tools/tool-target.js'
import { callerRights } from './caller-rights.js'
import { compileDocument } from './compile-document.js'
import { type CompiledPolicy, type CompiledRole, type CompiledTable, includes } from './compiled-policy.js'
import type { PolicySide } from './diff.js'
import { presetWords } from './effective-rights.js'
import { type ColumnReason, explainColumns } from './explain-columns.js'
import { explainLimits, type LimitReason } from './explain-limits.js'
import { explainMissingTool } from './explain-refusal.js'
import { type RowRule, rowRules } from './explain-rows.js'
import { scopeWords } from './filter-words.js'
import { parentLookup } from './parent-rows.js'
import { PolicyEngine } from './policy-engine.js'
import type { PolicyFinding } from './policy-finding.js'
import { pathText } from './policy-tree.js'
import { schemasOf } from './qualified-names.js'
import { type Rule, RulePlaces } from './rule-places.js'

/** A policy met with its database, with what it takes to say why it decides as it does. */
export interface ExplainedPolicy {
  readonly engine: PolicyEngine
  readonly policy: CompiledPolicy
  readonly findings: readonly PolicyFinding[]
  readonly places: RulePlaces
}

/** What a call would meet before the database, and why. For operators: it names what its caller may not know of. */
export interface Explanation {
  readonly identity: {
    readonly name: string
    /** As they hold on the connector. */
    readonly roles: readonly string[]
    /** Of those, the ones that the policy does not have. */
    readonly unknownRoles: readonly string[]
    /** Where the policy has settings of its own for the identity. */
    readonly override?: string
  }
  readonly tool: string
  readonly operation?: TableOperation | 'call' | 'schema_overview'
  /** `schema.name`. */
  readonly target?: string
  /** `allowed`: the call would go to the database, which may still refuse it. */
  readonly decision: 'allowed' | 'refused'
  readonly code: ErrorCode | 'OK'
  /** The text that the caller would get, where it is refused. */
  readonly answer?: string
  /** What the operator is told of a refusal, and the caller is not. */
  readonly reasons: readonly Rule[]
  /** The rules that give the caller the operation. */
  readonly grants: readonly (Rule & { readonly role: string })[]
  readonly columns: readonly ColumnReason[]
  /** Present for a table: the rows that the operation may touch. `text` is absent where claims do not do. */
  readonly rows?: { readonly text?: string; readonly rules: readonly RowRule[] }
  /** What a mutation writes whatever the caller says. */
  readonly presets: readonly Rule[]
  readonly limits: readonly LimitReason[]
  /** What the arguments came to; absent where they came to nothing. */
  readonly plan?: Plan
}

/** Compiles a policy as an engine does, once for many questions. */
export function explainedPolicy({ document, schema, options }: PolicySide): ExplainedPolicy {
  const { policy, findings } = compileDocument(document, schema, options)
  const places = new RulePlaces(document, schemasOf(options.schemas, schema))
  return { engine: new PolicyEngine(policy), policy, findings, places }
}

/**
 * Judges a call on the way that a call takes: the caller's own tools, then the plan, then the policy engine. Everything beside the
 * decision is added to it and has no part in it. `args`: as a client would send them.
 */
export function explainCall(explained: ExplainedPolicy, identity: Identity, tool: string, args: unknown): Explanation {
  const { engine, policy } = explained
  const known = identity.roles.filter((role) => policy.roles.has(role))
  const about = {
    identity: {
      name: identity.name,
      roles: identity.roles,
      unknownRoles: identity.roles.filter((role) => !policy.roles.has(role)),
      ...(policy.identities.has(identity.name) ? { override: pathText(['identities', identity.name]) } : {}),
    },
    tool,
  }
  const roles = [...new Set(known)].sort().flatMap((role) => policy.roles.get(role) ?? [])
  const rights = engine.rights(identity)
  const target = resolveTarget(rights, tool)
  if (target === undefined) {
    const reasons = explainMissingTool({ ...explained, identity, roles }, tool)
    return { ...about, ...NOTHING, ...refusedWith({ code: 'TOOL_UNKNOWN' }), reasons }
  }
  if (target.operation === 'schema_overview') {
    const overview = schemaOverview(rights, args)
    return {
      ...about,
      ...NOTHING,
      operation: 'schema_overview',
      ...(overview.ok ? ALLOWED : refusedWith(overview.error)),
    }
  }
  const built = buildPlan(target, args)
  const judged = built.ok ? validated(engine, built.value.plan, identity) : built
  const verdict = judged.ok ? ALLOWED : refusedWith(judged.error)
  const plan = built.ok ? { plan: built.value.plan } : {}
  const why =
    'access' in target
      ? tableReasons(explained, identity, roles, target)
      : callReasons(explained, identity, roles, target)
  const reasons = judged.ok ? [] : refusalReasons(explained, identity, roles, target, judged.error, why)
  return { ...about, ...why, ...verdict, reasons, ...plan }
}

const NOTHING = { grants: [], columns: [], presets: [], limits: [], reasons: [] } as const
const ALLOWED = { decision: 'allowed', code: 'OK' } as const

function refusedWith(error: GatewayError): Pick<Explanation, 'decision' | 'code' | 'answer'> {
  return { decision: 'refused', code: error.code, answer: publicText(error) }
}

function validated(engine: PolicyEngine, plan: Plan, identity: Identity): Result<void, GatewayError> {
  const judged = judge(engine, plan, identity)
  return judged.ok ? ok(undefined) : fail(judged.error)
}

function judge(engine: PolicyEngine, plan: Plan, identity: Identity): Result<unknown, GatewayError> {
  switch (plan.kind) {
    case 'get':
    case 'search':
    case 'aggregate':
      return engine.validate(plan, identity)
    case 'create':
    case 'update':
    case 'soft_delete':
      return engine.validateMutation(plan, identity)
    case 'call':
      return engine.validateCall(plan, identity)
    default:
      return unreachable(plan)
  }
}

type Why = Pick<Explanation, 'operation' | 'target' | 'grants' | 'columns' | 'rows' | 'presets' | 'limits'>
type TableTarget = Exclude<PlanTarget, { readonly operation: 'call' }>
type CallTarget = Extract<PlanTarget, { readonly operation: 'call' }>

function isRead(operation: TableOperation): operation is ReadOperation {
  return READ_OPERATIONS.some((each) => each === operation)
}

function tableReasons(
  { engine, policy, places }: ExplainedPolicy,
  identity: Identity,
  roles: readonly CompiledRole[],
  { access, operation }: TableTarget,
): Why {
  const { ref } = access.table
  const table = compiledTable(policy, ref)
  const granting = roles.filter((role) => places.grants(role, table, operation).length > 0)
  const scope = engine.scope(identity, ref, operation)
  const usable = engine.visibleColumns(identity, ref, operation)
  const { name, policy: written } = places.table(table)
  const write = isRead(operation) ? undefined : table.writes[operation]
  const ground = { claims: identity.claims, parentOf: parentLookup(policy, roles) }
  return {
    operation,
    target: qualifiedName(ref),
    grants: granting.flatMap((role) =>
      places.grants(role, table, operation).map((path) => ({ path, does: `grants ${operation}`, role: role.name })),
    ),
    columns: explainColumns({ places, table, operation, granting, usable }),
    rows: {
      ...(scope.ok ? { text: scopeWords(scope.value) } : {}),
      rules: rowRules({ places, table, operation, granting, ground }),
    },
    presets: (write?.presets ?? []).map((preset) => ({
      path:
        operation === 'soft_delete'
          ? places.ofTable(table, operation)
          : places.ofTable(table, operation, 'preset', preset.column.name),
      does: `sets ${preset.column.name} to ${presetWords(preset)}`,
    })),
    limits: explainLimits(limitsOf(policy, identity, roles, table, operation) ?? access.limits, {
      policy,
      object: { path: ['tables', name], limits: written },
      granting,
      identity: identity.name,
    }),
  }
}

/** A mutation has limits of its own, which are not part of what tools are made from. */
function limitsOf(
  policy: CompiledPolicy,
  identity: Identity,
  roles: readonly CompiledRole[],
  table: CompiledTable,
  operation: TableOperation,
): CallLimits | undefined {
  if (isRead(operation)) return undefined
  const rights = callerRights(policy, '', roles, policy.identities.get(identity.name))
  return rights.tables.get(table)?.writes[operation]?.limits
}

function compiledTable(policy: CompiledPolicy, ref: TableRef): CompiledTable {
  const table = policy.find(ref)
  if (table === undefined) throw new Error(`a target's table is one of the policy: ${qualifiedName(ref)}`)
  return table
}

function callReasons(
  { policy, places }: ExplainedPolicy,
  identity: Identity,
  roles: readonly CompiledRole[],
  { procedure }: CallTarget,
): Why {
  const { routine, fields = [], setColumns = [] } = procedure
  const compiled = policy.procedures.find((each) => each.routine === routine)
  if (compiled === undefined) throw new Error(`a target's procedure is one of the policy: ${procedure.tool}`)
  const name = places.procedure(compiled)
  const granting = roles.filter((role) => includes(role.calls, compiled))
  const rule = pathText(['procedures', name])
  return {
    operation: 'call',
    target: qualifiedName(routine.ref),
    grants: granting.flatMap((role) =>
      places.calls(role, compiled).map((path) => ({ path, does: 'grants call', role: role.name })),
    ),
    columns: [...fields.map((field) => String(field.name)), ...setColumns].map((column) => ({
      column,
      usable: true,
      why: 'let through of the result',
      rules: [rule],
    })),
    presets: [],
    limits: explainLimits(procedure.limits, {
      policy,
      object: { path: ['procedures', name], limits: compiled.limits },
      granting,
      identity: identity.name,
    }),
  }
}

/** The engine's own reason; of a column that was refused, the rule that hides it; of a claim, the rules that need it. */
function refusalReasons(
  explained: ExplainedPolicy,
  identity: Identity,
  roles: readonly CompiledRole[],
  target: PlanTarget,
  error: GatewayError,
  why: Why,
): readonly Rule[] {
  const own = error.reason === undefined ? [] : [{ path: '', does: error.reason }]
  if (error.code === 'POLICY_SCOPE') {
    const failing = (why.rows?.rules ?? []).filter(({ fault }) => fault !== undefined)
    return [...own, ...failing.map(({ rule, rows, fault }) => ({ path: rule, does: `needs ${rows}: ${fault}` }))]
  }
  if (error.refused === undefined || !('access' in target)) return own
  const { engine } = explained
  const { access, operation } = target
  // What a row held before is compared with what the caller reads of it, and not with what it may set.
  const isExpected = error.field?.startsWith('expected') === true
  const { columns } = isExpected ? tableReasons(explained, identity, roles, { access, operation: 'get' }) : why
  const hidden = engine.hiddenReason(identity, access.table.ref, operation, error.refused)
  const column = access.table.columns.find((each) => isNamed(each, error.refused))
  const reason = columns.find((each) => each.column === column?.name)
  if (hidden === 'column_unknown' || reason === undefined) {
    return [...own, { path: '', does: `${qualifiedName(access.table.ref)} has no such column` }]
  }
  const [first = '', ...more] = reason.rules
  const also = more.length === 0 ? '' : ` (with ${more.join(', ')})`
  return [...own, { path: first, does: `column ${reason.column}: ${reason.why}${also}` }]
}

function isNamed(column: Column, name: string | undefined): boolean {
  return column.agentName === name || column.name === name
}
