import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FILTER_OPS, type Filter } from '../../src/core/plan.js'
import { type Column, catalogName, type Routine, type Table, type ValueType } from '../../src/core/schema-model.js'
import type { CompiledStatement } from '../../src/core/statement.js'
import type { CompiledMutation } from '../../src/engines/engine.js'
import { type SqlStyle, SqlWriter } from '../../src/engines/sql/sql-writer.js'
import { DIALECTS, type DialectUnderTest } from '../support/dialects.js'
import {
  aggregatePlan,
  getPlan,
  searchPlan,
  validatedCall,
  validatedMutation,
  validatedPlan,
} from '../support/plans.js'
import { TYPES, tableOf } from '../support/schema.js'

/** Names as catalogs hold them: anything but NUL, and often what SQL quotes with. */
const name = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 }),
    fc.string({ unit: fc.constantFrom('"', '`', '[', ']', '$', '1', '?', '@', '.', ' ', "'", '\\', '😀', '-', ';') }),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'select', '$1', '"; DROP TABLE x; --'),
  )
  .filter((text) => text !== '' && !text.includes('\0'))

const CLOSE: Readonly<Record<SqlStyle['quoting'], readonly [string, string]>> = {
  double: ['"', '"'],
  backtick: ['`', '`'],
  bracket: ['[', ']'],
}

/** Reads one quoted name as an engine would; gives the name and what is left of the text. */
function readQuoted(text: string, [open, close]: readonly [string, string]): readonly [string, string] {
  assert.ok(text.startsWith(open))
  let read = ''
  let at = 1
  for (;;) {
    const end = text.indexOf(close, at)
    assert.ok(end >= 0, `unterminated: ${text}`)
    read += text.slice(at, end)
    if (text[end + 1] !== close) return [read, text.slice(end + 1)]
    read += close
    at = end + 2
  }
}

test('every name reads back as itself in every quoting style', () => {
  fc.assert(
    fc.property(name, name, fc.constantFrom('double', 'backtick', 'bracket'), (schema, table, quoting) => {
      const w = new SqlWriter({ quoting, placeholders: 'dollar', paramsMax: 1 })
      w.table({ schema: catalogName(schema), name: catalogName(table) })
      const [readSchema, rest] = readQuoted(w.finish([]).text, CLOSE[quoting])
      assert.equal(readSchema, schema)
      assert.deepEqual(readQuoted(rest.slice(1), CLOSE[quoting]), [table, ''])
    }),
  )
})

/** Reads one literal as an engine would, whatever the server's settings take backslashes for. */
const READ_LITERAL: Readonly<Record<SqlStyle['quoting'], (text: string) => string | undefined>> = {
  double: (text) => {
    const [, escapes, held] = /^(E?)'((?:[^']|'')*)'$/su.exec(text) ?? []
    if (held === undefined) return undefined
    const read = held.replaceAll("''", "'")
    // Without the mark, a setting of the server's would decide what a backslash is.
    if (escapes === '') return read.includes('\\') ? undefined : read
    return unescaped(read)
  },
  backtick: (text) => {
    const [, held] = /^'((?:[^']|'')*)'$/su.exec(text) ?? []
    return held === undefined ? undefined : unescaped(held.replaceAll("''", "'"))
  },
  bracket: (text) => /^N'((?:[^']|'')*)'$/su.exec(text)?.[1]?.replaceAll("''", "'"),
}

function unescaped(text: string): string | undefined {
  const pairs = text.replaceAll('\\\\', '')
  return pairs.includes('\\') ? undefined : text.replaceAll('\\\\', '\\')
}

test('every name, and every table with its schema, reads back as itself from a text', () => {
  fc.assert(
    fc.property(name, name, fc.constantFrom('double', 'backtick', 'bracket'), (schema, table, quoting) => {
      const writer = () => new SqlWriter({ quoting, placeholders: 'dollar', paramsMax: 1 })
      assert.equal(READ_LITERAL[quoting](writer().nameText(catalogName(table)).finish([]).text), table)
      const ref = { schema: catalogName(schema), name: catalogName(table) }
      const read = READ_LITERAL[quoting](writer().tableText(ref).finish([]).text)
      assert.equal(read, writer().table(ref).finish([]).text)
    }),
  )
})

/** How an engine's statements look once their names are taken out. */
interface Look {
  readonly quoting: SqlStyle['quoting']
  /** Literals of the source code that stand in quotes. */
  readonly literals: RegExp
  /** What is left is made of these alone. */
  readonly rest: RegExp
  /** The number of each placeholder as it stands in the text, from 1. */
  readonly placeholders: (bare: string) => readonly number[]
}

