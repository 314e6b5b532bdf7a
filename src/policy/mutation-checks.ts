import type { ProcedureAccess } from '../core/access.js'
import { unreachable } from '../core/assert.js'
import { gatewayError } from '../core/errors.js'
import { WRITE_VALUE_CHARS_MAX } from '../core/limits.js'
import type { Assignment, MutationPlan, ProcedureCallPlan } from '../core/plan.js'
import type { CallerWrite } from './caller-writes.js'
import type { ColumnView } from './compiled-policy.js'
import { type Check, checkKey, checkNotEmpty, checkValue, first, unknownColumn } from './plan-checks.js'

/** Checks every name and value of a mutation against what the caller may write, trusting nothing about how it was built. */
export function checkMutation(plan: MutationPlan, write: CallerWrite): Check {
  switch (plan.kind) {
    case 'create':
      return checkValues(plan.values, write) ?? checkRequired(plan.values, write)
    case 'update':
      return (
        checkKey(plan.key, write.access.key) ??
        checkNotEmpty(plan.values, 'values', 'at least one column to change') ??
        checkValues(plan.values, write) ??
        checkExpected(plan.expected, write)
      )
    case 'soft_delete':
      return checkKey(plan.key, write.access.key) ?? checkExpected(plan.expected, write)
    default:
      return unreachable(plan)
  }
}

function checkValues(values: readonly Assignment[], write: CallerWrite): Check {
  return checkAssignments(values, 'values', write.columns) ?? first(values, (value) => checkNull(value, write))
}

function checkExpected(expected: readonly Assignment[], write: CallerWrite): Check {
  return checkAssignments(expected, 'expected', write.expectable)
}

/** Each column one of the view, and once. */
function checkAssignments(assignments: readonly Assignment[], argument: string, view: ColumnView): Check {
  const seen = new Set<string>()
  return first(assignments, ({ column: name, value }, index) => {
    const column = view.byName.get(name)
    if (column === undefined) return unknownColumn(name, `${argument}[${index}]`, view)
    const field = `${argument}.${column.agentName}`
    if (seen.has(name)) return gatewayError('ARGUMENT_VALUE', { field, expected: 'each column once' })
    seen.add(name)
    return value === null ? undefined : checkValue(value, field, WRITE_VALUE_CHARS_MAX)
  })
}

function checkNull({ column: name, value }: Assignment, write: CallerWrite): Check {
  const column = write.columns.byName.get(name)
  if (value !== null || column === undefined || column.nullable) return undefined
  return gatewayError('ARGUMENT_VALUE', { field: `values.${column.agentName}`, expected: 'a value that is not null' })
}

function checkRequired(values: readonly Assignment[], { access }: CallerWrite): Check {
  const given = new Set<string>(values.map(({ column }) => column))
  return first([...access.required], (agentName) => {
    const column = access.columns.get(agentName)
    if (column !== undefined && given.has(column.name)) return undefined
    return gatewayError('ARGUMENT_MISSING', {
      field: `values.${agentName}`,
      expected: 'a value, since there is no default',
    })
  })
}

/**
 * Checks that a call which is to be undone can be, and its arguments by their places: each parameter once, and every one
 * that has no default.
 */
export function checkCall(plan: ProcedureCallPlan, access: ProcedureAccess): Check {
  const given = new Set<number>()
  return (
    checkUndone(plan, access) ??
    first(plan.args, ({ position, value }) => {
      const parameter = access.parameters[position]
      if (parameter === undefined) return gatewayError('ARGUMENT_UNKNOWN', { expected: 'a parameter of the tool' })
      const field = parameter.agentName
      if (given.has(position)) return gatewayError('ARGUMENT_VALUE', { field, expected: 'each parameter once' })
      given.add(position)
      return value === null ? undefined : checkValue(value, field, WRITE_VALUE_CHARS_MAX)
    }) ??
    first(access.parameters, ({ agentName, hasDefault }, position) =>
      hasDefault || given.has(position)
        ? undefined
        : gatewayError('ARGUMENT_MISSING', { field: agentName, expected: 'a value, since there is no default' }),
    )
  )
}

/** A procedure that may commit by itself would have changed something by the time it is undone. */
function checkUndone({ dryRun }: ProcedureCallPlan, access: ProcedureAccess): Check {
  if (!dryRun || access.dryRun) return undefined
  return gatewayError('ARGUMENT_UNKNOWN', {
    field: 'dry_run',
    expected: 'no dry_run: a call of this procedure cannot be undone',
  })
}
