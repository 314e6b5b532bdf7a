import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Identity } from '../../src/core/identity.js'
import type { ValidatedPlan } from '../../src/core/plan.js'
import type { Dialect } from '../../src/engines/engine.js'
import { checkKnown, generateArguments, type Samples, samplesOf, seeded, type Tool } from '../support/arguments.js'
import type { TestDatabase, TestServer } from '../support/postgres.js'
import { openPath, type PathParts, type RecordedPath, type Seen } from '../support/recorded-path.js'
import { ENGINES, servedEngines } from '../support/security-engines.js'
import { ANA, BOTH, IDENTITIES, LEFT, POLICY, STRANGE_WORDS, TWINS, VARIANTS } from '../support/two-databases.js'

/** Generated calls of each tool for each identity; each is made against every database that must answer alike. */
const CALLS_PER_TOOL = 40
const SEED = 20_240_501

interface Call {
  readonly identity: Identity
  readonly tool: string
  readonly args: unknown
}

/** Rows of everything that search tools return to the identities: the values that calls compare with. */
async function sample(path: RecordedPath): Promise<Samples> {
  const bodies: string[] = []
  for (const identity of IDENTITIES) {
    for (const { name } of path.tools(identity)) {
      if (!name.startsWith('search_')) continue
      const { code, body } = await path.call(identity, name, { limit: 25 })
      if (code === 'OK') bodies.push(body)
    }
  }
  return samplesOf(bodies)
}

function callsOf(path: RecordedPath, identity: Identity, samples: Samples, perTool: number, seed: number): Call[] {
  const random = seeded(seed)
  const tools: readonly Tool[] = path.tools(identity)
  const tables = tools.flatMap(({ name }) => (name.startsWith('search_') ? [name.slice(7)] : []))
  return tools.flatMap((tool) => {
    checkKnown(tool)
    const generation = { samples, strangers: STRANGE_WORDS, tables, random }
    return Array.from({ length: perTool }, (_, i) => {
      const args = generateArguments(tool, { ...generation, wrong: i % 3 === 0 ? 0.08 : 0 })
      return { identity, tool: tool.name, args }
    })
  })
}

/** The first calls, or the list, that two databases answer differently. */
async function differences(a: RecordedPath, b: RecordedPath, calls: readonly Call[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const identity of new Set(calls.map((call) => call.identity))) {
    if (a.list(identity) !== b.list(identity)) found.push(`${identity.name}: the tool list`)
  }
  for (const { identity, tool, args } of calls) {
    const [one, other] = [await a.call(identity, tool, args), await b.call(identity, tool, args)]
    if (JSON.stringify(one) === JSON.stringify(other)) continue
    found.push(
      `${identity.name} ${tool} ${JSON.stringify(args)}: ${firstDifference(JSON.stringify(one), JSON.stringify(other))}`,
    )
  }
  return found
}

function firstDifference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return `…${one.slice(Math.max(0, at - 60), at + 80)}… but …${other.slice(Math.max(0, at - 60), at + 80)}…`
}

/** What a caller can tell, and its entry but for the reason, which may know of hidden columns. */
function visibleOf({ code, decision, operation, target, plan, rows, body }: Seen): string {
  return JSON.stringify({ code, decision, operation, target, plan, rows, body })
}

test('every engine that is served is in the list that these tests run over', async () => {
  const listed = new Set(ENGINES.map(({ engine }) => engine))
  for (const engine of await servedEngines()) assert.ok(listed.has(engine), engine)
})

test('a tool, an argument or a schema that the generator was not taught is an error and no gap', () => {
  const known: Tool = {
    name: 'search_things',
    description: '',
    inputSchema: { type: 'object', properties: { limit: { type: 'integer' } }, additionalProperties: false },
  }
  checkKnown(known)
  const taking = (properties: Tool['inputSchema']['properties']): Tool => ({
    ...known,
    inputSchema: { type: 'object', ...(properties === undefined ? {} : { properties }) },
  })
  const item = { type: 'object', properties: { path: { type: 'string' } } }
  const strange: readonly Tool[] = [
    { ...known, name: 'create_things' },
    taking({ cursor: { type: 'string' } }),
    taking({ filters: { type: 'array', items: item } }),
    // As a tool of a later version could be listed: no type of schema has this keyword now.
    taking({ limit: JSON.parse('{"type":"integer","multipleOf":5}') }),
  ]
  for (const tool of strange) assert.throws(() => checkKnown(tool), /the generator does not know/)
})

