import type { Identity } from '../../src/core/identity.js'
import type { EngineName } from '../../src/core/schema-model.js'
import { forEngine, type PerEngine } from './engines.js'
import { identity, type Seen } from './recorded-path.js'
import { policyFor } from './security-sql.js'
import { MYSQL_SETUP } from './two-databases-mysql.js'
import { POSTGRES_SETUP } from './two-databases-postgres.js'
import type { SetupSql } from './two-databases-setup.js'
import { SQLSERVER_SETUP } from './two-databases-sqlserver.js'

/**
 * A database, the same database with other contents where some callers may not look, and for some callers the database as
 * it would be if what they may not see had never existed. How an engine spells them stands in a file of its own.
 *
 * Two things are left out by name, because the engine itself lets the order in which rows lie decide them, and a change of
 * a hidden cell moves its row: which of two equal intervals written differently (a month, thirty days) is the extreme, and
 * the last digit of a sum of floats. The floats here add up exactly in any order.
 */

const POLICY = `
version: 1
defaults: { row_cap: 40, page_size: 10 }
tables:
  public.customers:
    mask: [ssn, password_hash]
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
    create:
      columns: [id, tenant, name, country, tier, score, weight, born, active, tags, extra, note MORE, email, ssn]
      preset: { tenant: { claim: tenant }, password_hash: unset }
    update:
      columns: [tenant, name, country, tier, score, joined, active, ref, tags, extra, note MORE, email, risk]
      preset: { password_hash: hash-right }
  public.orders:
    mask: [margin]
    create: { columns: [region, number, customer_id, status, total, placed, memo] }
    update: { columns: [region, status, total, customer_id, memo, margin] }
  public.ledger:
    mask: [shard, tenant]
    key: [entry]
    max_affected_rows: 8
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
    update: { columns: [amount, kind] }
    create: { columns: [entry, amount, kind], preset: { tenant: { claim: tenant }, shard: 9 } }
  public.visits:
    columns: [page, referrer, at, ms, cost]
    key: [page]
    max_affected_rows: 30
    update: { columns: [ms, cost] }
  public.employees: { columns: [id, name, team], aggregate: { columns: [team] } }
  public.payroll: { update: { columns: [paid] } }
  public.open_orders: { key: [region, number] }
  public.tickets:
    mask: [secret, touched_at, rank]
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
    create:
      columns: [title, priority, due, labels]
      preset: { tenant: { claim: tenant }, secret: made, touched_at: now }
    update: { columns: [title, priority, due, labels, tenant], preset: { secret: seen } }
    soft_delete: { column: gone, value: true }
  public.letters:
    mask: [opener]
    create: { columns: [code, body, weight] }
    update: { columns: [body, weight] }
    soft_delete: { column: closed_at, value: now }
  public.remarks:
    mask: [scribble]
    row_filter: [{ parent: [customer_id] }]
    create: { columns: [id, customer_id, body] }
    update: { columns: [customer_id, body] }
procedures:
  public.label_words: { effect: read, result_columns: [word, size] }
  public.file_note: { effect: write }
  public.swap: { effect: write, result_columns: [first] }
  public.wipe: { effect: write }
roles:
  analyst:
    read: ['*']
    create: [public.customers, public.ledger, public.tickets, public.letters, public.remarks]
    update: ['*']
    soft_delete: ['*']
    call: [public.label_words, public.file_note, public.swap]
    deny: [public.payroll]
    mask: { public.customers: [email, risk], public.orders: [memo] }
  support:
    read: [public.customers, public.orders, public.ledger]
    create: [public.orders, public.ledger]
    update: [public.orders, public.customers]
    call: [public.label_words]
    mask: { public.customers: [score] }
    row_filter: { public.orders: [{ column: region, op: in, values: { claim: regions } }] }
  counter:
    min_group_size: 4
    aggregate: [public.customers, public.orders, public.visits, public.remarks]
    update: [public.tickets]
  payer: { read: [public.payroll] }
`

/**
 * For comparisons with twins. A preset that nobody sees makes a change of every update, and shows in that; a twin has no
 * column for it.
 */
const UNSTAMPED_POLICY = POLICY.replace('      preset: { password_hash: hash-right }\n', '').replace(
  ', preset: { secret: seen }',
  '',
)

