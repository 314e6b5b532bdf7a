import type { UrlGrammar } from './database-url.js'

/** `postgres://` and `postgresql://` addresses. A path as the host is a folder of sockets. */
export const POSTGRES_URL: UrlGrammar = {
  schemes: ['postgres', 'postgresql'],
  port: 5432,
  tls: {
    parameter: 'sslmode',
    modes: new Map([
      ['disable', 'disable'],
      ['require', 'require'],
      ['verify-full', 'verify'],
    ]),
    expected: 'disable, require or verify-full',
  },
  caParameter: 'sslrootcert',
  foreignParameters: new Set(
    (
      'application_name channel_binding client_encoding connect_timeout fallback_application_name gssencmode host hostaddr ' +
      'keepalives load_balance_hosts options passfile password pgbouncer port replication require_auth schema ' +
      'search_path ssl sslcert sslcrl sslkey sslnegotiation sslpassword statement_timeout target_session_attrs uselibpqcompat user'
    ).split(' '),
  ),
}
