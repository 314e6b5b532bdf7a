import assert from 'node:assert/strict'
import test from 'node:test'
import type { ListedIdentity } from '../../src/admin/admin-store.js'
import { warnOfNames } from '../../src/admin/policy-names.js'
import { FILTER_OPS } from '../../src/core/plan.js'
import { meetCatalog } from '../../src/policy/meet-catalog.js'
import { parsePolicy, policyFaultText } from '../../src/policy/policy-document.js'
import { keysAt } from '../../src/policy/policy-grammar.js'
import { readPolicyText } from '../../src/policy/policy-text.js'
import type { PolicyPath } from '../../src/policy/policy-tree.js'
import { routineOf, schemaOf, tableOf, withRoutines } from '../support/policy-schema.js'

/**
 * A document with every key of the grammar, in which each key and each name is misspelt once. What each of them is stands in
 * `meaningOf`, which knows no single key: a key that is added to the grammar must be added to the document, and is then tested.
 */

const LIMITS = {
  row_cap: 100,
  page_size: 20,
  query_timeout_ms: 1000,
  response_chars_max: 9000,
  cell_chars_max: 500,
  max_affected_rows: 3,
  min_group_size: 1,
  require_index_above_rows: 1000,
}
const { max_affected_rows: _, min_group_size: __, require_index_above_rows: ___, ...CALL_LIMITS } = LIMITS

const FULL = {
  version: 1,
  defaults: LIMITS,
  tables: {
    'public.customers': {
      tool_name: 'clients',
      mask: ['secret', 'email'],
      key: ['customer_id'],
      relations: {
        home: { columns: ['region_id'], references: 'public.regions', referenced_columns: ['region_id'] },
      },
      row_filter: [
        { column: 'tenant_id', op: 'eq', value: { claim: 'tenant' } },
        { column: 'customer_name', op: 'in', values: ['ann', `$\{vars.region}`] },
        { column: 'tenant_id', op: 'in', values: { claim: 'tenants' } },
        { column: 'deleted_at', op: 'is_null' },
        { parent: ['region_id'] },
      ],
      aggregate: { columns: ['tenant_id'] },
      create: {
        columns: ['customer_id', 'customer_name'],
        preset: { tenant_id: { claim: 'tenant' }, created_at: 'now', note: `$\{vars.region}` },
      },
      update: { columns: ['customer_name'], preset: { changed_at: 'now' } },
      soft_delete: { column: 'deleted_at', value: 'now', reads_include_deleted: false },
      ...LIMITS,
    },
    'public.regions': { columns: ['region_id', 'region_name'] },
  },
  procedures: {
    'public.monthly_revenue': {
      effect: 'read',
      result_columns: ['month', 'revenue'],
      tool_name: 'revenue',
      ...CALL_LIMITS,
    },
  },
  roles: {
    analyst: {
      read: ['public.customers'],
      aggregate: ['public.customers'],
      create: ['public.customers'],
      update: ['public.customers'],
      soft_delete: ['public.customers'],
      call: ['public.monthly_revenue'],
      deny: ['public.regions'],
      mask: { 'public.customers': ['note'] },
      row_filter: {
        'public.customers': [
          ...(['eq', 'neq', 'gt', 'gte', 'lt', 'lte'] as const).map((op) => ({ column: 'tenant_id', op, value: 1 })),
          { column: 'customer_name', op: 'ilike', value: `%$\{vars.region}` },
          { column: 'tenant_id', op: 'not_null' },
        ],
      },
      ...LIMITS,
    },
  },
  identities: { 'batch-7': { read_only: true, ...LIMITS } },
}

const SCHEMA = withRoutines(
  schemaOf(
    tableOf('public', 'customers', {
      columns: {
        customer_id: 'integer',
        customer_name: 'text',
        tenant_id: 'integer',
        region_id: 'integer',
        secret: 'text',
        email: 'text',
        note: 'text',
        created_at: 'timestamp',
        changed_at: 'timestamp',
        deleted_at: 'timestamp',
      },
      key: ['customer_id'],
    }),
    tableOf('public', 'regions', { columns: { region_id: 'integer', region_name: 'text' }, key: ['region_id'] }),
  ),
  routineOf('public', 'monthly_revenue', { fields: { month: 'date', revenue: 'decimal' } }),
)
const VARS = { region: 'eu' }

