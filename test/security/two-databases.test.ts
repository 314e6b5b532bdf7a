import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Identity } from '../../src/core/identity.js'
import type { ValidatedMutation, ValidatedPlan } from '../../src/core/plan.js'
import type { Column, EngineName } from '../../src/core/schema-model.js'
import type { Dialect } from '../../src/engines/engine.js'
import {
  checkKnown,
  generateArguments,
  mayWrite,
  type Samples,
  samplesOf,
  seeded,
  type Tool,
} from '../support/arguments.js'
import { ENGINE_TARGETS, forEngine, oneOfEachKind, type PerEngine } from '../support/engines.js'
import { openPath, type PathParts, type RecordedPath, type Seen } from '../support/recorded-path.js'
import {
  ENGINES,
  hasTests,
  isGenuine,
  readingBack,
  servedEngines,
  spelledFor,
  withoutKey,
} from '../support/security-engines.js'
import { policyFor } from '../support/security-sql.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'
import {
  ANA,
  BOTH,
  compareSeen,
  IDENTITIES,
  STRANGE_WORDS,
  twoDatabases,
  type Variant,
} from '../support/two-databases.js'

/** Generated calls of each tool for each identity; each is made against every database that must answer alike. */
const CALLS_PER_TOOL = 28
/** Those that change something are undone, but for as many as this, which are made on copies of the databases. */
const REAL_CALLS_PER_TOOL = 6
/** A fault that shows in few calls may take as many times the calls above to be found. */
const LEAK_ROUNDS = 6
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
  const samples = samplesOf(bodies)
  // Rows that only one of two databases has, and that nobody may see.
  samples.get('id')?.push('10002', '10005', '10007')
  samples.get('code')?.push('letter-7', 'letter-14')
  // Tenants that most callers are not of: what is written for them is out of scope.
  samples.get('tenant')?.push('beta', 'zeta')
  return samples
}

function callsOf(
  path: RecordedPath,
  identity: Identity,
  samples: Samples,
  perTool: number,
  seed: number,
  dryRun = true,
): Call[] {
  const random = seeded(seed)
  const tools: readonly Tool[] = path.tools(identity)
  const tables = tools.flatMap(({ name }) => (name.startsWith('search_') ? [name.slice(7)] : []))
  return tools.flatMap((tool) => {
    checkKnown(tool)
    if (!dryRun && !mayWrite(tool)) return []
    const generation = { samples, strangers: STRANGE_WORDS, tables, random, dryRun }
    return Array.from({ length: perTool }, (_, i) => {
      const args = generateArguments(tool, { ...generation, wrong: i % 3 === 0 ? 0.08 : 0 })
      return { identity, tool: tool.name, args }
    })
  })
}

/** The first calls, or the list, that two databases answer differently. */
async function differences(
  a: RecordedPath,
  b: RecordedPath,
  calls: readonly Call[],
  enough = 3,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const identity of new Set(calls.map((call) => call.identity))) {
    if (a.list(identity) !== b.list(identity)) found.push(`${identity.name}: the tool list`)
  }
  for (const { identity, tool, args } of calls) {
    const { one, other } = compareSeen(
      await a.call(identity, tool, args),
      await b.call(identity, tool, args),
      (seen) => seen,
    )
    if (one === other) continue
    if (found.length >= enough) break
    found.push(`${identity.name} ${tool} ${JSON.stringify(args)}: ${firstDifference(one, other)}`)
  }
  return found
}

function firstDifference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return `…${one.slice(Math.max(0, at - 60), at + 80)}… but …${other.slice(Math.max(0, at - 60), at + 80)}…`
}

/**
 * What the policy's author is told: of each routine of PostgreSQL whose body reads what the policy hides; and a procedure of
 * SQL Server that is said to read has no way to promise it.
 */
