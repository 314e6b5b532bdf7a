import type { ValidatedCall } from '../../src/core/plan.js'
import {
  catalogName,
  type ResultField,
  type Routine,
  type RoutineParameter,
  type RoutineResult,
  type ValueType,
} from '../../src/core/schema-model.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { type CallParts, validatedCall } from '../support/plans.js'
import { TYPES } from '../support/schema.js'
import { SQLSERVER_TYPES } from '../support/sqlserver-types.js'

/** Every shape of a call by name: of each engine those that it has. */

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

type Cases = Map<string, ValidatedCall>

const adder =
  (cases: Cases) =>
  (
    name: string,
    kind: Routine['kind'],
    parameters: readonly RoutineParameter[],
    result: RoutineResult,
    parts: CallParts = {},
  ) =>
    cases.set(name, validatedCall(routine(kind, parameters, result), parts))

const postgres: Cases = new Map()
const of = adder(postgres)

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

export const POSTGRES_CALL_CASES: ReadonlyMap<string, ValidatedCall> = postgres

const mysql: Cases = new Map()
const ofMysql = adder(mysql)
const gives = (type: ValueType): RoutineResult => ({ kind: 'scalar', set: false, type })

ofMysql('function without parameters', 'function', [], gives(MYSQL_TYPES.int))
ofMysql(
  'function with arguments of every binding',
  'function',
  [
    parameter('in', 'a', MYSQL_TYPES.int),
    parameter('in', 'b', MYSQL_TYPES.ubigint),
    parameter('in', 'c', MYSQL_TYPES.decimal),
    parameter('in', 'd', MYSQL_TYPES.float),
    parameter('in', 'e', MYSQL_TYPES.varbinary),
    parameter('in', 'f', MYSQL_TYPES.flag),
    parameter('in', 'g', MYSQL_TYPES.timestamp),
    parameter('in', 'h', MYSQL_TYPES.point),
    parameter('in', 'i', MYSQL_TYPES.json),
    parameter('in', 'j', MYSQL_TYPES.mood),
  ],
  gives(MYSQL_TYPES.int),
  {
    args: {
      0: '1',
      1: '18446744073709551615',
      2: '1.5',
      3: '0.1',
      4: 'AAH/',
      5: 'true',
      6: '2024-02-29T00:30:00+02:00',
      7: 'POINT(1 2)',
      8: '{"a":1}',
      9: 'ok',
    },
  },
)
ofMysql(
  'function with NULL for an argument',
  'function',
  [parameter('in', 'h', MYSQL_TYPES.point)],
  gives(MYSQL_TYPES.int),
  {
    args: { 0: null },
  },
)
ofMysql('function that gives a long text', 'function', [], gives(MYSQL_TYPES.longtext), {
  limits: { cellCharsMax: 16 },
})
ofMysql('function that gives a shape', 'function', [], gives(MYSQL_TYPES.point))
ofMysql('function that gives bits', 'function', [], gives(MYSQL_TYPES.bits10))

const outputs = [
  parameter('out', 'first', MYSQL_TYPES.int),
  parameter('in', 'n', MYSQL_TYPES.int),
  parameter('inout', 'm', MYSQL_TYPES.longtext),
  parameter('inout', 'f', MYSQL_TYPES.float),
  parameter('out', 'last', MYSQL_TYPES.mood),
]
const sets: RoutineResult = {
  kind: 'sets',
  fields: fields({
    first: MYSQL_TYPES.int,
    m: MYSQL_TYPES.longtext,
    f: MYSQL_TYPES.float,
    last: MYSQL_TYPES.mood,
  }),
}
const values = { 0: '1', 1: 'x', 2: '0.1' }
ofMysql(
  'procedure that gives nothing',
  'procedure',
  [parameter('in', 'job', MYSQL_TYPES.folded)],
  { kind: 'sets', fields: [] },
  {
    args: { 0: 'x' },
    effect: 'write',
  },
)
ofMysql('procedure with outputs', 'procedure', outputs, sets, { args: values, effect: 'write' })
ofMysql('procedure with some of its outputs', 'procedure', outputs, sets, {
  args: { ...values, 1: null },
  fields: ['last', 'm'],
  effect: 'write',
})
ofMysql('procedure with some columns of its result sets', 'procedure', outputs, sets, {
  args: values,
  fields: [],
  setColumns: ['one', 'Two'],
  limits: { cellCharsMax: 16 },
})

