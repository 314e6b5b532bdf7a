import type { EffectiveRights, ReadOperation, TableOperation } from '../core/access.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import { RIGHTS_CACHED_TABLES_MAX, TOOL_LISTS_CACHED_MAX } from '../core/limits.js'
import type {
  CallLimits,
  Guard,
  MutationPlan,
  ProcedureCallPlan,
  QueryPlan,
  Scope,
  ValidatedCall,
  ValidatedMutation,
  ValidatedPlan,
} from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, SchemaModel, TableRef } from '../core/schema-model.js'
import { callLimits } from './caller-columns.js'
import { type CallerRights, type CallerTable, callerRights } from './caller-rights.js'
import type { CallerWrite } from './caller-writes.js'
import { type CompileOptions, compileDocument } from './compile-document.js'
import type { CompiledIdentity, CompiledPolicy } from './compiled-policy.js'
import { checkIndexed } from './index-rule.js'
import { checkCall, checkMutation } from './mutation-checks.js'
import { type Check, checkPlan } from './plan-checks.js'
import type { PolicyDocument } from './policy-document.js'
import type { PolicyFinding } from './policy-finding.js'
import { resolvePresets, type Write } from './preset.js'
import { resolveScope, scopeAside } from './row-filter.js'

export type { CompileOptions } from './compile-document.js'
export type { PolicyFinding } from './policy-finding.js'

const NOTHING: ReadonlyMap<string, Column> = new Map()

/**
 * A policy met with the schema it governs. Findings are drift at load, where what they concern is withheld, and refuse
 * the document when it is applied, if their severity is `error`.
 */
export function compilePolicy(
  document: PolicyDocument,
  schema: SchemaModel,
  options: CompileOptions,
): { readonly engine: PolicyEngine; readonly findings: readonly PolicyFinding[] } {
  const { policy, findings } = compileDocument(document, schema, options)
  return { engine: new PolicyEngine(policy), findings }
}

/**
 * Answers what an identity may see and do, and nothing else decides. Whatever the policy does not give does not exist:
 * an unknown table and one that is not granted get the same answers.
 */
export class PolicyEngine {
  readonly #policy: CompiledPolicy
  /** By rights key, least recently used first. */
  readonly #callers = new Map<string, CallerRights>()
  #tablesKept = 0

  constructor(policy: CompiledPolicy) {
    this.#policy = policy
  }

