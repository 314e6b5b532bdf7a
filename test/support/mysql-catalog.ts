import assert from 'node:assert/strict'
import { createConnection } from 'mysql2/promise'
import type { GatewayError } from '../../src/core/errors.js'
import { ok, type Result } from '../../src/core/result.js'
import type { SchemaModel } from '../../src/core/schema-model.js'
import type { CatalogRow } from '../../src/engines/catalog/rows.js'
import { introspectCatalog } from '../../src/engines/mysql/introspector.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'

/** What introspection gives a login, read over the text protocol; a query that fails rejects. `asked` counts the queries. */
export async function introspection(
  { connection: { host, port, user, password = '', database } }: ConnectorSettings,
  wanted = database,
  asked: (text: string) => void = () => {},
): Promise<Result<SchemaModel, GatewayError>> {
  const connection = await createConnection({
    host,
    port,
    user,
    password,
    charset: 'utf8mb4_bin',
    rowsAsArray: true,
    typeCast: (field) => field.string(),
  })
  try {
    return await introspectCatalog(async (text, params) => {
      asked(text)
      const [rows] = await connection.query({ sql: text, values: [...params] })
      // With these options the driver gives arrays of what `typeCast` returned, which its declarations do not say.
      return ok(rows as unknown as readonly CatalogRow[])
    }, wanted)
  } finally {
    await connection.end()
  }
}

export async function introspected(settings: ConnectorSettings): Promise<SchemaModel> {
  const model = await introspection(settings)
  assert.ok(model.ok, JSON.stringify(model))
  return model.value
}
