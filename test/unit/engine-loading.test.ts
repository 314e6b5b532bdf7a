import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { EngineName } from '../../src/core/schema-model.js'
import { Mailbox } from '../../src/threads/mailbox.js'
import type { FromConnector, ToConnector } from '../../src/threads/messages.js'
import { settingsOf } from '../support/driver.js'

const WORKER_FILE = new URL('../../workers/connector.worker.js', import.meta.url).href

/** Serves one connector as a pool's thread does, and tells of the modules that it holds. Some packages it cannot find. */
const THREAD = `
const { createRequire, register } = require('node:module')
const { parentPort, workerData } = require('node:worker_threads')
const { file, port, settings, missing } = workerData
if (missing !== undefined) register('data:text/javascript,' + encodeURIComponent(
  'export function resolve(name, context, next) {' +
  '  if (name.split("/")[0] === ' + JSON.stringify(missing) + ') throw new Error("there is no such package");' +
  '  return next(name, context)' +
  '}'
))
parentPort.on('message', () => parentPort.postMessage(Object.keys(createRequire(file).cache)))
void import(file).then(({ serve }) => serve({ port, settings })).then(() => process.exit())
`

interface Thread {
  readonly mailbox: Mailbox<ToConnector, FromConnector>
  /** Settles with the next message of this kind. */
  next<K extends FromConnector['kind']>(kind: K): Promise<Extract<FromConnector, { kind: K }>>
  /** Paths of the modules that the thread holds. */
  modules(): Promise<readonly string[]>
  readonly exited: Promise<unknown>
}

function startThread(t: TestContext, engine: EngineName, missing?: string): Thread {
  const { port1, port2 } = new MessageChannel()
  const settings = { ...settingsOf({ port: 1 }), engine }
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { file: WORKER_FILE, port: port2, settings, missing },
    transferList: [port2],
  })
  t.after(() => worker.terminate())
  const exited = new Promise((resolve) => worker.once('exit', resolve))
  const received: FromConnector[] = []
  let heard = (): void => {}
  const mailbox = new Mailbox<ToConnector, FromConnector>(
    port1,
    (message) => {
      received.push(message)
      heard()
    },
    () => {},
  )
  const next: Thread['next'] = (kind) =>
    new Promise((resolve, reject) => {
      // What it said last was sent before it ended, and may be heard after: within one turn of the loop.
      const giveUp = () => reject(new Error(`the thread ended without "${kind}"`))
      void exited.then(() => setImmediate(() => setImmediate(giveUp)))
      heard = () => {
        for (const message of received.splice(0)) {
          // The kind tells which member of the union it is, which a comparison with a type parameter does not.
          if (message.kind === kind) resolve(message as Extract<FromConnector, { kind: typeof kind }>)
        }
      }
      heard()
    })
  const modules = (): Promise<readonly string[]> => {
    const answer = new Promise<readonly string[]>((resolve) => worker.once('message', resolve))
    worker.postMessage('modules')
    return answer
  }
  return { mailbox, next, modules, exited }
}

/** The packages of the protocols, by what a thread of the engine loads. */
const PACKAGES: Readonly<Record<EngineName, string>> = { postgres: 'pg', mysql: 'mysql2', sqlserver: 'tedious' }
const ENGINE_NAMES = ['postgres', 'mysql', 'sqlserver'] as const satisfies readonly EngineName[]

describe('an engine is loaded by the threads that serve it', () => {
  for (const engine of ENGINE_NAMES) {
    test(`a thread of ${engine} loads ${PACKAGES[engine]} and no other engine's package`, async (t) => {
      const thread = startThread(t, engine)
      await thread.next('serving')
      const paths = await thread.modules()
      const loaded = Object.values(PACKAGES).filter((name) =>
        paths.some((path) => path.includes(`/node_modules/${name}/`)),
      )
      assert.deepEqual(loaded, [PACKAGES[engine]])
      thread.mailbox.send({ kind: 'stop' })
      await thread.exited
    })

    test(`a thread of ${engine} whose package cannot be loaded serves, says why it has no database, and stops`, async (t) => {
      const thread = startThread(t, engine, PACKAGES[engine])
      thread.mailbox.send({ kind: 'prepare', requestId: 7, epoch: 1, policy: undefined })
      const prepared = await thread.next('prepared')
      assert.deepEqual(prepared, {
        kind: 'prepared',
        requestId: 7,
        ok: false,
        code: 'CONNECTOR_UNAVAILABLE',
        reason: `the driver of engine ${engine} could not be loaded: there is no such package`,
      })
      thread.mailbox.send({ kind: 'stop' })
      await thread.exited
    })
  }

  test('a thread that is told to stop before its engine is there stops once it is', async (t) => {
    const thread = startThread(t, 'sqlserver')
    thread.mailbox.send({ kind: 'stop' })
    await thread.next('stopped')
    await thread.exited
  })
})
