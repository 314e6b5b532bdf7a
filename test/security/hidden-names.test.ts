import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { mayWrite, positionsOf, type Samples, type Tool } from '../support/arguments.js'
import { forEngine, oneOfEachKind } from '../support/engines.js'
import { identity, openPath, type RecordedPath, type Seen } from '../support/recorded-path.js'
import { ENGINES, readingBack, spelledFor, withoutKey } from '../support/security-engines.js'
import { policyFor } from '../support/security-sql.js'
import { SHOWN, SHOWN_POLICY } from '../support/shown-tables.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'
import { compareSeen, evened, twoDatabases } from '../support/two-databases.js'

const SAMPLES: Samples = new Map([
  ['id', ['5']],
  ['name', ['name 5']],
  ['region', ['eu']],
  ['number', ['4']],
  ['page', ['page 1']],
  ['code', ['letter-1']],
  ['title', ['ticket 5']],
  ['amount', ['4']],
  ['entry', ['1']],
  ['words', ['one two']],
])

/** What a caller can tell of a call, and what the audit trail says without its reason. */
function visibleOf({ reason, statements, ...visible }: Seen): Partial<Seen> {
  return visible
}

/** A name, as a caller who guesses spells it. */
function spellings(name: string): readonly string[] {
  return [name, name.toUpperCase(), `"${name}"`, `${name}x`, `customers.${name}`]
}

for (const engine of ENGINES) {
  describe(`hidden names on ${engine.label}`, () => {
    const { left, twins, unstampedPolicy } = twoDatabases(engine.engine)
    let server: TestServer
    let real: RecordedPath
    let database: TestDatabase
    before(async () => {
      server = await engine.start()
      database = await server.createDatabase(spelledFor(server, left))
      real = await openPath({ settings: database.writer(), policy: unstampedPolicy, ...readingBack(server) })
    })
    after(async () => {
      await real.close()
      await database.drop()
    })

    for (const twin of twins) {
      test(`${twin.name} gets for a hidden name, in every place, the answer for one that does not exist`, async (t) => {
        const bare = await server.createDatabase(spelledFor(server, twin.setup))
        const twinned = await openPath({ settings: bare.writer(), policy: twin.policy, ...readingBack(server) })
        const tools = real.tools(twin.identity).filter(({ name }) => !withoutKey(server).has(name))
        let calls = 0
        for (const tool of tools) {
          for (const [at, { path, put }] of positionsOf(tool, SAMPLES).entries()) {
            // Places of a change are many and alike: each spelling of a name meets every fifth of them.
            const names = twin.hidden.flatMap(spellings)
            for (const name of mayWrite(tool) ? names.filter((_, i) => (i + at) % 5 === 0) : names) {
              const place = `${tool.name} ${path} ${name}`
              const hidden = await real.call(twin.identity, tool.name, put(name))
              const missing = await twinned.call(twin.identity, tool.name, put(name))
              const { one, other } = compareSeen(hidden, missing, visibleOf)
              assert.equal(one, other, place)
              assertNotTold(hidden, name, place)
              calls++
            }
          }
        }
        for (const name of twin.hidden) {
          const own = [`create_${name}`, `update_${name}_by_pk`, `soft_delete_${name}_by_pk`]
          for (const called of [`search_${name}`, `get_${name}_by_pk`, `aggregate_${name}`, ...own, name]) {
            const [hidden, missing] = [
              await real.call(twin.identity, called, {}),
              await twinned.call(twin.identity, called, {}),
            ]
            assert.deepEqual(hidden, missing)
            assert.equal(hidden.code, 'TOOL_UNKNOWN')
            calls++
          }
        }
        await twinned.close()
        await bare.drop()
        t.diagnostic(`${calls} calls`)
      })
    }

    test('a place that should take a hidden name makes the comparison fail', async () => {
      // Without its masks the real database answers for columns that the other does not have.
      const open = await openPath({
        settings: database.writer(),
        policy: unstampedPolicy.replace('mask: [ssn, password_hash]', ''),
        ...readingBack(server),
      })
      const [twin] = twins
      assert.ok(twin !== undefined)
      const tool = open.tools(twin.identity).find(({ name }) => name === 'search_customers')
      assert.ok(tool !== undefined)
      let told = 0
      for (const { put } of positionsOf(tool, SAMPLES)) {
        const leaking = await open.call(twin.identity, tool.name, put('ssn'))
        const { one, other } = compareSeen(leaking, await real.call(twin.identity, tool.name, put('ssn')), visibleOf)
        if (one !== other) told++
      }
      assert.ok(told >= 3, `${told} places`)
      await open.close()
    })
  })
}

/** A hidden name stands in an answer only where the caller put it: as the argument that is not known, or as its own label. */
function assertNotTold(seen: Seen, name: string, place: string): void {
  const own = seen.code === 'ARGUMENT_UNKNOWN' || place.includes('{} ') || /\.as |\.value |values|\$ /.test(place)
  if (own || name.length < 4) return
  if (seen.code === 'OK') return
  assert.ok(!seen.body.includes(name), `${place}: ${seen.body}`)
  assert.ok(seen.reason === undefined || !seen.reason.includes(name), `${place}: ${seen.reason}`)
}

const READER = identity('reader', ['reader'])
/** Near misses of visible names, and of hidden ones. */
const NEAR = [
  'titel',
  'titl',
  'prise',
  'prize',
  'titles',
  'shelf',
  'shel',
  'loan_i',
  'i',
  'writer',
  'boks',
  'book',
  'loans',
  'Books',
  'writer_i',
]

// One server of each kind is enough: what is compared is what the gateway makes of a catalog.
for (const engine of oneOfEachKind(ENGINES)) {
  describe(`lists, overviews, orders and suggestions on ${engine.label} do not change when`, () => {
    const { setup, hiddenChanges } = forEngine(SHOWN, engine.engine)
    for (const [what, sql] of Object.entries(hiddenChanges)) {
      test(what, async () => {
        const server = await engine.start()
        const databases = [await server.createDatabase(setup), await server.createDatabase(`${setup}${sql}`)]
        const seen: string[][] = []
        for (const database of databases) {
          const path = await openPath({ settings: database.writer(), policy: policyFor(engine.engine, SHOWN_POLICY) })
          assert.deepEqual(path.findings, [])
          seen.push(
            (await everything(path, path.tools(READER))).map((text) => text.replaceAll(database.name, 'DATABASE')),
          )
          await path.close()
          await database.drop()
        }
        assert.deepEqual(seen[0], seen[1])
      })
    }
  })
}

async function everything(path: RecordedPath, tools: readonly Tool[]): Promise<string[]> {
  const seen = [path.list(READER)]
  for (const table of [undefined, 'books', 'writers', ...NEAR]) {
    seen.push(JSON.stringify(await path.call(READER, 'schema_overview', table === undefined ? {} : { table })))
  }
  for (const tool of tools) {
    for (const { put } of positionsOf(tool, SAMPLES)) {
      // The reason says, to the operator alone, whether a refused name is that of a hidden column.
      for (const name of NEAR)
        seen.push(evened(JSON.stringify({ ...(await path.call(READER, tool.name, put(name))), reason: '' })))
    }
  }
  return seen
}
