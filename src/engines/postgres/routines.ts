import { agentColumnName } from '../../core/names.js'
import {
  catalogName,
  type ResultField,
  type Routine,
  type RoutineParameter,
  type RoutineResult,
  type ValueType,
} from '../../core/schema-model.js'
import { commentOf } from '../catalog/rows.js'
import { flag, isText, parseList, text } from './catalog-cells.js'
import { type CatalogTypes, valueType } from './value-types.js'
import type { Row } from './wire-query.js'

/** One parameter, or one member of a composite result, as the catalog query gives it. */
type Argument = readonly [mode: string, name: string, type: string, native: string]

/** A row of `ROUTINES`, taken apart. */
export interface RoutineRow {
  readonly row: Row
  readonly args: readonly Argument[]
  /** Members of a composite result. */
  readonly members: readonly Argument[]
}

const NO_MODIFIER = -1
const RECORD = 'record'
const VOID = 'void'

export function readRoutine(row: Row): RoutineRow {
  return { row, args: parseList(row, 12, isArgument), members: row[13] === null ? [] : parseList(row, 13, isArgument) }
}

function isArgument(value: unknown): value is Argument {
  return Array.isArray(value) && value.length === 4 && value.every(isText)
}

/** The types to look up for it. */
export function routineTypes({ row, args, members }: RoutineRow): readonly string[] {
  return [text(row, 8), ...args.map(([, , type]) => type), ...members.map(([, , type]) => type)]
}

export function buildRoutine(routine: RoutineRow, types: CatalogTypes): Routine {
  const { row } = routine
  return {
    ref: { schema: catalogName(text(row, 1)), name: catalogName(text(row, 2)) },
    catalogId: text(row, 0),
    kind: text(row, 3) === 'p' ? 'procedure' : 'function',
    signature: text(row, 10),
    ...commentOf(row[4]),
    declaredReadOnly: flag(row, 5),
    securityDefiner: flag(row, 6),
    parameters: parameters(routine, types),
    result: result(routine, types),
  }
}

const MODES: ReadonlyMap<string, RoutineParameter['mode']> = new Map<string, RoutineParameter['mode']>([
  ['i', 'in'],
  ['b', 'inout'],
  ['v', 'variadic'],
  ['o', 'out'],
])

/**
 * Columns of `RETURNS TABLE` are no parameters. Defaults belong to the last of those that take a value. A routine that the
 * server could take for another when it is called without them has none: which one runs must not be the server's guess.
 */
function parameters({ row, args }: RoutineRow, types: CatalogTypes): readonly RoutineParameter[] {
  const taking = args.filter(([mode]) => mode === 'i' || mode === 'b' || mode === 'v')
  const defaultsFrom = flag(row, 14) ? taking.length : taking.length - Number(text(row, 11))
  const withDefault = new Set(taking.slice(defaultsFrom).filter((argument) => canBeSkipped(argument, row, args)))
  return args.flatMap((argument, place) => {
    const [mode, name, type, native] = argument
    const known = MODES.get(mode)
    if (known === undefined) return []
    return [
      {
        ...(name === '' ? {} : { name: catalogName(name) }),
        agentName: name === '' ? `arg${place + 1}` : agentColumnName(name),
        mode: known,
        type: typeOf(types, type, native),
        hasDefault: withDefault.has(argument),
      },
    ]
  })
}

/** What follows a parameter that a call leaves out can be given by name alone. */
function canBeSkipped(argument: Argument, row: Row, args: readonly Argument[]): boolean {
  const written = text(row, 3) === 'p' ? 'ibvo' : 'ibv'
  return args.slice(args.indexOf(argument) + 1).every(([mode, name]) => name !== '' || !written.includes(mode))
}

/** OUT parameters and table columns make a record, a composite type too; one without either has no shape of its own. */
function result({ row, args, members }: RoutineRow, types: CatalogTypes): RoutineResult {
  const set = flag(row, 7)
  const given = args.filter(([mode]) => mode === 'o' || mode === 'b' || mode === 't')
  const fields = given.length > 0 ? given : members
  if (fields.length > 0) return { kind: 'record', set, fields: fields.map((field, i) => fieldOf(field, i, types)) }
  const native = text(row, 9)
  if (native === RECORD) return { kind: 'unknown' }
  if (native === VOID || text(row, 3) === 'p') return { kind: 'void' }
  return { kind: 'scalar', set, type: typeOf(types, text(row, 8), native) }
}

function fieldOf([, name, type, native]: Argument, place: number, types: CatalogTypes): ResultField {
  // The server's own name for a result column that was given none.
  const shown = name === '' ? `column${place + 1}` : name
  return { name: catalogName(shown), agentName: agentColumnName(shown), type: typeOf(types, type, native) }
}

function typeOf(types: CatalogTypes, oid: string, native: string): ValueType {
  return valueType(types, oid, NO_MODIFIER, native)
}
