import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EMBEDDED, type TestDatabase } from '../support/postgres.js'

/** The life of a policy on the command line, with a database at hand. Each test goes on where the one before it ended. */

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'runku-policy-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Not synchronous: this process also drains the output of the database server. */
function runku(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { cwd: folder }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

async function done(...args: readonly string[]): Promise<string> {
  const ended = await runku(...args)
  assert.equal(ended.code, 0, ended.err)
  return ended.out
}

async function refusedWith(...args: readonly string[]): Promise<string> {
  const ended = await runku(...args)
  assert.equal(ended.code, 1, ended.out)
  assert.equal(ended.out, '')
  return ended.err
}

async function json(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = JSON.parse(await done(...args, '--json'))
  assert.ok(typeof value === 'object' && value !== null)
  return Object.fromEntries(Object.entries(value))
}

const SETUP = `
CREATE TABLE customers (id int PRIMARY KEY, name text, ssn text, tenant_id int);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers, total numeric(10, 2));
CREATE VIEW tax AS SELECT id, ssn AS number FROM customers;`

const FIRST = `version: 1
tables:
  public.customers:
    mask: [ssn]
    row_filter: [ { column: tenant_id, op: eq, value: { claim: tenant } } ]
  public.orders: {}
roles:
  analyst: { read: ['*'] }
  analist: { read: [public.orders] }
identities:
  ana: { row_cap: 5 }
`
const SECOND = FIRST.replace('[ssn]', '[ssn, name]').replace('public.orders: {}', 'public.orders: { row_cap: 10 }')

function configured(database: TestDatabase, ...more: readonly object[]): void {
  const { host, port, user, password, database: name } = database.reader().connection
  const shop = {
    id: 'shop',
    type: 'postgres',
    policy: 'crm',
    host,
    port,
    user,
    password,
    database: name,
    tls: 'disable',
  }
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ connectors: [shop, ...more] }))
}

const AWAY = {
  id: 'away',
  type: 'postgres',
  policy: 'crm',
  host: '127.0.0.1',
  port: 1,
  user: 'u',
  database: 'd',
  tls: 'disable',
}

