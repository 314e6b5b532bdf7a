import type { Identity } from '../../src/core/identity.js'
import { identity, type Seen } from './recorded-path.js'

/**
 * A database, the same database with other contents where some callers may not look, and for some callers the database as
 * it would be if what they may not see had never existed. PostgreSQL's spelling.
 *
 * Two things are left out by name, because the engine itself lets the order in which rows lie decide them, and a change of
 * a hidden cell moves its row: which of two equal intervals written differently (a month, thirty days) is the extreme, and
 * the last digit of a sum of floats. The floats here add up exactly in any order.
 */

export const POLICY = `
version: 1
defaults: { row_cap: 40, page_size: 10 }
tables:
  public.customers:
    mask: [ssn, password_hash]
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
    create:
      columns: [id, tenant, name, country, tier, score, weight, born, active, tags, extra, note, email, ssn]
      preset: { tenant: { claim: tenant }, password_hash: unset }
    update:
      columns: [tenant, name, country, tier, score, joined, active, ref, tags, extra, note, email, risk]
      preset: { password_hash: hash-right }
  public.orders:
    mask: [margin]
    create: { columns: [region, number, customer_id, status, total, placed, memo] }
    update: { columns: [region, status, total, customer_id, memo, margin] }
  public.ledger:
    mask: [shard, tenant]
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
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
procedures:
  public.label_words: { effect: read, result_columns: [word, size] }
  public.file_note: { effect: write }
  public.swap: { effect: write, result_columns: [first] }
  public.wipe: { effect: write }
roles:
  analyst:
    read: ['*']
    create: [public.customers, public.ledger, public.tickets, public.letters]
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
  counter: { aggregate: [public.customers, public.orders, public.visits], update: [public.tickets] }
  payer: { read: [public.payroll] }
`

/**
 * For comparisons with twins. A preset that nobody sees makes a change of every update, and shows in that; a twin has no
 * column for it.
 */
