import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { CANCEL_GRACE_MS, CANCEL_REPEAT_MS, NAMED_STATEMENTS_MAX, STATEMENT_SHAPES_MAX } from '../../src/core/limits.js'
import { Cancellation } from '../../src/engines/engine.js'
import { NamedStatements, ShapesSeen } from '../../src/engines/postgres/named-statements.js'
import {
  arrayLiteral,
  type ReadOutcome,
  ReadQuery,
  type WireConnection,
} from '../../src/engines/postgres/read-query.js'
import { ReadQueue } from '../../src/engines/postgres/read-queue.js'
import { type ReadEnd, runRead } from '../../src/engines/postgres/run-read.js'
import { clientSettings, SESSION_OPTIONS } from '../../src/engines/postgres/session.js'

describe('named statements', () => {
  test('a text is worth a name from its second use on, and the memory of texts is bounded', () => {
    const shapes = new ShapesSeen()
    assert.equal(shapes.seen('a'), false)
    assert.equal(shapes.seen('a'), true)
    for (let n = 0; n < STATEMENT_SHAPES_MAX; n++) shapes.seen(`other ${n}`)
    assert.equal(shapes.seen('a'), false, 'the oldest was forgotten')
  })

  test('the least recently used statement makes room, and is deallocated with the next use', () => {
    const names = new NamedStatements()
    const first = names.use('text 0')
    assert.deepEqual(first, { name: 'r1', parse: true, deallocate: [] })
    for (let n = 1; n < NAMED_STATEMENTS_MAX; n++) names.use(`text ${n}`)
    assert.deepEqual(names.use('text 0'), { name: 'r1', parse: false, deallocate: [] })
    assert.deepEqual(names.use('one more'), { name: `r${NAMED_STATEMENTS_MAX + 1}`, parse: true, deallocate: ['r2'] })
    assert.deepEqual(names.use('text 0').deallocate, [])
  })

  test('a forgotten statement gets a new name and the old one is deallocated', () => {
    const names = new NamedStatements()
    names.use('text')
    names.forget('text')
    names.forget('text')
    assert.deepEqual(names.use('text'), { name: 'r2', parse: true, deallocate: ['r1'] })
    names.forgetAll()
    assert.deepEqual(names.use('text'), { name: 'r3', parse: true, deallocate: ['r2'] })
  })
})

describe('the line for connections', () => {
  test('places go out in the order they were asked for, and never more than there are', () => {
    const queue = new ReadQueue<string>(2)
    const granted: number[] = []
    const leave = [1, 2, 3, 4, 5].map((n) => queue.enter(() => granted.push(n)))
    assert.deepEqual(granted, [1, 2])
    assert.equal(queue.waiting, 3)
    leave[3]?.()
    queue.release()
    queue.release()
    assert.deepEqual(granted, [1, 2, 3, 5])
    assert.equal(queue.waiting, 0)
    queue.release()
    queue.release()
    queue.enter(() => granted.push(6))
    queue.enter(() => granted.push(7))
    queue.enter(() => granted.push(8))
    assert.deepEqual(granted, [1, 2, 3, 5, 6, 7])
  })

  test('a connection goes with its place to the next in line', () => {
    const queue = new ReadQueue<string>(1)
    const granted: (string | undefined)[] = []
    for (let n = 0; n < 3; n++) queue.enter((connection) => granted.push(connection))
    queue.release('warm')
    queue.release()
    assert.deepEqual(granted, [undefined, 'warm', undefined])
  })

  test('whoever comes while others wait goes behind them', () => {
    const queue = new ReadQueue<string>(1)
    const granted: string[] = []
    queue.enter(() => granted.push('first'))
    queue.enter(() => {
      granted.push('second')
      queue.enter(() => granted.push('late'))
    })
    queue.enter(() => granted.push('third'))
    queue.release()
    queue.release()
    assert.deepEqual(granted, ['first', 'second', 'third'])
  })
})

/** A connection that records what is said on it. */
function wire(): { readonly connection: WireConnection; readonly said: string[]; readonly stream: EventEmitter } {
  const said: string[] = []
  const stream = Object.assign(new EventEmitter(), {
    cork: () => said.push('cork'),
    uncork: () => said.push('uncork'),
  })
  const connection: WireConnection = {
    stream,
    parse: ({ name, text }) => said.push(`parse ${name}=${text}`),
    bind: ({ statement, values }) => said.push(`bind ${statement} ${JSON.stringify(values)}`),
    execute: () => said.push('execute'),
    close: ({ type, name }) => said.push(`close ${type} ${name}`),
    sync: () => said.push('sync'),
  }
  return { connection, said, stream }
}

