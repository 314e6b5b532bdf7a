import { invariant, unreachable } from '../../core/assert.js'
import type { PlanValue, ValidatedCall } from '../../core/plan.js'
import type { ResultField, RoutineParameter, RoutineResult } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import { RESULT_NAME } from '../../core/tool-grammar.js'
import type { CompiledCall, CompiledSets } from '../engine.js'
import type { SqlPieces } from '../sql/pieces.js'
import { SqlWriter } from '../sql/sql-writer.js'
import { writeCell } from '../sql/table-statement.js'
import { writeType } from './native-types.js'
import { writeNew } from './written-values.js'

/** A call on its way to SQL. */
interface Calling {
  readonly call: ValidatedCall
  readonly limits: ValidatedCall['limits']
  readonly pieces: SqlPieces
  readonly w: SqlWriter
}

/** A parameter with what it is given: undefined where it takes its default, or gives a value only. */
interface Argument {
  readonly parameter: RoutineParameter
  readonly value: PlanValue | null | undefined
  /** Its variable in the statement is called by this number. */
  readonly number: number
}

/**
 * ValidatedCall → CompiledCall. Of a procedure the outputs that are let through come as one row, the last result set of the
 * batch, after those that the procedure itself describes; where none is let through there is no such set. Throws for a
 * result that no routine of this engine has.
 */
export function compileCall(call: ValidatedCall, pieces: SqlPieces): CompiledCall {
  const { routine, plan, effect, limits, setColumns } = call
  const c: Calling = { call, limits, pieces, w: new SqlWriter(pieces.style) }
  const common = { effect, dryRun: plan.dryRun, rowCap: limits.rowCap }
  if (routine.kind === 'function') return { ...common, statement: compileFunction(c, routine.result) }
  const sets: CompiledSets | undefined = setColumns && { names: setColumns, cellCharsMax: limits.cellCharsMax }
  return { ...common, statement: compileProcedure(c, routine.result), ...(sets === undefined ? {} : { sets }) }
}

function compileFunction(c: Calling, result: RoutineResult): CompiledStatement {
  switch (result.kind) {
    case 'scalar':
      invariant(!result.set, 'a function gives one value')
      c.w.keyword('SELECT ')
      return c.w.finish([writeCell(c, RESULT_NAME, result.type, () => writeInvocation(c))])
    case 'record':
      return compileTable(c)
    case 'void':
    case 'sets':
    case 'unknown':
      throw new Error('invariant broken: a function gives a value or a table of known columns')
    default:
      return unreachable(result)
  }
}

/** One row more than the cap tells whether more exist. */
function compileTable(c: Calling): CompiledStatement {
  const fields = c.call.fields ?? []
  invariant(fields.length > 0, 'a call of a routine with result columns lets at least one through')
  c.w.keyword('SELECT ')
  c.pieces.limitAtStart(c.w, { kind: 'rows', rows: c.limits.rowCap + 1 })
  const cells: ResultColumn[] = []
  c.w.list(fields, ', ', ({ name, agentName, type }) => {
    cells.push(writeCell(c, agentName, type, (w) => w.column(name)))
  })
  c.w.keyword(' FROM ')
  writeInvocation(c)
  c.w.keyword(' AS t')
  c.pieces.limitAtEnd(c.w, { kind: 'rows', rows: c.limits.rowCap + 1 })
  return c.w.finish(cells)
}

/** `schema.name(…)` with every parameter in its place, or the word for its default. */
function writeInvocation(c: Calling): void {
  const { w, call } = c
  w.table(call.routine.ref)
    .keyword('(')
    .list(argumentsOf(c), ', ', ({ parameter, value }) => {
      if (value === undefined) w.keyword('DEFAULT')
      else if (value === null) w.keyword('NULL')
      else writeNew(w, parameter.type, value)
    })
  w.keyword(')')
}

function argumentsOf({ call: { routine, plan } }: Calling): readonly Argument[] {
  const values = new Map(plan.args.map(({ position, value }) => [position, value]))
  let position = 0
  return routine.parameters.map((parameter, index) => {
    const value = parameter.mode === 'out' ? undefined : values.get(position++)
    invariant(
      value !== undefined || parameter.mode === 'out' || parameter.hasDefault,
      'only a parameter with a default is left out',
    )
    return { parameter, value, number: index + 1 }
  })
}

/**
 * A procedure takes variables and no expressions, so that every argument is one of its parameter's type. They stand in their
 * places: a parameter's name can be none that a statement could quote.
 */
function compileProcedure(c: Calling, result: RoutineResult): CompiledStatement {
  const { w, call } = c
  invariant(result.kind === 'sets', 'a procedure gives outputs and result sets')
  const all = argumentsOf(c)
  const held = all.filter((argument) => isHeld(argument))
  if (held.length > 0) {
    w.keyword('DECLARE ').list(held, ', ', (argument) => writeDeclared(w, argument))
    w.keyword('; ')
  }
  w.keyword('EXEC ').table(call.routine.ref)
  if (all.length > 0) w.keyword(' ').list(all, ', ', (argument) => writeArgument(w, argument))
  const cells = writeOutputs(c, all, result.fields)
  return w.finish(cells)
}

function givesBack({ parameter: { mode } }: Argument): boolean {
  switch (mode) {
    case 'out':
    case 'inout':
      return true
    case 'in':
      return false
    case 'variadic':
      throw new Error('invariant broken: no parameter takes a list of values')
    default:
      return unreachable(mode)
  }
}

function isHeld(argument: Argument): boolean {
  return argument.value !== undefined || givesBack(argument)
}

function writeDeclared(w: SqlWriter, { parameter: { type }, value, number }: Argument): void {
  writeVariable(w, number)
  w.keyword(' ')
  writeType(w, type)
  if (value === undefined || value === null) return
  w.keyword(' = ')
  writeNew(w, type, value)
}

/** No parameter of the statement is called so. */
function writeVariable(w: SqlWriter, number: number): void {
  w.keyword('@v').wholeNumber(number)
}

function writeArgument(w: SqlWriter, argument: Argument): void {
  if (!isHeld(argument)) {
    w.keyword('DEFAULT')
    return
  }
  writeVariable(w, argument.number)
  if (givesBack(argument)) w.keyword(' OUTPUT')
}

/** Outputs in the order that the policy gives them; the routine's fields are its parameters that give one, in order. */
function writeOutputs(c: Calling, all: readonly Argument[], given: readonly ResultField[]): readonly ResultColumn[] {
  const fields = c.call.fields ?? []
  if (fields.length === 0) return []
  const giving = all.filter((argument) => givesBack(argument))
  const cells: ResultColumn[] = []
  c.w.keyword('; SELECT ').list(fields, ', ', ({ name, agentName, type }) => {
    const argument = giving[given.findIndex((field) => field.name === name)]
    invariant(argument !== undefined, 'what is let through is part of the result')
    cells.push(writeCell(c, agentName, type, (w) => writeVariable(w, argument.number)))
  })
  return cells
}