describe('the life of a policy', () => {
  let database: TestDatabase
  before(async () => {
    const server = await EMBEDDED.start()
    database = await server.createDatabase(SETUP)
    configured(database)
    for (const [name, text] of Object.entries({ first: FIRST, second: SECOND })) {
      writeFileSync(join(folder, `${name}.yaml`), text)
    }
    await done('role', 'create', 'analyst')
    await done('identity', 'create', 'anna', '--role', 'analyst', '--claim', 'tenant=7')
  })

  test('validate checks a document alone without a configuration, and stores nothing', async () => {
    const alone = await done('policy', 'validate', 'first.yaml', '--config', 'nowhere.yaml')
    assert.match(alone, /^first\.yaml is a policy\. It was not checked against a database/)
    writeFileSync(join(folder, 'broken.yaml'), FIRST.replace('mask:', 'maks:'))
    const broken = await refusedWith('policy', 'validate', 'broken.yaml')
    assert.match(broken, /^runku: broken\.yaml: line 4, .*did you mean "mask"\?\n$/)
    writeFileSync(join(folder, 'slip.yaml'), FIRST.replace('{ claim: tenant }', `"$\{var.tenant}"`))
    assert.match(
      await done('policy', 'validate', 'slip.yaml'),
      /^slip\.yaml: line 5: warning: .* which is no variable and is taken as plain text; a variable is written "\$\{vars\.tenant\}"/,
    )
    assert.match(await done('policy', 'list'), /There are no policies/)
  })

  test('validate against a connector, or those that use a policy, says what applying would', async () => {
    assert.match(await done('policy', 'validate', 'first.yaml', '--connector', 'shop'), /first\.yaml fits shop\.$/m)
    assert.match(await done('policy', 'validate', 'first.yaml', '--name', 'crm'), /first\.yaml fits shop\.$/m)
    writeFileSync(join(folder, 'misspelt.yaml'), FIRST.replace('[ssn]', '[snn]'))
    const misspelt = await refusedWith('policy', 'validate', 'misspelt.yaml', '--connector', 'shop')
    assert.match(misspelt, /^runku: misspelt\.yaml: line 4: error on connector "shop": .*snn.*"ssn"/)
    assert.match(await refusedWith('policy', 'validate', 'first.yaml', '--connector', 'shp'), /did you mean "shop"\?/)
    const both = await refusedWith('policy', 'validate', 'first.yaml', '--connector', 'shop', '--name', 'crm')
    assert.match(both, /not both/)
    const nowhere = await refusedWith('policy', 'validate', 'first.yaml', '--name', 'crn')
    assert.equal(
      nowhere,
      'runku: first.yaml: no connector uses a policy "crn", so there is no database to check it against. Did you mean "crm"?\n',
    )
    assert.match(await refusedWith('policy', 'apply', 'crn', 'first.yaml'), /; --offline applies it all the same\. Did/)
    assert.match(await refusedWith('policy', 'diff', 'crn', 'first.yaml'), /did you mean "crm"\?/)
    const early = await refusedWith('policy', 'explain', 'anna', 'search_orders')
    assert.match(
      early,
      /connector "shop" uses the policy "crm", which nobody has applied: it serves nothing to anybody/,
    )
  })

  test('apply warns of a role that nobody has and of an identity that does not exist, with line and nearest name', async () => {
    const out = await done('policy', 'apply', 'crm', 'first.yaml')
    assert.match(
      out,
      /^first\.yaml: line 9: warning: There is no role "analist", so nobody has it\. Did you mean "analyst"\?/m,
    )
    assert.match(out, /^first\.yaml: line 11: warning: There is no identity "ana", .* Did you mean "anna"\?/m)
    assert.doesNotMatch(out, /"analyst", so nobody/)
    assert.match(out, /Applied version 1 of the policy "crm"\.$/m)
  })

  test('apply warns of a view that reads a masked column', async () => {
    writeFileSync(
      join(folder, 'view.yaml'),
      FIRST.replace('public.orders: {}', 'public.orders: {}\n  public.tax: { key: [id] }'),
    )
    const out = await done('policy', 'validate', 'view.yaml', '--name', 'crm')
    assert.match(
      out,
      /^view\.yaml: line 7: warning on connector "shop": "public\.tax" reads "ssn" of "public\.customers"/m,
    )
  })

  test('diff says who loses what, and its exit code that somebody does', async () => {
    const out = await done('policy', 'diff', 'crm', 'second.yaml')
    assert.match(out, /^version 1 -> second\.yaml\non shop:\n/)
    assert.match(out, /^ {2}- role "analyst": get, search, aggregate of "public\.customers": fewer columns: name$/m)
    assert.match(out, /^ {2}- role "analist": get, search, aggregate of "public\.orders": row_cap 10 \(before: 200\)$/m)
    assert.equal((await runku('policy', 'diff', 'crm', 'second.yaml', '--exit-code')).code, 3)
    const same = await runku('policy', 'diff', 'crm', 'first.yaml', '--exit-code')
    assert.deepEqual([same.code, same.out], [0, 'version 1 -> first.yaml: nothing changes for anybody.\n'])
    const { differs, connectors } = await json('policy', 'diff', 'crm', 'second.yaml')
    assert.deepEqual(
      [differs, Object(connectors)[0].connector, Object(connectors)[0].changes.length > 0],
      [true, 'shop', true],
    )
  })

  test('versions are listed, shown and compared', async () => {
    await done('policy', 'apply', 'crm', 'second.yaml')
    assert.match(await done('policy', 'history', 'crm'), /^VERSION +AUTHOR +APPLIED\n2 +cli:\S+ +\S+Z\n1 +cli:/)
    assert.match(await done('policy', 'show', 'crm'), /row_cap: 10/)
    assert.doesNotMatch(await done('policy', 'show', 'crm', '--version', '1'), /row_cap: 10/)
    const { version, document } = await json('policy', 'show', 'crm', '--version', '1')
    assert.deepEqual([version, Object(document).tables['public.customers'].mask], [1, ['ssn']])
    assert.match(
      await done('policy', 'diff', 'crm', '--from', '2', '--to', '1'),
      /\+ role "analyst": .* more columns: name/,
    )
    assert.match(await done('policy', 'diff', 'crm', '--from', '2'), /version 2 -> version 2: nothing changes/)
    assert.match(await refusedWith('policy', 'diff', 'crm', '--from', '9'), /has no version 9/)
    assert.match(await refusedWith('policy', 'diff', 'crm'), /expected a file/)
    assert.match(await refusedWith('policy', 'history', 'crn'), /Did you mean "crm"\?/)
  })

  test('explain gives the decision, what the caller would get, and the rules behind it', async () => {
    const allowed = await done('policy', 'explain', 'anna', 'search_customers', '{"limit": 3}')
    assert.match(allowed, /^ALLOWED: "anna" calls search_customers, which is search of public\.customers\n/)
    assert.match(allowed, /rows +rows where tenant_id = "7"/)
    assert.match(allowed, /name +no +masked for everybody +\[tables\.public\.customers\.mask\[1\]\]/)
    assert.match(allowed, /id +yes +shown by analyst +\[roles\.analyst\.read\[0\]\]/)
    assert.match(allowed, /version 2 of the policy "crm"/)

    const refused = await json(
      'policy',
      'explain',
      'anna',
      'search_customers',
      '{"columns": ["ssn"]}',
      '--connector',
      'shop',
    )
    assert.deepEqual([refused['decision'], refused['code']], ['refused', 'ARGUMENT_COLUMN'])
    assert.doesNotMatch(String(refused['answer']), /ssn/)
    assert.match(
      JSON.stringify(refused['reasons']),
      /"path":"tables\.public\.customers\.mask\[0\]","does":"column ssn: masked for everybody"/,
    )

    const unknown = await done('policy', 'explain', 'anna', 'update_orders_by_pk')
    assert.match(unknown, /^REFUSED with TOOL_UNKNOWN/)
    assert.match(unknown, /has no section update +\[tables\.public\.orders\]/)
    assert.match(await refusedWith('policy', 'explain', 'ana', 'search_orders'), /did you mean "anna"\?/)
    assert.match(await refusedWith('policy', 'explain', 'anna', 'search_orders', '[1]'), /expected a JSON object/)
  })

  test('rollback stores the older document as a new version once it is confirmed', async () => {
    assert.match(await refusedWith('policy', 'rollback', 'crm'), /say --yes if that is meant/)
    const out = await done('policy', 'rollback', 'crm', '--to', '1', '--yes')
    assert.match(out, /Applied version 3 of the policy "crm", which is version 1 again\./)
    assert.match(await done('policy', 'diff', 'crm', '--from', '1', '--to', '3'), /nothing changes for anybody/)
    assert.match(await refusedWith('policy', 'rollback', 'crm', '--to', '3', '--yes'), /the older ones are 1, 2/)
  })

  test('suggest drafts a policy that applies, and overwrites nothing', async () => {
    assert.match(await done('policy', 'suggest', 'shop', '--out', 'draft.yaml'), /runku policy apply crm draft\.yaml/)
    assert.equal((statSync(join(folder, 'draft.yaml')).mode & 0o777).toString(8), '600')
    assert.equal(readFileSync(join(folder, 'draft.yaml'), 'utf8'), await done('policy', 'suggest', 'shop'))
    assert.match(await refusedWith('policy', 'suggest', 'shop', '--out', 'draft.yaml'), /exists already/)
    const checked = await json('policy', 'validate', 'draft.yaml', '--connector', 'shop')
    const onDatabase = Object(checked['findings']).filter((finding: object) => 'connector' in finding)
    assert.deepEqual(onDatabase, [])
  })

  test('a connector that cannot be reached refuses, or is left to its first load by name', async () => {
    configured(database, AWAY)
    const refused = await refusedWith('policy', 'apply', 'crm', 'first.yaml')
    assert.match(refused, /the catalog of connector "away" cannot be read: .*--partial applies without this one/)
    assert.match(await done('policy', 'history', 'crm'), /^3 /m)
    const applied = await json('policy', 'apply', 'crm', 'first.yaml', '--partial')
    assert.deepEqual([applied['compared'], applied['unreached']], [['shop'], ['away']])
    assert.match(await refusedWith('policy', 'explain', 'anna', 'search_orders'), /name one with --connector/)
    assert.match(await refusedWith('policy', 'diff', 'crm', 'second.yaml'), /connector "away" cannot be read/)
  })

  test('delete takes every version once it is confirmed', async () => {
    assert.match(await refusedWith('policy', 'delete', 'crm'), /say --yes/)
    await done('policy', 'delete', 'crm', '--yes')
    assert.match(await done('policy', 'list'), /There are no policies/)
    assert.equal(existsSync(join(folder, 'draft.yaml')), true)
  })
})
