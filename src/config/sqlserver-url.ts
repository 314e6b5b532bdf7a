import type { UrlGrammar } from './database-url.js'

/** `sqlserver://` and `mssql://` addresses. An instance is told by its port. */
export const SQLSERVER_URL: UrlGrammar = {
  schemes: ['sqlserver', 'mssql'],
  port: 1433,
  tls: {
    parameter: 'encrypt',
    modes: new Map([
      ['false', 'disable'],
      ['true', 'verify'],
      ['strict', 'strict'],
    ]),
    expected: 'true, false or strict',
    trustParameter: 'trustServerCertificate',
  },
  caParameter: 'caFile',
  foreignParameters: new Set(
    (
      'ApplicationIntent Encrypt MultiSubnetFailover TrustServerCertificate appName applicationIntent applicationName ' +
      'authentication certificate charset connectRetryCount connectTimeout connection database databaseName dial domain ' +
      'failoverpartner hostNameInCertificate instance instanceName integratedSecurity keepAlive log loginTimeout ' +
      'multiSubnetFailover packetSize password port requestTimeout schema serverCertificate serverName socketTimeout ' +
      'sslProtocol tdsVersion timeout trustServerCert trustStore trustStorePassword trusted_connection user useUTC ' +
      'workstationId'
    ).split(' '),
  ),
}
