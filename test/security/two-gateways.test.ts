import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import { generateArguments, type Samples, seeded } from '../support/arguments.js'
import { forEngine, type PerEngine } from '../support/engines.js'
import {
  type GatewayFolder,
  listTools,
  post,
  prepareGateway,
  type RunningGateway,
  spawnGateway,
  startGateway,
} from '../support/gateway.js'
import { ENGINES, spelledFor, type Writable, writable } from '../support/security-engines.js'
import { numbers, policyFor } from '../support/security-sql.js'
import type { TestDatabase } from '../support/test-server.js'
import { evened, IDENTITIES, STRANGE_WORDS, twoDatabases } from '../support/two-databases.js'

const CALLS_PER_TOOL = 12

/** Values that tests of plans meet in the data; enough for calls that find rows. */
const SAMPLES: Samples = new Map([
  ['id', ['1', '5', '40', '121', '10001']],
  ['name', ['name 5', 'name 40', 'other']],
  ['country', ['de', 'fr', 'us']],
  ['region', ['eu', 'us', 'asia', 'south']],
  ['number', ['4', '5', '20', '5001']],
  ['status', ['open', 'paid', 'elsewhere']],
  ['total', ['3.25', '777.00']],
  ['page', ['page 1', 'page 2']],
  ['tier', ['gold', 'silver']],
  ['tenant', ['acme', 'beta', 'zeta']],
  ['kind', ['in', 'out']],
  ['amount', ['3', '5555']],
  ['title', ['ticket 5', 'a new title']],
  ['code', ['letter-1', 'letter-2', 'letter-7', 'letter-new']],
  ['due', ['2024-06-02']],
])

/** Tables whose rows the policy lets callers write, without the one that has a trigger. */
const WRITTEN = ['customers', 'orders', 'ledger', 'visits', 'letters']

/** Changes that no constraint which sees something hidden can decide: they are made, and those of other tools are undone. */
const MADE: ReadonlySet<string> = new Set([
  ...['update_tickets_by_pk', 'soft_delete_tickets_by_pk', 'update_letters_by_pk', 'soft_delete_letters_by_pk'],
  ...['create_letters', 'file_note', 'swap'],
])

function prepare({ login }: Writable, database: TestDatabase, policy: string): Promise<GatewayFolder> {
  return prepareGateway({
    connectors: [{ id: 'shop', settings: login(database, { pool: { max: 1 } }), policy }],
    identities: Object.fromEntries(IDENTITIES.map(({ name, roles, claims }) => [name, { roles, claims }])),
    // Digests are made with a key of each gateway's own, and could not be compared.
    audit:
      '{ stdout: false, buffer: { path: audit.sqlite, durability: normal }, values: { filters: full, writes: full, result_keys: full } }',
  })
}

interface Request {
  readonly name: string
  readonly body: unknown
}

async function requests(
  folder: GatewayFolder,
  endpoint: string,
  names: readonly string[],
): Promise<readonly Request[]> {
  const all: Request[] = []
  const random = seeded(7)
  for (const name of names) {
    all.push({ name, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
    all.push({ name, body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} } })
    for (const word of STRANGE_WORDS) {
      const params = { name: `search_${word}`, arguments: {} }
      all.push({ name, body: { jsonrpc: '2.0', id: word, method: 'tools/call', params } })
    }
    const tools = await listTools(endpoint, folder.keys[name])
    const tables = tools.flatMap((tool) => (tool.name.startsWith('search_') ? [tool.name.slice(7)] : []))
    for (const tool of tools) {
      for (let i = 0; i < CALLS_PER_TOOL; i++) {
        const generation = {
          samples: SAMPLES,
          strangers: STRANGE_WORDS,
          tables,
          random,
          wrong: i % 2 === 0 ? 0.06 : 0,
          ...(MADE.has(tool.name) ? {} : { dryRun: true }),
        }
        const params = { name: tool.name, arguments: generateArguments(tool, generation) }
        all.push({ name, body: { jsonrpc: '2.0', id: i, method: 'tools/call', params } })
      }
    }
  }
  return all
}

/** Names a call as its entry does. */
function callOf(name: string, body: unknown): string {
  const id = typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : ''
  return `${name} ${id}`
}

