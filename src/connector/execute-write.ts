import { createHash } from 'node:crypto'
import { unreachable } from '../core/assert.js'
import { gatewayError } from '../core/errors.js'
import { RESULT_BYTES_MAX } from '../core/limits.js'
import type { CallLimits, MutationPlan, ProcedureCallPlan, ValidatedCall, ValidatedMutation } from '../core/plan.js'
import type { ResultColumn } from '../core/statement.js'
import { type CallTarget, procedureResult } from '../core/tool-grammar.js'
import {
  type CallResult,
  Cancellation,
  type CompiledMutation,
  type ExecuteOptions,
  type MutationEnd,
  type Rows,
  type WriteExecution,
} from '../engines/engine.js'
import type { BuiltPlan } from '../plan/build-plan.js'
import { planHash } from '../plan/plan-hash.js'
import { withoutValues } from '../plan/plan-summary.js'
import type { CallMessage, IntentMessage, IntentVerdict, OutcomeMessage } from '../threads/messages.js'
import { encodeCall, encodeMutation } from './encode-result.js'
import { type CallSurroundings, contextOf, type Progress, refusal, success, tooLarge } from './outcomes.js'
import { keysNamed, keysOfMutation } from './result-keys.js'

/** A call on its way to the database. */
export interface Writing {
  readonly call: CallMessage
  readonly surroundings: CallSurroundings
  /** With the summary of the plan. */
  readonly progress: Progress & Required<Pick<Progress, 'target' | 'plan'>>
  /** Stops the call until it is told to go; from then on only what changes nothing can be stopped. */
  readonly cancellation: Cancellation
}

type Replay = Extract<IntentVerdict, { readonly kind: 'replay' }>

/** Leave to go, with what may stop the call from here on; or the outcome without it. */
type Leave =
  | { readonly kind: 'go'; readonly writing: Writing; readonly cancellation: Cancellation }
  | { readonly kind: 'ended'; readonly outcome: OutcomeMessage }

/** A call that the gateway or the policy refused keeps nothing of what it held. */
export function valueless<P extends Progress>(progress: P): P {
  return progress.plan === undefined ? progress : { ...progress, plan: withoutValues(progress.plan) }
}

/**
 * Asks for leave to change something. What is asked here is durable when it is given: the idempotency key first, then the
 * intent. A call that was cancelled in the meantime ends without having reached the database.
 */
async function askLeave(
  writing: Writing,
  { plan, idempotencyKey: key }: BuiltPlan<MutationPlan | ProcedureCallPlan>,
  replay: (verdict: Replay) => OutcomeMessage,
  named: Pick<IntentMessage, 'resultKeys'> = {},
): Promise<Leave> {
  const { call, surroundings, progress, cancellation } = writing
  const hash = () => createHash('sha256').update(planHash(call.tool, plan)).digest('hex')
  const intent: IntentMessage = {
    kind: 'intent',
    callId: call.callId,
    operation: progress.operation,
    target: progress.target,
    plan: progress.plan,
    ...named,
    ...(key === undefined ? {} : { idempotency: { key, planHash: hash() } }),
  }
  const ended = (outcome: OutcomeMessage): Leave => ({ kind: 'ended', outcome })
  if (cancellation.reason !== undefined) return ended(refusal(call, progress, gatewayError(cancellation.reason)))
  const askedAtMs = surroundings.nowMs()
  const verdict = await surroundings.announce(intent)
  const waited = { ...progress, queueMs: progress.queueMs + surroundings.nowMs() - askedAtMs }
  switch (verdict.kind) {
    case 'go':
      if (cancellation.reason !== undefined) return ended(refusal(call, waited, gatewayError(cancellation.reason)))
      // A client that leaves now must not leave half a change: the database ends it by its deadline alone.
      return { kind: 'go', writing: { ...writing, progress: waited }, cancellation: new Cancellation() }
    case 'replay':
      return ended({ ...replay(verdict), queueMs: waited.queueMs })
    case 'refused': {
      const { code, reason } = verdict
      const error = gatewayError(code, reason === undefined ? {} : { reason })
      return ended(refusal(call, valueless(waited), error, code === 'IDEMPOTENCY_UNKNOWN' ? 'unknown' : 'none'))
    }
    default:
      return unreachable(verdict)
  }
}

