import { randomBytes } from 'node:crypto'
import { type ConnectorConfig, connectorSettings } from '../config/config.js'
import { monotonicMs } from '../core/clock.js'
import { cleanText } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import type { SchemaModel } from '../core/schema-model.js'

/** How many databases a command asks at once: enough for hundreds of connectors, and no storm on one server that has them all. */
const DATABASES_AT_ONCE = 8
const REASON_CHARS_MAX = 1_000

/** The catalog of one connector, or why it cannot be read. */
export interface ConnectorCatalog {
  readonly connector: ConnectorConfig
  readonly schema: Result<SchemaModel, string>
}

/** Reads the catalogs of connectors, a few at a time; in their order, whichever answers first. `read`: how one is read. */
export async function readCatalogs(
  connectors: readonly ConnectorConfig[],
  read: (connector: ConnectorConfig) => Promise<Result<SchemaModel, string>> = readCatalog,
): Promise<readonly ConnectorCatalog[]> {
  const catalogs: ConnectorCatalog[] = []
  const waiting = [...connectors.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, connector] = next
      catalogs[place] = { connector, schema: await read(connector) }
    }
  }
  await Promise.all(Array.from({ length: Math.min(DATABASES_AT_ONCE, connectors.length) }, work))
  return catalogs
}

async function readCatalog(connector: ConnectorConfig): Promise<Result<SchemaModel, string>> {
  // Loaded here, so that commands which only write the store do not load a database driver.
  const { createEngine } = await import('../engines/create-engine.js')
  // What the driver observes is also in its result, and a command has no log.
  const surroundings = { observe: () => {}, nowMs: monotonicMs, randomBytes }
  const { driver } = await createEngine(connectorSettings(connector), surroundings)
  try {
    const schema = await driver.introspect(connector.schemas)
    if (schema.ok) return ok(schema.value)
    const { code, reason = code, detail = reason } = schema.error
    return fail(cleanText(detail, REASON_CHARS_MAX))
  } finally {
    await driver.close()
  }
}