/** An entry without what must differ between two runs. */
function comparable({ id, time, hash, prev_hash, instance, key_id, duration_ms, ...rest }: AuditEntry): string {
  assert.ok(id !== '' && time !== '' && hash !== '' && prev_hash !== '' && instance !== '')
  assert.ok((key_id === undefined) === (rest.identity === undefined) && duration_ms.total >= 0)
  return evened(JSON.stringify(rest))
}

for (const engine of ENGINES) {
  describe(`two gateways over databases that differ in what is hidden, on ${engine.label}`, () => {
    const { policy, left, variants } = twoDatabases(engine.engine)
    for (const variant of variants) {
      test(`${variant.name}: replies and entries are the same, byte for byte`, async (t) => {
        const server = await engine.start()
        const changed = writable(server, WRITTEN)
        const create = (setup: string) => server.createDatabase(`${spelledFor(server, setup)}${changed.triggers}`)
        const databases = [await create(left), await create(variant.setup)]
        const folders = await Promise.all(databases.map((database) => prepare(changed, database, policy)))
        const running: RunningGateway[] = []
        const names = variant.identities.map(({ name }) => name)
        const replies: string[][] = []
        let count = 0
        const calls: string[] = []
        for (const folder of folders) {
          const gateway = await startGateway(folder)
          running.push(gateway)
          const endpoint = gateway.endpoint('shop')
          const all = await requests(folder, endpoint, names)
          count = all.length
          const own: string[] = []
          for (const { name, body } of all) {
            if (running.length === 1) calls.push(callOf(name, body))
            const { status, text } = await post(endpoint, folder.keys[name], body)
            own.push(evened(`${name} ${JSON.stringify(body)} ${status} ${text}`))
          }
          replies.push(own)
        }
        const [ours = [], theirs = []] = replies
        assert.equal(ours.length, theirs.length)
        // A constraint may decide otherwise where something hidden differs; such calls are undone, so that nothing follows.
        const refused = (reply: string | undefined) => reply?.includes('DB_CONSTRAINT') === true
        const exempt = ours.map((reply, i) => refused(reply) || refused(theirs[i]))
        assert.ok(exempt.filter(Boolean).length < ours.length / 8)
        for (const [i, reply] of ours.entries()) if (exempt[i] !== true) assert.equal(reply, theirs[i])
        for (const gateway of running) await gateway.stop()
        const [one = [], other = []] = folders.map((folder) => folder.entries())
        assert.ok(one.length > count / 2)
        assert.equal(one.length, other.length)
        // Entries stand in the order of the calls' ends, which come one after the other.
        const exemptCalls = new Set(calls.filter((_, i) => exempt[i] === true))
        for (const [i, entry] of one.entries()) {
          const twin = other[i]
          assert.ok(twin !== undefined)
          if (exemptCalls.has(`${entry.identity} ${entry.request_id}`)) assert.equal(twin.request_id, entry.request_id)
          else assert.equal(comparable(entry), comparable(twin))
        }
        for (const folder of folders) await folder.remove()
        for (const database of databases) await database.drop()
        t.diagnostic(`${count} requests`)
      })
    }
  })
}

