import { z } from 'zod'
import { CONNECTOR_ID, POLICY_NAME, ROLE_NAME } from '../admin/names.js'
import {
  ACQUIRE_TIMEOUT_MS,
  BODY_BYTES_CEILING,
  BODY_BYTES_MAX,
  COMMAND_WORDS_MAX,
  CONNECTIONS_CEILING,
  CONNECTIONS_MAX,
  IDEMPOTENCY_WINDOW_CEILING_HOURS,
  IDEMPOTENCY_WINDOW_HOURS,
  IDLE_TIMEOUT_MS,
  IN_FLIGHT_CEILING,
  IN_FLIGHT_MAX,
  LIFETIME_MAX_MS,
  PASSWORD_TTL_CEILING_S,
  PASSWORD_TTL_S,
  POOL_CONNECTIONS_CEILING,
  POOL_CONNECTIONS_MAX,
  POOL_TIME_CEILING_MS,
  SCHEMAS_CEILING,
  THREADS_CEILING,
  THREADS_DEFAULT,
  THREADS_MIN_DEFAULT,
  VAR_CHARS_MAX,
  VARS_MAX,
} from '../core/limits.js'
import { isAddressRange, isHostEntry, isOrigin, isPublicUrl, parseListen } from './addresses.js'
import { audit } from './audit-schema.js'
import { checked, matching, named, oneOf, text, truth, whole } from './schema-words.js'

/**
 * The one source of the configuration: what `config.yaml` may say, in its own spelling. The JSON Schema, the defaults and
 * the messages of a wrong value come from here. A key that nothing acts on is not in it, because a key that is accepted
 * and ignored is worse than one that is refused.
 */

/** Segments never start with a dot, so no connector can take a well-known address. */
const CONNECTOR_PATH = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9_.~-]{0,63}){1,8}$/

const listenText = 'host:port, such as 127.0.0.1:8080 or [::1]:8080'

const server = z
  .strictObject({
    listen: checked((value) => parseListen(value) !== undefined, listenText)
      .default('127.0.0.1:8080')
      .describe('Where MCP is served, as host:port. Beyond loopback it needs `tls`.'),
    admin_listen: checked((value) => parseListen(value) !== undefined, listenText)
      .default('127.0.0.1:9090')
      .describe('Where health is served, as host:port. Beyond loopback it needs `tls`.'),
    public_url: checked(isPublicUrl, 'an http or https address without query, such as https://gateway.example.com')
      .optional()
      .describe('The address clients use, when it is not the listen address. Its host is an allowed host.'),
    tls: z
      .union([
        z.literal('external', { error: 'expected external' }),
        z.strictObject({
          cert_file: text('the path of a PEM file').describe('Certificate chain, PEM.'),
          key_file: text('the path of a PEM file').describe('Private key, PEM.'),
        }),
      ])
      .optional()
      .describe('Certificate and key of both listeners, or `external` when something in front ends TLS.'),
    allowed_hosts: z
      .array(checked(isHostEntry, 'a host or host:port'), { error: 'expected a list of hosts' })
      .default([])
      .describe('Values of the Host header that are served beyond the listen addresses and `public_url`.'),
    allowed_origins: z
      .array(checked(isOrigin, 'an origin such as https://app.example.com'), { error: 'expected a list of origins' })
      .default([])
      .describe('Web pages, by origin, whose scripts may call the gateway.'),
    trusted_proxies: z
      .array(checked(isAddressRange, 'an IP address or a range such as 10.0.0.0/8'), {
        error: 'expected a list of IP addresses or ranges',
      })
      .default([])
      .describe('Proxies whose X-Forwarded-For decides the client address.'),
    limits: z
      .strictObject({
        body_bytes_max: whole(1_024, BODY_BYTES_CEILING).default(BODY_BYTES_MAX).describe('Largest request body.'),
        in_flight_max: whole(1, IN_FLIGHT_CEILING).default(IN_FLIGHT_MAX).describe('Requests in progress at once.'),
        connections_max: whole(1, CONNECTIONS_CEILING).default(CONNECTIONS_MAX).describe('Open client connections.'),
      })
      .prefault({})
      .describe('What the front takes before it refuses.'),
  })
  .prefault({})
  .describe('The two listeners.')

