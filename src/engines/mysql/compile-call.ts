import { invariant, unreachable } from '../../core/assert.js'
import type { ValidatedCall } from '../../core/plan.js'
import type { RoutineParameter, RoutineResult } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import { RESULT_NAME } from '../../core/tool-grammar.js'
import type { CompiledCall, CompiledSets } from '../engine.js'
import { finishOutputs } from '../sql/call-result.js'
import type { SqlPieces } from '../sql/pieces.js'
import { SqlWriter } from '../sql/sql-writer.js'
import { writeCell } from '../sql/table-statement.js'
import { bound } from './bound-values.js'
import { writeNew } from './written-values.js'

/** A call on its way to SQL. */
interface Calling {
  readonly call: ValidatedCall
  readonly limits: ValidatedCall['limits']
  readonly pieces: SqlPieces
  readonly w: SqlWriter
}

/**
 * ValidatedCall → CompiledCall. Of a procedure the server gives all outputs as one row, which comes after the result sets
 * that the procedure itself describes. Throws for a result that no routine of this engine has.
 */
export function compileCall(call: ValidatedCall, pieces: SqlPieces): CompiledCall {
  const { routine, plan, effect, limits, setColumns } = call
  const c: Calling = { call, limits, pieces, w: new SqlWriter(pieces.style) }
  const common = { effect, dryRun: plan.dryRun, rowCap: limits.rowCap }
  if (routine.kind === 'function') return { ...common, statement: compileFunction(c, routine.result) }
  const sets: CompiledSets | undefined = setColumns && { names: setColumns, cellCharsMax: limits.cellCharsMax }
  return { ...common, ...compileProcedure(c, routine.result), ...(sets === undefined ? {} : { sets }) }
}

function compileFunction(c: Calling, result: RoutineResult): CompiledStatement {
  invariant(result.kind === 'scalar' && !result.set, 'a function gives one value')
  c.w.keyword('SELECT ')
  return c.w.finish([writeCell(c, RESULT_NAME, result.type, () => writeInvocation(c))])
}

function compileProcedure(c: Calling, result: RoutineResult): Pick<CompiledCall, 'statement' | 'cells'> {
  invariant(result.kind === 'sets', 'a procedure gives outputs and result sets')
  c.w.keyword('CALL ')
  writeInvocation(c)
  return finishOutputs(c, result.fields, c.call.fields ?? [])
}

/** `schema.name(…)` with every parameter in its place: there are no defaults. */
function writeInvocation({ w, call: { routine, plan } }: Calling): void {
  const values = new Map(plan.args.map(({ position, value }) => [position, value]))
  let position = 0
  w.table(routine.ref)
    .keyword('(')
    .list(routine.parameters, ', ', (parameter) => {
      if (parameter.mode === 'out') {
        w.param(null)
        return
      }
      const value = values.get(position++)
      invariant(value !== undefined, 'every parameter is given a value')
      writeArgument(w, parameter, value)
    })
  w.keyword(')')
}

/** What also takes an output is a parameter of the statement and nothing around it. */
function writeArgument(w: SqlWriter, { mode, type }: RoutineParameter, value: string | null): void {
  switch (mode) {
    case 'in':
      if (value === null) w.param(null)
      else writeNew(w, type, value)
      return
    case 'inout':
      w.param(value === null ? null : bound(type, value))
      return
    case 'out':
    case 'variadic':
      throw new Error('invariant broken: only inputs of one value are given one')
    default:
      unreachable(mode)
  }
}