function optionsFor(writing: Writing, limits: CallLimits, cancellation: Cancellation): ExecuteOptions {
  const { call, surroundings } = writing
  return {
    timeoutMs: limits.queryTimeoutMs,
    acquireTimeoutMs: surroundings.acquireTimeoutMs,
    bytesMax: RESULT_BYTES_MAX,
    cancellation,
    ...contextOf(surroundings, call.identity),
  }
}

function measured({ progress }: Writing, { queueMs, dbMs }: Pick<WriteExecution, 'queueMs' | 'dbMs'>): Progress {
  return { ...progress, queueMs: progress.queueMs + queueMs, dbMs }
}

const REPLAYED = 'answered from its idempotency key'

/** The agent names of a mutation's key. */
function keyNames({ key }: ValidatedMutation): ReadonlySet<string> {
  return new Set(key.map((column) => column.agentName))
}

/** The key's cells of each row by agent name, as the engine gave them: what a replay is made of again. */
function keysOf(columns: readonly ResultColumn[], rows: Rows, names: ReadonlySet<string>) {
  return rows.map((row) => {
    const cells = columns.flatMap(({ name }, i): readonly (readonly [string, string])[] => {
      const cell = row[i] ?? null
      return names.has(name) && cell !== null ? [[name, cell]] : []
    })
    return Object.fromEntries(cells)
  })
}

/** Runs a mutation that the policy accepted: leave first, unless it is undone in any case, then the database. */
export async function executeMutation(
  writing: Writing,
  built: BuiltPlan<MutationPlan>,
  validated: ValidatedMutation,
): Promise<OutcomeMessage> {
  const { dialect, driver } = writing.surroundings
  const mutation = dialect.compileMutation(validated)
  const large = tooLarge([mutation.lock, mutation.write, mutation.readBack, mutation.guard])
  if (large !== undefined) return refusal(writing.call, writing.progress, large)
  if (mutation.dryRun) {
    // It changes nothing, so there is nothing that an intent would have to tell of.
    const execution = await driver.mutate(mutation, optionsFor(writing, validated.limits, writing.cancellation))
    return mutationOutcome(writing, validated, mutation, execution)
  }
  const replay = (verdict: Replay) => replayMutation(writing, validated, mutation, verdict)
  const leave = await askLeave(writing, built, replay, keysNamed(validated))
  if (leave.kind === 'ended') return leave.outcome
  const execution = await driver.mutate(mutation, optionsFor(writing, validated.limits, leave.cancellation))
  return mutationOutcome(leave.writing, validated, mutation, execution)
}

function mutationOutcome(
  writing: Writing,
  validated: ValidatedMutation,
  mutation: CompiledMutation,
  execution: WriteExecution,
): OutcomeMessage {
  const { call, surroundings } = writing
  const progress = measured(writing, execution)
  const { outcome, effect } = execution
  if (!outcome.ok) {
    const { code, detail } = outcome.error
    if (detail !== undefined) surroundings.observe(code, detail)
    const refused = refusal(call, progress, outcome.error, effect)
    return effect === 'none' ? refused : { ...refused, ...keysNamed(validated) }
  }
  return endOutcome(writing, progress, { validated, mutation, effect, end: outcome.value })
}

/** An order of their own: the one in which rows lie tells of changes to columns and rows that the caller does not see. */
function inOrder(rows: Rows): Rows {
  if (rows.length < 2) return rows
  const texts = rows.map((row) => ({ row, text: JSON.stringify(row) }))
  return texts.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0)).map(({ row }) => row)
}

interface EndedMutation {
  readonly validated: ValidatedMutation
  readonly mutation: CompiledMutation
  readonly effect: WriteExecution['effect']
  readonly end: MutationEnd
}

