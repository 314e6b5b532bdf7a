import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { entrySchema } from '../../src/audit/entry-schema.js'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import { callTool, type GatewayFolder, prepareGateway, type SpawnedGateway, spawnGateway } from '../support/gateway.js'
import { EMBEDDED } from '../support/postgres.js'
import { runRunku } from '../support/runku-process.js'
import type { TestDatabase } from '../support/test-server.js'

/** What an operator and an auditor do with a trail, on one that a gateway wrote of calls to a real database. */

const SETUP = `
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, country text NOT NULL);
CREATE TABLE order_lines (order_id int NOT NULL, line int NOT NULL, product text NOT NULL, PRIMARY KEY (order_id, line));
INSERT INTO customers SELECT n, 'customer ' || n, CASE WHEN n % 2 = 0 THEN 'DE' ELSE 'FR' END FROM generate_series(1, 30) n;
INSERT INTO order_lines SELECT 7, n, 'product ' || n FROM generate_series(1, 3) n;
`

const POLICY = `
version: 1
tables:
  public.customers: { update: { columns: [name] }, create: { columns: [id, name, country] } }
  public.order_lines: {}
roles:
  agent: { read: ['*'], update: [public.customers], create: [public.customers] }
`

interface FoundEntries {
  readonly digest: string
  readonly entries: readonly AuditEntry[]
  readonly more: boolean
}

interface Verified {
  readonly sound: boolean
  readonly instances: readonly { readonly entries: number; readonly faults: readonly { readonly kind: string }[] }[]
}

