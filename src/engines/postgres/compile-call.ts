import { invariant, unreachable } from '../../core/assert.js'
import type { PlanValue, ValidatedCall } from '../../core/plan.js'
import type { ResultField, RoutineParameter, RoutineResult } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import type { CompiledCall } from '../engine.js'
import { finishOutputs } from '../sql/call-result.js'
import type { SqlPieces } from '../sql/pieces.js'
import { SqlWriter, type Write } from '../sql/sql-writer.js'
import { writeCell } from '../sql/table-statement.js'
import { writeTyped } from './written-values.js'

/** A call on its way to SQL. */
interface Calling {
  readonly call: ValidatedCall
  readonly limits: ValidatedCall['limits']
  readonly pieces: SqlPieces
  readonly w: SqlWriter
}

/** The name of the one result column of a routine that gives a scalar. */
const SCALAR = 'result'

/**
 * ValidatedCall → CompiledCall. Every argument carries its catalog type, so that of several routines of one name the one
 * meant is called. Throws for a routine whose result has no shape that a policy could limit.
 */
export function compileCall(call: ValidatedCall, pieces: SqlPieces): CompiledCall {
  const { routine, plan, effect, limits } = call
  const c: Calling = { call, limits, pieces, w: new SqlWriter(pieces.style) }
  const common = { effect, dryRun: plan.dryRun, rowCap: limits.rowCap }
  if (routine.kind === 'procedure') return { ...common, ...compileProcedure(c) }
  return { ...common, statement: compileFunction(c, routine.result) }
}

function compileFunction(c: Calling, result: RoutineResult): CompiledStatement {
  switch (result.kind) {
    case 'void':
      c.w.keyword('SELECT ')
      writeInvocation(c, ({ mode }) => mode !== 'out')
      return c.w.finish([])
    case 'scalar':
      return fromFunction(
        c,
        (w) => w.keyword('(v)'),
        () => [writeCell(c, SCALAR, result.type, (w) => w.keyword('f.v'))],
      )
    case 'record':
      return compileRecord(c, result.fields)
    case 'sets':
    case 'unknown':
      throw new Error('invariant broken: a routine whose result has no known shape is not called')
    default:
      return unreachable(result)
  }
}

function compileRecord(c: Calling, all: readonly ResultField[]): CompiledStatement {
  const [only] = all
  // The server has a name for every result column but an only one without a name of its own, which would go by the alias.
  // No other is renamed: should the routine have changed, a column must not be given out under another one's name.
  const unnamed = c.call.routine.parameters.some(
    ({ mode, name }) => (mode === 'out' || mode === 'inout') && name === undefined,
  )
  const names: Write = (w) => {
    if (unnamed && all.length === 1 && only !== undefined) w.keyword('(').identifier(only.name).keyword(')')
  }
  return fromFunction(c, names, () => {
    const cells: ResultColumn[] = []
    c.w.list(letThrough(c), ', ', ({ name, agentName, type }) => {
      cells.push(writeCell(c, agentName, type, (w) => w.keyword('f.').identifier(name)))
    })
    return cells
  })
}

/** One row more than the cap tells whether more exist. */
function fromFunction(c: Calling, names: Write, cells: () => readonly ResultColumn[]): CompiledStatement {
  c.w.keyword('SELECT ')
  const columns = cells()
  c.w.keyword(' FROM ')
  writeInvocation(c, ({ mode }) => mode !== 'out')
  c.w.keyword(' AS f')
  names(c.w)
  c.pieces.limitAtEnd(c.w, { kind: 'rows', rows: c.limits.rowCap + 1 })
  return c.w.finish(columns)
}

/** A procedure's outputs are all given, in their order, and places are held for them among the arguments. */
function compileProcedure(c: Calling): Pick<CompiledCall, 'statement' | 'cells'> {
  const { result } = c.call.routine
  c.w.keyword('CALL ')
  writeInvocation(c, () => true)
  return result.kind === 'record' ? finishOutputs(c, result.fields, letThrough(c)) : finishOutputs(c, [], [])
}

function letThrough({ call }: Calling): readonly ResultField[] {
  const fields = call.fields ?? []
  invariant(fields.length > 0, 'a call of a routine with result columns lets at least one through')
  return fields
}

/**
 * `schema.name(…)` by position up to the first parameter that is left out, and by name from there. Outputs that the engine
 * wants a place for are NULL.
 */
function writeInvocation(c: Calling, takes: (parameter: RoutineParameter) => boolean): void {
  const { routine, plan } = c.call
  const values = new Map(plan.args.map(({ position, value }) => [position, value]))
  const written: { readonly parameter: RoutineParameter; readonly value: PlanValue | null; readonly named: boolean }[] =
    []
  let position = 0
  let named = false
  for (const parameter of routine.parameters.filter(takes)) {
    const value = parameter.mode === 'out' ? null : values.get(position++)
    if (value === undefined) {
      invariant(parameter.hasDefault, 'only a parameter with a default is left out')
      named = true
    } else {
      written.push({ parameter, value, named })
    }
  }
  c.w
    .table(routine.ref)
    .keyword('(')
    .list(written, ', ', ({ parameter, value, named: byName }) => {
      if (parameter.mode === 'variadic') c.w.keyword('VARIADIC ')
      if (byName) writeName(c.w, parameter)
      writeTyped(c.w, parameter.type, value)
    })
  c.w.keyword(')')
}

function writeName(w: SqlWriter, { name }: RoutineParameter): void {
  invariant(name !== undefined, 'a parameter after one that is left out has a name')
  w.identifier(name).keyword(' => ')
}
