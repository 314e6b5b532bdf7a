import type { Database } from 'better-sqlite3'
import { fail, ok, type Result } from '../core/result.js'

/** Marks a file as an admin store: "RUKU". */
const APPLICATION_ID = 0x52554b55

/** Numbered from 1 by their place. A published one never changes; a new one goes to the end. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT;
  INSERT INTO settings (name, value) VALUES ('version', 1);

  CREATE TABLE identities (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    claims TEXT NOT NULL,
    disabled INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE roles (
    name TEXT PRIMARY KEY,
    reserved INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO roles (name, reserved) VALUES ('admin', 1), ('operator', 1), ('auditor', 1);

  -- An empty connector stands for every connector: NULL would let the same binding in twice.
  CREATE TABLE role_bindings (
    identity_id TEXT NOT NULL REFERENCES identities (id),
    role TEXT NOT NULL REFERENCES roles (name),
    connector TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (identity_id, role, connector)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE api_keys (
    key_id TEXT PRIMARY KEY,
    identity_id TEXT NOT NULL REFERENCES identities (id),
    secret_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT;

  CREATE TABLE policies (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    document TEXT NOT NULL,
    author TEXT NOT NULL,
    applied_at INTEGER NOT NULL,
    PRIMARY KEY (name, version)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What each version was confirmed to be about, in each connector's own database.
  CREATE TABLE known_objects (
    policy TEXT NOT NULL,
    version INTEGER NOT NULL,
    connector TEXT NOT NULL,
    objects TEXT NOT NULL,
    confirmed_at INTEGER NOT NULL,
    PRIMARY KEY (policy, version, connector),
    FOREIGN KEY (policy, version) REFERENCES policies (name, version)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Writing calls by the key their callers gave them. keys holds key columns of the rows a call touched, never other cells.
  CREATE TABLE idempotency (
    identity TEXT NOT NULL,
    connector TEXT NOT NULL,
    tool TEXT NOT NULL,
    key TEXT NOT NULL,
    plan_hash TEXT NOT NULL,
    instance TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done')),
    code TEXT,
    affected INTEGER,
    keys TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (identity, connector, tool, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_created_at ON idempotency (created_at);
  `,
]

export const STORE_VERSION = MIGRATIONS.length

/** Reads the file's marks and changes nothing. The error says why it is left alone: newer, or not an admin store. */
export function checkStore(db: Database): Result<{ readonly version: number }, string> {
  // One transaction, so that another process's first migration is seen as a whole or not at all.
  return db.transaction(() => readMarks(db))()
}

function readMarks(db: Database): Result<{ readonly version: number }, string> {
  const version = readNumber(db, 'user_version')
  const application = readNumber(db, 'application_id')
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0 || hasTables(db))) {
    return fail('this is an SQLite file, but not an admin store of runku')
  }
  if (version > STORE_VERSION) {
    return fail(`the store has version ${version} and this program knows ${STORE_VERSION}: use the newer program`)
  }
  return ok({ version })
}

/**
 * Brings a new or older store to this program's version, in one transaction that waits for another process doing the same.
 * A store of this version is not locked.
 */
export function migrate(db: Database): Result<void, string> {
  const before = checkStore(db)
  if (!before.ok) return before
  if (before.value.version === STORE_VERSION) return ok(undefined)
  const upgrade = db.transaction((): Result<void, string> => {
    // Read again inside the lock: the other process may have been first.
    const now = checkStore(db)
    if (!now.ok) return now
    for (const sql of MIGRATIONS.slice(now.value.version)) db.exec(sql)
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${STORE_VERSION}`)
    return ok(undefined)
  })
  return upgrade.immediate()
}

function readNumber(db: Database, pragma: 'user_version' | 'application_id'): number {
  return Number(db.pragma(pragma, { simple: true }))
}

function hasTables(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' LIMIT 1").get() !== undefined
}
