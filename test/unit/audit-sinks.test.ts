import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EntryLine } from '../../src/audit/chain.js'
import { LineSink, type LineSinkOptions, type WriteBytes } from '../../src/audit/sinks.js'
import { STDOUT_QUEUE_LINES_MAX } from '../../src/core/limits.js'
import { ok } from '../../src/core/result.js'

const entry = (seq: number): EntryLine => ({ seq, line: `{"seq":${seq}}` })
const entries = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => entry(from + i))
const text = (from: number, to: number) =>
  entries(from, to)
    .map(({ line }) => `${line}\n`)
    .join('')

/** A stdout whose writes end when the test says so, with what the test says. */
class FakeStdout {
  output = ''
  writes = 0
  pending: ((error: NodeJS.ErrnoException | null, bytes?: number) => void) | undefined
  auto: boolean

  constructor(auto: boolean) {
    this.auto = auto
  }

  readonly write: WriteBytes = (bytes, done) => {
    assert.equal(this.pending, undefined, 'two writes under way')
    this.writes += 1
    this.pending = (error, count = bytes.length) => {
      this.pending = undefined
      if (error === null) this.output += Buffer.from(bytes.subarray(0, count)).toString()
      done(error, error === null ? count : 0)
    }
    if (this.auto) setImmediate(() => this.pending?.(null))
  }

  finish(error: string | null, count?: number): void {
    const failure = error === null ? null : Object.assign(new Error(error), { code: error })
    this.pending?.(failure, count)
  }
}

interface Seen {
  readonly written: number[]
  readonly closed: string[]
}

function openSink(stdout: FakeStdout, options: Partial<LineSinkOptions> = {}): { sink: LineSink; seen: Seen } {
  const seen: Seen = { written: [], closed: [] }
  const sink = new LineSink({
    write: stdout.write,
    position: 0,
    lastSeq: 0,
    endCutLine: false,
    onWritten: (seq) => seen.written.push(seq),
    onClosed: (detail) => seen.closed.push(detail),
    ...options,
  })
  return { sink, seen }
}

test('a write that took a part goes on with the rest, and later lines wait behind it', () => {
  const stdout = new FakeStdout(false)
  const { sink, seen } = openSink(stdout)
  sink.push(entries(1, 2))
  sink.push(entries(3, 3))
  stdout.finish(null, 5)
  assert.deepEqual(seen.written, [])
  stdout.finish(null)
  assert.deepEqual(seen.written, [2])
  stdout.finish(null)
  assert.equal(stdout.output, text(1, 3))
  assert.equal(sink.position, 3)
})

test('a full pipe or a full disk is tried again with the same bytes', async () => {
  for (const code of ['EAGAIN', 'ENOSPC']) {
    const stdout = new FakeStdout(false)
    const { sink, seen } = openSink(stdout)
    sink.push(entries(1, 3))
    stdout.finish(null, 4)
    stdout.finish(code)
    assert.equal(stdout.pending, undefined)
    stdout.auto = true
    await sink.flushed()
    assert.equal(stdout.output, text(1, 3))
    assert.deepEqual(seen, { written: [3], closed: [] })
  }
})

test('a closed stdout is told once, and ends every wait and every later write', async () => {
  const stdout = new FakeStdout(false)
  const { sink, seen } = openSink(stdout)
  sink.push(entries(1, 2))
  const flushed = sink.flushed()
  stdout.finish('EPIPE')
  await flushed
  sink.push(entries(3, 4))
  await sink.flushed()
  assert.equal(stdout.writes, 1)
  assert.equal(sink.closed, true)
  assert.equal(seen.closed.length, 1)
  assert.match(seen.closed[0] ?? '', /EPIPE/)
  assert.equal(sink.position, 0)
})

test('beyond the queue limit memory is given up and the lines are read back in order, each once', async () => {
  const kept: EntryLine[] = []
  let replays = 0
  const stdout = new FakeStdout(false)
  const { sink } = openSink(stdout, {
    replay: (afterSeq, linesMax) => {
      replays += 1
      return ok(kept.slice(afterSeq, afterSeq + linesMax))
    },
  })
  const total = STDOUT_QUEUE_LINES_MAX * 3
  for (let seq = 1; seq <= total; seq += 100) {
    const batch = entries(seq, seq + 99)
    kept.push(...batch)
    sink.push(batch)
    assert.ok(sink.queued <= STDOUT_QUEUE_LINES_MAX)
  }
  assert.equal(stdout.writes, 1)
  stdout.auto = true
  stdout.finish(null)
  await sink.flushed()
  assert.equal(stdout.output, text(1, total))
  assert.ok(replays > 0)
})

test('lines after the stored position are written at start, before new ones', async () => {
  const kept = entries(1, 7)
  const stdout = new FakeStdout(true)
  const { sink } = openSink(stdout, {
    position: 4,
    lastSeq: 6,
    replay: (after, max) => ok(kept.slice(after, after + max)),
  })
  sink.push([entry(7)])
  await sink.flushed()
  assert.equal(stdout.output, text(5, 7))
})

test('entries that were removed from the buffer do not hold up those after them', async () => {
  const stdout = new FakeStdout(true)
  const { sink } = openSink(stdout, { position: 4, lastSeq: 6, replay: () => ok([]) })
  sink.push(entries(9, 10))
  await sink.flushed()
  assert.equal(stdout.output, text(9, 10))
})

test('a worker that follows a dead one ends the line that may have been cut', async () => {
  const stdout = new FakeStdout(true)
  const { sink } = openSink(stdout, { endCutLine: true })
  sink.push(entries(1, 1))
  await sink.flushed()
  assert.equal(stdout.output, `\n${text(1, 1)}`)
})

test('a head of the chain is written behind the line under way, and only the last one of those that wait', async () => {
  const stdout = new FakeStdout(false)
  const { sink } = openSink(stdout)
  sink.push(entries(1, 2))
  sink.pushHead('head 1')
  sink.pushHead('head 2')
  sink.push(entries(3, 3))
  stdout.auto = true
  stdout.finish(null, 3)
  await sink.flushed()
  assert.equal(stdout.output, `${text(1, 2)}head 2\n${text(3, 3)}`)
  assert.equal(sink.position, 3)
})

test('a disk without room is told once, and once that it has room again', async () => {
  const stdout = new FakeStdout(false)
  const told: string[] = []
  const { sink } = openSink(stdout, {
    onFailing: (detail) => told.push(detail),
    onRecovered: () => told.push('recovered'),
  })
  sink.push(entries(1, 1))
  stdout.finish('ENOSPC')
  assert.equal(sink.failing, true)
  stdout.auto = true
  await sink.flushed()
  assert.equal(sink.failing, false)
  assert.deepEqual(told, ['there is no room left (ENOSPC)', 'recovered'])
})

test('a sink that is never given up tries again after any failure', async () => {
  const stdout = new FakeStdout(false)
  const sink = new LineSink({
    write: stdout.write,
    position: 0,
    lastSeq: 0,
    endCutLine: false,
    onWritten: () => {},
  })
  sink.push(entries(1, 1))
  stdout.finish('EIO')
  assert.deepEqual([sink.failing, sink.closed], [true, false])
  stdout.auto = true
  await sink.flushed()
  assert.equal(stdout.output, text(1, 1))
})
