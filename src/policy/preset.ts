import type { WriteValue } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, LogicalType } from '../core/schema-model.js'
import { coerceWrite } from '../core/value.js'
import type { PresetSource } from './policy-document.js'
import type { Claims } from './row-filter.js'

/** What a mutation writes into one column whatever its caller says. Literals are already values; claims come call by call. */
export interface Preset {
  readonly column: Column
  readonly source: WriteValue | { readonly kind: 'claim'; readonly claim: string }
}

/** One column and what is written into it. */
export interface Write {
  readonly column: Column
  readonly value: WriteValue
}

const CLOCK_TYPES: ReadonlySet<LogicalType> = new Set(['timestamp', 'date', 'time'])

/** Whether the type holds what a clock shows. */
export function holdsTime(column: Column): boolean {
  return CLOCK_TYPES.has(column.type.logical)
}

/** Fails with a phrase for the operator where the source is nothing that the column could hold. */
export function compilePreset(source: PresetSource, column: Column): Result<Preset, string> {
  if (column.generated === 'always' || column.generated === 'computed') {
    return fail('the database generates its values, so nothing can be written into it')
  }
  if (column.type.readOnly === true)
    return fail('each of its values has a type of its own, so that nothing is ever written into it')
  if (typeof source === 'object') return ok({ column, source: { kind: 'claim', claim: source.claim } })
  if (source === 'now') {
    if (holdsTime(column)) return ok({ column, source: { kind: 'now' } })
    return fail(`now fits columns of timestamp, date and time types alone, not ${column.type.native}`)
  }
  const value = coerceWrite(column.type, source)
  if (!value.ok) return fail(`the literal does not fit: expected ${value.error}`)
  return ok({ column, source: { kind: 'value', value: value.value } })
}

/** Fails with a reason that names a claim, for the audit entry alone: without it nothing may be written. */
export function resolvePresets(presets: readonly Preset[], claims: Claims): Result<readonly Write[], string> {
  const writes: Write[] = []
  for (const { column, source } of presets) {
    if (source.kind !== 'claim') {
      writes.push({ column, value: source })
      continue
    }
    const name = JSON.stringify(source.claim)
    const claim = claims.get(source.claim)
    if (claim === undefined) return fail(`claim ${name} is missing`)
    const value = coerceWrite(column.type, claim)
    if (!value.ok) return fail(`claim ${name} does not fit the column that it presets`)
    writes.push({ column, value: { kind: 'value', value: value.value } })
  }
  return ok(writes)
}
