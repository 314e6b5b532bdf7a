import type { ProcedureAccess, WriteAccess } from '../core/access.js'
import { REPERTOIRE_PHRASES } from '../core/repertoire.js'
import type { Column } from '../core/schema-model.js'
import { keyArguments, parameterArguments } from '../core/tool-grammar.js'
import { closedObject, type JsonSchema, keySchema, valueSchema } from './json-schema.js'

/** What each writing tool and each procedure takes, for one caller. A property that could hold nothing is left out. */

type Property = readonly [name: string, schema: JsonSchema]
type Columns = ReadonlyMap<string, Column>

/** `commented`: whether columns bring their comments along, which one tool of a table does. */
export function createInput(write: WriteAccess, commented: boolean): JsonSchema {
  const values = columnObject(write.columns, commented, [...write.required])
  return closedObject(
    [...(write.columns.size === 0 ? [] : [['values', values] as const]), ...CONTROLS],
    write.required.size === 0 ? [] : ['values'],
  )
}

export function updateInput(write: WriteAccess, commented: boolean): JsonSchema {
  const values = described(columnObject(write.columns, commented), 'At least one column to change.')
  const key = keyProperties(write)
  return closedObject(
    [...key, ['values', values], ...expected(write), ...CONTROLS],
    [...key.map(([argument]) => argument), 'values'],
  )
}

export function softDeleteInput(write: WriteAccess): JsonSchema {
  const key = keyProperties(write)
  return closedObject(
    [...key, ...expected(write), ...CONTROLS],
    key.map(([argument]) => argument),
  )
}

export function callInput(procedure: ProcedureAccess): JsonSchema {
  const parameters = parameterArguments(procedure)
  return closedObject(
    [
      ...parameters.map(({ argument, parameter }): Property => [argument, valueSchema({ type: parameter.type })]),
      ...(procedure.dryRun ? CONTROLS : [IDEMPOTENCY_KEY]),
    ],
    parameters.filter(({ parameter }) => !parameter.hasDefault).map(({ argument }) => argument),
  )
}

const DRY_RUN: Property = ['dry_run', { type: 'boolean', description: 'Reports the effect and undoes it.' }]
const IDEMPOTENCY_KEY: Property = [
  'idempotency_key',
  { type: 'string', description: 'A new text for each change: what repeats it is not run again.' },
]
const CONTROLS: readonly Property[] = [DRY_RUN, IDEMPOTENCY_KEY]

function keyProperties(write: WriteAccess): readonly Property[] {
  return keyArguments(write.key).map(({ argument, column }) => [argument, keySchema(column)])
}

function expected(write: WriteAccess): readonly Property[] {
  if (write.expectable.size === 0) return []
  return [['expected', described(columnObject(write.expectable, false), 'Only if the row holds these now.')]]
}

function columnObject(columns: Columns, commented: boolean, required: readonly string[] = []): JsonSchema {
  const properties = [...columns].map(([name, { type, nullable, comment }]): Property => {
    const words = {
      ...(type.charsMax === undefined ? {} : { charsMax: type.charsMax }),
      ...(type.repertoire === undefined ? {} : { characters: REPERTOIRE_PHRASES[type.repertoire] }),
      ...(commented && comment !== undefined ? { comment } : {}),
    }
    return [name, valueSchema({ type, nullable, ...words })]
  })
  return closedObject(properties, required)
}

function described(schema: JsonSchema, description: string): JsonSchema {
  const { type, ...rest } = schema
  return { ...(type === undefined ? {} : { type }), description, ...rest }
}
