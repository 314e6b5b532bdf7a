import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { mayWrite, positionsOf, type Samples, type Tool } from '../support/arguments.js'
import { HOSTILE_STRINGS, storable, UNSEEN_CHARACTERS } from '../support/corpus.js'
import { forEngine, type PerEngine } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  post,
  prepareGateway,
  type SpawnedGateway,
  spawnGateway,
} from '../support/gateway.js'
import {
  asKeys,
  DOCUMENT,
  ECHO,
  KEPT,
  oddSchema,
  plainPolicy,
  plainSetup,
  SCRATCH_ROW,
  SUBJECTS,
  storedOn,
} from '../support/injection-sql.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { ENGINES, isGenuine, readingBack, spelledFor } from '../support/security-engines.js'
import { checksumOf } from '../support/security-sql.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'

const READER = identity('reader', ['reader'])
const ALLOWED = /^(?:OK|ARGUMENT_[A-Z]+|ROW_NOT_FOUND|CONFLICT_EXPECTED|DB_VALUE|DB_CONSTRAINT|TOOL_UNKNOWN)$/

/**
 * What merely speaks the protocol of SQL Server says of a text that a code page does not have, as of most things, that
 * something failed.
 */
const ALLOWED_OF_CODE_PAGE = /^(?:OK|ARGUMENT_[A-Z]+|ROW_NOT_FOUND|CONFLICT_EXPECTED|DB_CONSTRAINT|DB_ERROR)$/

const LONE_BACKSLASH = /(?<!\\)(?:\\\\)*\\$/

/** Strings that a dialect's own text holds, so that a statement with one of them need not have it from the caller. */
const OWN_TEXT: PerEngine<ReadonlySet<string>> = {
  postgres: new Set(['%', '$1', '"', "'"]),
  mysql: new Set(['?', "'"]),
  sqlserver: new Set(["'", "''"]),
}

interface Structured {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly result: unknown
  readonly out?: { readonly kept?: unknown }
}

/** The tool's own shape: what is not in it is undefined, and fails what follows. */
function structuredOf(body: string): Structured {
  return (JSON.parse(`{${body}}`) as { readonly structuredContent: Structured }).structuredContent
}

function rowsOf(body: string): Structured['rows'] {
  return structuredOf(body).rows
}

