import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { Gate } from '../../src/threads/gate.js'
import type { IntentVerdict, OutcomeMessage } from '../../src/threads/messages.js'
import { chainOf } from '../support/chain-of.js'
import {
  callTool,
  type GatewayFolder,
  must,
  post,
  prepareGateway,
  type RunningGateway,
  rpcCall,
  spawnGateway,
  startGateway,
  type ToolAnswer,
} from '../support/gateway.js'
import { holdNotes } from '../support/hold.js'
import { HOLD } from '../support/notes.js'
import { EMBEDDED, eventually, READER, type TestDatabase } from '../support/postgres.js'
import { superviseAlone } from '../support/supervisor.js'

/** A row whose note is `held` is written only when the test lets go of the lock. */
const SETUP = `
CREATE TABLE orders (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  status text NOT NULL,
  note text
);
CREATE FUNCTION wait_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note = 'held' THEN PERFORM pg_advisory_xact_lock_shared(${HOLD}); END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER wait_held BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION wait_held();
CREATE FUNCTION add_order(note text) RETURNS text LANGUAGE sql AS
  $$ INSERT INTO public.orders (status, note) VALUES ('called', note) RETURNING 'added ' || note $$;
CREATE FUNCTION count_orders() RETURNS integer LANGUAGE sql AS $$ SELECT count(*)::int FROM public.orders $$;
`
const GRANTS = `GRANT INSERT, UPDATE ON orders TO ${READER}`

const POLICY = `
version: 1
defaults: { query_timeout_ms: 30000 }
tables:
  public.orders: { create: { columns: [status, note] }, update: { columns: [status, note] } }
procedures:
  public.add_order: { effect: write }
  public.count_orders: { effect: read }
roles:
  clerk: { read: ['*'], create: ['*'], update: ['*'], call: ['*'] }
`

interface Intent {
  readonly id: string
  readonly body: string
}

function intentsIn(folder: GatewayFolder): readonly Intent[] {
  const db = new Database(folder.bufferFile, { readonly: true })
  try {
    return db.prepare<[], Intent>('SELECT id, body FROM intents').all()
  } finally {
    db.close()
  }
}

/** `audit: { … }` of a gateway with a buffer, as the file says it. */
const auditWith = (values: string) => `{ stdout: false, buffer: { path: audit.sqlite }, values: ${values} }`

async function prepared(audit = auditWith('{ writes: hash }')) {
  const database = await (await EMBEDDED.start()).createDatabase(SETUP, GRANTS)
  const folder = await prepareGateway({
    connectors: [{ id: 'shop', settings: database.reader(), policy: POLICY, more: 'threads: { max: 2 }' }],
    identities: { anna: { roles: ['clerk'] }, ben: { roles: ['clerk'] } },
    audit,
  })
  return { database, folder, key: folder.keys['anna'] ?? '' }
}

function lastEntry(folder: GatewayFolder): AuditEntry {
  const entry = folder.entries().at(-1)
  assert.ok(entry !== undefined)
  return entry
}

const orders = async (database: TestDatabase) => (await database.query('SELECT status FROM orders ORDER BY id')).flat()

/** Whether a statement of the gateway waits for the lock that the test holds. */
const waits = async (database: TestDatabase): Promise<boolean> => {
  const [row] = await database.query(
    `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = ${HOLD} AND NOT granted`,
  )
  return row?.[0] !== '0'
}