/** The policy of the databases in which nothing hidden exists: the same grants and limits, and nothing left to hide. */
const BARE_TABLES = `
version: 1
defaults: { row_cap: 40, page_size: 10 }
tables:
  public.customers:
    row_filter: [{ column: tenant, op: eq, value: acme }]
    create:
      columns: [id, name, country, tier, score, weight, born, active, tags, extra, note MORE]
      preset: { tenant: acme }
    update: { columns: [tenant, name, country, tier, SCORE joined, active, ref, tags, extra, note MORE] }
  public.orders:
    create: { columns: [region, number, customer_id, status, total, placed MEMO] }
    update: { columns: [region, status, total, customer_id MEMO] }
`
const BARE_LEDGER = `  public.ledger:
    key: [entry]
    max_affected_rows: 8
    create: { columns: [entry, amount, kind] }
    update: { columns: [amount, kind] }`
/** Where every customer is the caller's, a remark's is in scope as soon as there is one. */
const BARE_REMARKS = `
  public.remarks:
    row_filter: [{ column: customer_id, op: not_null }]
    create: { columns: [id, customer_id, body] }
    update: { columns: [customer_id, body] }`
const BARE_TICKETS = `
  public.tickets:
    row_filter: [{ column: tenant, op: eq, value: acme }]
    create: { columns: [title, priority, due, labels], preset: { tenant: acme } }
    update: { columns: [title, priority, due, labels, tenant] }
    soft_delete: { column: gone, value: true }
`

export const ANA = identity('ana', ['analyst'], { tenant: 'acme' })
export const SUE = identity('sue', ['support'], { tenant: 'acme', regions: ['eu', 'us'] })
export const CORA = identity('cora', ['counter'], { tenant: 'acme' })
export const BOB = identity('bob', ['analyst'], { tenant: 'beta' })
export const BOTH = identity('both', ['analyst', 'support'], { tenant: 'acme', regions: ['eu'] })
const COUNTING_SUE = identity('counting_sue', ['support', 'counter'], { tenant: 'acme', regions: ['eu'] })
const PAT = identity('pat', ['payer', 'counter'], { tenant: 'beta' })
const LOST = identity('lost', ['analyst', 'support'])
const LISTED = identity('listed', ['support'], { tenant: ['acme', 'beta'], regions: 'eu' })
const NOBODY = identity('nobody', [])
const STRAY = identity('stray', ['no_such_role'], { tenant: 'acme' })

export const IDENTITIES: readonly Identity[] = [
  ANA,
  SUE,
  CORA,
  BOB,
  BOTH,
  COUNTING_SUE,
  PAT,
  LOST,
  LISTED,
  NOBODY,
  STRAY,
]

/** A database that differs from the left one in nothing that these identities may see. */
export interface Variant {
  readonly name: string
  readonly setup: string
  readonly identities: readonly Identity[]
}

function variantsOf(sql: SetupSql): readonly Variant[] {
  const right = (strangers: number, unseen: string): string =>
    `${sql.base}${sql.strangers(strangers)}${sql.unseenByAll}${unseen}${sql.analyze}`
  return [
    { name: 'what nobody sees', setup: right(3000, ''), identities: IDENTITIES },
    {
      name: 'what analysts do not see',
      setup: right(1, sql.unseenByAnalysts),
      identities: [ANA, LOST, NOBODY, STRAY],
    },
    { name: 'what support does not see', setup: right(40, sql.unseenBySupport), identities: [SUE, LISTED, NOBODY] },
    {
      name: 'what an analyst of another tenant does not see',
      setup: right(40, `${sql.unseenByAnalysts}${sql.unseenByBeta}`),
      identities: [BOB],
    },
  ]
}

/** The database as one identity sees it: nothing it may not see has ever existed there. */
export interface Twin {
  readonly name: string
  readonly identity: Identity
  readonly setup: string
  readonly policy: string
  /** Names of columns and tables that only the real database has. */
  readonly hidden: readonly string[]
}

