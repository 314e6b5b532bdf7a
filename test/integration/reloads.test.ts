import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { StoreFailure } from '../../src/admin/admin-store.js'
import { loadConfig } from '../../src/config/config.js'
import { monotonicMs } from '../../src/core/clock.js'
import { fail } from '../../src/core/result.js'
import type { Observation } from '../../src/observe/observation.js'
import { type ReloadReport, Reloads } from '../../src/reloads.js'
import { ConnectorFleet } from '../../src/threads/connector-fleet.js'
import { openedStore, STORE_KINDS } from '../support/admin-stores.js'
import { must } from '../support/gateway.js'
import { eventually } from '../support/test-server.js'

const root = mkdtempSync(join(tmpdir(), 'runku-reloads-'))
after(() => rmSync(root, { recursive: true, force: true }))
const file = join(root, 'config.yaml')
writeFileSync(file, 'connectors: []\n')
const FAULT = { file: 'config.yaml', path: [], message: 'it cannot be read' }

for (const { kind, fresh } of STORE_KINDS) {
  describe(`which requests of a store on ${kind} a reload answers`, () => {
    test('the start those before it, each reload those that were made before it read anything, a refused one too', async () => {
      const store = await openedStore(await fresh())
      const request = () => store.changes({ name: 'test' }).requestReload()
      const observe = () => {}
      const reports: ReloadReport[] = []
      const during: (() => ReturnType<typeof loadConfig>)[] = []
      const load = () => during.shift()?.() ?? loadConfig({ file, env: {} })
      const fleet = new ConnectorFleet({ observe, nowMs: monotonicMs, random: Math.random, policies: store })
      await request()
      const { reloads, settled } = await Reloads.begin(
        { store, fleet, observe, env: {}, load, ended: (report) => reports.push(report) },
        must(loadConfig({ file, env: {} })),
      )
      await settled
      assert.deepEqual(
        reports.map((report) => report.request),
        [1],
      )
      // While this one reads the configuration, somebody asks again.
      let asked: Promise<number> | undefined
      during.push(() => {
        asked = request()
        return loadConfig({ file, env: {} })
      })
      assert.equal((await reloads.reload('signal')).request, 1)
      assert.equal(await asked, 2)
      await eventually('the second request is answered by a reload of its own', () => reports.at(-1)?.request === 2)
      during.push(() => fail([FAULT]))
      await request()
      await eventually('a refusal is an answer', () => reports.at(-1)?.request === 3)
      assert.match(reports.at(-1)?.faults.join() ?? '', /it cannot be read/)
      reloads.stop()
      await fleet.stop(0)
      await store.close()
    })
  })
}

describe('a reload that the store kept from being made', () => {
  test('is made when the store is back, whatever else was tried again meanwhile', async () => {
    let away = false
    let tell = () => {}
    const answer = async <T>(value: T): Promise<T> => {
      if (away) throw new StoreFailure('unusable', 'the admin store cannot be reached')
      return value
    }
    const store = {
      interruptions: 0,
      readVersions: () => answer({ change: 1, reload: 4, mark: 1 }),
      listConnectors: () => answer([]),
      listPolicies: () => answer([]),
      findPolicy: () => answer(undefined),
      findKnownObjects: () => answer(undefined),
      recordKnownObjects: () => answer(undefined),
      watch: (changed: () => void) => {
        tell = changed
        return () => {}
      },
    }
    let refusals = 0
    const observe = ({ kind }: Observation) => {
      if (kind === 'reload.refused') refusals += 1
    }
    const reports: ReloadReport[] = []
    const load = () => loadConfig({ file, env: {} })
    const fleet = new ConnectorFleet({ observe, nowMs: monotonicMs, random: Math.random, policies: store })
    const surroundings = { store, fleet, observe, env: {}, load, ended: (report: ReloadReport) => reports.push(report) }
    const { reloads, settled } = await Reloads.begin(surroundings, must(load()))
    await settled
    away = true
    assert.match((await reloads.reload('signal')).faults.join(), /cannot be reached/)
    tell()
    await eventually('the look at the store has failed as well', () => refusals === 2)
    away = false
    reports.length = 0
    await eventually('the reload is made', () => reports.some(({ request }) => request === 4))
    reloads.stop()
  })
})
