import type { EngineName } from '../../src/core/schema-model.js'
import { createEngine } from '../../src/engines/create-engine.js'
import { ENGINE_TARGETS } from './engines.js'
import type { EngineTarget } from './test-server.js'

/** Every database server that the security tests run on. An engine that is served and not listed here fails them. */
export const ENGINES: readonly EngineTarget[] = ENGINE_TARGETS

const ENGINE_NAMES: Readonly<Record<EngineName, true>> = { postgres: true, mysql: true, sqlserver: true }

/** The engines that the product serves: those it can make a driver for. Nothing connects. */
export async function servedEngines(): Promise<readonly EngineName[]> {
  const served: EngineName[] = []
  for (const engine of ['postgres', 'mysql', 'sqlserver'] as const satisfies readonly (keyof typeof ENGINE_NAMES)[]) {
    try {
      const { driver } = createEngine(
        {
          id: 'probe',
          engine,
          connection: { host: '127.0.0.1', port: 1, user: 'nobody', database: 'none', tls: 'disable' },
          schemas: ['none'],
          threadsMin: 0,
          threadsMax: 1,
          sessionContext: false,
          pool: { mode: 'session', max: 1, acquireTimeoutMs: 1, idleTimeoutMs: 1, lifetimeMaxMs: 1 },
        },
        { observe: () => {}, nowMs: () => 0, randomBytes: (count) => new Uint8Array(count) },
      )
      await driver.close()
      served.push(engine)
    } catch {
      // An engine that is not served has no driver.
    }
  }
  return served
}
