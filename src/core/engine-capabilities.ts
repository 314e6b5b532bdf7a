import { SQLSERVER_PATTERN_CHARS_MAX } from './limits.js'
import type { EngineName } from './schema-model.js'

/** What one engine can do and another cannot. Everything that depends on it asks here. */
export interface EngineCapabilities {
  /** A call of a procedure can be undone once it ended well. Where a procedure may commit by itself, it cannot. */
  readonly procedureDryRun: boolean
  /** Identity, roles and claims can be set for one transaction alone. */
  readonly sessionContext: boolean
  /** Statements can run behind a pooler that gives a connection for one transaction at a time. */
  readonly transactionPooling: boolean
  /** A connection sees one database of several schemas; otherwise the database is the one schema. */
  readonly schemas: boolean
  /** An index gives NULLs where a search wants them: last ascending, first descending. */
  readonly nullsInIndexOrder: boolean
  /** A statement that writes can return what a subquery says of the row as written; elsewhere the row is read back. */
  readonly subqueryInReturned: boolean
  /** Units of UTF-16 that a pattern of `ilike` has at most, once its brackets are escaped; undefined where nothing limits it. */
  readonly patternCharsMax: number | undefined
}

export const ENGINE_CAPABILITIES: Readonly<Record<EngineName, EngineCapabilities>> = {
  postgres: {
    procedureDryRun: true,
    sessionContext: true,
    transactionPooling: true,
    schemas: true,
    nullsInIndexOrder: true,
    subqueryInReturned: true,
    patternCharsMax: undefined,
  },
  mysql: {
    procedureDryRun: false,
    sessionContext: false,
    transactionPooling: false,
    schemas: false,
    nullsInIndexOrder: false,
    subqueryInReturned: true,
    patternCharsMax: undefined,
  },
  sqlserver: {
    procedureDryRun: true,
    sessionContext: true,
    transactionPooling: false,
    schemas: true,
    nullsInIndexOrder: false,
    subqueryInReturned: false,
    patternCharsMax: SQLSERVER_PATTERN_CHARS_MAX,
  },
}