const FINDINGS: PerEngine<readonly string[]> = {
  postgres: Array.from({ length: 4 }, () => 'reads_hidden_column'),
  // The texts of routines are not shown to a login that only calls them.
  mysql: Array.from({ length: 4 }, () => 'reads_unknown'),
  sqlserver: ['effect_unproven'],
}

/**
 * What merely speaks SQL Server's protocol tells everybody the texts of routines, of which the warnings are made; the server itself
 * does not show them to a login that only calls them.
 */
const WHERE_TEXTS_ARE_TOLD = Array.from({ length: 4 }, () => 'reads_hidden_column')
const WHERE_TEXTS_ARE_KEPT = Array.from({ length: 4 }, () => 'reads_unknown')

function findingsExpected(server: TestServer): readonly string[] {
  const findings = forEngine(FINDINGS, server.engine)
  if (server.engine !== 'sqlserver') return findings
  return [...findings, ...(isGenuine(server) ? WHERE_TEXTS_ARE_KEPT : WHERE_TEXTS_ARE_TOLD)]
}

function findingsOf({ findings }: RecordedPath): readonly string[] {
  return findings.map(({ kind }) => kind)
}

/** What a caller can tell, and its entry but for the reason, which may know of hidden columns. */
function visibleOf({ reason, statements, ...visible }: Seen): Partial<Seen> {
  return visible
}

test('every engine that is served is in the list that these tests run over', async () => {
  const served = await servedEngines()
  assert.ok(served.length > 0)
  // An engine is listed by its SQL for these tests, whether or not a server of it is at hand; and no server is left out.
  for (const engine of served) assert.ok(hasTests(engine), engine)
  for (const { engine } of ENGINE_TARGETS)
    assert.ok(ENGINES.some((listed) => listed.engine === engine) && hasTests(engine))
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
    { ...known, name: 'things' },
    taking({ cursor: { type: 'string' } }),
    taking({ filters: { type: 'array', items: item } }),
    // As a tool of a later version could be listed: no type of schema has this keyword now.
    taking({ limit: JSON.parse('{"type":"integer","multipleOf":5}') }),
  ]
  const controls = { dry_run: { type: 'boolean' }, idempotency_key: { type: 'string' } }
  const values = { type: 'object', properties: { title: { type: 'string' } } }
  const text = { type: 'string' }
  checkKnown({ ...taking({ values, ...controls }), name: 'create_things' })
  checkKnown({ ...taking({ anything: text, ...controls }), name: 'things' })
  const writing: readonly Tool[] = [
    { ...taking({ values, on_conflict: text, ...controls }), name: 'create_things' },
    { ...taking({ values: { ...values, properties: { nested: values } }, ...controls }), name: 'create_things' },
    { ...taking({ id: text, values, ...controls }), name: 'update_things_by_pk' },
    { ...taking({ values, ...controls }), name: 'things' },
  ]
  for (const tool of [...strange, ...writing]) assert.throws(() => checkKnown(tool), /the generator does not know/)
})

