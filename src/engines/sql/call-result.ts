import { invariant } from '../../core/assert.js'
import type { ResultField } from '../../core/schema-model.js'
import type { CompiledCall } from '../engine.js'
import { type CellWriter, cutOf } from './table-statement.js'

/** Ends a call whose outputs are all given, in their order, whatever is let through: `given` are all, `fields` the latter. */
export function finishOutputs(
  c: CellWriter,
  given: readonly ResultField[],
  fields: readonly ResultField[],
): Pick<CompiledCall, 'statement' | 'cells'> {
  const columns = fields.map(({ agentName, type }) => ({ name: agentName, type, ...cutOf(c, type) }))
  const cells = fields.map(({ name }) => given.findIndex((field) => field.name === name))
  invariant(
    cells.every((cell) => cell >= 0),
    'what is let through is part of the result',
  )
  return { statement: c.w.finish(columns), cells }
}
