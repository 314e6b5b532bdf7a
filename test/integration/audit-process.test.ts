import assert from 'node:assert/strict'
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { unreachable } from '../../src/core/assert.js'
import { STDOUT_QUEUE_LINES_MAX } from '../../src/core/limits.js'
import type { Observation } from '../../src/observe/observation.js'
import type { AppenderOrder, AppenderReport } from '../support/audit-appender.js'
import { assertWholeChain, bufferAt, readBuffer, trailSettings, until } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

function newBufferPath(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return join(folder, 'audit.db')
}

function bufferSettings(path: string, stdout: boolean): AppenderOrder['settings'] {
  return trailSettings({ stdout, buffer: bufferAt(path) })
}

const STDOUT_ONLY: AppenderOrder['settings'] = trailSettings({ stdout: true })
const APPENDER = fileURLToPath(new URL('../support/audit-appender.js', import.meta.url))

class Appender {
  readonly child: ChildProcess
  readonly kept: string[] = []
  readonly refused: string[] = []
  readonly observations: Observation[] = []
  readonly exited: Promise<unknown>
  output = ''
  startFailed: string | undefined
  answeredAll = false
  threw: string | undefined

  constructor(child: ChildProcess, read = true) {
    this.child = child
    this.exited = once(child, 'exit')
    child.on('message', (message) => this.#receive(message as AppenderReport))
    if (read) this.readStdout()
  }

  readStdout(): void {
    this.child.stdout?.on('data', (bytes: Buffer) => {
      this.output += bytes.toString()
    })
  }

  #receive(message: AppenderReport): void {
    switch (message.kind) {
      case 'answered':
        ;(message.durable ? this.kept : this.refused).push(message.id)
        return
      case 'observed':
        this.observations.push(message.observation)
        return
      case 'start_failed':
        this.startFailed = message.reason
        return
      case 'threw':
        this.threw = message.text
        return
      case 'answered_all':
        this.answeredAll = true
        return
      default:
        unreachable(message)
    }
  }

  /** The whole lines that were written, as entries; a line that a kill cut is none. */
  get entries(): readonly { readonly seq: number; readonly id: string }[] {
    const entries: { seq: number; id: string }[] = []
    for (const line of this.output.split('\n').slice(0, -1)) {
      if (line !== '') entries.push(JSON.parse(line) as { seq: number; id: string })
    }
    return entries
  }

  async stop(): Promise<void> {
    await until('every record answered', () => this.answeredAll)
    this.child.send('stop')
    await this.exited
  }
}

function run(order: AppenderOrder, read = true): Appender {
  const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const
  return new Appender(fork(APPENDER, [JSON.stringify(order)], { stdio: [...stdio], execArgv: [] }), read)
}

test('kill -9 under load, five times: every acknowledged entry is in the buffer, the chain is whole, stdout catches up', async () => {
  const path = newBufferPath()
  const written = new Set<number>()
  const kept: string[] = []
  for (let round = 0; round < 5; round++) {
    const appender = run({ settings: bufferSettings(path, true), concurrency: 64 })
    await until('load', () => appender.kept.length > 1_000 || appender.startFailed !== undefined)
    appender.child.kill('SIGKILL')
    await appender.exited
    assert.equal(appender.startFailed, undefined)
    assert.deepEqual(appender.refused, [])
    kept.push(...appender.kept)
    for (const { seq } of appender.entries) written.add(seq)
    const content = readBuffer(path)
    assert.deepEqual(
      kept.filter((id) => !content.ids.has(id)),
      [],
    )
    assertWholeChain(content)
  }
  const last = run({ settings: bufferSettings(path, true), concurrency: 1, count: 1 })
  await last.stop()
  for (const { seq } of last.entries) written.add(seq)
  const { seqs } = readBuffer(path)
  assert.deepEqual(
    seqs.filter((seq) => !written.has(seq)),
    [],
  )
})

test('two processes cannot use one buffer, and the second may as soon as the first was killed', async () => {
  const path = newBufferPath()
  const first = run({ settings: bufferSettings(path, false), concurrency: 4 })
  await until('load', () => first.kept.length > 10)
  const second = run({ settings: bufferSettings(path, false), concurrency: 1, count: 1 })
  await second.exited
  assert.match(second.startFailed ?? '', /is in use by another running gateway/)
  first.child.kill('SIGKILL')
  await first.exited
  const third = run({ settings: bufferSettings(path, false), concurrency: 1, count: 1 })
  await third.stop()
  assert.equal(third.kept.length, 1)
})