export const UNSTAMPED_POLICY = POLICY.replace('      preset: { password_hash: hash-right }\n', '').replace(
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
      columns: [id, name, country, tier, score, weight, born, active, tags, extra, note]
      preset: { tenant: acme }
    update: { columns: [tenant, name, country, tier, SCORE joined, active, ref, tags, extra, note] }
  public.orders:
    create: { columns: [region, number, customer_id, status, total, placed MEMO] }
    update: { columns: [region, status, total, customer_id MEMO] }
`
const BARE_TICKETS = `
  public.tickets:
    row_filter: [{ column: tenant, op: eq, value: acme }]
    create: { columns: [title, priority, due, labels], preset: { tenant: acme } }
    update: { columns: [title, priority, due, labels, tenant] }
    soft_delete: { column: gone, value: true }
`

const BASE = `
CREATE TYPE tier AS ENUM ('bronze', 'silver', 'gold');
CREATE TABLE customers (
  id int PRIMARY KEY, tenant text NOT NULL, name text NOT NULL, country text, tier tier, score numeric(8,2), weight float8,
  born date, joined timestamptz, active boolean, ref uuid, tags text[], extra jsonb, note text,
  ssn text UNIQUE, password_hash text NOT NULL, email text, risk int);
CREATE INDEX ON customers (country, ssn);
CREATE INDEX ON customers (tenant, risk);
CREATE INDEX ON customers (lower(password_hash));
CREATE UNIQUE INDEX ON customers (name, email);
COMMENT ON TABLE customers IS 'People who buy';
COMMENT ON COLUMN customers.name IS 'Full name';
COMMENT ON COLUMN customers.note IS 'Written after a look at ssn';
INSERT INTO customers
SELECT i, CASE WHEN i <= 120 THEN 'acme' ELSE 'beta' END, 'name ' || (i % 90), (ARRAY['de','fr','us',NULL])[1 + i % 4],
  (ARRAY['bronze','silver','gold',NULL]::tier[])[1 + i % 4], (i * 7 % 50) / 4.0, (i * 37 % 40) / 8.0,
  CASE WHEN i % 5 > 0 THEN date '1980-01-01' + i END, timestamptz '2024-01-01 00:00:00Z' + i % 30 * interval '1 hour',
  i % 3 = 0, md5(i::text)::uuid, ARRAY['t' || i % 3, NULL], jsonb_build_object('n', i % 7), CASE WHEN i % 6 > 0 THEN 'note ' || i % 10 END,
  'ssn-' || md5('s' || i), 'hash-' || md5('p' || i), 'mail' || i || '@left.example', i % 10
FROM generate_series(1, 160) AS i;

CREATE TABLE orders (
  region text, number int, customer_id int REFERENCES customers, status text, total numeric(10,2), margin numeric(10,2),
  placed timestamp, memo text, PRIMARY KEY (region, number), UNIQUE (margin, number));
CREATE INDEX ON orders (margin);
COMMENT ON TABLE orders IS 'What was bought, the margin excepted';
COMMENT ON COLUMN orders.total IS 'Without tax';
INSERT INTO orders
SELECT (ARRAY['eu','us','asia','south'])[1 + i % 4], i, 1 + i % 120, (ARRAY['open','paid','sent'])[1 + i % 3],
  (i * 13 % 100) / 4.0, i * 1.5, timestamp '2024-03-01' + i % 20 * interval '1 day', 'memo left ' || i
FROM generate_series(1, 200) AS i;
CREATE VIEW open_orders AS SELECT region, number, status, total FROM orders WHERE status = 'open';

CREATE TABLE ledger (shard int, entry int, tenant text, amount bigint, kind text, PRIMARY KEY (shard, entry));
CREATE INDEX ON ledger (tenant, amount);
INSERT INTO ledger
SELECT i % 5, i, CASE WHEN i <= 60 THEN 'acme' ELSE 'beta' END, i % 9, (ARRAY['in','out',NULL])[1 + i % 3]
FROM generate_series(1, 90) AS i;
UPDATE ledger SET entry = entry / 5;

CREATE TABLE visits (token uuid NOT NULL UNIQUE, page text, referrer text, at timestamptz, ip text, ms float8, cost numeric);
CREATE INDEX ON visits (ip, page);
COMMENT ON COLUMN visits.page IS 'Where a token went';
INSERT INTO visits
SELECT md5('t' || i)::uuid, 'page ' || i % 6, (ARRAY['a','b',NULL])[1 + i % 3], timestamptz '2024-05-01Z' + i % 4 * interval '1 day',
  '10.0.0.' || i % 200, i % 8 * 0.25,
  -- Equal costs of different looks: 1, 1.0 and 1.00.
  round((i % 4)::numeric, i % 3)
FROM generate_series(1, 150) AS i;

CREATE TABLE employees (
  id int PRIMARY KEY, name text, team text, salary numeric(10,2) UNIQUE, manager_id int REFERENCES employees);
INSERT INTO employees
SELECT i, 'worker ' || i, (ARRAY['red','blue'])[1 + i % 2], 1000 + i * 10, nullif(i / 2, 0) FROM generate_series(1, 40) AS i;

CREATE TABLE payroll (id int PRIMARY KEY, employee_id int REFERENCES employees, paid numeric(10,2));
INSERT INTO payroll SELECT i, 1 + i % 40, i * 100 FROM generate_series(1, 50) AS i;
CREATE TABLE secrets (id int PRIMARY KEY, customer_id int REFERENCES customers, body text);
INSERT INTO secrets SELECT i, i, 'secret left ' || i FROM generate_series(1, 10) AS i;

CREATE TABLE tickets (
  id int GENERATED BY DEFAULT AS IDENTITY (START WITH 1000001) PRIMARY KEY, tenant text NOT NULL, title text NOT NULL,
  priority int CHECK (priority < 100), due date, labels text[], gone boolean NOT NULL DEFAULT false,
  secret text NOT NULL, touched_at timestamptz, rank int UNIQUE);
COMMENT ON COLUMN tickets.labels IS 'Anything';
INSERT INTO tickets
SELECT i, CASE WHEN i <= 40 THEN 'acme' ELSE 'beta' END, 'ticket ' || i % 20, i % 9, date '2024-06-01' + i % 5,
  ARRAY['l' || i % 3], i % 10 = 0, CASE WHEN i % 2 = 0 THEN 'seen' ELSE 'secret left' END, NULL, i
FROM generate_series(1, 60) AS i;

CREATE TABLE letters (code text PRIMARY KEY, body text, weight numeric(6,2), closed_at timestamptz, opener text);
INSERT INTO letters
SELECT 'letter-' || i, 'body ' || i % 4, i / 4.0, CASE WHEN i % 7 = 0 THEN timestamptz '2024-01-01Z' END, 'opener left'
FROM generate_series(1, 30) AS i;

CREATE TABLE journal (id serial PRIMARY KEY, body text, weight numeric, note text);
CREATE FUNCTION label_words(words text, times int DEFAULT 2, kind tier DEFAULT 'gold')
RETURNS TABLE (word text, size int, hint text) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT w || n || kind, length(w), (SELECT max(c.ssn || c.email) FROM public.customers AS c)
  FROM unnest(string_to_array(words, ' ')) AS w, generate_series(1, least(times, 3)) AS n ORDER BY 1;
END $$;
CREATE FUNCTION file_note(body text, weight numeric DEFAULT 1) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF file_note.weight > 700 THEN RAISE EXCEPTION 'too heavy: %', (SELECT max(c.ssn) FROM public.customers AS c); END IF;
  INSERT INTO public.journal (body, weight, note)
  VALUES (file_note.body, file_note.weight, (SELECT max(c.ssn) FROM public.customers AS c));
  RETURN length(file_note.body);
END $$;
CREATE PROCEDURE swap(INOUT first text, INOUT second text) LANGUAGE plpgsql AS $$
DECLARE kept text := first;
BEGIN
  first := second;
  second := kept || (SELECT max(c.ssn) FROM public.customers AS c);
END $$;
CREATE FUNCTION wipe() RETURNS void LANGUAGE sql AS $$ DELETE FROM public.journal $$;
COMMENT ON FUNCTION label_words IS 'Labels each word';
`

/** Rows of a tenant that no identity belongs to. */
const STRANGERS = (rows: number) => `
INSERT INTO customers (id, tenant, name, country, score, weight, ssn, password_hash, email, risk, active)
SELECT 10000 + i, 'zeta', 'name ' || i % 300, 'zz', i * 3, i / 3.0, 'ssn-z' || i, 'hash-z' || i, 'z' || i || '@z.example', 99, true
FROM generate_series(1, ${rows}) AS i;
INSERT INTO ledger SELECT 900 + i, i, 'zeta', 1000 + i, 'zeta' FROM generate_series(1, ${rows}) AS i;
INSERT INTO tickets SELECT 10000 + i, 'zeta', 'ticket ' || i, 5, NULL, NULL, i % 2 = 0, 'zeta', now(), 10000 + i
FROM generate_series(1, ${rows}) AS i;
SELECT setval('tickets_id_seq', 1000000 + ${rows} * 10);
`

/** What nobody may see, made different. Updates move rows, so that the order in which they lie differs as well. */
const UNSEEN_BY_ALL = `
UPDATE customers SET ssn = NULL WHERE tenant <> 'zeta' AND id % 3 = 0;
UPDATE customers SET ssn = 'ssn-right-' || (1000 - id), password_hash = 'hash-right' WHERE tenant <> 'zeta' AND id % 3 = 1;
UPDATE orders SET margin = NULL WHERE number % 2 = 0;
UPDATE orders SET margin = 5000 - number WHERE number % 2 = 1;
UPDATE ledger SET shard = 700 - shard * 3 - entry WHERE tenant <> 'zeta' AND entry % 2 = 0;
UPDATE visits SET token = md5('right' || ctid::text)::uuid, ip = NULL WHERE ms < 1;
UPDATE employees SET salary = 9000 - id * 7, manager_id = NULL WHERE id % 3 > 0;
UPDATE secrets SET body = 'secret right';
INSERT INTO secrets SELECT i, 5, 'more' FROM generate_series(100, 400) AS i;
UPDATE tickets SET secret = 'secret right', touched_at = now(), rank = 5000 - id WHERE tenant <> 'zeta' AND id % 4 > 1;
UPDATE tickets SET title = 'buried', priority = 77 WHERE gone;
UPDATE letters SET opener = NULL WHERE weight < 4;
UPDATE letters SET body = 'buried' WHERE closed_at IS NOT NULL;
INSERT INTO journal (body) VALUES ('right');
`

const UNSEEN_BY_ANALYSTS = `
UPDATE customers SET email = 'mail' || (id * 7) || '@right.example', risk = 90 - id WHERE id % 4 = 0;
UPDATE customers SET email = NULL, risk = NULL WHERE id % 4 = 1;
UPDATE orders SET memo = 'memo right' WHERE number % 3 = 0;
DELETE FROM payroll WHERE id > 7;
`

const UNSEEN_BY_SUPPORT = `
UPDATE customers SET score = 1000 + id WHERE id % 5 > 1;
UPDATE customers SET name = 'other', country = 'other', email = id::text WHERE tenant = 'beta' AND id % 2 = 0;
DELETE FROM orders WHERE region = 'asia' AND number % 3 = 0;
UPDATE orders SET total = 777, status = 'elsewhere' WHERE region IN ('asia', 'south');
INSERT INTO orders SELECT 'south', 5000 + i, 1, 'new', i, i + 90000, now(), 'new' FROM generate_series(1, 800) AS i;
UPDATE ledger SET amount = 5555, kind = NULL WHERE tenant = 'beta';
UPDATE visits SET page = 'elsewhere';
DELETE FROM payroll;
UPDATE employees SET name = 'someone', team = 'green';
UPDATE tickets SET title = 'elsewhere';
DELETE FROM letters;
`

const UNSEEN_BY_BETA = `
UPDATE customers SET name = 'acme ' || id, country = 'xx', tags = NULL, note = 'gone' WHERE tenant = 'acme';
UPDATE ledger SET amount = amount * 100 WHERE tenant = 'acme';
DELETE FROM ledger WHERE tenant = 'acme' AND entry % 3 = 0;
UPDATE tickets SET title = 'acme ' || id, labels = NULL, gone = NOT gone WHERE tenant = 'acme' AND id % 2 = 0;
DELETE FROM tickets WHERE tenant = 'acme' AND id % 3 = 0;
`

const ANALYZE = 'ANALYZE;'

export const LEFT = `${BASE}${STRANGERS(12)}${ANALYZE}`

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

/** A database that differs from `LEFT` in nothing that these identities may see. */
export interface Variant {
  readonly name: string
  readonly setup: string
  readonly identities: readonly Identity[]
}

export const VARIANTS: readonly Variant[] = [
  {
    name: 'what nobody sees',
    setup: `${BASE}${STRANGERS(3000)}${UNSEEN_BY_ALL}${ANALYZE}`,
    identities: IDENTITIES,
  },
  {
    name: 'what analysts do not see',
    setup: `${BASE}${STRANGERS(1)}${UNSEEN_BY_ALL}${UNSEEN_BY_ANALYSTS}${ANALYZE}`,
    identities: [ANA, LOST, NOBODY, STRAY],
  },
  {
    name: 'what support does not see',
    setup: `${BASE}${STRANGERS(40)}${UNSEEN_BY_ALL}${UNSEEN_BY_SUPPORT}${ANALYZE}`,
    identities: [SUE, LISTED, NOBODY],
  },
  {
    name: 'what an analyst of another tenant does not see',
    setup: `${BASE}${STRANGERS(40)}${UNSEEN_BY_ALL}${UNSEEN_BY_ANALYSTS}${UNSEEN_BY_BETA}${ANALYZE}`,
    identities: [BOB],
  },
]

/** The database as one identity sees it: nothing it may not see has ever existed there. */
export interface Twin {
  readonly name: string
  readonly identity: Identity
  readonly setup: string
  readonly policy: string
  /** Names of columns and tables that only the real database has. */
  readonly hidden: readonly string[]
}

const DROP_MASKED = `
ALTER TABLE customers DROP COLUMN ssn, DROP COLUMN password_hash;
ALTER TABLE orders DROP COLUMN margin;
ALTER TABLE visits DROP COLUMN token, DROP COLUMN ip;
COMMENT ON COLUMN customers.note IS NULL;
COMMENT ON TABLE orders IS NULL;
COMMENT ON COLUMN visits.page IS NULL;
DROP TABLE secrets; DROP TABLE payroll; DROP TABLE journal; DROP FUNCTION wipe;
ALTER TABLE tickets DROP COLUMN secret, DROP COLUMN touched_at, DROP COLUMN rank;
ALTER TABLE letters DROP COLUMN opener;
DROP FUNCTION label_words;
CREATE FUNCTION label_words(words text, times int DEFAULT 2, kind tier DEFAULT 'gold')
RETURNS TABLE (word text, size int) LANGUAGE sql STABLE AS $$
  SELECT w || n || kind, length(w) FROM unnest(string_to_array(words, ' ')) AS w, generate_series(1, least(times, 3)) AS n ORDER BY 1;
$$;
COMMENT ON FUNCTION label_words IS 'Labels each word';
CREATE OR REPLACE FUNCTION file_note(body text, weight numeric DEFAULT 1) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF weight > 700 THEN RAISE EXCEPTION 'too heavy'; END IF;
  RETURN length(body);
END $$;
DROP PROCEDURE swap;
CREATE PROCEDURE swap(INOUT first text, IN second text) LANGUAGE plpgsql AS $$ BEGIN first := second; END $$;
`
const ONLY_ACME = `
DELETE FROM customers WHERE tenant <> 'acme'; DELETE FROM ledger WHERE tenant <> 'acme';
DELETE FROM tickets WHERE tenant <> 'acme' OR gone; DELETE FROM letters WHERE closed_at IS NOT NULL;
`
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
  ...['secret', 'touched_at', 'rank', 'opener', 'hint', 'wipe'],
]

export const TWINS: readonly Twin[] = [
  {
    name: 'an analyst',
    identity: ANA,
    setup: `${BASE}${DROP_MASKED}${ONLY_ACME}
      ALTER TABLE customers DROP COLUMN email, DROP COLUMN risk;
      ALTER TABLE orders DROP COLUMN memo;
      ALTER TABLE ledger DROP COLUMN shard, DROP COLUMN tenant;
      ALTER TABLE employees DROP COLUMN salary, DROP COLUMN manager_id;${ANALYZE}`,
    policy: `${BARE_TABLES.replace('SCORE', 'score,').replaceAll('MEMO', '')}
  public.ledger: { create: { columns: [entry, amount, kind] } }
  public.visits: { key: [page], max_affected_rows: 30, update: { columns: [ms, cost] } }
  public.employees: { aggregate: { columns: [team] } }
  public.open_orders: { key: [region, number] }${BARE_TICKETS}
  public.letters:
    create: { columns: [code, body, weight] }
    update: { columns: [body, weight] }
    soft_delete: { column: closed_at, value: now }
procedures:
${LABELS}
  public.file_note: { effect: write }
  public.swap: { effect: write, result_columns: [first] }
roles:
  analyst:
    read: ['*']
    create: [public.customers, public.ledger, public.tickets, public.letters]
    update: ['*']
    soft_delete: ['*']
    call: ['*']`,
    hidden: [...MASKED, 'email', 'risk', 'memo'],
  },
  {
    name: 'a support agent',
    identity: SUE,
    setup: `${BASE}${DROP_MASKED}${ONLY_ACME}
      DELETE FROM orders WHERE region NOT IN ('eu', 'us');
      ALTER TABLE customers DROP COLUMN score;
      ALTER TABLE ledger DROP COLUMN shard, DROP COLUMN tenant;
      DROP TABLE employees; DROP TABLE visits; DROP VIEW open_orders; DROP TABLE tickets; DROP TABLE letters;
      DROP FUNCTION file_note; DROP PROCEDURE swap;${ANALYZE}`,
    policy: `${BARE_TABLES.replace(' score,', '').replace('SCORE', 'email, risk,').replaceAll('MEMO', ', memo')}
  public.ledger: { create: { columns: [entry, amount, kind] } }
procedures:
${LABELS}
roles:
  support:
    read: [public.customers, public.orders, public.ledger]
    create: [public.orders, public.ledger]
    update: [public.orders, public.customers]
    call: [public.label_words]
    row_filter: { public.orders: [{ column: region, op: in, values: [eu, us] }] }`,
    hidden: [...MASKED, 'score', 'employees', 'visits', 'open_orders', 'tickets', 'letters', 'file_note', 'swap'],
  },
  {
    name: 'one who only counts',
    identity: CORA,
    setup: `${BASE}${DROP_MASKED}${ONLY_ACME}
      DROP TABLE employees; DROP VIEW open_orders; DROP TABLE ledger; DROP TABLE letters;
      DROP FUNCTION label_words; DROP FUNCTION file_note; DROP PROCEDURE swap;${ANALYZE}`,
    policy: `${BARE_TABLES.replace('SCORE', 'score,').replaceAll('MEMO', ', memo')}
  public.visits: { key: [page] }${BARE_TICKETS}
roles:
  counter: { aggregate: [public.customers, public.orders, public.visits], update: [public.tickets] }`,
    hidden: [...MASKED, 'ledger', 'employees', 'open_orders', 'letters', 'label_words', 'file_note', 'swap'],
  },
]

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
  /** What a sequence gives next tells how much was made so far, by whomever: ids here count from a million on. */
  sequence: /\b10\d{5}\b/g,
  /** When a row was marked as deleted is the moment of the call. */
  clock: /("closed_at\\*":\\*")[^"\\]+/g,
  /** The catalog numbers routines as they were made: which one is meant is part of what an idempotency key stands for. */
  catalog: /("operation\\*":\\*"call\\*".*?"planHash\\*":\\*")[0-9a-f]{64}/g,
} as const

const REFUSABLE: ReadonlySet<string> = new Set(['OK', 'POLICY_WRITTEN_ROW', EXEMPTIONS.constraint])

/** A reply or entry without what is left out by name. */
export function evened(text: string): string {
  return text
    .replace(EXEMPTIONS.sequence, 'NEXT')
    .replace(EXEMPTIONS.clock, '$1NOW')
    .replace(EXEMPTIONS.catalog, '$1HASH')
}

/** How two databases answered one call: `exempt` when a constraint decided it, so that what follows may differ as well. */
export function compareSeen(
  one: Seen,
  other: Seen,
  view: (seen: Seen) => Partial<Seen>,
): { readonly one: string; readonly other: string; readonly exempt: boolean } {
  const exempt = [one, other].some(({ code }) => code === EXEMPTIONS.constraint)
  const text = (seen: Seen): string => {
    const shown = view(seen)
    if (!exempt) return evened(JSON.stringify(shown))
    const { operation, target, plan, statements, intents } = shown
    return JSON.stringify({ operation, target, plan, statements, intents, refusable: REFUSABLE.has(seen.code) })
  }
  return { one: text(one), other: text(other), exempt: exempt && one.code !== other.code }
}