for (const engine of ENGINES) {
  describe(`hostile strings on ${engine.label}`, () => {
    let server: TestServer
    let plain: TestDatabase
    let path: RecordedPath
    const samples: Samples = new Map([
      ['code', ['first']],
      ['id', ['1']],
    ])
    before(async () => {
      server = await engine.start()
      plain = await server.createDatabase(spelledFor(server, plainSetup(engine.engine)))
      const policy = plainPolicy(engine.engine)
      path = await openPath({ settings: plain.writer(), policy, ...readingBack(server) })
    })
    after(async () => {
      await path.close()
      await plain.drop()
    })

    test('in every place of every tool end in a known way, reach no statement, and change nothing', async (t) => {
      const before = await checksumOf(plain)
      const ownText = forEngine(OWN_TEXT, engine.engine)
      let calls = 0
      const long = (name: string): boolean => /_scratch/.test(name) && !isGenuine(server)
      if (!isGenuine(server)) t.diagnostic('left out, since the server is not SQL Server itself: long texts')
      for (const tool of path.tools(READER)) {
        if (long(tool.name)) continue
        const ordinary = new Set<string>()
        for (const column of forEngine(SUBJECTS, engine.engine)) {
          for (const [at, { path: place, put, takes }] of positionsOf(tool, samples, column).entries()) {
            // Places that do not hang on the column are the same for all of them.
            if (column !== 'code' && (mayWrite(tool) || !/value/.test(place))) continue
            for (const [i, text] of HOSTILE_STRINGS.entries()) {
              // Places of a change are many and alike: each string meets every sixth of them.
              if (mayWrite(tool) && (at + i) % 6 > 0) continue
              const seen = await path.call(READER, tool.name, put(text))
              calls++
              const ends = !isGenuine(server) && place.includes('chinese') ? ALLOWED_OF_CODE_PAGE : ALLOWED
              assert.match(seen.code, ends, `${tool.name} ${place} ${JSON.stringify(text.slice(0, 40))}`)
              if (takes === 'name') assert.match(seen.code, /^ARGUMENT_/, `${tool.name} ${place} ${text}`)
              for (const statement of seen.statements) {
                ordinary.add(statement.text.replace(/[$@]p?\d+/g, '$'))
                if (/^[\w ]*$/.test(text) || ownText.has(text)) continue
                assert.ok(!statement.text.includes(text), `${tool.name} ${place}: ${statement.text.slice(0, 200)}`)
              }
            }
          }
        }
        // A place changes what is asked, a string in it never does: a handful of texts for thousands of calls.
        assert.ok(ordinary.size < 80, `${tool.name}: ${ordinary.size} statements`)
      }
      assert.equal(await checksumOf(plain), before)
      assert.ok(calls > 5_000)
      t.diagnostic(`${calls} calls`)
    })

    test('are written as they are and read back as they were, and nothing else is touched', async (t) => {
      // Texts of any length are cut by a collation that what merely speaks the protocol of SQL Server does not have.
      if (!isGenuine(server)) return t.diagnostic('left out, since the server is not SQL Server itself: long texts')
      const others = async () => (await checksumOf(plain)).replace(/^scratch .*$/m, '')
      const before = await others()
      const echo = forEngine(ECHO, engine.engine)
      const document = forEngine(DOCUMENT, engine.engine)
      const texts = new Set<string>()
      const send = async (tool: string, args: unknown) => {
        const seen = await path.call(READER, tool, args)
        for (const { text } of seen.statements) texts.add(text)
        return seen
      }
      for (const [id, text] of HOSTILE_STRINGS.entries()) {
        // A document or list too long for a cell would be given back as null.
        const short = text.slice(0, 2_000)
        const [doc, list] = [{ [short]: [short] }, [short, null, short]]
        const values = { body: text, doc: document(doc), list: document(list) }
        const made = await send('create_scratch', { values: { id, ...values } })
        if (!storable(text)) {
          assert.equal(made.code, 'ARGUMENT_VALUE', JSON.stringify(text))
          continue
        }
        assert.equal(made.code, 'OK', `${JSON.stringify(text.slice(0, 40))}: ${made.body.slice(0, 300)}`)
        assert.deepEqual(rowsOf(made.body), [{ id, ...values }])
        const found = await path.call(READER, 'get_scratch_by_pk', { id })
        assert.deepEqual(rowsOf(found.body), [{ id, ...values }])
        const [stored = []] = await plain.query(forEngine(SCRATCH_ROW, engine.engine), [String(id)])
        const [storedBody, storedList, storedDoc] = stored
        assert.deepEqual([storedBody, JSON.parse(storedList ?? ''), JSON.parse(storedDoc ?? '')], [text, list, doc])
        // What was read is what is there, and is expected to be.
        const changed = await send('update_scratch_by_pk', {
          id,
          values: { body: `${text}+` },
          expected: { body: text },
        })
        assert.deepEqual(rowsOf(changed.body)[0]?.['body'], `${text}+`)
        const again = await send('update_scratch_by_pk', { id, values: { body: text }, expected: { body: text } })
        assert.equal(again.code, 'CONFLICT_EXPECTED')
        const echoed = await send('echo', echo.args(text, short))
        assert.deepEqual(structuredOf(echoed.body), echo.result(text, short))
        const kept = await send('keep', { body: text })
        assert.equal(kept.code, 'OK')
        assert.deepEqual(forEngine(KEPT, engine.engine)(structuredOf(kept.body)), text)
      }
      assert.ok(texts.size <= 10, `${texts.size} statements for all of them`)
      assert.equal(await others(), before)
      await plain.query('DELETE FROM scratch')
    })

    test('as names of tools are no tools', async () => {
      for (const text of HOSTILE_STRINGS) {
        for (const name of [text, `search_${text}`, `get_${text}_by_pk`, `search_things${text}`]) {
          if (name === 'search_things') continue
          const { code, statements } = await path.call(READER, name, {})
          assert.equal(code, 'TOOL_UNKNOWN', name)
          assert.equal(statements.length, 0)
        }
      }
    })

    test('stored in a cell are found by a filter and by a key, each alone, and come back as they are', async (t) => {
      // What merely speaks the protocol of SQL Server lacks the collation by which a pattern disregards case alone.
      const patterns = isGenuine(server)
      if (!patterns) t.diagnostic('left out, since the server is not SQL Server itself: patterns')
      const keys = new Set(asKeys(engine.engine))
      const stored = storedOn(engine.engine)
      for (const [i, text] of stored.entries()) {
        for (const filter of [
          { column: 'body', op: 'eq', value: text },
          { column: 'body', op: 'in', values: [text] },
          { column: 'body', op: 'ilike', value: text.replace(/[\\%_]/g, '\\$&') },
        ]) {
          if (filter.op === 'ilike' && !patterns) continue
          const { code, body } = await path.call(READER, 'search_texts', { filters: [filter] })
          assert.equal(code, 'OK', body)
          const rows = rowsOf(body)
          // A pattern folds case, so that another spelling of the same word may match too.
          const own = filter.op === 'ilike' ? rows.filter((row) => row['id'] === i) : rows
          assert.deepEqual(own, [{ id: i, body: text }], `${filter.op} ${JSON.stringify(text.slice(0, 40))}`)
          if (filter.op === 'ilike') {
            for (const row of rows) assert.equal(String(row['body']).toLowerCase(), text.toLowerCase())
          }
        }
        if (!keys.has(text)) continue
        const { code, body } = await path.call(READER, 'get_keyed_by_pk', { body: text })
        assert.equal(code, 'OK', body)
        assert.deepEqual(rowsOf(body), [{ body: text, id: i }])
      }
      // Nor does it take every text out of a list of JSON as it went in.
      if (!patterns) return t.diagnostic('left out, since the server is not SQL Server itself: long lists')
      const all = await path.call(READER, 'search_texts', { filters: [{ column: 'body', op: 'in', values: stored }] })
      assert.equal(all.rows, stored.length)
    })

    test('are compared with in every way there is, patterns as they stand included, and find what is like them alone', async (t) => {
      const patterns = isGenuine(server)
      if (!patterns) t.diagnostic('left out, since the server is not SQL Server itself: patterns')
      const ops = ['neq', 'gt', 'gte', 'lt', 'lte', ...(patterns ? ['ilike'] : [])]
      const columns = ['code', 'raw', ...forEngine(SUBJECTS, engine.engine).slice(10)]
      const shapes = new Set<string>()
      for (const text of HOSTILE_STRINGS) {
        for (const column of columns) {
          for (const op of ops) {
            const seen = await path.call(READER, 'search_things', { filters: [{ column, op, value: text }] })
            assert.match(
              seen.code,
              /^(?:OK|ARGUMENT_[A-Z]+)$/,
              `${column} ${op} ${JSON.stringify(text)}: ${seen.reason}`,
            )
            for (const statement of seen.statements) shapes.add(statement.text)
          }
        }
        if (!patterns) continue
        const { code, body } = await path.call(READER, 'search_texts', {
          filters: [{ column: 'body', op: 'ilike', value: text }],
        })
        // A backslash that escapes nothing makes no pattern.
        assert.equal(code, storable(text) && !LONE_BACKSLASH.test(text) ? 'OK' : 'ARGUMENT_VALUE', body)
        // Without a wild card and an escape a pattern is the text itself, in whatever case.
        if (code !== 'OK' || /[\\%_]/.test(text)) continue
        for (const row of rowsOf(body)) assert.equal(String(row['body']).toLowerCase(), text.toLowerCase())
      }
      assert.ok(shapes.size <= columns.length * 6 * 2, `${shapes.size} statements for all of them`)
    })

    test('as names and labels are usable through aliases, and no invisible character reaches a model', async (t) => {
      // What merely speaks the protocol of SQL Server cannot read a bracket that is doubled.
      if (!isGenuine(server)) return t.diagnostic('left out, since the server is not SQL Server itself: hostile names')
      const schema = oddSchema(engine.engine)
      const database = await (await engine.start()).createDatabase(schema.setup)
      const odd = await openPath({ settings: database.reader(), policy: schema.policy(database.schema) })
      assert.deepEqual(odd.findings, [])
      const before = await checksumOf(database)
      const tools = odd.tools(READER)
      assert.equal(tools.length, 1 + schema.tables.length * 3, 'every table has its tools')
      assertClean(JSON.parse(`{${odd.list(READER)}}`), '$')
      assertClean(JSON.parse(`{${(await odd.call(READER, 'schema_overview', { table: 'odd' })).body}}`), '$')
      assertClean(JSON.parse(`{${(await odd.call(READER, 'schema_overview', {})).body}}`), '$')
      const columns = columnsOf(tools.find(({ name }) => name === 'search_odd'))
      assert.equal(columns.length, schema.names.length + 2)
      for (const [i, column] of columns.slice(2).entries()) {
        const value = `value ${i} of 7`
        const filters = [{ column, op: 'eq', value }]
        const order_by = [{ column, direction: 'desc' }]
        const found = await odd.call(READER, 'search_odd', { filters, order_by, columns: ['id', column] })
        assert.equal(found.code, 'OK', `${column}: ${found.body}`)
        assert.deepEqual(rowsOf(found.body), [{ id: 7, [column]: value }])
        const metrics = [{ fn: 'max', column, as: 'most' }]
        const counted = await odd.call(READER, 'aggregate_odd', { metrics, group_by: [column], filters })
        assert.equal(counted.code, 'OK', `${column}: ${counted.body}`)
        assert.deepEqual(rowsOf(counted.body), [{ [column]: value, most: value }])
      }
      for (const [i, label] of schema.labels.entries()) {
        const found = await odd.call(READER, 'search_odd', {
          filters: [{ column: 'mood', op: 'eq', value: label }],
          columns: ['id'],
        })
        assert.equal(found.code, 'OK', `${JSON.stringify(label)}: ${found.body}`)
        assert.deepEqual(rowsOf(found.body), [{ id: i + 1 }])
      }
      const own = tools.filter(({ name }) => name.startsWith('search_') && name !== 'search_odd')
      const notes = new Set<unknown>()
      for (const { name } of own) notes.add(rowsOf((await odd.call(READER, name, {})).body)[0]?.['note'])
      assert.equal(notes.size, schema.names.length, 'each table has its own row')
      assert.equal(await checksumOf(database), before)
      await odd.close()
      await database.drop()
    })

    test('leave one line each in the trail and the log, whatever part of a request they are', async () => {
      const prepared = await prepareGateway({
        connectors: [{ id: 'plain', settings: plain.writer(), policy: plainPolicy(engine.engine) }],
        identities: { reader: { roles: ['reader'] } },
        audit: '{ stdout: true }',
      })
      const running = await spawnGateway(prepared, ['plain'])
      try {
        await sendEverywhere(running, prepared)
      } finally {
        running.child.kill('SIGTERM')
        await running.exited
        await prepared.remove()
      }
      const ended = running.stdout.filter((line) => line !== '')
      for (const line of ended) {
        assert.doesNotThrow(() => JSON.parse(line), line.slice(0, 200))
        assert.match(line, /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b-\u200f]*$/u)
      }
      assert.ok(ended.length > HOSTILE_STRINGS.length * 3)
      const seqs = ended.map((line) => JSON.parse(line).seq)
      assert.deepEqual(
        seqs,
        seqs.map((_, i) => seqs[0] + i),
        'one entry after the other, and nothing between them',
      )
      for (const entry of running.log) assert.ok(!('text' in entry), JSON.stringify(entry).slice(0, 200))
    })
  })
}