  /** Names of the identities that the policy has settings of their own for, in the document's order. */
  get overriddenIdentities(): readonly string[] {
    return [...this.#policy.identities.keys()]
  }

  /** Everything the identity may do; worked out once for each set of roles and override, and shared. */
  rights(identity: Identity): EffectiveRights {
    return this.#caller(identity).rights
  }

  identityAllowed(identity: Identity, ref: TableRef, operation: TableOperation): boolean {
    return this.#table(identity, ref)?.access.operations.has(operation) === true
  }

  identityReadOnly(identity: Identity): boolean {
    return this.#override(identity)?.readOnly === true
  }

  /** Whether any mutation of the table is the identity's. */
  identityCanMutate(identity: Identity, ref: TableRef): boolean {
    return Object.keys(this.#table(identity, ref)?.access.writes ?? {}).length > 0
  }

  /**
   * By agent-facing name, in table order; empty where the operation is not the identity's. For a mutation: the columns
   * that it may set.
   */
  visibleColumns(identity: Identity, ref: TableRef, operation: TableOperation): ReadonlyMap<string, Column> {
    const access = this.#table(identity, ref)?.access
    if (access === undefined) return NOTHING
    return isRead(operation) ? access.columns[operation] : (access.writes[operation]?.columns ?? NOTHING)
  }

  /**
   * The rows that the operation may touch. TOOL_UNKNOWN where it is not the identity's; POLICY_SCOPE where a claim that
   * the row filters need is missing or does not fit, with the claim named in `reason` alone.
   */
  scope(identity: Identity, ref: TableRef, operation: TableOperation): Result<Scope, GatewayError> {
    const caller = this.#table(identity, ref)
    if (caller?.access.operations.has(operation) !== true) return fail(gatewayError('TOOL_UNKNOWN'))
    return this.#scope(identity, caller, operation)
  }

  rowCap(identity: Identity, ref: TableRef): number {
    return this.limits(identity, ref).rowCap
  }

  queryTimeoutMs(identity: Identity, ref: TableRef): number {
    return this.limits(identity, ref).queryTimeoutMs
  }

  /** Where the table is not the identity's, what would hold without any role. */
  limits(identity: Identity, ref: TableRef): CallLimits {
    const granted = this.#table(identity, ref)
    if (granted !== undefined) return granted.access.limits
    return callLimits(this.#policy, undefined, [], this.#override(identity))
  }

  /**
   * Judges a plan from nothing but the policy, however it was built: authorization first, then row scope, then every
   * name, operator and count.
   */
  validate<P extends QueryPlan>(plan: P, identity: Identity): Result<ValidatedPlan<P>, GatewayError> {
    const caller = this.#table(identity, plan.table)
    if (caller?.access.operations.has(plan.kind) !== true) return fail(gatewayError('TOOL_UNKNOWN'))
    const scope = this.#scope(identity, caller, plan.kind)
    if (!scope.ok) return scope
    const { access, views } = caller
    const view = views[plan.kind]
    const refusal =
      checkPlan(plan, { view, key: access.key, limits: access.limits }) ?? this.#checkIndexed(plan, caller, scope.value)
    if (refusal !== undefined) return fail(refusal)
    const whole = view.byName.size === access.table.columns.length && access.table.columnsWithheld !== true
    // Where everything is the caller's, a column can be mistaken for another one of the caller's alone.
    const guard: Guard = whole && isUnlimited(scope.value) ? 'table' : 'columns'
    const { table, limits } = access
    const judged = { plan, table, visible: view.byName, scope: scope.value, limits, guard }
    // The one place where the brand is made: everything above has held for this plan and this identity.
    return ok(judged as ValidatedPlan<P>)
  }

  /**
   * Judges a mutation as `validate` judges a query. POLICY_SCOPE also where a claim that a preset needs is missing or
   * does not fit: the row would be somebody else's.
   */
  validateMutation<P extends MutationPlan>(plan: P, identity: Identity): Result<ValidatedMutation<P>, GatewayError> {
    const caller = this.#table(identity, plan.table)
    const write = caller?.writes[plan.kind]
    if (caller === undefined || write === undefined || this.identityReadOnly(identity)) {
      return fail(gatewayError('TOOL_UNKNOWN'))
    }
    const scope = this.#scope(identity, caller, plan.kind)
    if (!scope.ok) return scope
    const presets = resolvePresets(write.presets, identity.claims)
    if (!presets.ok) return fail(gatewayError('POLICY_SCOPE', { reason: presets.error }))
    const refusal = checkMutation(plan, write)
    if (refusal !== undefined) return fail(refusal)
    const judged = {
      plan,
      table: caller.access.table,
      writes: writesOf(plan, write, presets.value),
      expected: expectedOf(plan, write),
      scope: scope.value,
      // Only a soft delete has to write its mark; whatever else is written must stay in scope, the mark included.
      writtenScope: plan.kind === 'soft_delete' ? scopeAside(scope.value, caller.softDeleteColumn) : scope.value,
      returning: write.access.returning,
      key: write.key,
      limits: write.limits,
      guard: 'columns' satisfies Guard,
    }
    // The one place where this brand is made, as above.
    return ok(judged as unknown as ValidatedMutation<P>)
  }

  /** Judges a call of a function or procedure: that it is the identity's, and that its arguments are the parameters'. */
  validateCall(plan: ProcedureCallPlan, identity: Identity): Result<ValidatedCall, GatewayError> {
    const access = this.#caller(identity).procedures.get(plan.catalogId)
    const { schema, name } = plan.routine
    if (access === undefined || access.routine.ref.schema !== schema || access.routine.ref.name !== name) {
      return fail(gatewayError('TOOL_UNKNOWN'))
    }
    const { routine, effect, fields, setColumns, limits } = access
    if (effect === 'write' && this.identityReadOnly(identity)) return fail(gatewayError('TOOL_UNKNOWN'))
    const refusal = checkCall(plan, access)
    if (refusal !== undefined) return fail(refusal)
    const judged = {
      plan,
      routine,
      effect,
      ...(fields === undefined ? {} : { fields }),
      ...(setColumns === undefined ? {} : { setColumns }),
      limits,
    }
    // The one place where this brand is made, as above.
    return ok(judged as ValidatedCall)
  }

  /** Tells a hidden column from a missing one, for the `reason` of an audit entry; never for a caller. */
  hiddenReason(
    identity: Identity,
    ref: TableRef,
    operation: TableOperation,
    agentName: string,
  ): 'column_masked' | 'column_unknown' {
    const columns = this.#policy.find(ref)?.table.columns ?? []
    const named = columns.find((column) => column.agentName === agentName || column.name === agentName)
    if (named === undefined) return 'column_unknown'
    return this.#isUsable(identity, ref, operation, named.agentName) ? 'column_unknown' : 'column_masked'
  }

  /** A mutation names columns in two places, and one that is refused in either is not wholly the caller's. */
  #isUsable(identity: Identity, ref: TableRef, operation: TableOperation, agentName: string): boolean {
    if (!this.visibleColumns(identity, ref, operation).has(agentName)) return false
    if (isRead(operation) || operation === 'create') return true
    return this.#table(identity, ref)?.access.writes[operation]?.expectable.has(agentName) === true
  }

  /** A row by its key is found by that key, however large the table is. */
  #checkIndexed(plan: QueryPlan, { access, views, softDeleteColumn }: CallerTable, scope: Scope): Check {
    if (plan.kind === 'get') return undefined
    return checkIndexed(plan, {
      engine: this.#policy.schema.engine,
      table: access.table,
      view: views[plan.kind],
      scope: scopeAside(scope, softDeleteColumn),
      limits: access.limits,
    })
  }

  #scope(identity: Identity, caller: CallerTable, operation: TableOperation): Result<Scope, GatewayError> {
    const groups = isRead(operation) ? caller.groups[operation] : caller.writes[operation]?.groups
    const filters = operation === 'create' ? caller.filters.created : caller.filters.existing
    const ground = { claims: identity.claims, parentOf: this.#caller(identity).parentOf }
    const scope = resolveScope(filters, groups, ground)
    return scope.ok ? scope : fail(gatewayError('POLICY_SCOPE', { reason: scope.error }))
  }

  #table(identity: Identity, ref: TableRef): CallerTable | undefined {
    const table = this.#policy.find(ref)
    return table && this.#caller(identity).tables.get(table)
  }

