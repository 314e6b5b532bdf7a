import { gatewayError } from '../core/errors.js'
import { REASON_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import type { EngineName } from '../core/schema-model.js'
import type { Observe } from '../observe/observation.js'
import type { ConnectorSettings } from '../threads/messages.js'
import { unavailableDriver } from './driver/calls.js'
import type { Dialect, Driver } from './engine.js'
import { mysqlDialect } from './mysql/dialect.js'
import { postgresDialect } from './postgres/dialect.js'
import { sqlserverDialect } from './sqlserver/dialect.js'

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

type CreateDriver = (settings: ConnectorSettings, surroundings: EngineSurroundings) => Driver

/** An engine whose driver is in memory. */
export interface LoadedEngine {
  readonly dialect: Dialect
  readonly createDriver: CreateDriver
}

interface EngineParts {
  readonly dialect: Dialect
  readonly loadDriver: () => Promise<CreateDriver>
}

/**
 * The one place that maps a connector's `type` to its engine. A package that speaks a protocol costs a thread its time to
 * start and megabytes of memory, so that only the threads that speak it load it. Dialects are small and depend on none.
 */
const ENGINES: Readonly<Record<EngineName, EngineParts>> = {
  postgres: {
    dialect: postgresDialect,
    loadDriver: async () => (await import('./postgres/driver.js')).createPostgresDriver,
  },
  mysql: {
    dialect: mysqlDialect,
    loadDriver: async () => (await import('./mysql/driver.js')).createMysqlDriver,
  },
  sqlserver: {
    dialect: sqlserverDialect,
    loadDriver: async () => (await import('./sqlserver/driver.js')).createSqlserverDriver,
  },
}

/** Never rejects: where the driver cannot be loaded, those that are created answer CONNECTOR_UNAVAILABLE, and say why. */
export async function loadEngine(name: EngineName): Promise<LoadedEngine> {
  const { dialect, loadDriver } = ENGINES[name]
  try {
    return { dialect, createDriver: await loadDriver() }
  } catch (error) {
    const reason = `the driver of engine ${name} could not be loaded`
    const said = error instanceof Error ? error.message : String(error)
    const failure = gatewayError('CONNECTOR_UNAVAILABLE', {
      reason,
      detail: cleanText(`${reason}: ${said}`, REASON_CHARS_MAX),
    })
    return { dialect, createDriver: () => unavailableDriver(failure) }
  }
}

/** The engine of a connector. It connects to nothing yet. */
export async function createEngine(settings: ConnectorSettings, surroundings: EngineSurroundings): Promise<Engine> {
  const { dialect, createDriver } = await loadEngine(settings.engine)
  return { dialect, driver: createDriver(settings, surroundings) }
}