test('a stdout that nobody reads delays no entry, and gets every line in order once it is read', async () => {
  const path = newBufferPath()
  const count = STDOUT_QUEUE_LINES_MAX * 2
  const appender = run({ settings: bufferSettings(path, true), concurrency: 256, count }, false)
  await until('every record answered', () => appender.answeredAll)
  assert.equal(appender.kept.length, count)
  appender.readStdout()
  await until(
    'every line',
    () => appender.output.length > 0 && appender.output.endsWith('\n') && appender.entries.length >= count,
  )
  await appender.stop()
  assert.deepEqual(
    appender.entries.map(({ seq }) => seq),
    Array.from({ length: count }, (_, i) => i + 1),
  )
})

test('a stop does not wait for a stdout that nobody reads; the next start writes what was left', async () => {
  const path = newBufferPath()
  const first = run({ settings: bufferSettings(path, true), concurrency: 64, count: 2_000 }, false)
  await first.stop()
  assert.equal(first.kept.length, 2_000)
  const second = run({ settings: bufferSettings(path, true), concurrency: 1, count: 0 })
  await second.stop()
  assert.equal(second.entries.at(-1)?.seq, 2_000)
})

test('a closed stdout is told once, and with a buffer calls go on', async () => {
  const path = newBufferPath()
  const appender = run({ settings: bufferSettings(path, true), concurrency: 8, count: 3_000 }, false)
  appender.child.stdout?.destroy()
  await appender.stop()
  assert.equal(appender.kept.length, 3_000)
  assert.deepEqual(
    appender.observations.map(({ kind }) => kind),
    ['audit.stdout_closed'],
  )
  assertWholeChain(readBuffer(path))
})

test('without a buffer an entry is acknowledged when stdout has it, and a closed stdout refuses', async () => {
  const appender = run({ settings: STDOUT_ONLY, concurrency: 8, count: 500 })
  await appender.stop()
  const ids = new Set(appender.entries.map(({ id }) => id))
  assert.equal(appender.kept.length, 500)
  assert.deepEqual(
    appender.kept.filter((id) => !ids.has(id)),
    [],
  )
  assert.deepEqual(
    appender.entries.map(({ seq }) => seq),
    Array.from({ length: 500 }, (_, i) => i + 1),
  )

  const closed = run({ settings: STDOUT_ONLY, concurrency: 8, count: 500 }, false)
  closed.child.stdout?.destroy()
  await closed.stop()
  assert.equal(closed.kept.length + closed.refused.length, 500)
  assert.ok(closed.refused.length > 0)
  assert.deepEqual(closed.observations.map(({ kind }) => kind).sort(), ['audit.stdout_closed', 'audit.unavailable'])
})

test('a listener that throws does not keep the others of its batch waiting', async () => {
  const order = { settings: bufferSettings(newBufferPath(), false), concurrency: 8, count: 8, firstThrows: true }
  const appender = run(order)
  await appender.stop()
  assert.equal(appender.kept.length, 8)
  assert.match(appender.threw ?? '', /a listener with a bug/)
})

test('when the disk takes no more, entries are refused, and those acknowledged before are whole', async () => {
  const path = newBufferPath()
  const order: AppenderOrder = { settings: bufferSettings(path, false), concurrency: 64, count: 8_000 }
  // A limit on file size, in blocks of 512 bytes, fails writes like a full disk does.
  const script = 'ulimit -f 4000; exec "$0" "$1" "$2"'
  const child = spawn('/bin/sh', ['-c', script, process.execPath, APPENDER, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const appender = new Appender(child)
  await appender.stop()
  assert.equal(appender.kept.length + appender.refused.length, 8_000)
  assert.ok(appender.kept.length > 0 && appender.refused.length > 0)
  assert.equal(appender.observations[0]?.kind, 'audit.unavailable')
  const content = readBuffer(path)
  assert.deepEqual(
    appender.kept.filter((id) => !content.ids.has(id)),
    [],
  )
  assertWholeChain(content)
})