async function sendEverywhere(running: SpawnedGateway, prepared: GatewayFolder): Promise<void> {
  const endpoint = running.endpoint('plain')
  const key = prepared.keys['reader']
  assert.ok((await listTools(endpoint, key)).length > 3)
  for (const text of HOSTILE_STRINGS) {
    const answers = await Promise.all([
      callTool(endpoint, key, text, {}),
      callTool(endpoint, key, 'search_things', { [text]: text }),
      callTool(
        endpoint,
        key,
        'search_things',
        { filters: [{ column: 'code', op: 'eq', value: text }] },
        text.slice(0, 200),
      ),
      callTool(endpoint, key, 'search_things', { filters: [{ column: text, op: text, value: text }] }),
    ])
    const [tool, argument] = answers
    assert.equal(tool.rpcError?.code, -32602)
    assert.match(argument.text, /^ARGUMENT_/)
    assert.doesNotMatch(argument.text, UNSEEN_CHARACTERS)
    const method = await post(endpoint, key, { jsonrpc: '2.0', id: text.slice(0, 200), method: text, params: {} })
    assert.ok(method.status === 200 || method.status === 400, String(method.status))
    const printable = encodeURIComponent(storable(text) ? text : 'x').slice(0, 500)
    await post(endpoint, key, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'user-agent': printable || 'x' })
  }
}

function columnsOf(tool: Tool | undefined): readonly string[] {
  return tool?.inputSchema.properties?.['columns']?.items?.enum ?? []
}

/** No string anywhere in the value holds a character that is not seen, except as data of an enum that callers must send. */
function assertClean(value: unknown, place: string): void {
  if (typeof value === 'string') assert.doesNotMatch(value, UNSEEN_CHARACTERS, place)
  else if (Array.isArray(value)) for (const [i, item] of value.entries()) assertClean(item, `${place}[${i}]`)
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      assertClean(name, place)
      assertClean(member, `${place}.${name}`)
    }
  }
}