for (const engine of ENGINES) {
  describe(`two databases that differ only in what a caller may not see, on ${engine.label}`, () => {
    const { policy, unstampedPolicy, left: leftSetup, variants, twins } = twoDatabases(engine.engine)
    let server: TestServer
    let left: RecordedPath
    let samples: Samples
    const databases: TestDatabase[] = []
    const paths: RecordedPath[] = []

    async function open(setup: string, served: string): Promise<RecordedPath> {
      const database = await server.createDatabase(spelledFor(server, setup))
      databases.push(database)
      // One connection, so that statements are named alike and run one after the other.
      const path = await openPath({
        settings: database.writer({ pool: { max: 1 } }),
        policy: served,
        ...readingBack(server),
      })
      paths.push(path)
      return path
    }

    before(async () => {
      server = await engine.start()
      left = await open(leftSetup, policy)
      samples = await sample(left)
    })
    after(async () => {
      for (const path of paths) await path.close()
      for (const database of databases) await database.drop()
    })

    test('the policy is served as written, so that nothing below is hidden by accident', () => {
      assert.deepEqual(findingsOf(left), findingsExpected(server))
      assert.ok(left.tools(ANA).length > 15)
      assert.ok(left.tools(BOTH).length > 15)
    })

    test('generated calls reach the database often enough to tell something', async () => {
      const seen = new Map<string, number>()
      const written = new Map<string, number>()
      for (const { identity, tool, args } of callsOf(left, ANA, samples, CALLS_PER_TOOL, SEED)) {
        const { code } = await left.call(identity, tool, args)
        seen.set(code, (seen.get(code) ?? 0) + 1)
        if (/^(?:create|update|soft_delete)_/.test(tool)) written.set(code, (written.get(code) ?? 0) + 1)
      }
      assert.ok((written.get('OK') ?? 0) > 30, JSON.stringify([...written]))
      for (const code of ['ROW_NOT_FOUND', 'CONFLICT_EXPECTED', 'POLICY_WRITTEN_ROW', 'DB_CONSTRAINT']) {
        assert.ok(written.has(code), `${code}: ${JSON.stringify([...written])}`)
      }
      const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
      assert.ok((seen.get('OK') ?? 0) > total * 0.4, JSON.stringify([...seen]))
      assert.ok(seen.size >= 6, `many ways to end: ${JSON.stringify([...seen])}`)
    })

    for (const variant of variants) {
      test(`${variant.name}: lists, answers, entries and statements are the same`, async (t) => {
        const right = await open(variant.setup, policy)
        let total = 0
        for (const [i, identity] of variant.identities.entries()) {
          const calls = callsOf(left, identity, samples, CALLS_PER_TOOL, SEED + i)
          total += calls.length
          assert.deepEqual((await differences(left, right, calls)).slice(0, 3), [])
        }
        t.diagnostic(`${total} generated calls`)
      })

      test(`${variant.name}: changes that are made are the same, and so is what is read afterwards`, async (t) => {
        const told = { calls: 0, changed: 0, exempt: 0 }
        for (const [i, identity] of variant.identities.entries()) {
          const calls = callsOf(left, identity, samples, REAL_CALLS_PER_TOOL, SEED + 500 + i, false)
          assert.deepEqual((await changes(variant, identity, calls, told)).slice(0, 3), [])
        }
        assert.ok(told.changed > 5, JSON.stringify(told))
        t.diagnostic(JSON.stringify(told))
      })
    }

    /** Makes each change on copies of both databases; new copies follow what a constraint may decide differently. */
    async function changes(
      variant: Variant,
      identity: Identity,
      calls: readonly Call[],
      told: { calls: number; changed: number; exempt: number },
    ): Promise<readonly string[]> {
      const found: string[] = []
      let pair: readonly [RecordedPath, RecordedPath] | undefined
      for (const { tool, args } of calls) {
        pair ??= [await open(leftSetup, policy), await open(variant.setup, policy)]
        const [a, b] = pair
        const seen = await a.call(identity, tool, args)
        const { one, other, exempt } = compareSeen(seen, await b.call(identity, tool, args), (all) => all)
        told.calls++
        if (one !== other)
          found.push(`${identity.name} ${tool} ${JSON.stringify(args)}: ${firstDifference(one, other)}`)
        if (seen.effect === 'committed') told.changed++
        if (!exempt) continue
        told.exempt++
        await close(pair)
        pair = undefined
      }
      if (pair === undefined) return found
      found.push(...(await reads(pair, identity)))
      await close(pair)
      return found
    }

    /** Long before the tests end: a server takes so many connections and no more. */
    async function close(pair: readonly RecordedPath[]): Promise<void> {
      for (const path of pair) {
        await path.close()
        const i = paths.indexOf(path)
        paths.splice(i, 1)
        for (const database of databases.splice(i, 1)) await database.drop()
      }
    }

    /** Everything that the identity can list, read from both. */
    async function reads(
      [a, b]: readonly [RecordedPath, RecordedPath],
      identity: Identity,
    ): Promise<readonly string[]> {
      const calls = a.tools(identity).flatMap(({ name }): Call[] => {
        return name.startsWith('search_') ? [{ identity, tool: name, args: { limit: 40 } }] : []
      })
      return differences(a, b, calls)
    }

    for (const twin of twins) {
      test(`${twin.name} cannot tell the database from one where nothing hidden ever existed`, async (t) => {
        const [whole, bare] = [await open(leftSetup, unstampedPolicy), await open(twin.setup, twin.policy)]
        for (const kind of findingsOf(bare)) assert.ok(findingsExpected(server).includes(kind), kind)
        assert.equal(whole.list(twin.identity), bare.list(twin.identity))
        const calls = callsOf(whole, twin.identity, samples, CALLS_PER_TOOL, SEED + 99).filter(
          ({ tool }) => !withoutKey(server).has(tool),
        )
        for (const { identity, tool, args } of calls) {
          const [real, twinned] = [await whole.call(identity, tool, args), await bare.call(identity, tool, args)]
          const { one, other } = compareSeen(real, twinned, visibleOf)
          assert.equal(one, other, `${tool} ${JSON.stringify(args)}`)
        }
        t.diagnostic(`${calls.length} generated calls`)
      })
    }
  })
}

