import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import fsPromises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, type TestContext, test } from 'node:test'
import {
  type ChainHead,
  chainKeys,
  GENESIS,
  isHeadLine,
  readHeadLine,
  type SealedEntry,
  sealEntry,
  writeHeadLine,
} from '../../src/audit/chain.js'
import { type FileSink, type FileSinkOptions, openFileSink, rotatedFiles } from '../../src/audit/file-sink.js'
import { ok } from '../../src/core/result.js'
import { verifyChain } from '../support/verify-chain.js'

const KEYS = chainKeys(Buffer.alloc(32, 3))
const INSTANCE = '00ff00ff00ff00ff'
const TIME = '2026-01-01T00:00:00.000Z'

let folder: string
let path: string
let chain: SealedEntry[]
let nowMs: number
let lost: [number, number][]
let open: FileSink[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runku-file-sink-'))
  path = join(folder, 'audit.jsonl')
  chain = []
  nowMs = 0
  lost = []
  open = []
})
afterEach(async () => {
  for (const { sink, file } of open) {
    sink.abandon()
    await file.close()
  }
  rmSync(folder, { recursive: true })
})

function grow(count: number, filler = 300): readonly SealedEntry[] {
  const made: SealedEntry[] = []
  for (let i = 0; i < count; i++) {
    const head: ChainHead = chain.at(-1) ?? GENESIS
    const members = `"id":"e${head.seq + 1}","time":"${TIME}","instance":"${INSTANCE}","tool":"${'x'.repeat(filler)}"`
    const entry = sealEntry(KEYS, head, members)
    chain.push(entry)
    made.push(entry)
  }
  return made
}

async function start(settings: Partial<FileSinkOptions['settings']> = {}, position?: number): Promise<FileSink> {
  const opened = await openFileSink({
    settings: { path, bytesMax: 65_536, filesMax: 3, ...settings },
    instance: INSTANCE,
    headLine: (seq, hash) => writeHeadLine(KEYS, { instance: INSTANCE, seq: seq - 1, hash, time: TIME }),
    nowMs: () => nowMs,
    onLost: (from, to) => lost.push([from, to]),
    lastSeq: chain.at(-1)?.seq ?? 0,
    buffer: { position, linesAfter: (seq, max) => ok(chain.slice(seq, seq + max)) },
    onWritten: () => {},
    onFailing: () => {},
    onRecovered: () => {},
  })
  assert.ok(opened.ok, opened.ok ? '' : opened.error)
  open.push(opened.value)
  return opened.value
}

async function stop(sink: FileSink): Promise<void> {
  await sink.sink.flushed()
  sink.sink.abandon()
  await sink.file.close()
}

const linesIn = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1)
const entriesIn = (file: string) => linesIn(file).filter((line) => !isHeadLine(line))

test("a new file is nobody else's, begins with the head before its first entry, and holds every line", async () => {
  const { sink } = await start()
  sink.push(grow(5))
  await sink.flushed()
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const [first = ''] = linesIn(path)
  assert.deepEqual(readHeadLine(KEYS, first), { instance: INSTANCE, seq: 0, hash: GENESIS.hash, time: TIME })
  assert.deepEqual(
    entriesIn(path),
    chain.map(({ line }) => line),
  )
})

test('full files are kept under the number of their first entry, and the oldest go', async () => {
  const { sink } = await start()
  for (let i = 0; i < 60; i++) {
    sink.push(grow(20))
    await sink.flushed()
  }
  const files = [...(await rotatedFiles(path)), path]
  assert.equal(files.length, 4)
  for (const file of files) {
    const [head = '', ...lines] = linesIn(file)
    const link = readHeadLine(KEYS, head)
    assert.ok(link, 'each file begins with a head')
    assert.ok(statSync(file).size <= 65_536 + 20 * 700)
    assert.equal(lines[0], chain[link.seq]?.line)
  }
  const lines = files.flatMap(entriesIn)
  assert.deepEqual(
    lines,
    chain.slice(-lines.length).map(({ line }) => line),
    'nothing is missing or written twice',
  )
})

test('after a restart the file goes on behind its last whole line, whatever position was stored', async () => {
  const first = await start()
  first.sink.push(grow(7))
  await stop(first)
  grow(3)
  const second = await start({}, 4)
  second.sink.push(grow(1))
  await stop(second)
  assert.deepEqual(
    entriesIn(path),
    chain.map(({ line }) => line),
  )
  assert.equal(linesIn(path).filter(isHeadLine).length, 2, 'a new process says where the chain stands')
})

test('a line that a crash cut short is ended, and written again whole', async () => {
  const first = await start()
  first.sink.push(grow(3))
  await stop(first)
  const [next] = grow(1)
  writeFileSync(path, next?.line.slice(0, 100) ?? '', { flag: 'a' })
  await stop(await start({}, 3))
  const lines = entriesIn(path)
  assert.equal(lines.length, 5)
  assert.deepEqual(
    [...lines.slice(0, 3), ...lines.slice(4)],
    chain.map(({ line }) => line),
  )
})

