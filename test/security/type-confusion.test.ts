import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  FILTERS_MAX,
  GROUP_COLUMNS_MAX,
  IN_VALUES_MAX,
  JSON_DEPTH_MAX,
  METRICS_MAX,
  ORDER_COLUMNS_MAX,
  VALUE_CHARS_MAX,
} from '../../src/core/limits.js'
import { positionsOf } from '../support/arguments.js'
import {
  COLUMNS,
  confusedPolicy,
  confusedSetup,
  LENIENT,
  LIMITS,
  type Takes,
  TOKENS,
} from '../support/confused-types.js'
import { literal } from '../support/corpus.js'
import { forEngine } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  post,
  prepareGateway,
  type RunningGateway,
  startGateway,
  type ToolAnswer,
} from '../support/gateway.js'
import { ENGINES, isGenuine, writable } from '../support/security-engines.js'
import { checksumOf } from '../support/security-sql.js'
import type { TestDatabase } from '../support/test-server.js'

/** What is no JSON at all. */
const NO_JSON = ['NaN', 'Infinity', '-Infinity', '0x10', '05', '+5', '.5', '5.', "'5'", 'undefined', '1_000'] as const

/** Strings that a text column takes: PostgreSQL has no NUL. */
const isString = (token: string): boolean => token.startsWith('"') && !token.includes('\\u0000')

const ROUNDED = ['1e400', '9007199254740992', '9007199254740993', '9223372036854775808', '18446744073709551615']

/** JSON takes whatever is JSON; lists take lists of what their elements take; every column here takes null. */
function isWritten(type: string, takes: Takes, token: string): boolean {
  if (token === 'null') return true
  // A number that JSON.parse has already rounded is refused inside of JSON too.
  if (type === 'json') return !ROUNDED.includes(token)
  if (type === 'array') return ['[]', '[5]', '["5"]', '[[5]]'].includes(token)
  return takes === 'strings' ? isString(token) : takes !== 'nothing' && takes.includes(token)
}

const SHAPE_ENDS = /^(?:ARGUMENT_|ROW_NOT_FOUND|DB_CONSTRAINT|DB_VALUE)/
/** What SQL Server takes for a moment, and what merely speaks its protocol does not. */
const TAKEN_BY_GENUINE: ReadonlySet<string> = new Set(['"May 31 2024 10AM"'])