const LABELS = `  public.label_words: { effect: read, result_columns: [word, size] }`
const MASKED = [
  ...[
    'ssn',
    'password_hash',
    'margin',
    'token',
    'ip',
    'salary',
    'manager_id',
    'shard',
    'secrets',
    'payroll',
    'journal',
  ],
  ...['secret', 'touched_at', 'rank', 'opener', 'hint', 'wipe', 'scribble'],
]

function twinsOf(sql: SetupSql): readonly Twin[] {
  const without = (unseen: string): string => `${sql.base}${sql.dropMasked}${sql.onlyAcme}${unseen}${sql.analyze}`
  return [
    {
      name: 'an analyst',
      identity: ANA,
      setup: without(sql.dropUnseenByAna),
      policy: `${BARE_TABLES.replace('SCORE', 'score,').replaceAll('MEMO', '')}
${BARE_LEDGER}
  public.visits: { key: [page], max_affected_rows: 30, update: { columns: [ms, cost] } }
  public.employees: { aggregate: { columns: [team] } }
  public.open_orders: { key: [region, number] }${BARE_TICKETS}
  public.letters:
    create: { columns: [code, body, weight] }
    update: { columns: [body, weight] }
    soft_delete: { column: closed_at, value: now }${BARE_REMARKS}
procedures:
${LABELS}
  public.file_note: { effect: write }
  public.swap: { effect: write, result_columns: [first] }
roles:
  analyst:
    read: ['*']
    create: [public.customers, public.ledger, public.tickets, public.letters, public.remarks]
    update: ['*']
    soft_delete: ['*']
    call: ['*']`,
      hidden: [...MASKED, 'email', 'risk', 'memo'],
    },
    {
      name: 'a support agent',
      identity: SUE,
      setup: without(sql.dropUnseenBySue),
      policy: `${BARE_TABLES.replace(' score,', '').replace('SCORE', 'email, risk,').replaceAll('MEMO', ', memo')}
${BARE_LEDGER}
procedures:
${LABELS}
roles:
  support:
    read: [public.customers, public.orders, public.ledger]
    create: [public.orders, public.ledger]
    update: [public.orders, public.customers]
    call: [public.label_words]
    row_filter: { public.orders: [{ column: region, op: in, values: [eu, us] }] }`,
      hidden: [
        ...MASKED,
        'score',
        'employees',
        'visits',
        'open_orders',
        'tickets',
        'letters',
        'remarks',
        'file_note',
        'swap',
      ],
    },
    {
      name: 'one who only counts',
      identity: CORA,
      setup: without(sql.dropUnseenByCora),
      policy: `${BARE_TABLES.replace('SCORE', 'score,').replaceAll('MEMO', ', memo')}
  public.visits: { key: [page] }${BARE_TICKETS.trimEnd()}${BARE_REMARKS}
roles:
  counter:
    min_group_size: 4
    aggregate: [public.customers, public.orders, public.visits, public.remarks]
    update: [public.tickets]`,
      hidden: [...MASKED, 'ledger', 'employees', 'open_orders', 'letters', 'label_words', 'file_note', 'swap'],
    },
  ]
}

/** What is compared on one engine. */
export interface TwoDatabases {
  readonly policy: string
  readonly unstampedPolicy: string
  readonly left: string
  readonly variants: readonly Variant[]
  readonly twins: readonly Twin[]
}

/** Columns that an engine has types for and PostgreSQL does not, which callers may write as well. */
const MORE_COLUMNS: PerEngine<string> = {
  postgres: '',
  mysql: ', points, flag, wakes, handle, seen',
  sqlserver: ', points, wakes, handle, seen, raw',
}

/** What the names of parameters begin with. */
const OUTPUT_MARK: PerEngine<string> = { postgres: '', mysql: '', sqlserver: '@' }

export function twoDatabases(engine: EngineName): TwoDatabases {
  const sql = forEngine({ postgres: POSTGRES_SETUP, mysql: MYSQL_SETUP, sqlserver: SQLSERVER_SETUP }, engine)
  const more = forEngine(MORE_COLUMNS, engine)
  const output = forEngine(OUTPUT_MARK, engine)
  const policy = (text: string): string =>
    policyFor(engine, text.replaceAll(' MORE', more).replaceAll('[first]', `['${output}first']`))
  return {
    policy: policy(POLICY),
    unstampedPolicy: policy(UNSTAMPED_POLICY),
    left: `${sql.base}${sql.strangers(12)}${sql.analyze}`,
    variants: variantsOf(sql),
    twins: twinsOf(sql).map((twin) => ({ ...twin, policy: policy(twin.policy) })),
  }
}

