import type { EffectiveRights, TableAccess, TableOperation } from '../core/access.js'
import type { GatewayError } from '../core/errors.js'
import { RESULT_BYTES_MAX } from '../core/limits.js'
import type { QueryPlan, ValidatedPlan } from '../core/plan.js'
import { qualifiedName } from '../core/schema-model.js'
import type { CallTarget, PlanTarget, ReadTarget, WriteTarget } from '../core/tool-grammar.js'
import type { Cancellation } from '../engines/engine.js'
import { buildPlan } from '../plan/build-plan.js'
import { summarize } from '../plan/plan-summary.js'
import type { CallMessage, OutcomeMessage } from '../threads/messages.js'
import { schemaOverview } from '../tools/schema-overview.js'
import { resolveTarget } from '../tools/tool-target.js'
import { encodeObject, encodeRows } from './encode-result.js'
import { executeMutation, executeProcedure, valueless } from './execute-write.js'
import { type CallSurroundings, contextOf, type Progress, refusal, success, tooLarge } from './outcomes.js'
import { keysOfRows } from './result-keys.js'

export type { CallSurroundings } from './outcomes.js'

/** A call with what its stages share. */
interface Executing {
  readonly call: CallMessage
  readonly surroundings: CallSurroundings
  readonly cancellation: Cancellation
  readonly progress: Progress
}

/** Tells a masked column from a missing one, for the entry alone: the caller got the same answer for both. */
function withReason(
  { call, surroundings }: Executing,
  error: GatewayError,
  access: TableAccess,
  operation: TableOperation,
): GatewayError {
  if (error.refused === undefined || error.reason !== undefined) return error
  const hidden = surroundings.policy.hiddenReason(call.identity, access.table.ref, operation, error.refused)
  return { ...error, reason: error.field === undefined ? hidden : `${hidden} at ${error.field}` }
}

/** Agent names of the columns that say which row or group it is, and where it stands in the order: never cut. */
function neverCut(validated: ValidatedPlan, access: TableAccess): ReadonlySet<string> {
  const { plan, visible } = validated
  const names = new Set(access.key.map((column) => column.agentName))
  const more =
    plan.kind === 'search' ? plan.order.map(({ column }) => column) : plan.kind === 'aggregate' ? plan.groupBy : []
  for (const identifier of more) {
    const column = visible.get(identifier)
    if (column !== undefined) names.add(column.agentName)
  }
  return names
}

async function runQuery(executing: Executing, { access }: ReadTarget, plan: QueryPlan): Promise<OutcomeMessage> {
  const { call, surroundings, cancellation, progress } = executing
  const { policy, dialect, driver, acquireTimeoutMs } = surroundings
  const validated = policy.validate(plan, call.identity)
  if (!validated.ok) return refusal(call, progress, withReason(executing, validated.error, access, plan.kind))
  const statement = dialect.compile(validated.value)
  const large = tooLarge([statement, statement.guard])
  if (large !== undefined) return refusal(call, progress, large)
  const { limits } = validated.value
  const answer = await driver.execute(statement, {
    timeoutMs: limits.queryTimeoutMs,
    acquireTimeoutMs,
    bytesMax: RESULT_BYTES_MAX,
    cancellation,
    ...contextOf(surroundings, call.identity),
  })
  const measured = { ...progress, queueMs: progress.queueMs + answer.queueMs, dbMs: answer.dbMs }
  if (!answer.outcome.ok) {
    const { error } = answer.outcome
    if (error.detail !== undefined) surroundings.observe(error.code, error.detail)
    return refusal(call, measured, error)
  }
  const rows = answer.outcome.value
  if (plan.kind === 'get' && rows.length === 0) return refusal(call, measured, { code: 'ROW_NOT_FOUND' })
  const { columns, shown, keyCells } = statement
  const encoded = encodeRows({
    columns: shown === undefined ? columns : columns.slice(0, shown),
    rows,
    dialect,
    keyColumns: neverCut(validated.value, access),
    responseCharsMax: limits.responseCharsMax,
    ...(plan.kind === 'get' ? {} : { limit: plan.limit }),
  })
  const { table } = access
  const { rows: count } = encoded
  const seen = keyCells === undefined ? {} : keysOfRows({ table, columns, keyCells, rows, count, dialect })
  return success(call, measured, { ...encoded, ...seen })
}

async function runRead(executing: Executing, target: ReadTarget): Promise<OutcomeMessage> {
  const { call, progress } = executing
  const built = buildPlan(target, call.args)
  if (!built.ok) return refusal(call, progress, withReason(executing, built.error, target.access, target.operation))
  const planned = { ...executing, progress: { ...progress, plan: summarize(target, built.value) } }
  return runQuery(planned, target, built.value.plan)
}

async function runMutation(executing: Executing, target: WriteTarget): Promise<OutcomeMessage> {
  const { call, surroundings } = executing
  const { access, operation } = target
  const built = buildPlan(target, call.args)
  if (!built.ok) return refusal(call, executing.progress, withReason(executing, built.error, access, operation))
  const progress = { ...executing.progress, target: targetOf(target), plan: summarize(target, built.value) }
  const validated = surroundings.policy.validateMutation(built.value.plan, call.identity)
  if (!validated.ok)
    return refusal(call, valueless(progress), withReason(executing, validated.error, access, operation))
  return executeMutation({ ...executing, progress }, built.value, validated.value)
}

async function runProcedure(executing: Executing, target: CallTarget): Promise<OutcomeMessage> {
  const { call, surroundings } = executing
  const built = buildPlan(target, call.args)
  if (!built.ok) return refusal(call, executing.progress, built.error)
  const progress = { ...executing.progress, target: targetOf(target), plan: summarize(target, built.value) }
  const validated = surroundings.policy.validateCall(built.value.plan, call.identity)
  if (!validated.ok) return refusal(call, valueless(progress), validated.error)
  return executeProcedure({ ...executing, progress }, target, built.value, validated.value)
}

function targetOf(target: PlanTarget): string {
  return qualifiedName('access' in target ? target.access.table.ref : target.procedure.routine.ref)
}

/** The worker's part of the one path: tool call → plan → validated plan → statement → rows → outcome. Never throws for input. */
export async function executeCall(
  call: CallMessage,
  surroundings: CallSurroundings,
  cancellation: Cancellation,
): Promise<OutcomeMessage> {
  const queueMs = Math.max(0, surroundings.nowMs() - call.sentAtMs)
  const unresolved: Progress = { operation: 'unknown', queueMs, dbMs: 0 }
  const rights: EffectiveRights = surroundings.policy.rights(call.identity)
  const target = resolveTarget(rights, call.tool)
  if (target === undefined) return refusal(call, unresolved, { code: 'TOOL_UNKNOWN' })
  if (target.operation === 'schema_overview') {
    const progress: Progress = { operation: 'schema_overview', queueMs, dbMs: 0 }
    const overview = schemaOverview(rights, call.args)
    return overview.ok
      ? success(call, progress, { body: encodeObject(overview.value), rows: 0 })
      : refusal(call, progress, overview.error)
  }
  const progress: Progress = { operation: target.operation, target: targetOf(target), queueMs, dbMs: 0 }
  const executing: Executing = { call, surroundings, cancellation, progress }
  switch (target.operation) {
    case 'create':
    case 'update':
    case 'soft_delete':
      return runMutation(executing, target)
    case 'call':
      return runProcedure(executing, target)
    default:
      return runRead(executing, target)
  }
}
