import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FILTER_OPS, type Filter } from '../../src/core/plan.js'
import { catalogName, type Table, type ValueType } from '../../src/core/schema-model.js'
import type { CompiledStatement } from '../../src/core/statement.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { type SqlStyle, SqlWriter } from '../../src/engines/sql/sql-writer.js'
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

/** The text without its quoted names: literals of the source code, placeholders and limits are left. */
function skeleton(text: string): string {
  let rest = text
  let kept = ''
  for (;;) {
    const start = rest.indexOf('"')
    if (start < 0) return kept + rest
    kept += `${rest.slice(0, start)}#`
    rest = readQuoted(rest.slice(start), CLOSE.double)[1]
  }
}

const types: readonly ValueType[] = Object.values(TYPES)

const table: fc.Arbitrary<Table> = fc
  .tuple(
    name,
    fc.uniqueArray(name, { minLength: 2, maxLength: 6 }),
    fc.array(fc.constantFrom(...types), { minLength: 6, maxLength: 6 }),
    fc.boolean(),
  )
  .map(([tableName, names, columnTypes, keyed]) => {
    // `tableOf` reads a question mark at the end of a name as nullable, so the arbitrary names go in afterwards.
    const base = tableOf(tableName, {
      columns: Object.fromEntries(names.map((_, i) => [`c${i}`, columnTypes[i] ?? TYPES.text])),
    })
    const columns = base.columns.map((column, i) => ({ ...column, name: catalogName(names[i] ?? '') }))
    return { ...base, columns, primaryKey: keyed ? columns.slice(0, 1).map((column) => column.name) : [] }
  })

/** A value that no source literal, name or number in a statement can contain by chance. */
const value = fc.string({ unit: 'grapheme' }).map((text) => `«${text}»`)

const filters = (of: Table): fc.Arbitrary<readonly Filter[]> =>
  fc.array(
    fc
      .tuple(fc.constantFrom(...of.columns), fc.constantFrom(...FILTER_OPS), fc.array(value, { maxLength: 4 }), value)
      .map(([column, op, values, one]): Filter => {
        if (op === 'is_null' || op === 'not_null') return { column: column.name, op }
        return op === 'in' ? { column: column.name, op, values } : { column: column.name, op, value: one }
      }),
    { maxLength: 6 },
  )

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
      value,
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

/** Nothing of it but names came from outside of the source code, and every value has its place. */
function assertSealed({ text, params }: CompiledStatement): void {
  const bare = skeleton(text)
  assert.ok(!bare.includes('«') && !bare.includes('»'), text)
  assert.match(bare, /^[A-Za-z0-9_$ #.,:()[\]*=<>]+$/)
  const placeholders = [...bare.matchAll(/\$([0-9]+)/g)].map((match) => Number(match[1]))
  assert.deepEqual(
    placeholders,
    params.map((_, index) => index + 1),
  )
}

test('no value is ever part of a statement, and every placeholder has exactly one', () => {
  fc.assert(
    fc.property(plan, (validated) => {
      const statement = postgresDialect.compile(validated)
      assertSealed(statement)
      assert.ok(statement.columns.length > 0)
    }),
    { numRuns: 300 },
  )
})

/** As a column of the type takes it: arrays come as JSON text. */
const written = (type: ValueType, text: string) => (type.logical === 'array' ? JSON.stringify([text, null]) : text)

const mutation = table.chain((of) => {
  const names = of.columns.map((column) => column.name)
  const some = fc.subarray(names).chain((chosen) =>
    fc.array(fc.option(value), { minLength: chosen.length, maxLength: chosen.length }).map((values) =>
      chosen.map((column, i) => {
        const type = of.columns.find((candidate) => candidate.name === column)?.type ?? TYPES.text
        const text = values[i] ?? null
        return [column, text === null ? null : written(type, text)] as const
      }),
    ),
  )
  return fc
    .tuple(some, some, filters(of), fc.subarray(names), value, fc.constantFrom('create', 'update', 'soft_delete'))
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

test('no value is ever part of a mutation, whatever is written, expected or in scope', () => {
  fc.assert(
    fc.property(mutation, (validated) => {
      const { lock, write } = postgresDialect.compileMutation(validated)
      assertSealed(write)
      if (lock !== undefined) assertSealed(lock)
    }),
    { numRuns: 300 },
  )
})

const call = fc
  .tuple(
    name,
    name,
    fc.uniqueArray(name, { maxLength: 5 }),
    fc.array(fc.constantFrom(...types), { minLength: 5, maxLength: 5 }),
    fc.array(fc.option(value), { minLength: 5, maxLength: 5 }),
    fc.boolean(),
  )
  .map(([schema, routine, names, parameterTypes, values, procedure]) => {
    const parameters = names.map((each, i) => ({
      name: catalogName(each),
      agentName: `p${i}`,
      mode: 'in' as const,
      type: parameterTypes[i] ?? TYPES.text,
      hasDefault: true,
    }))
    const args = parameters.flatMap(({ type }, i) => {
      const text = values[i] ?? null
      return text === null ? [] : [[i, written(type, text)] as const]
    })
    return validatedCall(
      {
        ref: { schema: catalogName(schema), name: catalogName(routine) },
        catalogId: '1',
        kind: procedure ? 'procedure' : 'function',
        signature: '',
        declaredReadOnly: false,
        securityDefiner: false,
        parameters,
        result: { kind: 'void' },
      },
      { args: Object.fromEntries(args) },
    )
  })

test('no argument is ever part of a call, whichever are left out', () => {
  fc.assert(
    fc.property(call, (validated) => assertSealed(postgresDialect.compileCall(validated).statement)),
    { numRuns: 300 },
  )
})
