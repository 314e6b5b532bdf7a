import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { SIGNAL_ECHO_MS } from '../../src/core/limits.js'
import { type GatewayFolder, prepareGateway, type SpawnedGateway, spawnGateway } from '../support/gateway.js'
import { eventually } from '../support/postgres.js'

/** Loaded into each thread: a write to the file waits in the pool for a reader of the pipe who never comes, as one to a dead mount does. */
const HANGING = `
const promises = require('node:fs/promises')
const { open } = promises
promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest)
  if (String(path).endsWith('audit.jsonl')) handle.write = () => open(process.env.RUNKU_TEST_PIPE, 'w')
  return handle
}
require('node:module').syncBuiltinESMExports()
`

describe('a sink whose write never ends', () => {
  let folder: GatewayFolder
  let gateway: SpawnedGateway

  beforeEach(async () => {
    folder = await prepareGateway({
      connectors: [],
      identities: {},
      audit: '{ stdout: false, buffer: { path: audit.sqlite, durability: normal }, file: { path: audit.jsonl } }',
    })
    const pipe = join(folder.folder, 'pipe')
    const preloaded = join(folder.folder, 'hanging.cjs')
    execFileSync('mkfifo', [pipe])
    writeFileSync(preloaded, HANGING)
    gateway = await spawnGateway(folder, [], {
      through: ['env', `RUNKU_TEST_PIPE=${pipe}`],
      nodeArgs: ['--require', preloaded],
    })
  })

  afterEach(async () => {
    gateway.child.kill('SIGKILL')
    await gateway.exited
    await folder.remove()
  })

  const logged = (msg: string) => gateway.log.some((line) => line['msg'] === msg)

  test('does not keep the process: it drains, keeps every entry, says what hangs, and ends by SIGTERM', async () => {
    gateway.child.kill('SIGTERM')
    assert.equal(await gateway.exited, 'SIGTERM')
    assert.ok(logged('gateway.stopped'))
    assert.ok(logged('gateway.stuck'))
    const acts = folder.trail().map(({ tool }) => tool)
    assert.deepEqual([acts[0], acts.at(-1)], ['start', 'stop'])
  })

  test('does not keep a process that a second signal is to end', async () => {
    gateway.child.kill('SIGTERM')
    await eventually('the drain', () => logged('gateway.draining'))
    // One that comes sooner is the same request, delivered twice.
    await new Promise((resolve) => setTimeout(resolve, SIGNAL_ECHO_MS + 100))
    gateway.child.kill('SIGINT')
    assert.equal(await gateway.exited, 'SIGTERM')
    assert.ok(logged('gateway.stuck'))
    assert.ok(!logged('gateway.stopped'))
  })
})