/** Unlike anything that a reply, an entry or the log says for reasons of its own. */
const SECRET_NAMES = [
  'hidden_name_one',
  'hidden_name_two',
  'hidden_table_three',
  'hidden_index_four',
  'hidden_label_five',
]
const SENTINELS = ['SENTINELCELL', 'SENTINELSCOPE', 'SENTINELTABLE', 'SENTINELCOMMENT', 'SENTINELPRESET', '918273645']
const GUARDED: PerEngine<string> = {
  postgres: `
CREATE TYPE secret_kind AS ENUM ('hidden_label_five', 'other');
CREATE TABLE rooms (
  hidden_name_one text NOT NULL, id int PRIMARY KEY, label text, hidden_name_two int UNIQUE, floor int, kind secret_kind);
CREATE FUNCTION inspect(room int, OUT label text, OUT hidden_name_one text) LANGUAGE plpgsql AS $$
BEGIN
  IF room > 50 THEN RAISE EXCEPTION 'room %', room USING DETAIL = 'SENTINELCELL', HINT = 'hidden_name_one'; END IF;
  SELECT r.label, r.hidden_name_one INTO label, hidden_name_one FROM public.rooms AS r WHERE r.id = room;
END $$;
CREATE INDEX hidden_index_four ON rooms (hidden_name_one, floor);
CREATE TABLE hidden_table_three (id int PRIMARY KEY, room_id int REFERENCES rooms, body text);
COMMENT ON COLUMN rooms.hidden_name_two IS 'SENTINELCOMMENT';
COMMENT ON COLUMN rooms.label IS 'not SENTINELCOMMENT but HIDDEN_NAME_ONE';
COMMENT ON TABLE rooms IS 'see "hidden_name_two": SENTINELCOMMENT';
COMMENT ON TABLE hidden_table_three IS 'SENTINELCOMMENT';
INSERT INTO rooms SELECT 'SENTINELCELL ' || i, i, 'room ' || i, 918273645 + i, i % 3, 'hidden_label_five' FROM generate_series(1, 20) AS i;
INSERT INTO rooms SELECT 'other', 100 + i, 'SENTINELSCOPE ' || i, i, 77, 'other' FROM generate_series(1, 20) AS i;
INSERT INTO hidden_table_three SELECT i, i, 'SENTINELTABLE' FROM generate_series(1, 5) AS i;
`,
  mysql: `
CREATE TABLE rooms (
  hidden_name_one varchar(80) NOT NULL, id int PRIMARY KEY, label varchar(80) COMMENT 'not SENTINELCOMMENT but HIDDEN_NAME_ONE',
  hidden_name_two int UNIQUE COMMENT 'SENTINELCOMMENT', floor int, kind ENUM('hidden_label_five', 'other'),
  KEY hidden_index_four (hidden_name_one, floor)
) COMMENT 'see "hidden_name_two": SENTINELCOMMENT';
CREATE PROCEDURE inspect(IN room int, OUT label varchar(80), OUT hidden_name_one varchar(80)) READS SQL DATA
BEGIN
  IF room > 50 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'SENTINELCELL hidden_name_one', TABLE_NAME = 'SENTINELTABLE'; END IF;
  SELECT r.label, r.hidden_name_one INTO label, hidden_name_one FROM rooms AS r WHERE r.id = room;
END;
CREATE TABLE hidden_table_three (
  id int PRIMARY KEY, room_id int, body varchar(80), FOREIGN KEY (room_id) REFERENCES rooms (id)) COMMENT 'SENTINELCOMMENT';
INSERT INTO rooms SELECT CONCAT('SENTINELCELL ', i), i, CONCAT('room ', i), 918273645 + i, i % 3, 'hidden_label_five'
FROM ${numbers('mysql', 1, 20)};
INSERT INTO rooms SELECT 'other', 100 + i, CONCAT('SENTINELSCOPE ', i), i, 77, 'other' FROM ${numbers('mysql', 1, 20)};
INSERT INTO hidden_table_three SELECT i, i, 'SENTINELTABLE' FROM ${numbers('mysql', 1, 5)};
`,
  sqlserver: `
CREATE TABLE rooms (
  hidden_name_one nvarchar(80) NOT NULL, id int PRIMARY KEY, label nvarchar(80), hidden_name_two int, floor int,
  kind nvarchar(20) CONSTRAINT hidden_kinds CHECK (kind IN ('hidden_label_five', 'other')));
CREATE UNIQUE INDEX hidden_number ON rooms (hidden_name_two) WHERE hidden_name_two IS NOT NULL;
CREATE INDEX hidden_index_four ON rooms (hidden_name_one, floor);
CREATE TABLE hidden_table_three (id int PRIMARY KEY, room_id int REFERENCES rooms (id), body nvarchar(80));
${[
  ["'rooms', 'column', 'hidden_name_two'", 'SENTINELCOMMENT'],
  ["'rooms', 'column', 'label'", 'not SENTINELCOMMENT but HIDDEN_NAME_ONE'],
  ["'rooms'", 'see "hidden_name_two": SENTINELCOMMENT'],
  ["'hidden_table_three'", 'SENTINELCOMMENT'],
]
  .map(([on, text]) => `EXEC sp_addextendedproperty 'MS_Description', N'${text}', 'schema', 'dbo', 'table', ${on};`)
  .join('\n')}
INSERT INTO rooms SELECT CONCAT('SENTINELCELL ', i), i, CONCAT('room ', i), 918273645 + i, i % 3, 'hidden_label_five'
FROM ${numbers('sqlserver', 1, 20)};
INSERT INTO rooms SELECT 'other', 100 + i, CONCAT('SENTINELSCOPE ', i), i, 77, 'other' FROM ${numbers('sqlserver', 1, 20)};
INSERT INTO hidden_table_three SELECT i, i, 'SENTINELTABLE' FROM ${numbers('sqlserver', 1, 5)}
GO
CREATE PROCEDURE inspect @room int AS
BEGIN
  SET NOCOUNT ON;
  IF @room > 50 THROW 50000, 'SENTINELCELL hidden_name_one', 1;
  SELECT r.label, r.hidden_name_one FROM rooms AS r WHERE r.id = @room;
END
GO
`,
}
const GUARDED_POLICY = `
version: 1
tables:
  public.rooms:
    mask: [hidden_name_one, hidden_name_two, kind]
    row_filter: [{ column: floor, op: in, values: { claim: floors } }]
    create: { columns: [id, label, floor], preset: { hidden_name_one: SENTINELPRESET, kind: other } }
    update: { columns: [label, floor], preset: { hidden_name_one: SENTINELPRESET } }
procedures: { public.inspect: { effect: write, result_columns: [label] } }
roles: { reader: { read: ['*'], create: ['*'], update: ['*'], call: ['*'] } }
`

