import type { ProcedureAccess } from '../core/access.js'
import { unreachable } from '../core/assert.js'
import { agentColumnName } from '../core/names.js'
import type { ValueType } from '../core/schema-model.js'
import { procedureResult, RESULT_NAME } from '../core/tool-grammar.js'
import { type JsonSchema, outputSchema } from './json-schema.js'

/** What each tool gives. */

export const CUT: JsonSchema = { type: 'array', items: { type: 'object' } }

interface RowMember {
  readonly agentName: string
  readonly type: ValueType
  readonly nullable: boolean
}

export function rowOutput(columns: Iterable<RowMember>): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(Array.from(columns, (column) => [column.agentName, outputSchema(column)])),
  }
}

type Members = Readonly<Record<string, JsonSchema>>

function rows(row: JsonSchema, more: Members, required: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: {
      rows: { type: 'array', items: row },
      row_count: { type: 'integer' },
      ...more,
      truncated: { type: 'boolean' },
      cut: CUT,
    },
    required: ['rows', 'row_count', ...required, 'truncated'],
  }
}

export function rowsOutput(row: JsonSchema): JsonSchema {
  return rows(row, {}, [])
}

/** `replayed`: the call had ended before, and nothing was done again. */
const RUN: Members = { dry_run: { type: 'boolean' }, replayed: { type: 'boolean' } }

export function mutationOutput(row: JsonSchema): JsonSchema {
  const more = { affected_rows: { type: 'integer' }, changed: { type: 'boolean' }, ...RUN } as const
  return rows(row, more, ['affected_rows', 'changed'])
}

export function procedureOutput(procedure: ProcedureAccess): JsonSchema {
  const { fields = [], routine } = procedure
  const scalar = routine.result.kind === 'scalar' ? routine.result.type : undefined
  const shape = procedureResult(procedure)
  switch (shape) {
    case 'rows': {
      const members = scalar === undefined ? fields : [{ agentName: RESULT_NAME, type: scalar }]
      return rows(fieldsOutput(members), RUN, [])
    }
    case 'sets':
      return setsOutput(procedure)
    case 'value': {
      const value = scalar === undefined ? {} : outputSchema({ type: scalar, nullable: true })
      return { type: 'object', properties: { [RESULT_NAME]: value, ...RUN, ...LEFT_OUT }, required: [RESULT_NAME] }
    }
    case 'nothing':
      return { type: 'object', properties: { ok: { type: 'boolean' }, ...RUN }, required: ['ok'] }
    default:
      return unreachable(shape)
  }
}

function fieldsOutput(fields: readonly Omit<RowMember, 'nullable'>[]): JsonSchema {
  return rowOutput(fields.map((field) => ({ ...field, nullable: true })))
}

/** Rows of every set have some of the columns, of types that only the call decides. */
function setsOutput({ fields = [], setColumns = [] }: ProcedureAccess): JsonSchema {
  const row = {
    type: 'object',
    properties: Object.fromEntries(setColumns.map((name) => [agentColumnName(name), {}])),
  } as const
  const set: JsonSchema = {
    type: 'object',
    properties: { rows: { type: 'array', items: row }, row_count: { type: 'integer' }, truncated: { type: 'boolean' } },
    required: ['rows', 'row_count', 'truncated'],
  }
  const more: Members = {
    ...(setColumns.length === 0 ? {} : { more_results: { type: 'array', items: set } }),
    ...(fields.length === 0 ? {} : { out: fieldsOutput(fields) }),
  }
  return rows(row, { ...more, ...RUN }, [])
}

const LEFT_OUT: Members = { truncated: { type: 'boolean' }, cut: CUT }
