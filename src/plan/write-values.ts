import type { WriteAccess } from '../core/access.js'
import { choices, pathOf, readEach, readObject } from '../core/arguments.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../core/limits.js'
import type { Assignment, PlanValue } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, ValueType } from '../core/schema-model.js'
import { coerceWrite } from '../core/value.js'
import type { BuiltPlan } from './build-plan.js'
import { suggestLabel, type VisibleColumns } from './coerce.js'

/** Where a value goes, as far as writing it needs to know. */
interface Place {
  readonly type: ValueType
  readonly nullable: boolean
}

/** A value to be written, or null where the place takes it. `raw` is what the caller sent, and never undefined. */
export function readWrite(
  { type, nullable }: Place,
  raw: unknown,
  path: string,
): Result<PlanValue | null, GatewayError> {
  if (raw === null && nullable) return ok(null)
  const value = coerceWrite(type, raw)
  if (value.ok) return value
  const expected = raw === null ? `a value, since this takes no null: ${value.error}` : value.error
  return fail(gatewayError('ARGUMENT_VALUE', { field: path, expected, ...suggestLabel(type, raw) }))
}

/**
 * An object whose names are columns, as assignments in table order whatever order they came in. A name that is no column
 * of the caller's in this place is refused in one way, whether it is hidden, not to be written, or does not exist.
 */
function readAssignments(
  columns: VisibleColumns,
  raw: unknown,
  path: string,
  required: ReadonlySet<string>,
): Result<readonly Assignment[], GatewayError> {
  const entries = readObject(raw, path, [...columns.keys()])
  if (!entries.ok) return fail(columnRefusal(entries.error))
  const given = [...columns.values()].filter(({ agentName }) => entries.value.has(agentName) || required.has(agentName))
  return readEach(given, path, (column) => {
    const field = pathOf(path, column.agentName)
    const value = entries.value.get(column.agentName)
    if (value === undefined) return fail(missingColumn(column, field))
    const written = readWrite(column, value, field)
    return written.ok ? ok({ column: column.name, value: written.value }) : written
  })
}

/** The names of these objects are columns, and are refused as such. */
function columnRefusal(error: GatewayError): GatewayError {
  return error.code === 'ARGUMENT_UNKNOWN' ? { ...error, code: 'ARGUMENT_COLUMN' } : error
}

function missingColumn(column: Column, field: string): GatewayError {
  const fitting = coerceWrite(column.type, undefined)
  return gatewayError('ARGUMENT_MISSING', { field, expected: fitting.ok ? 'a value' : fitting.error })
}

/** `values` of a create: what must be given is named one column at a time. Nothing given is enough where nothing must be. */
export function readCreateValues(write: WriteAccess, raw: unknown): Result<readonly Assignment[], GatewayError> {
  return readAssignments(write.columns, raw === undefined ? {} : raw, 'values', write.required)
}

const NONE: ReadonlySet<string> = new Set()

/** `values` of an update: at least one. */
export function readUpdateValues(write: WriteAccess, raw: unknown): Result<readonly Assignment[], GatewayError> {
  const expected = `an object with at least one of the columns to change: ${choices([...write.columns.keys()])}`
  if (raw === undefined) return fail(gatewayError('ARGUMENT_MISSING', { field: 'values', expected }))
  const values = readAssignments(write.columns, raw, 'values', NONE)
  if (!values.ok || values.value.length > 0) return values
  return fail(gatewayError('ARGUMENT_VALUE', { field: 'values', expected }))
}

/** What the row must hold for the change to happen; nothing where it is left out. */
export function readExpected(write: WriteAccess, raw: unknown): Result<readonly Assignment[], GatewayError> {
  return raw === undefined ? ok([]) : readAssignments(write.expectable, raw, 'expected', NONE)
}

const PRINTABLE = /^[\x20-\x7e]+$/

/** How a call is to be run, by the arguments that every writing tool takes. */
export interface RunControls {
  readonly dryRun: boolean
  /** Absent for a dry run: it changes nothing, so that there is nothing to be done at most once. */
  readonly idempotencyKey?: string
}

export function readRunControls(entries: ReadonlyMap<string, unknown>): Result<RunControls, GatewayError> {
  const dryRun = readFlag(entries.get('dry_run'), 'dry_run')
  if (!dryRun.ok) return dryRun
  const key = entries.get('idempotency_key')
  if (key === undefined) return ok({ dryRun: dryRun.value })
  const expected = `a text of 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters, new for each change`
  if (typeof key !== 'string') return fail(gatewayError('ARGUMENT_TYPE', { field: 'idempotency_key', expected }))
  if (key.length > IDEMPOTENCY_KEY_CHARS_MAX || !PRINTABLE.test(key)) {
    return fail(gatewayError('ARGUMENT_VALUE', { field: 'idempotency_key', expected }))
  }
  return ok(dryRun.value ? { dryRun: true } : { dryRun: false, idempotencyKey: key })
}

/** False where a caller says nothing. */
function readFlag(raw: unknown, path: string): Result<boolean, GatewayError> {
  if (raw === undefined || raw === false || raw === 'false') return ok(false)
  if (raw === true || raw === 'true') return ok(true)
  return fail(gatewayError('ARGUMENT_TYPE', { field: path, expected: 'true or false' }))
}

export function withKey<P extends BuiltPlan['plan']>(plan: P, { idempotencyKey }: RunControls): BuiltPlan<P> {
  return idempotencyKey === undefined ? { plan } : { plan, idempotencyKey }
}