const auth = z
  .strictObject({
    enabled: truth()
      .default(true)
      .describe('false: every caller is the identity `anonymous`; loopback listeners only.'),
    anonymous_roles: z
      .array(named(ROLE_NAME), { error: 'expected a list of role names' })
      .default([])
      .describe('Roles of the anonymous identity; only with `enabled: false`.'),
  })
  .prefault({})
  .describe('Who may call.')

const adminStore = z
  .strictObject({
    type: oneOf(['sqlite', 'postgres'])
      .default('sqlite')
      .describe('`sqlite`: a file beside the gateway. `postgres`: a database that several gateways share.'),
    path: text('the path of a file')
      .optional()
      .describe(
        'For sqlite: the file, made with mode 0600. Default: runku.sqlite. Relative paths start at the folder of this file.',
      ),
    url: text('the address of a database, such as postgres://user@host/database')
      .optional()
      .describe('For postgres: postgres://user:password@host:port/database. Better in an environment variable.'),
    url_file: text('the path of a file').optional().describe('For postgres: a file that holds the url.'),
  })
  .prefault({})
  .describe('Where identities, roles, keys, policies and connectors live.')

const pool = z
  .strictObject({
    mode: oneOf(['session', 'transaction'])
      .default('session')
      .describe(
        '`transaction`: behind a pooler, such as PgBouncer, that gives a server connection for one transaction at a time. For postgres alone.',
      ),
    max: whole(1, POOL_CONNECTIONS_CEILING)
      .default(POOL_CONNECTIONS_MAX)
      .describe('Database connections of each thread.'),
    acquire_timeout_ms: whole(1, POOL_TIME_CEILING_MS)
      .default(ACQUIRE_TIMEOUT_MS)
      .describe('How long a call waits for a connection.'),
    idle_timeout_ms: whole(1, POOL_TIME_CEILING_MS)
      .default(IDLE_TIMEOUT_MS)
      .describe('When an unused connection is closed, and an unused thread above `threads.min` stops.'),
    lifetime_max_ms: whole(1, POOL_TIME_CEILING_MS)
      .default(LIFETIME_MAX_MS)
      .describe('When a connection is replaced whatever its use.'),
  })
  .prefault({})
  .describe('The connection pool of each thread.')

const VAR_NAME = /^[a-z][a-z0-9_]{0,63}$/
const varText = `text of at most ${VAR_CHARS_MAX} characters, a number or a truth value`

const connectorVars = z
  .record(
    z.string(),
    z.union([z.string().max(VAR_CHARS_MAX, { error: `expected ${varText}` }), z.number(), z.boolean()], {
      error: `expected ${varText}`,
    }),
    { error: 'expected values by name, such as { region: eu }' },
  )
  .superRefine((vars, context) => {
    const names = Object.keys(vars)
    if (names.length > VARS_MAX) context.addIssue({ code: 'custom', message: `expected at most ${VARS_MAX} values` })
    for (const name of names) {
      const path = [name]
      if (!VAR_NAME.test(name)) {
        const message = 'expected a name such as region: lower-case letters, digits and underscores'
        context.addIssue({ code: 'custom', path, message })
      } else if (typeof vars[name] === 'number' && Number.isInteger(vars[name]) && !Number.isSafeInteger(vars[name])) {
        context.addIssue({ code: 'custom', path, message: 'expected a number that is kept exactly: put it in quotes' })
      }
    }
  })