type Change = (policy: string, engine: EngineName) => Partial<PathParts>

/** Faults of the product, simulated: each must be found by the comparison above, or the comparison is worth nothing. */
const LEAKS: readonly { readonly name: string; readonly parts: Change }[] = [
  { name: 'a table mask that is not applied', parts: edit('    mask: [ssn, password_hash]\n', '') },
  { name: 'a role mask that is not applied', parts: edit('public.customers: [email, risk], ', '') },
  {
    name: 'a row filter that is not applied',
    parts: edit('    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]\n    create:', '    create:'),
  },
  { name: 'a parent filter that is not applied', parts: edit('    row_filter: [{ parent: [customer_id] }]\n', '') },
  { name: 'a parent that counts whoever it belongs to', parts: () => ({ disguise: parentsOfAnybody }) },
  { name: 'an allow list that is not applied', parts: edit('{ columns: [id, name, team], aggregate', '{ aggregate') },
  { name: 'a change that gives back what is hidden', parts: () => ({ disguise: givenBack }) },
  { name: 'a hidden key that is given back', parts: () => ({ disguise: hiddenKey }) },
  { name: 'a row filter that is left out of changes', parts: () => ({ disguise: changesOutOfScope }) },
  { name: 'a change that hangs on a hidden column', parts: () => ({ disguise: expectedOfHidden }) },
  {
    name: 'a hidden column of a result that is let through',
    parts: edit('result_columns: [word, size]', 'result_columns: [word, size, hint]'),
  },
  { name: 'a denial that is not applied', parts: edit('    deny: [public.payroll]\n', '') },
  {
    name: 'an unnamed table that is served',
    parts: edit('  public.open_orders:', '  public.secrets: {}\n  public.open_orders:'),
  },
  { name: 'ties broken by hidden columns', parts: () => ({ disguise: tiesBrokenByHiddenColumns }) },
  { name: 'ties broken by nothing', parts: () => ({ disguise: tiesBrokenByNothing }) },
  { name: 'equal values of different looks shown as they lie', parts: () => ({ disguise: looksAsTheyLie }) },
  { name: 'counts that include rows out of scope', parts: () => ({ disguise: countsOutOfScope }) },
]

/** The dialect of the first disguised as the second says. */
function both(first: Pick<PathParts, 'disguise'>, second: Partial<PathParts>): Partial<PathParts> {
  const { disguise = (dialect: Dialect) => dialect } = first
  return { ...second, disguise: (dialect) => (second.disguise ?? ((same: Dialect) => same))(disguise(dialect)) }
}