export const MYSQL_CALL_CASES: ReadonlyMap<string, ValidatedCall> = mysql

const sqlserver: Cases = new Map()
const ofSqlserver = adder(sqlserver)
const NUMBERS = [parameter('in', 'a', SQLSERVER_TYPES.int), parameter('in', 'b', SQLSERVER_TYPES.decimal, true)]

ofSqlserver('function without parameters', 'function', [], gives(SQLSERVER_TYPES.int))
ofSqlserver(
  'function with arguments of every binding',
  'function',
  [
    parameter('in', 'a', SQLSERVER_TYPES.int),
    parameter('in', 'b', SQLSERVER_TYPES.bigint),
    parameter('in', 'c', SQLSERVER_TYPES.money),
    parameter('in', 'd', SQLSERVER_TYPES.real),
    parameter('in', 'e', SQLSERVER_TYPES.varbinary),
    parameter('in', 'f', SQLSERVER_TYPES.bit),
    parameter('in', 'g', SQLSERVER_TYPES.datetimeoffset),
    parameter('in', 'h', SQLSERVER_TYPES.greek),
    parameter('in', 'i', SQLSERVER_TYPES.xml),
  ],
  gives(SQLSERVER_TYPES.bigint),
  {
    args: {
      0: '1',
      1: '9223372036854775807',
      2: '1.5',
      3: '0.1',
      4: 'AAH/',
      5: 'true',
      6: '2024-02-29T00:30:00+02:00',
      7: 'ά',
      8: '<a/>',
    },
  },
)
ofSqlserver('function without its last argument', 'function', NUMBERS, gives(SQLSERVER_TYPES.int), {
  args: { 0: null },
})
ofSqlserver('function that gives a long text', 'function', [], gives(SQLSERVER_TYPES.long), {
  limits: { cellCharsMax: 16 },
})
ofSqlserver('function that gives a shape', 'function', [], gives(SQLSERVER_TYPES.geography))
ofSqlserver(
  'function that gives rows of some columns',
  'function',
  NUMBERS,
  {
    kind: 'record',
    set: true,
    fields: fields({ month: SQLSERVER_TYPES.date, revenue: SQLSERVER_TYPES.money, note: SQLSERVER_TYPES.long }),
  },
  { args: { 0: '1', 1: '2' }, fields: ['note', 'month'], limits: { rowCap: 7 } },
)

const sqlserverOutputs = [
  parameter('out', 'first', SQLSERVER_TYPES.int),
  parameter('in', 'n', SQLSERVER_TYPES.smallint),
  parameter('in', 'left out', SQLSERVER_TYPES.date, true),
  parameter('inout', 'm', SQLSERVER_TYPES.long),
  parameter('inout', 'f', SQLSERVER_TYPES.float),
  parameter('out', 'last', SQLSERVER_TYPES.legacyText),
]
const sqlserverSets: RoutineResult = {
  kind: 'sets',
  fields: fields({
    first: SQLSERVER_TYPES.int,
    m: SQLSERVER_TYPES.long,
    f: SQLSERVER_TYPES.float,
    last: SQLSERVER_TYPES.legacyText,
  }),
}
const sqlserverValues = { 0: '1', 2: 'x', 3: '0.1' }
ofSqlserver('procedure without parameters', 'procedure', [], { kind: 'sets', fields: [] }, { effect: 'write' })
ofSqlserver(
  'procedure that gives nothing',
  'procedure',
  [parameter('in', 'job', SQLSERVER_TYPES.folded)],
  { kind: 'sets', fields: [] },
  { args: { 0: 'x' }, effect: 'write', dryRun: true },
)
ofSqlserver('procedure with outputs', 'procedure', sqlserverOutputs, sqlserverSets, {
  args: sqlserverValues,
  effect: 'write',
})
ofSqlserver('procedure with some of its outputs', 'procedure', sqlserverOutputs, sqlserverSets, {
  args: { ...sqlserverValues, 1: '2024-02-29', 2: null },
  fields: ['last', 'm'],
  effect: 'write',
})
ofSqlserver('procedure with some columns of its result sets', 'procedure', sqlserverOutputs, sqlserverSets, {
  args: sqlserverValues,
  fields: [],
  setColumns: ['one', 'Two'],
  limits: { cellCharsMax: 16 },
})

export const SQLSERVER_CALL_CASES: ReadonlyMap<string, ValidatedCall> = sqlserver