for (const engine of ENGINES) {
  const columns = forEngine(COLUMNS, engine.engine)
  describe(`values of the wrong type through a running gateway on ${engine.label}`, () => {
    let genuine: boolean
    let database: TestDatabase
    let folder: GatewayFolder
    let gateway: RunningGateway
    let endpoint: string
    let key: string | undefined
    before(async () => {
      const server = await engine.start()
      genuine = isGenuine(server)
      const { triggers, login } = writable(server, ['kinds', 'lenient'])
      database = await server.createDatabase(`${confusedSetup(engine.engine)}${triggers}`)
      folder = await prepareGateway({
        connectors: [{ id: 'kinds', settings: login(database), policy: confusedPolicy(engine.engine) }],
        identities: { reader: { roles: ['reader'] } },
      })
      gateway = await startGateway(folder)
      endpoint = gateway.endpoint('kinds')
      key = folder.keys['reader']
    })
    after(async () => {
      await gateway.stop()
      await folder.remove()
      await database.drop()
    })

    /** A call whose arguments are raw JSON text. */
    async function raw(tool: string, args: string): Promise<{ readonly status: number; readonly text: string }> {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${args}}}`
      const { status, text } = await post(endpoint, key, body)
      return { status, text }
    }

    for (const [type, { takes }] of Object.entries(columns)) {
      test(`${type}: a value is taken exactly when its grammar has it`, async () => {
        for (const token of TOKENS) {
          const fits = takes === 'strings' ? isString(token) : takes !== 'nothing' && takes.includes(token)
          const calls: [string, string][] = [
            ['search_kinds', `{"filters":[{"column":"${type}","op":"eq","value":${token}}]}`],
            ['search_kinds', `{"filters":[{"column":"${type}","op":"in","values":[${token}]}]}`],
            [
              'aggregate_kinds',
              `{"metrics":[{"fn":"count"}],"filters":[{"column":"${type}","op":"neq","value":${token}}]}`,
            ],
          ]
          if (takes !== 'nothing') calls.push([`get_by_${type}_by_pk`, `{"${type}":${token}}`])
          for (const [tool, args] of calls) {
            const { text } = await raw(tool, args)
            const said = /(ARGUMENT_[A-Z]+|ROW_NOT_FOUND|DB_VALUE|"row_count")/.exec(text)?.[1] ?? text
            const place = `${tool} ${args}: ${text.slice(0, 200)}`
            if (!fits) assert.match(said, /^ARGUMENT_/, place)
            // A type that the gateway does not know is the database's to judge, and older ones have no endless interval.
            else if (type === 'unknown' || (type === 'interval' && token === '"infinity"'))
              assert.match(said, /^(?:"row_count"|ROW_NOT_FOUND|DB_VALUE)$/, place)
            else assert.match(said, /^(?:"row_count"|ROW_NOT_FOUND)$/, place)
          }
        }
      })
    }

    for (const [type, { takes }] of Object.entries(columns)) {
      test(`${type}: a value is written exactly when its grammar has it, and null where the column takes none`, async () => {
        const kept = await checksumOf(database)
        for (const token of TOKENS) {
          for (const [tool, args] of [
            ['update_kinds_by_pk', `{"id":1,"values":{"${type}":${token}},"dry_run":true}`],
            ['create_kinds', `{"values":{"id":77,"${type}":${token}},"dry_run":true}`],
          ] as const) {
            const { text } = await raw(tool, args)
            const said = /(ARGUMENT_[A-Z]+|DB_[A-Z]+|"affected_rows")/.exec(text)?.[1] ?? text
            const place = `${tool} ${args}: ${text.slice(0, 200)}`
            if (!isWritten(type, takes, token)) assert.match(said, /^ARGUMENT_/, place)
            // What merely speaks the protocol of SQL Server cannot show the bytes that were written.
            else if (!genuine && type === 'bytes') assert.match(said, /^(?:"affected_rows"|DB_ERROR)$/, place)
            // As above; and text with a NUL is JSON, which the database is to judge.
            else if (/unknown|json/.test(type) || (type === 'interval' && token === '"infinity"'))
              assert.match(said, /^(?:"affected_rows"|DB_VALUE)$/, place)
            else assert.equal(said, '"affected_rows"', place)
          }
        }
        assert.equal(await checksumOf(database), kept)
      })
    }

    for (const [column, { exact, lenient }] of Object.entries(forEngine(LENIENT, engine.engine))) {
      test(`${column}: what the database itself would take for the value is refused, or finds nothing`, async () => {
        const asked = (token: string): readonly (readonly [string, string])[] => [
          ['search_lenient', `{"filters":[{"column":"${column}","op":"eq","value":${token}}]}`],
          ['search_lenient', `{"filters":[{"column":"${column}","op":"in","values":[${token}]}]}`],
          [
            'update_lenient_by_pk',
            `{"id":1,"values":{"${column}":null},"expected":{"${column}":${token}},"dry_run":true}`,
          ],
        ]
        for (const [tool, args] of asked(exact)) {
          assert.match((await raw(tool, args)).text, /"(?:row_count|affected_rows)":1\b/, args)
        }
        for (const token of lenient) {
          // The parsed JSON is text for strings, and what the database reads the same way for all else.
          const parsed: unknown = JSON.parse(token)
          const given = typeof parsed === 'string' ? literal(engine.engine, parsed) : token
          if (genuine || !TAKEN_BY_GENUINE.has(token)) {
            const taken = await database.query(`SELECT id FROM lenient WHERE ${column} = ${given}`)
            assert.deepEqual(taken, [['1']], `the database does not take ${given} for ${exact}`)
          }
          for (const [tool, args] of asked(token)) {
            const { text } = await raw(tool, args)
            assert.match(
              text,
              /ARGUMENT_(?:VALUE|TYPE)|"row_count":0\b|CONFLICT_EXPECTED/,
              `${args}: ${text.slice(0, 200)}`,
            )
          }
        }
      })
    }

    test('what is no JSON is refused as a whole', async () => {
      for (const token of NO_JSON) {
        const { status, text } = await raw('search_kinds', `{"limit":${token}}`)
        assert.equal(status, 400, token)
        assert.match(text, /PROTOCOL_PARSE/)
      }
    })

    test('a limit is a whole number and nothing like one', async () => {
      for (const token of TOKENS) {
        const { text } = await raw('search_kinds', `{"limit":${token}}`)
        const fits = LIMITS.includes(token)
        assert.equal(text.includes('"row_count"'), fits, `${token}: ${text.slice(0, 200)}`)
        if (!fits) assert.match(text, /ARGUMENT_(?:VALUE|TYPE)/)
      }
    })

    test('of a name given twice the last counts, everywhere alike', async () => {
      const twice = await raw(
        'search_kinds',
        '{"filters":[{"column":"nope","column":"text","op":"gt","op":"eq","value":"1","value":"3"}],"limit":1,"limit":5}',
      )
      const once = await raw('search_kinds', '{"filters":[{"column":"text","op":"eq","value":"3"}],"limit":5}')
      assert.equal(twice.text, once.text)
      assert.match(once.text, /"row_count":1/)
    })

    test('JSON nested deeper than allowed is refused as a whole, wherever it stands', async () => {
      const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
      for (const place of [
        '{"filters":#}',
        '{"filters":[{"column":"text","op":"eq","value":#}]}',
        '{"limit":#}',
        '#',
      ]) {
        const { status, text } = await raw('search_kinds', place.replace('#', deep(JSON_DEPTH_MAX + 1)))
        assert.equal(status, 400, place)
        assert.match(text, /PROTOCOL_REQUEST/)
        const shallow = await raw('search_kinds', place.replace('#', deep(8)))
        assert.match(shallow.text, /ARGUMENT_/)
      }
      // Text that parses is taken for what it says, and is no way around the bound.
      const hidden = JSON.stringify(deep(100_000))
      for (const name of ['filters', 'columns', 'order_by']) {
        assert.match((await raw('search_kinds', `{"${name}":${hidden}}`)).text, /ARGUMENT_/)
      }
    })

    test('anything of the wrong shape in any place of any tool is refused by name', async (t) => {
      const shapes: readonly unknown[] = [
        null,
        true,
        7.5,
        -1,
        '',
        'x',
        [],
        [[]],
        {},
        { a: { b: [{}] } },
        Array(50).fill('x'),
        '[]',
        '{}',
        '[{}]',
      ]
      let calls = 0
      for (const tool of await listTools(endpoint, key)) {
        if (tool.name.includes('by_') && !tool.name.includes('by_text')) continue
        for (const { path, put, takes } of positionsOf(tool, new Map([['id', ['1']]]), 'text')) {
          for (const shape of takes === 'name' ? ['x', ''] : shapes) {
            const answer = await callTool(endpoint, key, tool.name, put(shape))
            calls++
            if (answer.isError)
              assert.match(answer.text, SHAPE_ENDS, `${tool.name} ${path} ${JSON.stringify(shape)}: ${answer.text}`)
          }
        }
      }
      assert.ok(calls > 400)
      t.diagnostic(`${calls} calls`)
    })

    describe('a call larger than allowed names the limit', () => {
      const many = <T>(count: number, item: (i: number) => T): readonly T[] =>
        Array.from({ length: count }, (_, i) => item(i))
      const filter = { column: 'id', op: 'eq', value: '1' }
      const metric = (i: number) => ({ fn: 'count', as: `m${i}` })
      const CASES: readonly (readonly [what: string, tool: string, max: number, args: (count: number) => unknown])[] = [
        ['filters', 'search_kinds', FILTERS_MAX, (count) => ({ filters: many(count, () => filter) })],
        [
          'filters',
          'aggregate_kinds',
          FILTERS_MAX,
          (count) => ({ metrics: [metric(0)], filters: many(count, () => filter) }),
        ],
        [
          'values',
          'search_kinds',
          IN_VALUES_MAX,
          (count) => ({ filters: [{ column: 'id', op: 'in', values: many(count, String) }] }),
        ],
        ['metrics', 'aggregate_kinds', METRICS_MAX, (count) => ({ metrics: many(count, metric) })],
      ]
      for (const [what, tool, max, args] of CASES) {
        test(`${what} of ${tool}`, async () => {
          assert.equal((await callTool(endpoint, key, tool, args(max))).isError, false)
          assertLimit(await callTool(endpoint, key, tool, args(max + 1)), max)
        })
      }
      const TOO_LONG: readonly (readonly [what: string, tool: string, max: number, args: unknown])[] = [
        [
          'order_by',
          'search_kinds',
          ORDER_COLUMNS_MAX,
          { order_by: many(ORDER_COLUMNS_MAX + 1, () => ({ column: 'id' })) },
        ],
        [
          'order_by',
          'aggregate_kinds',
          ORDER_COLUMNS_MAX,
          { metrics: [metric(0)], order_by: many(ORDER_COLUMNS_MAX + 1, () => ({ by: 'm0' })) },
        ],
        [
          'group_by',
          'aggregate_kinds',
          GROUP_COLUMNS_MAX,
          { metrics: [metric(0)], group_by: many(GROUP_COLUMNS_MAX + 1, () => 'id') },
        ],
        ['columns', 'search_kinds', Object.keys(columns).length + 1, { columns: many(100_000, () => 'id') }],
        ['columns', 'get_by_text_by_pk', 2, { text: 'x', columns: many(3, () => 'note') }],
      ]
      for (const [what, tool, max, args] of TOO_LONG) {
        test(`${what} of ${tool}`, async () => assertLimit(await callTool(endpoint, key, tool, args), max))
      }
      test('one long value', async () => {
        const long = (chars: number) => ({ filters: [{ column: 'text', op: 'eq', value: 'x'.repeat(chars) }] })
        assert.equal((await callTool(endpoint, key, 'search_kinds', long(VALUE_CHARS_MAX))).isError, false)
        const { text } = await callTool(endpoint, key, 'search_kinds', long(VALUE_CHARS_MAX + 1))
        assert.match(text, /^ARGUMENT_(?:VALUE|LIMIT)/)
        assert.ok(text.includes(String(VALUE_CHARS_MAX)))
      })
      test('many long values together with every other list at its end', async () => {
        const filters = many(FILTERS_MAX, () => ({ column: 'id', op: 'in', values: many(IN_VALUES_MAX, String) }))
        const { isError, text } = await callTool(endpoint, key, 'search_kinds', { filters })
        assert.equal(isError, false, text.slice(0, 200))
      })
    })
  })
}

function assertLimit({ isError, text }: ToolAnswer, max: number): void {
  assert.ok(isError)
  assert.match(text, /^ARGUMENT_LIMIT/)
  assert.match(text, new RegExp(`at most ${max}\\b`))
}
