import { unreachable } from '../core/assert.js'
import type { Observe } from '../observe/observation.js'
import type { ConnectorSettings } from '../threads/messages.js'
import type { Dialect, Driver } from './engine.js'
import { mysqlDialect } from './mysql/dialect.js'
import { createMysqlDriver } from './mysql/driver.js'
import { postgresDialect } from './postgres/dialect.js'
import { createPostgresDriver } from './postgres/driver.js'

export interface Engine {
  readonly dialect: Dialect
  readonly driver: Driver
}

export interface EngineSurroundings {
  readonly observe: Observe
  readonly nowMs: () => number
  /** Gives that many cryptographically random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
}

/** The one place that maps a connector's `type` to its engine. */
export function createEngine(settings: ConnectorSettings, surroundings: EngineSurroundings): Engine {
  switch (settings.engine) {
    case 'postgres':
      return { dialect: postgresDialect, driver: createPostgresDriver(settings, surroundings) }
    case 'mysql':
      return { dialect: mysqlDialect, driver: createMysqlDriver(settings, surroundings) }
    case 'sqlserver':
      throw new Error(`the engine ${settings.engine} is not served; the configuration refuses it`)
    default:
      return unreachable(settings.engine)
  }
}
