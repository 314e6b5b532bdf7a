import { agentColumnName } from '../../core/names.js'
import {
  catalogName,
  type ResultField,
  type Routine,
  type RoutineParameter,
  type RoutineResult,
} from '../../core/schema-model.js'
import { type CatalogRow, commentOf, textCell } from '../catalog/rows.js'
import { valueType } from './value-types.js'

type Parameter = RoutineParameter & Pick<ResultField, 'name'>

/** A row of `ROUTINES` and its rows of `PARAMETERS`, in order. An aggregate looks like any function, and takes one row as one. */
export function buildRoutine(schema: string, row: CatalogRow, parameters: readonly CatalogRow[]): Routine {
  const kind = textCell(row, 0) === 'PROCEDURE' ? 'procedure' : 'function'
  const name = textCell(row, 1)
  const access = textCell(row, 3)
  const takes = parameters.map(parameter)
  return {
    ref: { schema: catalogName(schema), name: catalogName(name) },
    // There is no number to know it by; functions and procedures are named apart from each other.
    catalogId: `${kind}:${name}`,
    kind,
    signature: parameters
      .filter((_, place) => takes[place]?.mode !== 'out')
      .map((each) => textCell(each, 3))
      .join(', '),
    ...commentOf(row[2]),
    declaredReadOnly: access === 'READS SQL DATA' || access === 'NO SQL',
    securityDefiner: textCell(row, 4) === 'DEFINER',
    parameters: takes,
    result: kind === 'function' ? { kind: 'scalar', set: false, type: typeAt(row, 5) } : outputs(takes),
  }
}

/** The routine that a row of `PARAMETERS` belongs to is named by this. */
export function parametersKey(row: CatalogRow): string {
  return `${textCell(row, 0)} ${textCell(row, 1)}`
}

const MODES: ReadonlyMap<string | null, RoutineParameter['mode']> = new Map([
  ['OUT', 'out'],
  ['INOUT', 'inout'],
])

function parameter(row: CatalogRow): Parameter {
  const name = textCell(row, 2)
  return {
    name: catalogName(name),
    agentName: agentColumnName(name),
    mode: MODES.get(row[1] ?? null) ?? 'in',
    type: typeAt(row, 3),
    hasDefault: false,
  }
}

/** A procedure sends what it selects as well, which only a call shows. */
function outputs(takes: readonly Parameter[]): RoutineResult {
  const given = takes.filter(({ mode }) => mode !== 'in')
  return { kind: 'sets', fields: given.map(({ name, agentName, type }) => ({ name, agentName, type })) }
}

/** The type in a cell, with the character set and the collation in the two behind it. */
function typeAt(row: CatalogRow, cell: number): RoutineParameter['type'] {
  return valueType({
    columnType: textCell(row, cell),
    characterSet: row[cell + 1] ?? null,
    collation: row[cell + 2] ?? null,
    onlyJson: false,
  })
}