const LOOKS: Readonly<Record<DialectUnderTest['engine'], Look>> = {
  postgres: {
    quoting: 'double',
    literals: /(?!)/g,
    rest: /^[A-Za-z0-9_$ #.,:()[\]*=<>]+$/,
    placeholders: (bare) => [...bare.matchAll(/\$([0-9]+)/g)].map((match) => Number(match[1])),
  },
  mysql: {
    quoting: 'backtick',
    literals: /'(?:t|f|\.|no geometry)'/g,
    rest: /^[A-Za-z0-9_? #.,()*=<>+-]+$/,
    placeholders: (bare) => [...bare.matchAll(/\?/g)].map((_, index) => index + 1),
  },
  sqlserver: {
    quoting: 'bracket',
    literals:
      /N?'(?:t|f|\.|\$#?|\\|not of the code page|\+00:00|:00|BaseType|(?:small)?money|float|real|date|time|(?:small)?datetime|datetime2|datetimeoffset|(?:var)?binary|)'/g,
    rest: /^[A-Za-z0-9_@ #.,;()*=<>+-]+$/,
    // A parameter may stand in several places.
    placeholders: (bare) => [...new Set([...bare.matchAll(/@p([0-9]+)/g)].map((match) => Number(match[1])))],
  },
}

/** The text without its quoted names: literals of the source code, placeholders and limits are left. */
function skeleton(text: string, quoting: SqlStyle['quoting']): string {
  let rest = text
  let kept = ''
  for (;;) {
    const start = rest.indexOf(CLOSE[quoting][0])
    if (start < 0) return kept + rest
    kept += `${rest.slice(0, start)}#`
    rest = readQuoted(rest.slice(start), CLOSE[quoting])[1]
  }
}

/** A value that no source literal, name or number in a statement can contain by chance. */
const marked = fc.string({ unit: 'grapheme' }).map((text) => `«${text}»`)

/** Of an enum, only a label is a value. */
function valueText({ labels = [] }: ValueType): fc.Arbitrary<string> {
  return labels.length === 0 ? marked : fc.constantFrom(...labels)
}

/** As a column of the type takes it: arrays come as JSON text. */
const written = (type: ValueType, text: string) => (type.logical === 'array' ? JSON.stringify([text, null]) : text)

/** Tables, plans and calls over the types of one engine. */
function generators({ engine, types: named }: DialectUnderTest) {
  const types = Object.values(named).map((type) =>
    type.labels === undefined ? type : { ...type, labels: ["«it's»", '«"; `»', '«\\»'] },
  )
  const table: fc.Arbitrary<Table> = fc
    .tuple(
      name,
      fc.uniqueArray(name, { minLength: 2, maxLength: 6 }),
      fc.array(fc.constantFrom(...types), { minLength: 6, maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([tableName, names, columnTypes, keyed, readBack]) => {
      // `tableOf` reads a question mark at the end of a name as nullable, so the arbitrary names go in afterwards.
      const base = tableOf(tableName, {
        columns: Object.fromEntries(names.map((_, i) => [`c${i}`, columnTypes[i] ?? TYPES.text])),
      })
      const columns = base.columns.map((column, i) => ({ ...column, name: catalogName(names[i] ?? '') }))
      const primaryKey = keyed ? columns.slice(0, 1).map((column) => column.name) : []
      // What an insert does not return is created only where a key tells the row.
      const byKey = engine !== 'postgres' && keyed && readBack ? { insertReadBack: 'by_key' as const } : {}
      return { ...base, columns, primaryKey, ...byKey }
    })

  const filterOn = (column: Column): fc.Arbitrary<Filter> => {
    const one = valueText(column.type)
    return fc
      .tuple(fc.constantFrom(...FILTER_OPS), fc.array(one, { maxLength: 4 }), one)
      .map(([op, values, value]): Filter => {
        if (op === 'is_null' || op === 'not_null') return { column: column.name, op }
        return op === 'in' ? { column: column.name, op, values } : { column: column.name, op, value }
      })
  }
  const filters = (of: Table): fc.Arbitrary<readonly Filter[]> =>
    fc.array(fc.constantFrom(...of.columns).chain(filterOn), { maxLength: 6 })

  const plan = table.chain((of) => {
    const names = of.columns.map((column) => column.name)
    const scope = fc.oneof(
      filters(of).map((all) => ({ all })),
      fc.tuple(filters(of), fc.array(filters(of), { maxLength: 3 })).map(([all, any]) => ({ all, any })),
    )
    return fc
      .tuple(
        filters(of),
        scope,
        fc.subarray(names, { minLength: 1 }),
        marked,
        fc.constantFrom('get', 'search', 'aggregate'),
      )
      .map(([where, within, columns, key, kind]) => {
        const first = columns[0] ?? ''
        if (kind === 'get') return validatedPlan(of, getPlan(of, { [first]: key }, columns), { scope: within })
        if (kind === 'search') {
          return validatedPlan(of, searchPlan(of, { columns, filters: where, order: [] }), { scope: within })
        }
        const metrics = [{ fn: 'count' as const }, { fn: 'count' as const, column: first }]
        return validatedPlan(of, aggregatePlan(of, { metrics, groupBy: columns, filters: where }), { scope: within })
      })
  })

  const mutation = table.chain((of) => {
    const names = of.columns.map((column) => column.name)
    const assigned = ({ name: column, type }: Column) =>
      fc.option(valueText(type)).map((text) => [column, text === null ? null : written(type, text)] as const)
    const some = fc.subarray([...of.columns]).chain((columns) => fc.tuple(...columns.map(assigned)))
    const [first] = of.columns
    return fc
      .tuple(
        some,
        some,
        filters(of),
        fc.subarray(names),
        valueText(first?.type ?? TYPES.text),
        fc.constantFrom('create', 'update', 'soft_delete'),
      )
      .map(([values, expected, all, returning, key, kind]) =>
        validatedMutation(of, kind, {
          key: kind === 'create' ? {} : { [names[0] ?? '']: key },
          // An update writes at least one column.
          values: new Map([...(kind === 'create' ? [] : [[names[0] ?? '', null] as const]), ...values]),
          expected: new Map(expected),
          scope: { all },
          returning,
        }),
      )
  })

  const parameter = fc
    .constantFrom(...types)
    .chain((type) => fc.option(valueText(type)).map((text) => ({ type, text })))
  const call = fc
    .tuple(
      name,
      name,
      fc.uniqueArray(name, { maxLength: 5 }),
      fc.array(parameter, { minLength: 5, maxLength: 5 }),
      fc.boolean(),
    )
    .map(([schema, routine, names, given, procedure]) => {
      const args = names.flatMap((_, i): readonly (readonly [number, string | null])[] => {
        const { type, text } = given[i] ?? { type: TYPES.text, text: null }
        // Only one of the engines has defaults.
        if (text === null) return engine === 'postgres' ? [] : [[i, null] as const]
        return [[i, written(type, text)] as const]
      })
      const types = names.map((_, i) => given[i]?.type ?? TYPES.text)
      const ref = { schema: catalogName(schema), name: catalogName(routine) }
      return validatedCall(routineOf(engine, ref, procedure, names, types), { args: Object.fromEntries(args) })
    })

  return { plan, mutation, call }
}

/** A routine with parameters of these names, and the least result that the engine's routines have. */
function routineOf(
  engine: DialectUnderTest['engine'],
  ref: Routine['ref'],
  procedure: boolean,
  names: readonly string[],
  types: readonly ValueType[],
): Routine {
  const own: Routine['result'] = procedure
    ? { kind: 'sets', fields: [] }
    : { kind: 'scalar', set: false, type: types[0] ?? TYPES.text }
  return {
    ref,
    catalogId: '1',
    kind: procedure ? 'procedure' : 'function',
    signature: '',
    declaredReadOnly: false,
    securityDefiner: false,
    parameters: names.map((each, i) => ({
      name: catalogName(each),
      agentName: `p${i}`,
      mode: 'in',
      type: types[i] ?? TYPES.text,
      hasDefault: engine === 'postgres',
    })),
    result: engine === 'postgres' ? { kind: 'void' } : own,
  }
}

for (const subject of DIALECTS) {
  const { dialect, engine } = subject
  const { plan, mutation, call } = generators(subject)
  const look = LOOKS[engine]

  /** Nothing of it but names came from outside of the source code, and every value has its place. */
  const assertSealed = ({ text, params }: CompiledStatement): void => {
    const bare = skeleton(text, look.quoting).replace(look.literals, '#')
    assert.ok(!bare.includes('«') && !bare.includes('»'), text)
    assert.match(bare, look.rest)
    assert.deepEqual(
      look.placeholders(bare),
      params.map((_, index) => index + 1),
    )
  }
  const statementsOf = ({ lock, write, readBack }: CompiledMutation) =>
    [lock, write, readBack].filter((statement) => statement !== undefined)

  test(`no value is ever part of a statement on ${engine}, and every placeholder has exactly one`, () => {
    fc.assert(
      fc.property(plan, (validated) => {
        const statement = dialect.compile(validated)
        assertSealed(statement)
        assert.ok(statement.columns.length > 0)
      }),
      { numRuns: 300 },
    )
  })

  test(`no value is ever part of a mutation on ${engine}, whatever is written, expected or in scope`, () => {
    fc.assert(
      fc.property(mutation, (validated) => {
        for (const statement of statementsOf(dialect.compileMutation(validated))) assertSealed(statement)
      }),
      { numRuns: 300 },
    )
  })

  test(`no argument is ever part of a call on ${engine}, whichever are left out`, () => {
    fc.assert(
      fc.property(call, (validated) => assertSealed(dialect.compileCall(validated).statement)),
      { numRuns: 300 },
    )
  })
}