test('a file that holds the lines of another history is not taken for this one', async () => {
  const first = await start()
  first.sink.push(grow(3))
  await stop(first)
  chain = []
  grow(5, 200)
  await stop(await start({}, 2))
  assert.deepEqual(
    entriesIn(path).slice(3),
    chain.slice(2).map(({ line }) => line),
  )
})

test('a deleted file is begun anew and told of; one that was moved away is only begun anew', async () => {
  const { sink, file } = await start()
  sink.push(grow(3))
  await sink.flushed()
  unlinkSync(path)
  nowMs += 2_000
  sink.push(grow(2))
  await sink.flushed()
  assert.deepEqual(lost, [[1, 3]])
  assert.deepEqual(
    entriesIn(path),
    chain.slice(3).map(({ line }) => line),
  )
  const moved = join(folder, 'moved')
  renameSync(path, moved)
  file.reopen()
  sink.push(grow(1))
  await sink.flushed()
  assert.deepEqual(lost, [[1, 3]])
  assert.deepEqual([entriesIn(moved).length, entriesIn(path).length], [2, 1])
})

/** Why no file can be begun there. */
async function refusal(at: string): Promise<string> {
  const opened = await openFileSink({
    settings: { path: at, bytesMax: 65_536, filesMax: 1 },
    instance: INSTANCE,
    headLine: () => '',
    nowMs: () => 0,
    onLost: () => {},
    lastSeq: 0,
    onWritten: () => {},
    onFailing: () => {},
    onRecovered: () => {},
  })
  assert.ok(!opened.ok)
  return opened.error
}

test('a file that cannot be written names the key and what was expected', async () => {
  const error = await refusal(join(folder, 'none', 'audit.jsonl'))
  assert.match(error, /audit\.file\.path ".*none.*" cannot be written \(ENOENT\): is its folder there and writable\?/)
})

test('a pipe or a device that takes the place of the file is not written, and keeps its rights', async () => {
  execFileSync('mkfifo', ['-m', '666', path])
  const error = await refusal(path)
  assert.match(error, /cannot be written \(no regular file\)/)
  assert.equal(statSync(path).mode & 0o777, 0o666)
})

/** Puts other functions in the place of those of `node:fs/promises` for a test. */
function replaceCalls(t: TestContext, calls: object): void {
  const before = { ...fsPromises }
  Object.assign(fsPromises, calls)
  syncBuiltinESMExports()
  t.after(() => {
    Object.assign(fsPromises, before)
    syncBuiltinESMExports()
  })
}

test('a pipe that takes the place of the file after it was looked at is neither waited for nor written', async (t) => {
  let hasReader = false
  let reader: number | undefined
  const stat = async () => {
    execFileSync('mkfifo', [path])
    if (hasReader) reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    throw Object.assign(new Error('nothing there'), { code: 'ENOENT' })
  }
  replaceCalls(t, { stat })
  await assert.rejects(start(), /cannot be written \(ENXIO\)/)
  rmSync(path)
  // One that somebody reads can be opened at once.
  hasReader = true
  await assert.rejects(start(), /cannot be written \(no regular file\)/)
  if (reader !== undefined) closeSync(reader)
})

test('a write that never ends does not hold up the end', async (t) => {
  const { file, sink } = await start()
  sink.push(grow(1))
  await sink.flushed()
  file.reopen()
  const openFile = fsPromises.open
  let release: () => void = () => {}
  let writes = 0
  replaceCalls(t, {
    open: async (...given: Parameters<typeof openFile>) => {
      const handle = await openFile(...given)
      const { close } = handle
      const write = () => {
        writes += 1
        return new Promise((_, reject) => {
          release = () => {
            Object.assign(handle, { close })
            reject(new Error('released'))
          }
        })
      }
      // A handle is closed once its calls have ended.
      return Object.assign(handle, { write, close: () => new Promise(() => {}) })
    },
  })
  sink.push(grow(1))
  while (writes === 0) await new Promise((resolve) => setImmediate(resolve))
  sink.abandon()
  await file.end()
  release()
})

test('a folder that vanishes under the file fails the sink for as long as it is away, and loses nothing', async () => {
  const inner = join(folder, 'inner')
  path = join(inner, 'audit.jsonl')
  const { mkdirSync } = await import('node:fs')
  mkdirSync(inner)
  const { sink } = await start()
  sink.push(grow(2))
  await sink.flushed()
  renameSync(inner, `${inner}.away`)
  nowMs += 2_000
  sink.push(grow(2))
  while (!sink.failing) await new Promise((resolve) => setImmediate(resolve))
  renameSync(`${inner}.away`, inner)
  await sink.flushed()
  assert.equal(sink.failing, false)
  assert.deepEqual(
    entriesIn(path),
    chain.map(({ line }) => line),
  )
  assert.ok(existsSync(path))
  chmodSync(path, 0o600)
})

test('what the files hold is a chain from the head of the first one on', async () => {
  const { sink } = await start()
  for (let i = 0; i < 8; i++) {
    sink.push(grow(30))
    await sink.flushed()
  }
  const lines = [...(await rotatedFiles(path)), path].flatMap(entriesIn)
  assert.deepEqual(verifyChain(lines, KEYS).faults, [])
})