export const connectorSchema = z
  .strictObject({
    id: named(CONNECTOR_ID).describe('The name of the connector, in addresses, entries and bindings.'),
    type: oneOf(['postgres', 'mysql', 'sqlserver']).describe('The engine. `mysql` covers MariaDB.'),
    url: text('the address of a database, such as postgres://user@host/database')
      .optional()
      .describe(
        'postgres://user:password@host:port/database; `sslmode` and `sslrootcert` are the parameters it may have. ' +
          'mysql:// or mariadb:// likewise, with `ssl-mode` and `ssl-ca`; sqlserver:// or mssql:// with `encrypt`, ' +
          '`trustServerCertificate` and `caFile`.',
      ),
    url_file: text('the path of a file').optional().describe('A file that holds the url.'),
    host: text('a host name')
      .optional()
      .describe(
        'Instead of a url. A path starting with / is a socket folder, for mysql the socket itself; sqlserver has none.',
      ),
    port: whole(1, 65_535).optional().describe('Default 5432, for mysql 3306, for sqlserver 1433.'),
    user: text('a user name')
      .optional()
      .describe('The database login; it needs what the policy grants and nothing more.'),
    password: text('text; put a password of digits in quotes')
      .optional()
      .describe('Better in an environment variable, or left to one of the next two keys.'),
    password_file: text('the path of a file')
      .optional()
      .describe(
        'A file that holds the password. It is read for each new connection, so that a new one needs no restart.',
      ),
    password_command: z
      .strictObject({
        command: z
          .array(text('the words of a command'), { error: 'expected a list: the program, then its arguments' })
          .min(1, { error: 'expected a list: the program, then its arguments' })
          .max(COMMAND_WORDS_MAX, { error: `expected at most ${COMMAND_WORDS_MAX} words` })
          .describe('The program and its arguments, run without a shell. What it prints is the password.'),
        ttl_seconds: whole(1, PASSWORD_TTL_CEILING_S)
          .default(PASSWORD_TTL_S)
          .describe('How long a password that it printed is used for new connections.'),
      })
      .optional()
      .describe('A command that prints the password, for those that expire.'),
    database: text('the name of a database').optional().describe('The database.'),
    tls: oneOf(['disable', 'require', 'verify', 'strict'])
      .optional()
      .describe(
        '`require` encrypts, `verify` also checks the certificate, `strict` (sqlserver alone) does so before the protocol begins. Default: verify; disable on loopback.',
      ),
    tls_ca_file: text('the path of a PEM file')
      .optional()
      .describe('Certificate authority for `tls: verify` or `strict`, PEM.'),
    path: matching(CONNECTOR_PATH, 'a path such as /mcp/shop, without a slash at its end')
      .optional()
      .describe('Where the connector is served. Default: /mcp/<id>.'),
    schemas: z
      .array(text('the name of a schema'), { error: 'expected a list of schema names' })
      .min(1, { error: 'expected at least one schema' })
      .max(SCHEMAS_CEILING, { error: `expected at most ${SCHEMAS_CEILING} schemas` })
      .optional()
      .describe(
        'Schemas to read the catalog of. Default: public, for sqlserver dbo; for mysql the database, which is the one schema.',
      ),
    policy: named(POLICY_NAME).optional().describe('The stored policy. Default: the one named like the connector.'),
    vars: connectorVars
      .default({})
      .describe('Values by name that the policy may use, so that one policy serves many connectors.'),
    threads: z
      .strictObject({
        min: whole(0, THREADS_CEILING)
          .default(THREADS_MIN_DEFAULT)
          .describe(
            'Threads that always run. With 0, a connector that is not called has neither thread nor connection.',
          ),
        max: whole(1, THREADS_CEILING).default(THREADS_DEFAULT).describe('Threads at most.'),
      })
      .prefault({})
      .describe('Worker threads of the connector.'),
    pool,
    session_context: truth()
      .default(false)
      .describe(
        "Whether identity, roles and claims are set in each transaction, for the database's own row-level security and triggers. Not for mysql.",
      ),
  })
  .describe('One database, served at one endpoint.')

const idempotency = z
  .strictObject({
    window_hours: whole(1, IDEMPOTENCY_WINDOW_CEILING_HOURS)
      .default(IDEMPOTENCY_WINDOW_HOURS)
      .describe('How long an idempotency key is remembered.'),
  })
  .prefault({})
  .describe('Keys by which callers make a retry of a call that writes safe.')

/** Everything but the connectors: a fault here ends the start. */
export const headSchema = z.strictObject({
  server,
  auth,
  admin_store: adminStore,
  connectors_dir: text('the path of a folder')
    .optional()
    .describe('A folder of connectors beside `connectors`: each .yaml or .yml file in it holds the keys of one.'),
  audit,
  idempotency,
})

export const configSchema = headSchema
  .extend({
    connectors: z
      .array(connectorSchema, { error: 'expected a list of connectors' })
      .default([])
      .describe('The databases. A fault inside one disables that one alone.'),
  })
  .meta({
    title: 'Runku configuration',
    description: 'config.yaml. A text may read environment variables, as config.example.yaml shows.',
  })

export type HeadInput = z.output<typeof headSchema>
export type ConnectorInput = z.output<typeof connectorSchema>
