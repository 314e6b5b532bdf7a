import type { UrlGrammar } from './database-url.js'

/** `mysql://` and `mariadb://` addresses. A path as the host is that of the server's socket. */
export const MYSQL_URL: UrlGrammar = {
  schemes: ['mysql', 'mariadb'],
  port: 3306,
  tls: {
    parameter: 'ssl-mode',
    modes: new Map([
      ['DISABLED', 'disable'],
      ['REQUIRED', 'require'],
      ['VERIFY_IDENTITY', 'verify'],
    ]),
    expected: 'DISABLED, REQUIRED or VERIFY_IDENTITY',
  },
  caParameter: 'ssl-ca',
  foreignParameters: new Set(
    (
      'allowMultiQueries allowNativePasswords allowPublicKeyRetrieval autoReconnect characterEncoding charset collation ' +
      'compress connectTimeout connect_timeout connection_limit database debug flags host interpolateParams loc ' +
      'multiStatements multipleStatements parseTime password pool_timeout port readTimeout requireSSL serverTimezone ' +
      'socket socketTimeout socket_timeout ssl ssl-capath ssl-cert ssl-cipher ssl-crl ssl-key ssl_ca ssl_cert ssl_key ' +
      'ssl_mode ssl_verify_cert sslMode sslaccept sslcert sslmode sslrootcert timeout timezone tls tls-version useSSL ' +
      'useUnicode user verifyServerCertificate writeTimeout'
    ).split(' '),
  ),
}