describe('one read on the wire', () => {
  const read = (bytesMax: number, named?: ConstructorParameters<typeof ReadQuery>[0]['named']) => {
    const outcomes: ReadOutcome[] = []
    const query = new ReadQuery({ text: 'T', params: ['a', null, ['b']], named }, bytesMax, (end) => outcomes.push(end))
    return { query, outcomes }
  }
  /** A row as long as its cells and the lengths before them. */
  const row = (...fields: string[]) => ({ fields, length: 6 + fields.reduce((sum, cell) => sum + 4 + cell.length, 0) })

  test('an unnamed statement is parsed; a known name is only bound; evicted names are closed first', () => {
    const unnamed = wire()
    read(10).query.submit(unnamed.connection)
    assert.deepEqual(unnamed.said, ['cork', 'parse =T', 'bind  ["a",null,"{\\"b\\"}"]', 'execute', 'sync', 'uncork'])
    const known = wire()
    read(10, { name: 'r2', parse: false, deallocate: ['r1'] }).query.submit(known.connection)
    assert.deepEqual(known.said, ['cork', 'close S r1', 'bind r2 ["a",null,"{\\"b\\"}"]', 'execute', 'sync', 'uncork'])
  })

  test('the budget counts cells, and the row that passes it ends the read', () => {
    const { query, outcomes } = read(10)
    query.submit(wire().connection)
    query.handleDataRow(row('12345', '67890'))
    assert.deepEqual(outcomes, [])
    query.handleDataRow(row('1'))
    query.handleDataRow(row('2'))
    query.handleReadyForQuery()
    assert.deepEqual(outcomes, [{ kind: 'too_large' }])
  })

  test('a cell far beyond the budget ends the read before all of it has arrived', () => {
    const { query, outcomes } = read(1_000_000)
    const { connection, stream } = wire()
    query.submit(connection)
    for (let arrived = 0; arrived < 1_000_000; arrived += 50_000) stream.emit('data', Buffer.alloc(50_000))
    assert.deepEqual(outcomes, [])
    for (let arrived = 0; arrived < 200_000; arrived += 50_000) stream.emit('data', Buffer.alloc(50_000))
    assert.deepEqual(outcomes, [{ kind: 'too_large' }])
    assert.equal(stream.listenerCount('data'), 0)
  })

  test('many small rows are judged by their cells alone, however much has arrived', () => {
    const { query, outcomes } = read(2_000)
    const { connection, stream } = wire()
    query.submit(connection)
    for (let n = 0; n < 2_000; n++) {
      query.handleDataRow(row('1'))
      stream.emit('data', Buffer.alloc(1_000))
    }
    query.handleReadyForQuery()
    assert.equal(outcomes[0]?.kind, 'rows')
  })

  test('an array is one literal whose elements mean themselves', () => {
    assert.equal(arrayLiteral([]), '{}')
    assert.equal(arrayLiteral(['NULL', '', 'a"b', 'a\\b', '{,}']), '{"NULL","","a\\"b","a\\\\b","{,}"}')
  })
})

describe('stopping a read', () => {
  /** A session whose server does what the test says, on a clock that the test moves. */
  function stoppable(t: TestContext) {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const cancellation = new Cancellation()
    const state: { cancels: number; query?: ReadQuery; end?: ReadEnd } = { cancels: 0 }
    const session = {
      submit: (query: ReadQuery) => {
        state.query = query
      },
      cancel: () => {
        state.cancels += 1
      },
    }
    const request = { text: 'T', params: [], named: undefined, timeoutMs: 100, bytesMax: 10 }
    const ended = runRead(session, request, cancellation).then((end) => {
      state.end = end
    })
    return { state, cancellation, ended, tick: (ms: number) => t.mock.timers.tick(ms) }
  }

  test('a cancel is sent again until the server ends the statement, and never after', async (t) => {
    const { state, cancellation, ended, tick } = stoppable(t)
    cancellation.request('CANCELLED')
    assert.equal(state.cancels, 1)
    tick(CANCEL_REPEAT_MS)
    assert.equal(state.cancels, 2)
    state.query?.handleError(new Error('canceling statement'))
    await ended
    assert.deepEqual(state.end, { kind: 'stopped', code: 'CANCELLED' })
    tick(10 * CANCEL_REPEAT_MS)
    assert.equal(state.cancels, 2)
  })

  test('a server that does not obey is given up after the grace, and rows that come too late are not handed out', async (t) => {
    const { state, ended, tick } = stoppable(t)
    tick(100)
    assert.equal(state.cancels, 1)
    assert.equal(state.end, undefined)
    tick(CANCEL_GRACE_MS)
    await ended
    state.query?.handleReadyForQuery()
    assert.deepEqual(state.end, { kind: 'stopped', code: 'TIMEOUT' })
  })

  test('a statement that ends in time is never cancelled', async (t) => {
    const { state, cancellation, ended, tick } = stoppable(t)
    state.query?.handleReadyForQuery()
    await ended
    tick(10_000)
    cancellation.request('CANCELLED')
    assert.equal(state.cancels, 0)
    assert.deepEqual(state.end, { kind: 'rows', rows: [] })
  })
})

test('nothing of a session comes from the environment of the process', () => {
  const settings = clientSettings({ host: 'db', port: 5432, user: 'u', database: 'd', tls: 'disable' }, false)
  assert.equal(settings.password(), '', 'an absent password is empty, not PGPASSWORD or ~/.pgpass')
  assert.equal(settings.ssl, false)
  assert.equal(settings.application_name, 'runku')
  assert.match(SESSION_OPTIONS, /-c default_transaction_read_only=on /)
  assert.match(SESSION_OPTIONS, /-c search_path=pg_catalog,pg_temp /)
})
