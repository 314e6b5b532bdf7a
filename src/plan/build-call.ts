import { readEach, readObject } from '../core/arguments.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import type { ProcedureCallPlan } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import { type CallTarget, type ParameterArgument, parameterArguments } from '../core/tool-grammar.js'
import { coerceWrite } from '../core/value.js'
import type { BuiltPlan } from './build-plan.js'
import { readRunControls, readWrite, withKey } from './write-values.js'

/** The arguments of a procedure's tool to its plan. What is left out takes the routine's own default. */
export function buildCall(
  { procedure }: CallTarget,
  args: unknown,
): Result<BuiltPlan<ProcedureCallPlan>, GatewayError> {
  const parameters = parameterArguments(procedure)
  const names = parameters.map(({ argument }) => argument)
  const controls = [...(procedure.dryRun ? ['dry_run'] : []), 'idempotency_key']
  const entries = readObject(args, '', [...names, ...controls])
  if (!entries.ok) return entries
  const given = parameters.filter(({ argument, parameter }) => entries.value.has(argument) || !parameter.hasDefault)
  const values = readEach(given, '', (each) => readArgument(each, entries.value.get(each.argument)))
  if (!values.ok) return values
  const run = readRunControls(entries.value)
  if (!run.ok) return run
  const { ref, catalogId } = procedure.routine
  const plan: ProcedureCallPlan = {
    kind: 'call',
    routine: ref,
    catalogId,
    args: values.value,
    dryRun: run.value.dryRun,
  }
  return ok(withKey(plan, run.value))
}

/** A parameter takes null whatever its type: routines have no columns' NOT NULL. */
function readArgument(
  { argument, parameter, position }: ParameterArgument,
  raw: unknown,
): Result<ProcedureCallPlan['args'][number], GatewayError> {
  if (raw === undefined) {
    const fitting = coerceWrite(parameter.type, undefined)
    const expected = fitting.ok ? 'a value' : fitting.error
    return fail(gatewayError('ARGUMENT_MISSING', { field: argument, expected }))
  }
  const value = readWrite({ type: parameter.type, nullable: true }, raw, argument)
  return value.ok ? ok({ position, value: value.value }) : value
}