function rowsOf(file: string, table: string): readonly unknown[] {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare(`SELECT * FROM ${table}`).all()
  } finally {
    db.close()
  }
}

describe('what is hidden', () => {
  for (const engine of ENGINES) {
    test(`stands in no reply, entry, line or log, on ${engine.label}`, async () => {
      const server = await engine.start()
      const { triggers, login } = writable(server, ['rooms'])
      const database = await server.createDatabase(`${forEngine(GUARDED, engine.engine)}${triggers}`)
      const folder = await prepareGateway({
        connectors: [{ id: 'shop', settings: login(database), policy: policyFor(engine.engine, GUARDED_POLICY) }],
        identities: {
          reader: { roles: ['reader'], claims: new Map([['floors', [0, 1, 2]]]) },
          lost: { roles: ['reader'] },
        },
        // A relative path is one in the folder of the configuration.
        audit: '{ stdout: true, buffer: { path: audit.sqlite, durability: normal } }',
      })
      const gateway = await spawnGateway(folder, ['shop'])
      const endpoint = gateway.endpoint('shop')
      const replies: string[] = []
      const random = seeded(11)
      const ask = async (name: string, body: unknown): Promise<void> => {
        const { text } = await post(endpoint, folder.keys[name], body)
        replies.push(text)
      }
      const samples: Samples = new Map([
        ['id', ['1', '7', '101']],
        ['label', ['room 1', 'room 7']],
        ['floor', ['0', '1', '77']],
      ])
      for (const name of ['reader', 'lost']) {
        await ask(name, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
        await ask(name, { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })
        for (const tool of await listTools(endpoint, folder.keys[name])) {
          for (let i = 0; i < 80; i++) {
            // No stranger is a hidden name: whatever stands in a reply, the gateway said by itself.
            const strangers = ['hidden', 'name_two', 'hidden_nam', 'room', 'labl', 'flor', 'x', '_', '%']
            const args = generateArguments(tool, {
              samples,
              strangers,
              tables: ['rooms'],
              random,
              wrong: i % 2 === 0 ? 0.1 : 0,
            })
            await ask(name, {
              jsonrpc: '2.0',
              id: i,
              method: 'tools/call',
              params: { name: tool.name, arguments: args },
            })
          }
        }
      }
      gateway.child.kill('SIGTERM')
      await gateway.exited
      const everything = new Map([
        // The policy stands in the store as well, and names what it hides: what calls leave there is in this table.
        ['idempotency keys', JSON.stringify(rowsOf(folder.storeFile, 'idempotency'))],
        ['intents', JSON.stringify(rowsOf(folder.bufferFile, 'intents'))],
        ['replies', replies.join('\n')],
        ['entries', JSON.stringify(folder.entries())],
        ['stdout', gateway.stdout.join('\n')],
        // What the login may write is told to the operator at the start, table by table, and so are views that read what is hidden.
        ['log', JSON.stringify(gateway.log.filter((line) => !/login|connector\.drift/i.test(JSON.stringify(line))))],
      ])
      assert.ok(folder.entries().length > 300 && gateway.stdout.length > 300)
      assert.ok(everything.get('replies')?.includes('room 7'), 'rows were read')
      for (const [where, text] of everything) {
        for (const secret of [...SECRET_NAMES, ...SENTINELS]) {
          assert.ok(!text.toLowerCase().includes(secret.toLowerCase()), `${where} holds ${secret}`)
        }
      }
      await folder.remove()
      await database.drop()
    })
  }
})