function edit(from: string, to: string): Change {
  return (policy, engine) => {
    const [there, instead] = [policyFor(engine, from), policyFor(engine, to)]
    assert.ok(policy.includes(there), `the policy holds ${there}`)
    return { policy: policy.replace(there, instead) }
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
      return { ...statement, text: statement.text.replace(/ ORDER BY .*?(?= LIMIT|$)/, '') }
    },
  }
}

function looksAsTheyLie(dialect: Dialect): Dialect {
  return disguised(dialect, ({ visible }) => {
    const strict = [...visible].map(([name, column]): [typeof name, Column] => {
      const { looseEquality, ...type } = column.type
      return [name, { ...column, type: { ...type, native: `${type.native}()` } }]
    })
    return { visible: new Map(strict) }
  })
}

function countsOutOfScope(dialect: Dialect): Dialect {
  return disguised(dialect, ({ plan }) => (plan.kind === 'aggregate' ? { scope: { all: [] } } : {}))
}

function parentsOfAnybody(dialect: Dialect): Dialect {
  return disguised(dialect, ({ scope }) => ({
    scope: { ...scope, all: scope.all.map((term) => (term.op === 'parent' ? { ...term, scope: { all: [] } } : term)) },
  }))
}

/** A changed mutation in the place of a validated one. */
function disguisedWrites(
  dialect: Dialect,
  change: (mutation: ValidatedMutation) => Partial<ValidatedMutation>,
): Dialect {
  return { ...dialect, compileMutation: (mutation) => dialect.compileMutation({ ...mutation, ...change(mutation) }) }
}

function givenBack(dialect: Dialect): Dialect {
  return disguisedWrites(dialect, ({ table, plan }) => (plan.kind === 'update' ? { returning: table.columns } : {}))
}

function hiddenKey(dialect: Dialect): Dialect {
  return disguisedWrites(dialect, ({ table, plan }) => {
    const key = table.columns.filter(({ name }) => table.uniqueKeys.some((unique) => unique.includes(name)))
    return plan.kind === 'create' ? {} : { key, returning: key }
  })
}

function changesOutOfScope(dialect: Dialect): Dialect {
  return disguisedWrites(dialect, () => ({ scope: { all: [] } }))
}

function expectedOfHidden(dialect: Dialect): Dialect {
  return disguisedWrites(dialect, ({ table, expected }) => {
    const column = table.columns.find(({ name }) => name === 'secret')
    return column === undefined ? {} : { expected: [...expected, { column, value: 'secret right' }] }
  })
}

for (const engine of oneOfEachKind(ENGINES)) {
  describe(`the comparison finds, on ${engine.label},`, () => {
    const { policy, left, variants } = twoDatabases(engine.engine)
    for (const leak of LEAKS) {
      test(leak.name, async () => {
        const server = await engine.start()
        const right = variants.find(({ name }) => name === 'what analysts do not see')?.setup ?? ''
        const found: string[] = []
        // One after the other: not every server makes two databases at once.
        const databases: TestDatabase[] = []
        for (const setup of [left, right]) databases.push(await server.createDatabase(spelledFor(server, setup)))
        const paths = await Promise.all(
          databases.map((database) =>
            openPath({
              settings: database.writer({ pool: { max: 1 } }),
              policy,
              ...both(readingBack(server), leak.parts(policy, engine.engine)),
            }),
          ),
        )
        const [a, b] = paths
        assert.ok(a !== undefined && b !== undefined)
        const samples = await sample(a)
        for (let round = 0; round < LEAK_ROUNDS && found.length === 0; round++) {
          found.push(...(await differences(a, b, callsOf(a, ANA, samples, CALLS_PER_TOOL, SEED + round), 1)))
        }
        for (const path of paths) await path.close()
        for (const database of databases) await database.drop()
        assert.ok(found.length > 0, 'no call told the two databases apart')
      })
    }
  })
}