describe('calls that write', () => {
  let folder: GatewayFolder
  let database: TestDatabase
  let gateway: RunningGateway
  let key: string

  before(async () => {
    const made = await prepared()
    folder = made.folder
    database = made.database
    key = made.key
    gateway = await startGateway(folder)
  })

  after(async () => {
    await gateway?.stop()
    await folder?.remove()
  })

  const call = (tool: string, args: unknown, as = key): Promise<ToolAnswer> =>
    callTool(gateway.endpoint('shop'), as, tool, args)

  test('a change has one entry with its effect, rows and hashed values, and leaves no intent', async () => {
    const created = await call('create_orders', { values: { status: 'new', note: 'first' } })
    assert.equal(created.isError, false, created.text)
    const entry = lastEntry(folder)
    assert.deepEqual(
      [entry.operation, entry.target, entry.code, entry.effect, entry.affected, entry.decision],
      ['create', 'public.orders', 'OK', 'committed', 1, 'allowed'],
    )
    assert.match(JSON.stringify(entry.plan?.values), /"column":"status","values":\["hmac:[0-9a-f]{32}"\]/)
    assert.deepEqual(intentsIn(folder), [])
  })

  test('the intent of a change is on disk before the database is asked, with its values kept as configured', async () => {
    const hold = await holdNotes(database.superuser())
    const pending = call('create_orders', { values: { status: 'new', note: 'held' } })
    await eventually('the change waits in the database', () => waits(database))
    const [intent, ...others] = intentsIn(folder)
    assert.deepEqual(others, [])
    assert.match(intent?.body ?? '', /"effect":"unknown"/)
    assert.doesNotMatch(intent?.body ?? '', /held/)
    await hold.release()
    assert.equal((await pending).isError, false)
    assert.equal(lastEntry(folder).id, intent?.id)
    assert.deepEqual(intentsIn(folder), [])
  })

  test('a dry run changes nothing, announces nothing, and can be stopped', async () => {
    const before = await orders(database)
    const tried = await call('create_orders', { values: { status: 'dry' }, dry_run: true })
    assert.equal(tried.isError, false, tried.text)
    assert.deepEqual([lastEntry(folder).effect, lastEntry(folder).plan?.dry_run], ['none', true])
    const hold = await holdNotes(database.superuser())
    const leaving = new AbortController()
    const body = rpcCall('dry', {
      name: 'create_orders',
      arguments: { values: { status: 'dry', note: 'held' }, dry_run: true },
    })
    const left = fetch(gateway.endpoint('shop'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch(() => undefined)
    await eventually('the dry run waits in the database', () => waits(database))
    assert.deepEqual(intentsIn(folder), [])
    leaving.abort()
    await left
    await eventually('it was stopped', () => lastEntry(folder).request_id === 'dry')
    assert.equal(lastEntry(folder).code, 'CANCELLED')
    await hold.release()
    assert.deepEqual(await orders(database), before)
  })

  test('a client that leaves, or cancels, does not stop a change that was told to go', async () => {
    const before = await orders(database)
    const hold = await holdNotes(database.superuser())
    const leaving = new AbortController()
    const body = rpcCall('left', { name: 'create_orders', arguments: { values: { status: 'left', note: 'held' } } })
    const left = fetch(gateway.endpoint('shop'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch(() => undefined)
    await eventually('the change waits in the database', () => waits(database))
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'left' } }
    await post(gateway.endpoint('shop'), key, cancel)
    leaving.abort()
    await left
    assert.equal(await waits(database), true)
    await hold.release()
    await eventually('the change has its entry', () => lastEntry(folder).request_id === 'left')
    assert.deepEqual([lastEntry(folder).code, lastEntry(folder).effect], ['OK', 'committed'])
    assert.deepEqual(await orders(database), [...before, 'left'])
  })

  test('the thread dies with a change that was told to go: reply and entry say unknown, and its key never runs again', async () => {
    const hold = await holdNotes(database.superuser())
    const args = { values: { status: 'lost', note: 'held' }, idempotency_key: 'lost-1' }
    const pending = call('create_orders', args)
    await eventually('the change waits in the database', () => waits(database))
    gateway.gateway.connectors.get('shop')?.lanes.killAny()
    const answer = await pending
    assert.equal(answer.isError, true)
    assert.match(answer.text, /^DB_EFFECT_UNKNOWN: /)
    assert.doesNotMatch(answer.text, /not available now|shortly|narrow/)
    const entry = lastEntry(folder)
    assert.deepEqual(
      [entry.operation, entry.target, entry.code, entry.effect, entry.decision, entry.tool],
      ['create', 'public.orders', 'DB_EFFECT_UNKNOWN', 'unknown', 'errored', 'create_orders'],
    )
    assert.equal(entry.plan?.idempotency_key, 'lost-1')
    await hold.release()
    const again = await call('create_orders', args)
    assert.match(again.text, /^IDEMPOTENCY_UNKNOWN: /)
    assert.equal(lastEntry(folder).effect, 'unknown')
    assert.deepEqual(intentsIn(folder), [])
  })

  test('a hundred calls with one key write once; a replay gives the key of the row and nothing else of it', async () => {
    const args = { values: { status: 'once', note: 'only for the first' }, idempotency_key: 'once-1' }
    const answers = await Promise.all(Array.from({ length: 100 }, () => call('create_orders', args)))
    assert.equal((await orders(database)).filter((status) => status === 'once').length, 1)
    const told = answers.filter(({ isError }) => !isError)
    assert.ok(told.length >= 1)
    for (const { text } of answers.filter(({ isError }) => isError)) assert.match(text, /^IDEMPOTENCY_IN_PROGRESS: /)
    assert.equal(told.filter(({ text }) => text.includes('only for the first')).length, 1)
    const replay = await call('create_orders', args)
    const [row] = await database.query("SELECT id FROM orders WHERE status = 'once'")
    assert.deepEqual(replay.structured, {
      rows: [{ id: Number(row?.[0]) }],
      row_count: 1,
      affected_rows: 1,
      changed: true,
      replayed: true,
      truncated: false,
    })
    const entry = lastEntry(folder)
    assert.deepEqual([entry.effect, entry.code, entry.affected], ['none', 'OK', undefined])
    assert.equal(entry.reason, 'answered from its idempotency key')
  })

  test('a key is the caller’s own, and bound to what its call does', async () => {
    const args = { values: { status: 'mine' }, idempotency_key: 'mine-1' }
    assert.equal((await call('create_orders', args)).isError, false)
    assert.match(
      (await call('create_orders', { ...args, values: { status: 'other' } })).text,
      /^IDEMPOTENCY_CONFLICT: /,
    )
    assert.equal((await call('create_orders', args, folder.keys['ben'])).isError, false)
    assert.equal((await orders(database)).filter((status) => status === 'mine').length, 2)
  })

  test('a change that was there already uses up its key: sent again, it does not undo what came later', async () => {
    assert.equal((await call('create_orders', { values: { status: 'first' } })).isError, false)
    const [row] = await database.query("SELECT id FROM orders WHERE status = 'first'")
    const args = { id: Number(row?.[0]), values: { status: 'first' }, idempotency_key: 'there-1' }
    const rowOf = (changed: boolean) => ({ affected_rows: changed ? 1 : 0, changed })
    const first = await call('update_orders_by_pk', args)
    assert.deepEqual(pick(first.structured), rowOf(false), first.text)
    await database.query("UPDATE orders SET status = 'later' WHERE status = 'first'")
    const again = await call('update_orders_by_pk', args)
    assert.deepEqual(pick(again.structured), rowOf(false), again.text)
    assert.ok((await orders(database)).includes('later'))
    const other = { ...args, values: { status: 'another' } }
    assert.match((await call('update_orders_by_pk', other)).text, /^IDEMPOTENCY_CONFLICT: /)
  })

  test('a call that failed frees its key', async () => {
    const args = { id: 999_999, values: { status: 'x' }, idempotency_key: 'free-1' }
    assert.match((await call('update_orders_by_pk', args)).text, /^ROW_NOT_FOUND: /)
    assert.match((await call('update_orders_by_pk', args)).text, /^ROW_NOT_FOUND: /)
    assert.match((await call('update_orders_by_pk', { ...args, id: 888_888 })).text, /^ROW_NOT_FOUND: /)
  })

  test('a procedure that writes is announced and runs once for a key; what it gave is not kept', async () => {
    const args = { note: 'by procedure', idempotency_key: 'call-1' }
    const first = await call('add_order', args)
    assert.match(first.text, /added by procedure/)
    const entry = lastEntry(folder)
    assert.deepEqual([entry.operation, entry.target, entry.effect], ['call', 'public.add_order', 'committed'])
    const second = await call('add_order', args)
    assert.equal(second.isError, false, second.text)
    assert.doesNotMatch(second.text, /added by procedure/)
    assert.equal((await orders(database)).filter((status) => status === 'called').length, 1)
  })

  test('a procedure declared as reading has an entry like a read', async () => {
    const counted = await call('count_orders', {})
    assert.equal(counted.isError, false, counted.text)
    assert.equal(lastEntry(folder).effect, 'none')
  })

  test('a trail that cannot take intents refuses the change before the database is asked', async () => {
    const before = await orders(database)
    const other = new Database(folder.bufferFile)
    other.exec("CREATE TRIGGER full BEFORE INSERT ON intents BEGIN SELECT RAISE(ABORT, 'no room'); END")
    const args = { values: { status: 'refused' }, idempotency_key: 'refused-1' }
    const refused = await call('create_orders', args)
    assert.match(refused.text, /^AUDIT_UNAVAILABLE: /)
    assert.deepEqual(await orders(database), before)
    other.exec('DROP TRIGGER full')
    other.close()
    await eventually('the trail takes entries again', async () => (await call('schema_overview', {})).isError === false)
    assert.equal((await call('create_orders', args)).isError, false)
  })

  test('the chain is whole after all of it', () => {
    assert.deepEqual(chainOf(folder.bufferFile).faults, [])
  })
})

/** The effect of a mutation as its result tells it. */
function pick(structured: unknown) {
  const { affected_rows, changed } = structured as { readonly affected_rows: number; readonly changed: boolean }
  return { affected_rows, changed }
}

test('kill -9 with a change in the database: the next start says unknown, and its key never runs again', async () => {
  const { database, folder, key } = await prepared()
  const hold = await holdNotes(database.superuser())
  const first = await spawnGateway(folder, ['shop'])
  const args = { values: { status: 'cut off', note: 'held' }, idempotency_key: 'cut-1' }
  const lost = callTool(first.endpoint('shop'), key, 'create_orders', args).catch(() => undefined)
  await eventually('the change waits in the database', () => waits(database))
  first.child.kill('SIGKILL')
  await first.exited
  assert.equal(await lost, undefined)
  assert.equal(intentsIn(folder).length, 1)
  assert.deepEqual(folder.entries(), [])
  const second = await startGateway(folder)
  const [entry, ...others] = folder.entries()
  assert.deepEqual(others, [])
  assert.deepEqual(
    [entry?.operation, entry?.code, entry?.effect, entry?.reason],
    ['create', 'DB_EFFECT_UNKNOWN', 'unknown', 'the process ended before the outcome was known'],
  )
  assert.match(JSON.stringify(entry?.plan?.values), /hmac:/)
  assert.deepEqual(intentsIn(folder), [])
  await hold.release()
  const again = await callTool(second.endpoint('shop'), key, 'create_orders', args)
  assert.match(again.text, /^IDEMPOTENCY_UNKNOWN: /)
  await second.stop()
  assert.deepEqual(chainOf(folder.bufferFile).faults, [])
  await folder.remove()
})

/** A connector without a gateway around it; the test answers for the front. */
async function supervised() {
  const database = await (await EMBEDDED.start()).createDatabase(SETUP, GRANTS)
  const document = JSON.stringify(must(parsePolicy(POLICY)))
  const supervisor = superviseAlone(database.reader(), document, new Gate(4))
  await supervisor.whenSettled()
  const identity = { id: 'a', name: 'anna', roles: ['clerk'], claims: new Map() }
  /** Settles when the call is announced. */
  const begin = () => {
    let end: (outcome: OutcomeMessage) => void = () => {}
    const ended = new Promise<OutcomeMessage>((resolve) => {
      end = resolve
    })
    let callId = 0
    const announced = new Promise<(verdict: IntentVerdict) => void>((resolve) => {
      const request = { auditId: 'a', identity, tool: 'create_orders', args: { values: { status: 'new' } } }
      callId = supervisor.call(request, {
        announced: (_intent, _epoch, answer) => resolve(answer),
        ended: end,
      })
    })
    return { announced, ended, cancel: () => supervisor.cancel(callId) }
  }
  return { database, supervisor, begin }
}

test('the thread dies before a change was told to go: it did not happen, and the answer says so', async () => {
  const { database, supervisor, begin } = await supervised()
  const { announced, ended } = begin()
  const answer = await announced
  supervisor.lanes.killAny()
  const outcome = await ended
  answer({ kind: 'go' })
  assert.deepEqual([outcome.code, outcome.effect, outcome.operation], ['CONNECTOR_UNAVAILABLE', 'none', 'create'])
  assert.deepEqual(await orders(database), [])
  await supervisor.stop(5_000)
})

test('a change that is cancelled before it was told to go does not happen', async () => {
  const { database, supervisor, begin } = await supervised()
  const { announced, ended, cancel } = begin()
  const answer = await announced
  cancel()
  answer({ kind: 'go' })
  const outcome = await ended
  assert.deepEqual([outcome.code, outcome.effect], ['CANCELLED', 'none'])
  assert.deepEqual(await orders(database), [])
  await supervisor.stop(5_000)
})

test('a thread that is told to stop waits for the word on a change, and makes it', async () => {
  const { database, supervisor, begin } = await supervised()
  const { announced, ended } = begin()
  const answer = await announced
  supervisor.lanes.stopNow()
  answer({ kind: 'go' })
  const outcome = await ended
  assert.deepEqual([outcome.code, outcome.effect], ['OK', 'committed'])
  assert.deepEqual(await orders(database), ['new'])
  await supervisor.stop(5_000)
})

test('without a buffer nothing is written, and reads go on', async () => {
  const { database, folder, key } = await prepared('{ stdout: true }')
  const gateway = await spawnGateway(folder, ['shop'])
  const args = { values: { status: 'unbuffered' } }
  const refused = await callTool(gateway.endpoint('shop'), key, 'create_orders', args)
  assert.match(refused.text, /^AUDIT_UNAVAILABLE: /)
  assert.deepEqual(await orders(database), [])
  assert.equal((await callTool(gateway.endpoint('shop'), key, 'search_orders', {})).isError, false)
  const tried = await callTool(gateway.endpoint('shop'), key, 'create_orders', { ...args, dry_run: true })
  assert.equal(tried.isError, false, tried.text)
  gateway.child.kill('SIGTERM')
  await gateway.exited
  await folder.remove()
})

test('written values are in the entry as the configuration says', async () => {
  const kept: Readonly<Record<string, RegExp>> = {
    full: /\{"column":"status","values":\["plainly"\]\}/,
    hash: /\{"column":"status","values":\["hmac:[0-9a-f]{32}"\]\}/,
    none: /\{"column":"status"\}/,
  }
  for (const [writes, expected] of Object.entries(kept)) {
    const { folder, key } = await prepared(auditWith(`{ writes: ${writes} }`))
    const gateway = await startGateway(folder)
    const made = await callTool(gateway.endpoint('shop'), key, 'create_orders', { values: { status: 'plainly' } })
    assert.equal(made.isError, false, made.text)
    const text = JSON.stringify(lastEntry(folder).plan?.values)
    assert.match(text, expected)
    assert.equal(text.includes('plainly'), writes === 'full')
    await gateway.stop()
    await folder.remove()
  }
})
