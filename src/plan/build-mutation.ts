import type { WriteAccess } from '../core/access.js'
import { type ArgumentObject, readObject } from '../core/arguments.js'
import { unreachable } from '../core/assert.js'
import type { GatewayError } from '../core/errors.js'
import type { MutationPlan } from '../core/plan.js'
import { ok, type Result } from '../core/result.js'
import type { TableRef } from '../core/schema-model.js'
import { keyArguments, type WriteTarget } from '../core/tool-grammar.js'
import type { BuiltPlan } from './build-plan.js'
import { readKey } from './coerce.js'
import { readCreateValues, readExpected, readRunControls, readUpdateValues, withKey } from './write-values.js'

/** What a mutation reads its arguments with. */
interface Reading {
  readonly table: TableRef
  readonly write: WriteAccess
  readonly entries: ArgumentObject
  readonly dryRun: boolean
}

/** The arguments of a writing tool to its plan, with the key under which it is to happen at most once. */
export function buildMutation(target: WriteTarget, args: unknown): Result<BuiltPlan<MutationPlan>, GatewayError> {
  const { operation, access, write } = target
  const entries = readObject(args, '', mutationArguments(target))
  if (!entries.ok) return entries
  const controls = readRunControls(entries.value)
  if (!controls.ok) return controls
  const reading: Reading = { table: access.table.ref, write, entries: entries.value, dryRun: controls.value.dryRun }
  const plan = BUILDERS[operation](reading)
  return plan.ok ? ok(withKey(plan.value, controls.value)) : plan
}

type Build = (reading: Reading) => Result<MutationPlan, GatewayError>

const BUILDERS: Readonly<Record<WriteTarget['operation'], Build>> = {
  create: buildCreate,
  update: buildUpdate,
  soft_delete: buildSoftDelete,
}

/** Every argument that the tool takes, in the order its schema has them. One that could hold nothing is none. */
function mutationArguments({ operation, write }: WriteTarget): readonly string[] {
  const key = keyArguments(write.key).map(({ argument }) => argument)
  const values = write.columns.size === 0 ? [] : ['values']
  const expected = write.expectable.size === 0 ? [] : ['expected']
  const controls = ['dry_run', 'idempotency_key']
  switch (operation) {
    case 'create':
      return [...values, ...controls]
    case 'update':
      return [...key, ...values, ...expected, ...controls]
    case 'soft_delete':
      return [...key, ...expected, ...controls]
    default:
      return unreachable(operation)
  }
}

function buildCreate({ table, write, entries, dryRun }: Reading): Result<MutationPlan, GatewayError> {
  const values = readCreateValues(write, entries.get('values'))
  return values.ok ? ok({ kind: 'create', table, values: values.value, dryRun }) : values
}

function buildUpdate({ table, write, entries, dryRun }: Reading): Result<MutationPlan, GatewayError> {
  const key = readKey(keyArguments(write.key), entries)
  if (!key.ok) return key
  const values = readUpdateValues(write, entries.get('values'))
  if (!values.ok) return values
  const expected = readExpected(write, entries.get('expected'))
  if (!expected.ok) return expected
  return ok({ kind: 'update', table, key: key.value, values: values.value, expected: expected.value, dryRun })
}

function buildSoftDelete({ table, write, entries, dryRun }: Reading): Result<MutationPlan, GatewayError> {
  const key = readKey(keyArguments(write.key), entries)
  if (!key.ok) return key
  const expected = readExpected(write, entries.get('expected'))
  return expected.ok ? ok({ kind: 'soft_delete', table, key: key.value, expected: expected.value, dryRun }) : expected
}
