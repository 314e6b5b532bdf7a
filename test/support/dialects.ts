import type { ValueType } from '../../src/core/schema-model.js'
import type { Dialect } from '../../src/engines/engine.js'
import { mysqlDialect } from '../../src/engines/mysql/dialect.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { sqlserverDialect } from '../../src/engines/sqlserver/dialect.js'
import { MYSQL_TYPES } from './mysql-types.js'
import { TYPES } from './schema.js'
import { SQLSERVER_TYPES } from './sqlserver-types.js'

/** Every dialect, with the types of its engine's catalog: for tests that need no server. */
export interface DialectUnderTest {
  readonly dialect: Dialect
  readonly engine: 'postgres' | 'mysql' | 'sqlserver'
  readonly types: Readonly<Record<string, ValueType>>
}

export const DIALECTS: readonly DialectUnderTest[] = [
  { dialect: postgresDialect, engine: 'postgres', types: TYPES },
  { dialect: mysqlDialect, engine: 'mysql', types: MYSQL_TYPES },
  { dialect: sqlserverDialect, engine: 'sqlserver', types: SQLSERVER_TYPES },
]