/** Names and values that a caller who knows, or guesses, what is hidden would try. */
export const STRANGE_WORDS: readonly string[] = [
  ...MASKED,
  'email',
  'risk',
  'memo',
  'score',
  'tenant',
  'customers.ssn',
  'SSN',
  'ssn ',
  'ss',
  'ctid',
  'xmin',
  'tableoid',
  'rowid',
  'nonsense',
  'id',
  'name',
  'zeta',
  'beta',
  'acme',
  'ssn-z1',
  'hash-right',
  'elsewhere',
  '10001',
  '10007',
  '777',
  'asia',
  'seen',
  'secret right',
  'buried',
  'letter-7',
  'letter-14',
  '0',
  '-1',
  '1e3',
  '',
  '__proto__',
  'search_secrets',
]

/**
 * What a database itself decides, so that two that differ in what is hidden may differ in it too. Nothing else may differ,
 * and each of these is left out by this name alone.
 */
export const EXEMPTIONS = {
  /** Whether a write succeeds where a constraint or trigger decides: it sees every row and column, and refuses by one code. */
  constraint: 'DB_CONSTRAINT',
  /** The database's own refusal, that is: the gateway uses the code as well for a row that is not where it was written. */
  constraintReason: 'the statement failed',
  /** What a sequence gives next tells how much was made so far, by whomever: ids here count from a million on. */
  sequence: /\b10\d{5}\b/g,
  /** When a row was marked as deleted is the moment of the call. */
  clock: /("closed_at\\*":\\*")[^"\\]+/g,
  /** Where a schema is a database, two of them on one server cannot have one name. */
  schema: /\btest_\d+_[0-9a-f]{8}\b/g,
  /** And that name is part of what an idempotency key stands for. */
  schemaHash: /("target\\*":\\*"test_\d+_[0-9a-f]{8}\..*?"planHash\\*":\\*")[0-9a-f]{64}/g,
  /** A statement names the numbers that each database's own catalog has for tables and types, and which nobody is shown. */
  numbers: /(regclass = |attrelid = |atttypid = '|OBJECT_ID\((?:[^)]*)\) = |COL_NAME\()\d+/g,
  /** The catalog numbers routines as they were made: which one is meant is part of what an idempotency key stands for. */
  catalog: /("operation\\*":\\*"call\\*".*?"planHash\\*":\\*")[0-9a-f]{64}/g,
} as const

const REFUSABLE: ReadonlySet<string> = new Set(['OK', 'POLICY_WRITTEN_ROW', EXEMPTIONS.constraint])

/** A reply or entry without what is left out by name. */
export function evened(text: string): string {
  return text
    .replace(EXEMPTIONS.sequence, 'NEXT')
    .replace(EXEMPTIONS.clock, '$1NOW')
    .replace(EXEMPTIONS.schemaHash, '$1HASH')
    .replace(EXEMPTIONS.schema, 'SCHEMA')
    .replace(EXEMPTIONS.catalog, '$1HASH')
    .replace(EXEMPTIONS.numbers, '$1NUMBER')
}

/** How two databases answered one call: `exempt` when a constraint decided it, so that what follows may differ as well. */
export function compareSeen(
  one: Seen,
  other: Seen,
  view: (seen: Seen) => Partial<Seen>,
): { readonly one: string; readonly other: string; readonly exempt: boolean } {
  const exempt = [one, other].some(
    ({ code, reason }) => code === EXEMPTIONS.constraint && reason?.startsWith(EXEMPTIONS.constraintReason) === true,
  )
  const text = (seen: Seen): string => {
    const shown = view(seen)
    if (!exempt) return evened(JSON.stringify(shown))
    const { operation, target, plan, statements, intents } = shown
    return evened(JSON.stringify({ operation, target, plan, statements, intents, refusable: REFUSABLE.has(seen.code) }))
  }
  return { one: text(one), other: text(other), exempt: exempt && one.code !== other.code }
}