  #override(identity: Identity): CompiledIdentity | undefined {
    return this.#policy.identities.get(identity.name)
  }

  #caller(identity: Identity): CallerRights {
    const names = [...new Set(identity.roles)].filter((role) => this.#policy.roles.has(role)).sort()
    const override = this.#override(identity)
    const key = JSON.stringify(override === undefined ? [names] : [names, override.name])
    const known = this.#callers.get(key)
    if (known !== undefined) {
      this.#callers.delete(key)
      this.#callers.set(key, known)
      return known
    }
    const roles = names.flatMap((name) => this.#policy.roles.get(name) ?? [])
    const made = callerRights(this.#policy, key, roles, override)
    this.#keep(key, made)
    return made
  }

  /** The newest stays, whatever its size; older ones go until both bounds hold. */
  #keep(key: string, made: CallerRights): void {
    this.#callers.set(key, made)
    this.#tablesKept += made.tables.size
    for (const [oldest, { tables }] of this.#callers) {
      const within = this.#tablesKept <= RIGHTS_CACHED_TABLES_MAX && this.#callers.size <= TOOL_LISTS_CACHED_MAX
      if (within || oldest === key) return
      this.#callers.delete(oldest)
      this.#tablesKept -= tables.size
    }
  }
}

function isUnlimited({ all, any }: Scope): boolean {
  return all.length === 0 && any === undefined
}

function isRead(operation: TableOperation): operation is ReadOperation {
  return operation === 'get' || operation === 'search' || operation === 'aggregate'
}

/** The caller's values, then presets: no column is both, since a preset takes a column from the caller. */
function writesOf(plan: MutationPlan, write: CallerWrite, presets: readonly Write[]): readonly Write[] {
  const values = plan.kind === 'soft_delete' ? [] : plan.values
  const own = values.flatMap(({ column: name, value }): readonly Write[] => {
    const column = write.columns.byName.get(name)
    return column === undefined ? [] : [{ column, value: { kind: 'value', value } }]
  })
  return [...own, ...presets]
}

function expectedOf(plan: MutationPlan, write: CallerWrite): ValidatedMutation['expected'] {
  const expected = plan.kind === 'create' ? [] : plan.expected
  return expected.flatMap(({ column: name, value }) => {
    const column = write.expectable.byName.get(name)
    return column === undefined ? [] : [{ column, value }]
  })
}