/** One identity with the role and the claims that the document speaks of. */
const IDENTITY: ListedIdentity = {
  id: 'i1',
  name: 'batch-7',
  disabled: false,
  claims: new Map([
    ['tenant', '1'],
    ['tenants', '1'],
  ]),
  bindings: [{ role: 'analyst' }],
  createdAt: 0,
}
const STORE = {
  listRoles: async () => [{ name: 'analyst', reserved: false }],
  listIdentities: async () => [IDENTITY],
}

type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json }
/** What is wrong when it is misspelt: the grammar, the document with itself, the catalog, or only the admin store. */
type Meaning = 'key' | 'word' | 'named' | 'catalog' | 'variable' | 'store' | 'free'

/** Mappings by names, after which a key is a name itself. */
const NAMED: readonly (readonly [RegExp, Meaning])[] = [
  [/^(?:tables|procedures)$/, 'catalog'],
  [/^(?:roles|identities)$/, 'store'],
  [/^roles\/[^/]+\/(?:mask|row_filter)$/, 'named'],
  [/^tables\/[^/]+\/relations$/, 'free'],
  [/^tables\/[^/]+\/(?:create|update)\/preset$/, 'catalog'],
]

const LEAVES: readonly (readonly [RegExp, Meaning])[] = [
  [/\/(?:op|effect)$/, 'word'],
  [/\/claim$/, 'store'],
  [/^roles\/[^/]+\/[a-z_]+\/\d+$/, 'named'],
  [/\/tool_name$/, 'free'],
  [/\/(?:column|references)$/, 'catalog'],
  [/\/(?:mask|columns|key|parent|referenced_columns|result_columns)(?:\/[^/]+\.[^/]+)?\/\d+$/, 'catalog'],
]

const textOf = (path: PolicyPath) => path.map(String).join('/')

function keyMeaning(path: PolicyPath): Meaning {
  return NAMED.find(([place]) => place.test(textOf(path)))?.[1] ?? 'key'
}

function leafMeaning(path: PolicyPath, value: Json): Meaning {
  if (typeof value !== 'string') return 'free'
  if (value.includes('{vars.')) return 'variable'
  return LEAVES.find(([place]) => place.test(textOf(path)))?.[1] ?? 'free'
}

interface Name {
  readonly name: string
  readonly meaning: Meaning
  readonly path: PolicyPath
  /** Whether it is a key of the mapping at the path, or the value there. */
  readonly at: 'key' | 'value'
}

function namesIn(value: Json, path: PolicyPath = []): readonly Name[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => namesIn(item, [...path, index]))
  if (typeof value !== 'object') {
    const name = String(value)
    return [{ name, meaning: leafMeaning(path, value), path, at: 'value' }]
  }
  return Object.entries(value).flatMap(([name, member]) => [
    { name, meaning: keyMeaning(path), path, at: 'key' as const },
    ...namesIn(member, [...path, name]),
  ])
}

/** One letter too many, which no other name here has. */
const misspelt = (name: string) => `${name.slice(0, 1)}x${name.slice(1)}`
const misspeltIn = ({ name, meaning }: Name) =>
  meaning === 'variable' ? name.replace('region', misspelt('region')) : misspelt(name)

/** The document with the name misspelt in this one place. A table under another name is so wherever a role names it. */
function withTypo(value: Json, typo: Name, path: PolicyPath = []): Json {
  const here = textOf(path) === textOf(typo.path)
  const everywhere = typo.meaning === 'catalog' && typo.path.length === 1
  if (Array.isArray(value)) return value.map((item, index) => withTypo(item, typo, [...path, index]))
  if (typeof value !== 'object') {
    if (everywhere && value === typo.name && path[0] === 'roles') return misspeltIn(typo)
    return here && typo.at === 'value' ? misspeltIn(typo) : value
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const renamed = key === typo.name && ((here && typo.at === 'key') || (everywhere && path[0] === 'roles'))
      return [renamed ? misspeltIn(typo) : key, withTypo(member, typo, [...path, key])]
    }),
  )
}

