/** One step of the store's tables, in the words of each database. Both make the same names and columns. */
export interface Migration {
  readonly sqlite: string
  readonly postgres: string
}

/** Numbered from 1 by their place. A published one never changes; a new one goes to the end. */
export const MIGRATIONS: readonly Migration[] = [
  {
    sqlite: `
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
    postgres: `
    CREATE TABLE settings (
      name text COLLATE "C" PRIMARY KEY,
      value bigint NOT NULL
    );
    INSERT INTO settings (name, value) VALUES ('version', 1);

    CREATE TABLE identities (
      id text COLLATE "C" PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE,
      claims text NOT NULL,
      disabled bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL
    );

    CREATE TABLE roles (
      name text COLLATE "C" PRIMARY KEY,
      reserved bigint NOT NULL DEFAULT 0
    );
    INSERT INTO roles (name, reserved) VALUES ('admin', 1), ('operator', 1), ('auditor', 1);

    CREATE TABLE role_bindings (
      identity_id text COLLATE "C" NOT NULL REFERENCES identities (id),
      role text COLLATE "C" NOT NULL REFERENCES roles (name),
      connector text COLLATE "C" NOT NULL DEFAULT '',
      PRIMARY KEY (identity_id, role, connector)
    );

    CREATE TABLE api_keys (
      key_id text COLLATE "C" PRIMARY KEY,
      identity_id text COLLATE "C" NOT NULL REFERENCES identities (id),
      secret_hash bytea NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint
    );

    CREATE TABLE policies (
      name text COLLATE "C" NOT NULL,
      version bigint NOT NULL,
      document text NOT NULL,
      author text NOT NULL,
      applied_at bigint NOT NULL,
      PRIMARY KEY (name, version)
    );
    `,
  },
  {
    sqlite: `
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
    postgres: `
    CREATE TABLE known_objects (
      policy text COLLATE "C" NOT NULL,
      version bigint NOT NULL,
      connector text COLLATE "C" NOT NULL,
      objects text NOT NULL,
      confirmed_at bigint NOT NULL,
      PRIMARY KEY (policy, version, connector),
      FOREIGN KEY (policy, version) REFERENCES policies (name, version)
    );
    `,
  },
  {
    sqlite: `
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
    postgres: `
    CREATE TABLE idempotency (
      identity text COLLATE "C" NOT NULL,
      connector text COLLATE "C" NOT NULL,
      tool text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      plan_hash text NOT NULL,
      instance text NOT NULL,
      state text NOT NULL CHECK (state IN ('started', 'done')),
      code text,
      affected bigint,
      keys text,
      created_at bigint NOT NULL,
      PRIMARY KEY (identity, connector, tool, key)
    );
    CREATE INDEX idempotency_created_at ON idempotency (created_at);
    `,
  },
  {
    sqlite: `
    INSERT INTO settings (name, value) VALUES ('reload', 0);

    CREATE TABLE connectors (
      id TEXT PRIMARY KEY,
      document TEXT NOT NULL,
      author TEXT NOT NULL,
      changed_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Changes on their way to an audit trail. claimed_at is when instance took it, which has its entry when the row goes.
    CREATE TABLE audit_pending (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      time INTEGER NOT NULL,
      author TEXT NOT NULL,
      key_id TEXT,
      address TEXT,
      action TEXT NOT NULL,
      target TEXT NOT NULL,
      detail TEXT NOT NULL,
      instance TEXT,
      claimed_at INTEGER
    ) STRICT;

    CREATE INDEX api_keys_identity ON api_keys (identity_id);
    CREATE INDEX role_bindings_role ON role_bindings (role);
    CREATE INDEX role_bindings_connector ON role_bindings (connector);
    CREATE INDEX known_objects_connector ON known_objects (connector);
    `,
    postgres: `
    INSERT INTO settings (name, value) VALUES ('reload', 0);

    CREATE TABLE connectors (
      id text COLLATE "C" PRIMARY KEY,
      document text NOT NULL,
      author text NOT NULL,
      changed_at bigint NOT NULL
    );

    CREATE TABLE audit_pending (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text COLLATE "C" NOT NULL UNIQUE,
      time bigint NOT NULL,
      author text NOT NULL,
      key_id text,
      address text,
      action text NOT NULL,
      target text NOT NULL,
      detail text NOT NULL,
      instance text,
      claimed_at bigint
    );

    CREATE INDEX api_keys_identity ON api_keys (identity_id);
    CREATE INDEX role_bindings_role ON role_bindings (role);
    CREATE INDEX role_bindings_connector ON role_bindings (connector);
    CREATE INDEX known_objects_connector ON known_objects (connector);
    `,
  },
  {
    sqlite: `
    -- The highest number that a version of each policy ever had: it outlives the policy, so that no number means two documents.
    CREATE TABLE policy_numbers (
      name TEXT PRIMARY KEY,
      highest INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO policy_numbers (name, highest) SELECT name, max(version) FROM policies GROUP BY name;
    `,
    postgres: `
    CREATE TABLE policy_numbers (
      name text COLLATE "C" PRIMARY KEY,
      highest bigint NOT NULL
    );
    INSERT INTO policy_numbers (name, highest) SELECT name, max(version) FROM policies GROUP BY name;
    `,
  },
  {
    sqlite: `
    -- A random number that every change replaces: of two states with equal versions, only a copy of the first has its mark.
    INSERT INTO settings (name, value) VALUES ('mark', random() & 9007199254740991);
    `,
    postgres: `
    INSERT INTO settings (name, value) VALUES ('mark', floor(random() * 9007199254740991)::bigint);
    `,
  },
  {
    sqlite: `
    -- Runs of gateways that serve this store, and what each says of requests to reload.
    CREATE TABLE instances (
      run TEXT PRIMARY KEY,
      instance TEXT NOT NULL,
      host TEXT NOT NULL,
      pid INTEGER NOT NULL,
      seen_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE reload_reports (
      run TEXT NOT NULL,
      request INTEGER NOT NULL,
      report TEXT NOT NULL,
      PRIMARY KEY (run, request)
    ) STRICT, WITHOUT ROWID;
    `,
    postgres: `
    CREATE TABLE instances (
      run text COLLATE "C" PRIMARY KEY,
      instance text COLLATE "C" NOT NULL,
      host text NOT NULL,
      pid bigint NOT NULL,
      seen_at bigint NOT NULL
    );

    CREATE TABLE reload_reports (
      run text COLLATE "C" NOT NULL,
      request bigint NOT NULL,
      report text NOT NULL,
      PRIMARY KEY (run, request)
    );
    `,
  },
]

export const STORE_VERSION = MIGRATIONS.length

/** The refusal of a place where nothing is to be made. */
export const NO_STORE =
  'there is no admin store here: "runku serve" and every command that changes something make one; is admin_store right in the configuration?'

/** Why a running program refuses a store of this version; undefined for its own. */
export function otherVersion(
  version: number,
): { readonly kind: 'newer' | 'unusable'; readonly text: string } | undefined {
  if (version === STORE_VERSION) return undefined
  if (version > STORE_VERSION) return { kind: 'newer', text: newerStore(version) }
  const text = `a store of version ${version} was put in its place, which has to be brought to version ${STORE_VERSION} first`
  return { kind: 'unusable', text }
}

/** The refusal of a store that a newer program made. */
export function newerStore(version: number): string {
  return `the store has version ${version} and this program knows ${STORE_VERSION}: use the newer program`
}
