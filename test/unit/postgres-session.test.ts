import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { CANCEL_GRACE_MS, CANCEL_REPEAT_MS, NAMED_STATEMENTS_MAX, STATEMENT_SHAPES_MAX } from '../../src/core/limits.js'
import { ReadQueue } from '../../src/engines/driver/read-queue.js'
import { Cancellation } from '../../src/engines/engine.js'
import { arrayLiteral, arrayOfJson } from '../../src/engines/postgres/array-literal.js'
import { NamedStatements, ShapesSeen } from '../../src/engines/postgres/named-statements.js'
import { type BatchEnd, runBatch } from '../../src/engines/postgres/run-batch.js'
import { clientSettings, sessionOptions } from '../../src/engines/postgres/session.js'
import {
  type BatchOutcome,
  type WireConnection,
  WireQuery,
  type WireStatement,
} from '../../src/engines/postgres/wire-query.js'
import { settingsOf } from '../support/driver.js'
import { TYPES } from '../support/schema.js'

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
    flush: () => said.push('flush'),
    sync: () => said.push('sync'),
  }
  return { connection, said, stream }
}

describe('one batch on the wire', () => {
  const batch = (statements: readonly WireStatement[], bytesMax: number) => {
    const outcomes: BatchOutcome[] = []
    return { query: new WireQuery(statements, bytesMax, (end) => outcomes.push(end)), outcomes }
  }
  const read = (bytesMax: number, named?: WireStatement['named']) =>
    batch([{ text: 'T', params: ['a', null, ['b']], ...(named === undefined ? {} : { named }) }], bytesMax)
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
    assert.deepEqual(outcomes, [{ kind: 'too_large', answers: [] }])
  })

  test('statements leave together, and each answer is told from the next', () => {
    const { connection, said } = wire()
    const { query, outcomes } = batch(
      [
        { text: 'A', params: [] },
        { text: 'B', params: ['b'], flush: true },
        { text: 'C', params: [] },
      ],
      100,
    )
    query.submit(connection)
    const [a, b, c] = ['A', 'B', 'C'].map((text) => [
      `parse =${text}`,
      `bind  ${text === 'B' ? '["b"]' : '[]'}`,
      'execute',
    ])
    assert.deepEqual(said, ['cork', ...(a ?? []), ...(b ?? []), 'flush', ...(c ?? []), 'sync', 'uncork'])
    query.handleCommandComplete({ text: 'BEGIN' })
    query.handleDataRow(row('1'))
    query.handleDataRow(row('2'))
    query.handleCommandComplete({ text: 'SELECT 2' })
    const error = new Error('C failed')
    query.handleError(error)
    query.handleReadyForQuery()
    assert.deepEqual(outcomes, [
      {
        kind: 'failed',
        error,
        answers: [
          { rows: [], tag: 'BEGIN' },
          { rows: [['1'], ['2']], tag: 'SELECT 2' },
        ],
      },
    ])
  })

  test('a cell far beyond the budget ends the read before all of it has arrived', () => {
    const { query, outcomes } = read(1_000_000)
    const { connection, stream } = wire()
    query.submit(connection)
    for (let arrived = 0; arrived < 1_000_000; arrived += 50_000) stream.emit('data', Buffer.alloc(50_000))
    assert.deepEqual(outcomes, [])
    for (let arrived = 0; arrived < 200_000; arrived += 50_000) stream.emit('data', Buffer.alloc(50_000))
    assert.deepEqual(outcomes, [{ kind: 'too_large', answers: [] }])
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
    assert.equal(outcomes[0]?.kind, 'done')
  })

  test('an array is one literal whose elements mean themselves', () => {
    assert.equal(arrayLiteral([]), '{}')
    assert.equal(arrayLiteral(['NULL', '', 'a"b', 'a\\b', '{,}']), '{"NULL","","a\\"b","a\\\\b","{,}"}')
  })

  test('an array that is to be written keeps its dimensions, its NULLs and the text of every element', () => {
    const asIs = (_type: unknown, text: string) => text
    assert.equal(arrayOfJson('[]', TYPES.text, asIs), '{}')
    assert.equal(arrayOfJson('["NULL",null,"","a\\"b"]', TYPES.text, asIs), '{"NULL",NULL,"","a\\"b"}')
    assert.equal(arrayOfJson('[["1",null],["2","3"]]', TYPES.integer, asIs), '{{"1",NULL},{"2","3"}}')
    const box = { ...TYPES.point, native: 'box' }
    assert.equal(arrayOfJson('["(1,1),(0,0)","(2,2),(0,0)"]', box, asIs), '{"(1,1),(0,0)";"(2,2),(0,0)"}')
  })
})

describe('stopping a batch', () => {
  /** A session whose server does what the test says, on a clock that the test moves. */
  function stoppable(t: TestContext) {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const cancellation = new Cancellation()
    const state: { cancels: number; query?: WireQuery; end?: BatchEnd } = { cancels: 0 }
    const session = {
      submit: (query: WireQuery) => {
        state.query = query
      },
      cancel: () => {
        state.cancels += 1
      },
    }
    const request = { statements: [{ text: 'T', params: [] }], timeoutMs: 100, bytesMax: 10 }
    const ended = runBatch(session, request, cancellation).then((end) => {
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
    const error = new Error('canceling statement')
    state.query?.handleError(error)
    await ended
    // What the server said is kept: for a COMMIT it decides.
    assert.deepEqual(state.end, { kind: 'stopped', code: 'CANCELLED', outcome: { kind: 'failed', error, answers: [] } })
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
    assert.deepEqual(state.end, { kind: 'done', answers: [] })
  })
})

test('nothing of a session comes from the environment of the process', () => {
  const settings = clientSettings(settingsOf({ port: 5432 }), false, 'read', '')
  assert.equal(settings.password(), '', 'an absent password is empty, not PGPASSWORD or ~/.pgpass')
  assert.equal(settings.ssl, false)
  assert.equal(settings.application_name, 'runku')
  assert.match(settings.options, /-c default_transaction_read_only=on /)
  assert.match(settings.options, /-c search_path=pg_catalog,"public",pg_temp /)
})

test('only the sessions of the write pool can write, and what goes through a pooler asks for no options', () => {
  assert.match(sessionOptions('write', ['a b\\c"d']), /-c default_transaction_read_only=off /)
  assert.ok(sessionOptions('write', ['a b\\c"d']).includes('search_path=pg_catalog,"a\\ b\\\\c""d",pg_temp '))
  assert.equal(clientSettings(settingsOf({ port: 5432 }, 'transaction'), false, 'write', '').options, '')
})
