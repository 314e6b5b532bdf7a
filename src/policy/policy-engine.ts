import type { EffectiveRights, ReadOperation } from '../core/access.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import { RIGHTS_CACHED_TABLES_MAX, TOOL_LISTS_CACHED_MAX } from '../core/limits.js'
import type { CallLimits, Plan, Scope, ValidatedPlan } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, SchemaModel, TableRef } from '../core/schema-model.js'
import { type CallerRights, type CallerTable, callerRights, callLimits } from './caller-rights.js'
import { type CompileOptions, compileDocument } from './compile-document.js'
import type { CompiledIdentity, CompiledPolicy } from './compiled-policy.js'
import { checkPlan } from './plan-checks.js'
import type { PolicyDocument } from './policy-document.js'
import type { PolicyFinding } from './policy-finding.js'
import { resolveScope } from './row-filter.js'

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

  identityAllowed(identity: Identity, ref: TableRef, operation: ReadOperation): boolean {
    return this.#table(identity, ref)?.access.operations.has(operation) === true
  }

  identityReadOnly(identity: Identity): boolean {
    return this.#override(identity)?.readOnly === true
  }

  /** The document can grant no mutation, so nobody can mutate anything. */
  identityCanMutate(_identity: Identity, _ref: TableRef): boolean {
    return false
  }

  /** By agent-facing name, in table order; empty where the operation is not the identity's. */
  visibleColumns(identity: Identity, ref: TableRef, operation: ReadOperation): ReadonlyMap<string, Column> {
    return this.#table(identity, ref)?.access.columns[operation] ?? NOTHING
  }

  /**
   * The rows that the operation may touch. TOOL_UNKNOWN where it is not the identity's; POLICY_SCOPE where a claim that
   * the row filters need is missing or does not fit, with the claim named in `reason` alone.
   */
  scope(identity: Identity, ref: TableRef, operation: ReadOperation): Result<Scope, GatewayError> {
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
  validate<P extends Plan>(plan: P, identity: Identity): Result<ValidatedPlan<P>, GatewayError> {
    const caller = this.#table(identity, plan.table)
    if (caller?.access.operations.has(plan.kind) !== true) return fail(gatewayError('TOOL_UNKNOWN'))
    const scope = this.#scope(identity, caller, plan.kind)
    if (!scope.ok) return scope
    const { access, views } = caller
    const view = views[plan.kind]
    const refusal = checkPlan(plan, { view, key: access.key, limits: access.limits })
    if (refusal !== undefined) return fail(refusal)
    const judged = { plan, table: access.table, visible: view.byName, scope: scope.value, limits: access.limits }
    // The one place where the brand is made: everything above has held for this plan and this identity.
    return ok(judged as ValidatedPlan<P>)
  }

  /** Tells a hidden column from a missing one, for the `reason` of an audit entry; never for a caller. */
  hiddenReason(
    identity: Identity,
    ref: TableRef,
    operation: ReadOperation,
    agentName: string,
  ): 'column_masked' | 'column_unknown' {
    const columns = this.#policy.find(ref)?.table.columns ?? []
    const named = columns.find((column) => column.agentName === agentName || column.name === agentName)
    if (named === undefined) return 'column_unknown'
    return this.visibleColumns(identity, ref, operation).has(named.agentName) ? 'column_unknown' : 'column_masked'
  }

  #scope(identity: Identity, caller: CallerTable, operation: ReadOperation): Result<Scope, GatewayError> {
    const scope = resolveScope(caller.filters, caller.groups[operation], identity.claims)
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
