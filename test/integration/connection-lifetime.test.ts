import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testDriver } from '../support/driver.js'
import { ENGINE_TARGETS } from '../support/engines.js'
import { tcpGate } from '../support/tcp-gate.js'
import { eventually } from '../support/test-server.js'

for (const target of ENGINE_TARGETS) {
  describe(`the life of connections to the ${target.label} server`, () => {
    /** A driver for one connection at a time, behind a gate that counts those that were opened. */
    async function counted(t: Parameters<typeof testDriver>[0], idleTimeoutMs: number, lifetimeMaxMs: number) {
      const db = await (await target.start()).createDatabase()
      const gate = await tcpGate(db.reader().connection.port)
      t.after(() => gate.shut())
      const pool = { max: 1, idleTimeoutMs, lifetimeMaxMs }
      return { gate, ...testDriver(t, db.reader({ connection: { port: gate.port }, pool })) }
    }

    test('one that nobody uses is closed when it is old, before it was idle for long', async (t) => {
      const { gate, driver, run } = await counted(t, 3_600_000, 200)
      assert.ok((await run('SELECT 1')).ok)
      await eventually('it is closed', () => driver.connections.idle === 0)
      assert.ok((await run('SELECT 1')).ok)
      assert.equal(gate.requests.length, 2)
    })

    test('one that nobody uses is closed when it was idle for long', async (t) => {
      const { driver, run } = await counted(t, 20, 3_600_000)
      assert.ok((await run('SELECT 1')).ok)
      await eventually('it is closed', () => driver.connections.idle === 0)
    })

    test('one that is young and was just used serves the next call', async (t) => {
      const { gate, run } = await counted(t, 3_600_000, 3_600_000)
      for (let n = 0; n < 5; n++) assert.ok((await run('SELECT 1')).ok)
      assert.equal(gate.requests.length, 1)
    })

    test('one that is handed from call to call is replaced when it is old, and no call fails by it', async (t) => {
      const { gate, run } = await counted(t, 3_600_000, 200)
      let over = false
      const callers = [1, 2, 3].map(async () => {
        while (!over) assert.ok((await run('SELECT 1')).ok)
      })
      try {
        await eventually('another is opened', () => gate.requests.length > 1)
      } finally {
        over = true
        await Promise.all(callers)
      }
    })
  })
}
