import { agentColumnName } from '../../core/names.js'
import {
  catalogName,
  type ResultField,
  type Routine,
  type RoutineParameter,
  type RoutineResult,
  type ValueType,
} from '../../core/schema-model.js'
import { type CatalogRow, commentOf, textCell } from '../catalog/rows.js'
import { catalogType, TYPE_CELLS, unsupportedType, valueType } from './value-types.js'

const PROCEDURES: ReadonlySet<string> = new Set(['P', 'PC'])
const TABLE_FUNCTIONS: ReadonlySet<string> = new Set(['IF', 'TF', 'FT'])
const IN_ASSEMBLIES: ReadonlySet<string> = new Set(['PC', 'FS', 'FT'])

/** Cells of a row of `PARAMETERS`. */
const TYPE_FROM = 3
const OUTPUT = TYPE_FROM + TYPE_CELLS
const HAS_DEFAULT = OUTPUT + 1
const CURSOR = OUTPUT + 2
const TABLE_TYPE = OUTPUT + 3

type Parameter = RoutineParameter & Pick<ResultField, 'name'>

/**
 * A row of `ROUTINES`, its rows of `PARAMETERS` in order, and the columns of the table that a function gives. The server
 * itself sees to it that a function in T-SQL changes nothing; of code in an assembly it cannot.
 */
export function buildRoutine(
  row: CatalogRow,
  parameters: readonly CatalogRow[],
  columns: readonly ResultField[],
): Routine {
  const type = textCell(row, 3)
  const kind = PROCEDURES.has(type) ? 'procedure' : 'function'
  const takes = parameters.filter((each) => !isReturned(each)).map(parameter)
  return {
    ref: { schema: catalogName(textCell(row, 1)), name: catalogName(textCell(row, 2)) },
    catalogId: textCell(row, 0),
    kind,
    signature: takes.map((each) => each.type.native).join(', '),
    ...commentOf(row[4]),
    declaredReadOnly: kind === 'function' && !IN_ASSEMBLIES.has(type),
    securityDefiner: textCell(row, 5) === '1',
    parameters: takes,
    result: resultOf(type, takes, parameters.find(isReturned), columns),
  }
}

function isReturned(row: CatalogRow): boolean {
  return textCell(row, 1) === '0'
}

/**
 * A parameter that gives a value back takes one as well. Most are only meant to give, and a caller in T-SQL hands in a
 * variable that holds nothing yet: so one that is left out is NULL, which is what a default stands for here.
 */
function parameter(row: CatalogRow): Parameter {
  // The sign is of the language and not of the name: a policy lists `total`. Calls pass by place and write no name.
  const name = textCell(row, 2).replace(/^@/, '')
  const output = textCell(row, OUTPUT) === '1'
  return {
    name: catalogName(name),
    agentName: agentColumnName(name),
    mode: output ? 'inout' : 'in',
    type: parameterType(row),
    hasDefault: output || textCell(row, HAS_DEFAULT) === '1',
  }
}

function parameterType(row: CatalogRow): ValueType {
  if (textCell(row, CURSOR) === '1') return unsupportedType('cursor')
  if (textCell(row, TABLE_TYPE) === '1') return unsupportedType('table type')
  return valueType(catalogType(row, TYPE_FROM))
}

/** A procedure sends what it selects beside its outputs, which only a call shows. */
function resultOf(
  type: string,
  takes: readonly Parameter[],
  returned: CatalogRow | undefined,
  columns: readonly ResultField[],
): RoutineResult {
  if (PROCEDURES.has(type)) {
    const outputs = takes.filter(({ mode }) => mode === 'inout')
    return { kind: 'sets', fields: outputs.map(({ name, agentName, type: of }) => ({ name, agentName, type: of })) }
  }
  if (TABLE_FUNCTIONS.has(type)) return { kind: 'record', set: true, fields: columns }
  return returned === undefined
    ? { kind: 'unknown' }
    : { kind: 'scalar', set: false, type: valueType(catalogType(returned, TYPE_FROM)) }
}