function endOutcome(writing: Writing, progress: Progress, ended: EndedMutation): OutcomeMessage {
  const { call, surroundings } = writing
  const { validated, mutation, effect, end } = ended
  const { columns } = mutation.write
  switch (end.kind) {
    case 'written':
    case 'unchanged': {
      const affected = end.kind === 'written' ? end.affected : 0
      const names = keyNames(validated)
      const rows = inOrder(end.rows)
      const encoded = encodeMutation({
        columns,
        rows,
        dialect: surroundings.dialect,
        keyColumns: names,
        responseCharsMax: validated.limits.responseCharsMax,
        affected,
        changed: end.kind === 'written',
        dryRun: mutation.dryRun,
      })
      const keys = mutation.dryRun ? {} : { keys: keysOf(columns, rows, names) }
      const { dialect } = surroundings
      const touched = keysOfMutation(validated, { columns, rows, count: encoded.rows, dialect })
      return success(call, progress, { ...encoded, effect, affected, ...keys, ...touched })
    }
    case 'not_found':
      return refusal(call, progress, gatewayError('ROW_NOT_FOUND'))
    case 'expected_failed':
      return refusal(call, progress, gatewayError('CONFLICT_EXPECTED'))
    case 'too_many':
      // The number may count rows that the caller does not see, so only the entry has it.
      return refusal(call, progress, gatewayError('AFFECTED_LIMIT', { reason: `${end.affected} rows` }))
    case 'out_of_scope':
      return refusal(call, progress, gatewayError('POLICY_WRITTEN_ROW'))
    default:
      return unreachable(end)
  }
}

function replayMutation(
  { call, surroundings, progress }: Writing,
  validated: ValidatedMutation,
  mutation: CompiledMutation,
  { affected, keys }: Replay,
): OutcomeMessage {
  const names = keyNames(validated)
  const columns = mutation.write.columns.filter(({ name }) => names.has(name))
  const rows = keys.map((key) => columns.map(({ name }) => key[name] ?? null))
  const { dialect } = surroundings
  const encoded = encodeMutation({
    columns,
    rows,
    dialect,
    keyColumns: names,
    responseCharsMax: validated.limits.responseCharsMax,
    affected,
    changed: affected > 0,
    dryRun: false,
    replayed: true,
  })
  const given = keysOfMutation(validated, { columns, rows, count: encoded.rows, dialect })
  return success(call, progress, { ...encoded, reason: REPLAYED, ...given })
}

/** Runs a call that the policy accepted. One declared as reading needs no leave: it runs where nothing can be written. */
export async function executeProcedure(
  writing: Writing,
  target: CallTarget,
  built: BuiltPlan<ProcedureCallPlan>,
  validated: ValidatedCall,
): Promise<OutcomeMessage> {
  const { dialect, driver } = writing.surroundings
  const compiled = dialect.compileCall(validated)
  const large = tooLarge([compiled.statement])
  if (large !== undefined) return refusal(writing.call, writing.progress, large)
  const { columns } = compiled.statement
  if (compiled.effect === 'read' || compiled.dryRun) {
    const execution = await driver.call(compiled, optionsFor(writing, validated.limits, writing.cancellation))
    return callOutcome(writing, target, validated, columns, execution)
  }
  const leave = await askLeave(writing, built, () => {
    const body = encodedCall(writing, target, validated, columns, { rows: [] }, true)
    return success(writing.call, writing.progress, { ...body, reason: REPLAYED })
  })
  if (leave.kind === 'ended') return leave.outcome
  const execution = await driver.call(compiled, optionsFor(writing, validated.limits, leave.cancellation))
  return callOutcome(leave.writing, target, validated, columns, execution)
}

function callOutcome(
  writing: Writing,
  target: CallTarget,
  validated: ValidatedCall,
  columns: readonly ResultColumn[],
  execution: Awaited<ReturnType<CallSurroundings['driver']['call']>>,
): OutcomeMessage {
  const { call, surroundings } = writing
  const progress = measured(writing, execution)
  const { outcome, effect } = execution
  if (!outcome.ok) {
    const { code, detail } = outcome.error
    if (detail !== undefined) surroundings.observe(code, detail)
    return refusal(call, progress, outcome.error, effect)
  }
  return success(call, progress, {
    ...encodedCall(writing, target, validated, columns, outcome.value, false),
    effect,
  })
}

function encodedCall(
  { surroundings }: Writing,
  { procedure }: CallTarget,
  { limits, plan }: ValidatedCall,
  columns: readonly ResultColumn[],
  { rows, sets }: CallResult,
  replayed: boolean,
) {
  return encodeCall({
    columns,
    rows,
    ...(sets === undefined ? {} : { sets }),
    dialect: surroundings.dialect,
    limit: limits.rowCap,
    responseCharsMax: limits.responseCharsMax,
    result: procedureResult(procedure),
    dryRun: plan.dryRun,
    ...(replayed ? { replayed } : {}),
  })
}
