import type { ValidatedCall } from '../../src/core/plan.js'
import {
  catalogName,
  type ResultField,
  type Routine,
  type RoutineParameter,
  type RoutineResult,
  type ValueType,
} from '../../src/core/schema-model.js'
import { type CallParts, validatedCall } from '../support/plans.js'
import { TYPES } from '../support/schema.js'

/** Every shape of a call by name. */

type Mode = RoutineParameter['mode']

function parameter(mode: Mode, name: string, type: ValueType, hasDefault = false): RoutineParameter {
  return { ...(name === '' ? {} : { name: catalogName(name) }), agentName: name, mode, type, hasDefault }
}

function fields(types: Readonly<Record<string, ValueType>>): readonly ResultField[] {
  return Object.entries(types).map(([name, type]) => ({ name: catalogName(name), agentName: name, type }))
}

function routine(kind: Routine['kind'], parameters: readonly RoutineParameter[], result: RoutineResult): Routine {
  return {
    ref: { schema: catalogName('api'), name: catalogName('do "it"') },
    catalogId: '1',
    kind,
    signature: '',
    declaredReadOnly: false,
    securityDefiner: false,
    parameters,
    result,
  }
}

const SCALAR: RoutineResult = { kind: 'scalar', set: false, type: TYPES.integer }
const VOID: RoutineResult = { kind: 'void' }
const THREE = fields({ month: TYPES.date, revenue: TYPES.decimal, note: TYPES.text })
const DEFAULTED = [
  parameter('in', 'a', TYPES.integer),
  parameter('in', 'b', TYPES.citext, true),
  parameter('in', 'Odd "c"', TYPES.mood, true),
]

const cases = new Map<string, ValidatedCall>()
const of = (
  name: string,
  kind: Routine['kind'],
  parameters: readonly RoutineParameter[],
  result: RoutineResult,
  parts: CallParts = {},
) => cases.set(name, validatedCall(routine(kind, parameters, result), parts))

of('function without parameters', 'function', [], SCALAR)
of('function with every argument', 'function', DEFAULTED, SCALAR, { args: { 0: '1', 1: 'x', 2: 'ok' } })
of('function without its last argument', 'function', DEFAULTED, SCALAR, { args: { 0: '1', 1: 'x' } })
of('function without an argument in the middle', 'function', DEFAULTED, SCALAR, { args: { 0: '1', 2: 'ok' } })
of(
  'function with unnamed parameters',
  'function',
  [parameter('in', '', TYPES.bytes), parameter('in', '', TYPES.jsonb)],
  SCALAR,
  {
    args: { 0: 'AAH/', 1: '{"a":1}' },
  },
)
of('function with NULL for an argument', 'function', DEFAULTED, SCALAR, { args: { 0: null } })
const VARIADIC = [parameter('in', 'p', TYPES.text, true), parameter('variadic', 'words', TYPES.texts, true)]
of('function with a list of arguments', 'function', VARIADIC, SCALAR, { args: { 0: 'p', 1: '["a","b"]' } })
of('function with a list of arguments by name', 'function', VARIADIC, SCALAR, { args: { 1: '["a","b"]' } })
const { typeRef: _, ...anyelement } = TYPES.inet
of(
  'function with a polymorphic parameter',
  'function',
  [parameter('in', 'v', { ...anyelement, native: 'anyelement' })],
  SCALAR,
  {
    args: { 0: 'x' },
  },
)
of('function that gives nothing', 'function', DEFAULTED, VOID, { args: { 0: '1' }, effect: 'write' })
of(
  'function that gives a set of long texts',
  'function',
  [],
  { kind: 'scalar', set: true, type: TYPES.text },
  {
    limits: { rowCap: 7, cellCharsMax: 16 },
  },
)
of(
  'function that gives rows',
  'function',
  [],
  { kind: 'record', set: true, fields: THREE },
  { limits: { cellCharsMax: 16 } },
)
of(
  'function that gives rows of some columns',
  'function',
  [],
  { kind: 'record', set: true, fields: THREE },
  {
    fields: ['revenue', 'month'],
  },
)
of('function that gives one output', 'function', [parameter('out', 'total', TYPES.decimal)], {
  kind: 'record',
  set: false,
  fields: fields({ total: TYPES.decimal }),
})
of('function that gives one output without a name', 'function', [parameter('out', '', TYPES.decimal)], {
  kind: 'record',
  set: false,
  fields: fields({ column1: TYPES.decimal }),
})
of(
  'function that gives outputs among its parameters',
  'function',
  [parameter('inout', 'n', TYPES.decimal), parameter('out', 'x', TYPES.text), parameter('in', 'm', TYPES.date)],
  { kind: 'record', set: false, fields: fields({ n: TYPES.decimal, x: TYPES.text }) },
  { args: { 0: '1.5', 1: '2024-02-29' } },
)
of('procedure that gives nothing', 'procedure', [parameter('in', 'job', TYPES.text)], VOID, {
  args: { 0: 'x' },
  effect: 'write',
})
const OUTPUTS = [
  parameter('out', 'first', TYPES.integer),
  parameter('in', 'n', TYPES.integer),
  parameter('inout', 'm', TYPES.text),
  parameter('out', 'last', TYPES.mood),
]
const GIVEN: RoutineResult = {
  kind: 'record',
  set: false,
  fields: fields({ first: TYPES.integer, m: TYPES.text, last: TYPES.mood }),
}
of('procedure with outputs', 'procedure', OUTPUTS, GIVEN, { args: { 0: '1', 1: 'x' }, effect: 'write' })
of('procedure with some of its outputs', 'procedure', OUTPUTS, GIVEN, {
  args: { 0: '1', 1: 'x' },
  fields: ['last', 'm'],
  dryRun: true,
  effect: 'write',
})
of(
  'procedure without an argument before another',
  'procedure',
  [
    parameter('in', 'job', TYPES.text),
    parameter('inout', 'done', TYPES.boolean, true),
    parameter('inout', 'long', TYPES.text, true),
  ],
  { kind: 'record', set: false, fields: fields({ done: TYPES.boolean, long: TYPES.text }) },
  { args: { 0: 'x', 2: 'y' }, effect: 'write' },
)

export const CALL_CASES: ReadonlyMap<string, ValidatedCall> = cases