describe('audit commands', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let gateway: SpawnedGateway
  let stopped: Promise<unknown> | undefined

  const call = async (tool: string, args: object) => {
    const answer = await callTool(gateway.endpoint('shop'), folder.keys['ann'] ?? '', tool, args)
    assert.equal(answer.isError, false, answer.text)
  }
  const run = (...args: string[]) => runRunku(folder.folder, ['audit', ...args])
  // The command's own shape, which these tests are about.
  const json = async <T>(...args: string[]) => JSON.parse((await run(...args, '--json')).out) as T
  const stop = () => {
    if (stopped === undefined) {
      gateway.child.kill('SIGTERM')
      stopped = gateway.exited
    }
    return stopped
  }

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'shop', settings: database.writer(), policy: POLICY }],
      identities: { ann: { roles: ['agent'] } },
      audit:
        '{ stdout: true, buffer: { path: audit.sqlite }, file: { path: audit.jsonl, bytes_max: 65536, files_max: 50 } }',
    })
    gateway = await spawnGateway(folder, ['shop'])
    await call('get_customers_by_pk', { id: 5 })
    await call('search_customers', {
      filters: [{ column: 'country', op: 'eq', value: 'FR' }],
      columns: ['name'],
      limit: 50,
    })
    await call('search_customers', { filters: [{ column: 'country', op: 'eq', value: 'DE' }] })
    await call('update_customers_by_pk', { id: 5, values: { name: 'five' } })
    await call('update_customers_by_pk', { id: 6, values: { name: 'six' } })
    await call('create_customers', { values: { id: 99, name: 'new', country: 'IT' } })
    await call('search_order_lines', { columns: ['product'] })
  })
  after(async () => {
    await stop()
    await folder.remove()
    await database.drop()
  })

  test('who tells every call that returned or changed a row, while the gateway runs', async () => {
    const tools = async (...row: string[]) =>
      (await json<FoundEntries>('who', 'shop', ...row)).entries.map(({ tool, effect }) => `${tool} ${effect}`)
    assert.deepEqual(await tools('public.customers', '5'), [
      'update_customers_by_pk committed',
      'search_customers none',
      'get_customers_by_pk none',
    ])
    assert.deepEqual(await tools('public.customers', '99'), ['create_customers committed'])
    assert.deepEqual(await tools('public.order_lines', '7', '2'), ['search_order_lines none'])
    assert.deepEqual(await tools('public.customers', '4711'), [])
    const shown = await run('who', 'shop', 'public.customers', '6')
    assert.match(shown.out, /changed +ann .* update_customers_by_pk +OK +committed/)
    assert.match(shown.out, /read +ann .* search_customers +OK +none/)
    assert.match(
      (await run('who', 'shop', 'public.customers', '4711')).out,
      /^No call .* returned or changed the row 4711/,
    )
  })

  test('a limit says that there is more', async () => {
    const { entries, more } = await json<FoundEntries>('who', 'shop', 'public.customers', '5', '--limit', '1')
    assert.deepEqual([entries.length, more], [1, true])
    const none = await run('who', 'shop', 'public.customers', '5', '--limit', '0')
    assert.deepEqual([none.how, /expected a number from 1/.test(none.err)], [2, true])
  })

  test('hash gives the digest of a value, and the calls that named it', async () => {
    const { digest, entries } = await json<FoundEntries>('hash', 'shop', 'public.customers', 'country', 'FR')
    assert.match(digest, /^hmac:[0-9a-f]{32}$/)
    assert.deepEqual(
      entries.map(({ plan }) => plan?.filters?.[0]?.values),
      [[digest]],
    )
    const written = await json<FoundEntries>('hash', 'shop', 'public.customers', 'name', 'six')
    assert.deepEqual(
      written.entries.map(({ tool }) => tool),
      ['update_customers_by_pk'],
    )
  })

  test('tail shows the newest entries in lines of a person, or as they are', async () => {
    const lines = (await run('tail', '-n', '2')).out.trimEnd().split('\n')
    assert.equal(lines.length, 2)
    assert.match(
      lines[1] ?? '',
      /^\S+ {2}allowed {2}OK {2}ann {2}shop search_order_lines public\.order_lines {2}rows 3$/,
    )
    const raw = (await run('tail', '-n', '2', '--json')).out.trimEnd().split('\n')
    assert.deepEqual(
      raw,
      folder
        .trail()
        .slice(-2)
        .map((entry) => JSON.stringify(entry)),
    )
  })

  test('every entry of it is what the schema says, and the schema can be printed', async () => {
    for (const entry of folder.trail()) entrySchema.strict().parse(entry)
    const schema = await json<{ readonly title: string }>('schema')
    assert.equal(schema.title, 'Runku audit entry')
  })

  test('an export can be verified without anything else but the key', async () => {
    const out = join(folder.folder, 'export.ndjson')
    const exported = await run('export', '--out', out)
    assert.deepEqual([exported.how, exported.err], [0, `${folder.trail().length} entries\n`])
    const verified = await json<Verified>('verify', out, '--key-file', `${folder.bufferFile}.key`)
    assert.equal(verified.sound, true)
    const again = await run('export', '--out', out)
    assert.deepEqual([again.how, /cannot be written: EEXIST/.test(again.err)], [1, true])
    const csv = (await run('export', '--format', 'csv', '--identity', 'ann')).out.split('\r\n')
    assert.equal(csv.length, 7 + 2)
  })

  test('verify passes on the running gateway, over buffer, file and stdout together', async () => {
    const verified = await json<Verified>('verify')
    assert.equal(verified.sound, true, JSON.stringify(verified))
    const stdout = join(folder.folder, 'stdout.jsonl')
    writeFileSync(stdout, `${gateway.stdout.join('\n')}\n`)
    const all = await json<Verified>(
      'verify',
      stdout,
      join(folder.folder, 'audit.jsonl'),
      '--buffer',
      folder.bufferFile,
    )
    assert.equal(all.sound, true, JSON.stringify(all))
  })

  test('verify finds what was done to a buffer behind the gateway, names it, and exits with 5', async () => {
    await stop()
    const whole = await run('verify')
    assert.deepEqual([whole.how, whole.out.trimEnd().split('\n').at(-1)], [0, 'The trail is whole.'])
    const key = `${folder.bufferFile}.key`
    const tampered: readonly (readonly [sql: string, kind: string])[] = [
      [`UPDATE entries SET body = replace(body, '"rows":1', '"rows":0') WHERE seq = 3`, 'edited'],
      ["UPDATE entries SET body = x'00ff' WHERE seq = 4", 'edited'],
      ["UPDATE meta SET value = 'null' WHERE key = 'checkpoint' OR key = 'head'", 'head'],
      ['DELETE FROM entries WHERE seq = 4', 'removed'],
      [
        `INSERT INTO entries (seq, id, time_ms, body) SELECT 5000, 'x', time_ms, body FROM entries WHERE seq = 4`,
        'inserted',
      ],
      [
        `UPDATE entries SET body = (SELECT body FROM before o WHERE o.seq = 9 - entries.seq) WHERE seq IN (4, 5)`,
        'reordered',
      ],
      ['DELETE FROM entries WHERE seq > 6', 'truncated'],
      [`UPDATE meta SET value = replace(value, ':', ':0') WHERE key = 'head'`, 'head'],
      ["INSERT INTO intents (id, time_ms, body) VALUES ('forged', 1, '{}')", 'unsealed'],
      ["DELETE FROM meta WHERE key = 'position.file'", 'unsealed'],
    ]
    for (const [sql, kind] of tampered) {
      const copy = join(folder.folder, `${kind}-${sql.length}.sqlite`)
      const original = new Database(folder.bufferFile, { readonly: true })
      original.prepare('VACUUM INTO ?').run(copy)
      original.close()
      const db = new Database(copy)
      db.exec('CREATE TEMP TABLE before AS SELECT seq, body FROM entries')
      assert.ok(db.prepare(sql).run().changes > 0, kind)
      db.close()
      const found = await runRunku(folder.folder, ['audit', 'verify', '--buffer', copy, '--key-file', key, '--json'])
      assert.equal(found.how, 5, `${kind}: ${found.out}${found.err}`)
      const { sound, instances } = JSON.parse(found.out) as Verified
      assert.equal(sound, false)
      assert.ok(
        instances.some(({ faults }) => faults.some((fault) => fault.kind === kind)),
        `${kind}: ${found.out}`,
      )
    }
  })

  test('a file of the trail with a line taken out, or with its end cut off, does not pass beside the head', async () => {
    const lines = readFileSync(join(folder.folder, 'audit.jsonl'), 'utf8').trimEnd().split('\n')
    const file = join(folder.folder, 'cut.jsonl')
    const kinds = async (content: readonly string[]) => {
      writeFileSync(file, `${content.join('\n')}\n`)
      const found = await run('verify', file, '--buffer', folder.bufferFile, '--json')
      return [found.how, (JSON.parse(found.out) as Verified).sound] as const
    }
    // With the buffer beside it nothing is missing: what one lacks the other has.
    assert.deepEqual(await kinds(lines.filter((_, i) => i !== 3)), [0, true])
    writeFileSync(file, `${lines.filter((_, i) => i !== 3).join('\n')}\n`)
    const alone = await run('verify', file, '--key-file', `${folder.bufferFile}.key`)
    assert.equal(alone.how, 5, alone.out)
    assert.match(alone.out, /FAULT entry \d+ is missing/)
  })

  test('who finds a row in files alone, on a machine that has nothing but them and the key', async () => {
    const file = join(folder.folder, 'audit.jsonl')
    const found = await runRunku('/', [
      'audit',
      'who',
      'shop',
      'public.customers',
      '5',
      '--file',
      file,
      '--key-file',
      `${folder.bufferFile}.key`,
      '--json',
    ])
    assert.equal(found.how, 0, found.err)
    assert.equal((JSON.parse(found.out) as FoundEntries).entries.length, 3)
  })

  test('what is missing is named with what was expected', async () => {
    const refused = async (...args: string[]) => {
      const ended = await runRunku('/', ['audit', ...args])
      assert.equal(ended.how, 1, ended.out)
      return ended.err
    }
    assert.match(await refused('verify', '--buffer', '/none.sqlite'), /chain key file "\/none\.sqlite\.key" is missing/)
    assert.match(await refused('who', 'shop', 'public.customers', '5'), /config\.yaml/)
    assert.match(
      await refused('verify', '--buffer', '/none.sqlite', '--key-file', `${folder.bufferFile}.key`),
      /the audit buffer "\/none\.sqlite" cannot be read/,
    )
  })
})