for (const engine of ENGINES) {
  describe(`two databases that differ only in what a caller may not see, on ${engine.label}`, () => {
    let server: TestServer
    let left: RecordedPath
    let samples: Samples
    const databases: TestDatabase[] = []
    const paths: RecordedPath[] = []

    async function open(setup: string, policy: string, parts: Partial<PathParts> = {}): Promise<RecordedPath> {
      const database = await server.createDatabase(setup)
      databases.push(database)
      // One connection, so that statements are named alike and run one after the other.
      const path = await openPath({ settings: database.reader({ pool: { max: 1 } }), policy, ...parts })
      paths.push(path)
      return path
    }

    before(async () => {
      server = await engine.start()
      left = await open(LEFT, POLICY)
      samples = await sample(left)
    })
    after(async () => {
      for (const path of paths) await path.close()
      for (const database of databases) await database.drop()
    })

    test('the policy is served as written, so that nothing below is hidden by accident', () => {
      assert.deepEqual(left.findings, [])
      assert.ok(left.tools(ANA).length > 15)
      assert.ok(left.tools(BOTH).length > 15)
    })

    test('generated calls reach the database often enough to tell something', async () => {
      const seen = new Map<string, number>()
      for (const { identity, tool, args } of callsOf(left, ANA, samples, 20, SEED)) {
        const { code } = await left.call(identity, tool, args)
        seen.set(code, (seen.get(code) ?? 0) + 1)
      }
      const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
      assert.ok((seen.get('OK') ?? 0) > total * 0.4, JSON.stringify([...seen]))
      assert.ok(seen.size >= 6, `many ways to end: ${JSON.stringify([...seen])}`)
    })

    for (const variant of VARIANTS) {
      test(`${variant.name}: lists, answers, entries and statements are the same`, async (t) => {
        const right = await open(variant.setup, POLICY)
        let total = 0
        for (const [i, identity] of variant.identities.entries()) {
          const calls = callsOf(left, identity, samples, CALLS_PER_TOOL, SEED + i)
          total += calls.length
          assert.deepEqual((await differences(left, right, calls)).slice(0, 3), [])
        }
        t.diagnostic(`${total} generated calls`)
      })
    }

    for (const twin of TWINS) {
      test(`${twin.name} cannot tell the database from one where nothing hidden ever existed`, async (t) => {
        const bare = await open(twin.setup, twin.policy)
        assert.deepEqual(bare.findings, [])
        assert.equal(left.list(twin.identity), bare.list(twin.identity))
        const calls = callsOf(left, twin.identity, samples, CALLS_PER_TOOL, SEED + 99)
        for (const { identity, tool, args } of calls) {
          const [real, twinned] = [await left.call(identity, tool, args), await bare.call(identity, tool, args)]
          assert.equal(visibleOf(real), visibleOf(twinned), `${tool} ${JSON.stringify(args)}`)
        }
        t.diagnostic(`${calls.length} generated calls`)
      })
    }
  })
}

/** Faults of the product, simulated: each must be found by the comparison above, or the comparison is worth nothing. */
const LEAKS: readonly { readonly name: string; readonly parts: (policy: string) => Partial<PathParts> }[] = [
  { name: 'a table mask that is not applied', parts: edit('    mask: [ssn, password_hash]\n', '') },
  { name: 'a role mask that is not applied', parts: edit('public.customers: [email, risk], ', '') },
  {
    name: 'a row filter that is not applied',
    parts: edit(
      '    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]\n  public.orders',
      '  public.orders',
    ),
  },
  { name: 'an allow list that is not applied', parts: edit('{ columns: [id, name, team], aggregate', '{ aggregate') },
  { name: 'a denial that is not applied', parts: edit('    deny: [public.payroll]\n', '') },
  {
    name: 'an unnamed table that is served',
    parts: edit('  public.payroll: {}\n', '  public.payroll: {}\n  public.secrets: {}\n'),
  },
  { name: 'ties broken by hidden columns', parts: () => ({ disguise: tiesBrokenByHiddenColumns }) },
  { name: 'ties broken by nothing', parts: () => ({ disguise: tiesBrokenByNothing }) },
  { name: 'counts that include rows out of scope', parts: () => ({ disguise: countsOutOfScope }) },
]

function edit(from: string, to: string): (policy: string) => Partial<PathParts> {
  return (policy) => {
    assert.ok(policy.includes(from), `the policy holds ${from}`)
    return { policy: policy.replace(from, to) }
  }
}

/** A changed plan in the place of a validated one, as only a bug could make it. */
function disguised(dialect: Dialect, change: (plan: ValidatedPlan) => Partial<ValidatedPlan>): Dialect {
  return { ...dialect, compile: (plan) => dialect.compile({ ...plan, ...change(plan) }) }
}

function tiesBrokenByHiddenColumns(dialect: Dialect): Dialect {
  return disguised(dialect, ({ table }) => ({ visible: new Map(table.columns.map((column) => [column.name, column])) }))
}

function tiesBrokenByNothing(dialect: Dialect): Dialect {
  return {
    ...dialect,
    compile: (plan) => {
      const statement = dialect.compile(plan)
      return { ...statement, text: statement.text.replace(/ ORDER BY .* LIMIT/, ' LIMIT') }
    },
  }
}

function countsOutOfScope(dialect: Dialect): Dialect {
  return disguised(dialect, ({ plan }) => (plan.kind === 'aggregate' ? { scope: { all: [] } } : {}))
}

describe('the comparison finds', () => {
  const [engine] = ENGINES
  for (const leak of LEAKS) {
    test(leak.name, async () => {
      assert.ok(engine !== undefined)
      const server = await engine.start()
      const right = VARIANTS.find(({ name }) => name === 'what analysts do not see')?.setup ?? ''
      const found: string[] = []
      const databases = await Promise.all([LEFT, right].map((setup) => server.createDatabase(setup)))
      const paths = await Promise.all(
        databases.map((database) =>
          openPath({ settings: database.reader({ pool: { max: 1 } }), policy: POLICY, ...leak.parts(POLICY) }),
        ),
      )
      const [a, b] = paths
      if (a !== undefined && b !== undefined) {
        found.push(...(await differences(a, b, callsOf(a, ANA, await sample(a), CALLS_PER_TOOL, SEED))))
      }
      for (const path of paths) await path.close()
      for (const database of databases) await database.drop()
      assert.ok(found.length > 0, 'no call told the two databases apart')
    })
  }
})