interface Told {
  readonly line: number | undefined
  readonly suggestion: string | undefined
}

/** What whoever applies the document is told of it, each with its line and what is suggested. */
async function told(text: string): Promise<readonly Told[]> {
  const parsed = parsePolicy(text)
  if (!parsed.ok) return parsed.error.map(({ line, suggestion }) => ({ line, suggestion }))
  const tree = readPolicyText(text)
  assert.ok(tree.ok)
  const { findings } = meetCatalog(parsed.value, tree.value, SCHEMA, { schemas: ['public'], vars: VARS })
  const named = await warnOfNames(STORE, parsed.value, tree.value)
  return [...findings, ...named].map((found) => ({
    line: found.line,
    suggestion: /Did you mean "(.*?)"\?/.exec(found.text)?.[1],
  }))
}

/** One key or item a line. */
const written = (document: Json) => JSON.stringify(document, null, 2)

const NAMES = namesIn(FULL)

test('the document is sound as it is, and has every key of the grammar', async () => {
  const parsed = parsePolicy(written(FULL))
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error.map(policyFaultText).join('\n'))
  assert.deepEqual(await told(written(FULL)), [])
  const seen = new Map<string, Set<string>>()
  const wanted = new Map<string, Set<string>>()
  const visit = (value: Json, path: PolicyPath): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index])
    } else if (typeof value === 'object') {
      for (const [key, member] of Object.entries(value)) visit(member, [...path, key])
      if (keyMeaning(path) !== 'key') return
      const kind = textOf(path)
        .replace(/^(tables|procedures|roles|identities)\/[^/]+/, '$1')
        .replace(/\/[^/]*\.[^/]*|\d+/g, '*')
      seen.set(kind, new Set([...(seen.get(kind) ?? []), ...Object.keys(value)]))
      wanted.set(kind, new Set([...(wanted.get(kind) ?? []), ...keysAt(path, value)]))
    }
  }
  visit(FULL, [])
  for (const [kind, keys] of wanted) assert.deepEqual([...(seen.get(kind) ?? [])].sort(), [...keys].sort(), kind)
  assert.deepEqual(
    [...new Set(NAMES.flatMap(({ name, path }) => (path.at(-1) === 'op' ? [name] : [])))].sort(),
    [...FILTER_OPS].sort(),
  )
})

const TOLD: ReadonlySet<Meaning> = new Set(['key', 'word', 'named', 'catalog', 'variable', 'store'])

test('a slip of the pen in any key or name is told with its line and with what was meant', async (t) => {
  const counts = new Map<Meaning, number>()
  for (const name of NAMES) {
    counts.set(name.meaning, (counts.get(name.meaning) ?? 0) + 1)
    if (!TOLD.has(name.meaning)) continue
    const text = written(withTypo(FULL, name))
    const typo = JSON.stringify(misspeltIn(name))
    const line = text.split('\n').findIndex((each) => each.includes(typo)) + 1
    assert.ok(line > 0, typo)
    const meant = name.meaning === 'variable' ? 'region' : name.name
    const all = await told(text)
    const place = `${textOf(name.path)} ${name.at} ${name.name}: ${JSON.stringify(all)}`
    assert.ok(
      all.some((each) => each.line === line && each.suggestion === meant),
      `line ${line} of ${place}`,
    )
  }
  t.diagnostic(JSON.stringify([...counts]))
  for (const meaning of TOLD) assert.ok((counts.get(meaning) ?? 0) > 2, meaning)
})

test('names without their schemas are told on their own lines too', async () => {
  const short = JSON.parse(written(FULL).replaceAll('public.', ''))
  assert.deepEqual(await told(written(short)), [])
  for (const name of namesIn(short).filter(({ meaning, path }) => meaning === 'catalog' && path.length > 1)) {
    const text = written(withTypo(short, name))
    const line = text.split('\n').findIndex((each) => each.includes(JSON.stringify(misspeltIn(name)))) + 1
    const all = await told(text)
    assert.ok(
      all.some((each) => each.line === line),
      `${line} ${textOf(name.path)}`,
    )
  }
})
