import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { connectorSettings, faultText, type LoadedConfig, loadConfig } from '../../src/config/config.js'
import { parseDatabaseUrl } from '../../src/config/database-url.js'
import { SQLSERVER_URL } from '../../src/config/sqlserver-url.js'

function parsed(url: string) {
  const outcome = parseDatabaseUrl(url, SQLSERVER_URL)
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error)
  return outcome.value
}

function refusal(url: string): string {
  const outcome = parseDatabaseUrl(url, SQLSERVER_URL)
  assert.ok(!outcome.ok, `${url} was taken`)
  return outcome.error
}

describe('addresses of SQL Server', () => {
  test('both schemes are taken, the port has a default and encrypt becomes the tls mode', () => {
    assert.deepEqual(parsed('sqlserver://u:p@h/d'), { host: 'h', port: 1433, user: 'u', password: 'p', database: 'd' })
    assert.deepEqual(parsed('mssql://u@h:1434/d?encrypt=true&caFile=/ca.pem'), {
      host: 'h',
      port: 1434,
      user: 'u',
      database: 'd',
      tls: 'verify',
      tlsCaFile: '/ca.pem',
    })
    assert.equal(parsed('sqlserver://u@h/d?encrypt=false').tls, 'disable')
    assert.equal(parsed('sqlserver://u@h/d?encrypt=strict').tls, 'strict')
  })

  test('a certificate is trusted unseen only where that is said, beside encryption', () => {
    assert.equal(parsed('sqlserver://u@h/d?encrypt=true&trustServerCertificate=true').tls, 'require')
    assert.equal(parsed('sqlserver://u@h/d?trustServerCertificate=true').tls, 'require')
    assert.equal(parsed('sqlserver://u@h/d?encrypt=true&trustServerCertificate=false').tls, 'verify')
    assert.equal(parsed('sqlserver://u@h/d?trustServerCertificate=false').tls, undefined)
    for (const mode of ['false', 'strict']) {
      assert.match(
        refusal(`sqlserver://u@h/d?encrypt=${mode}&trustServerCertificate=true`),
        /^trustServerCertificate of the address: a certificate is trusted with encrypt=true only$/,
      )
    }
    assert.match(refusal('sqlserver://u@h/d?trustServerCertificate=yes'), /expected true or false$/)
  })

  test('what is missing or cannot be honoured is refused, saying what was expected', () => {
    assert.match(refusal('mysql://u@h/d'), /starts with sqlserver:\/\//)
    for (const mode of ['True', 'optional', 'mandatory', '']) {
      assert.match(
        refusal(`sqlserver://u@h/d?encrypt=${mode}`),
        /^encrypt of the address: expected true, false or strict$/,
      )
    }
    assert.match(refusal('sqlserver://u@h/d?encrypt=true&encrypt=false'), /encrypt of the address repeats/)
    assert.match(
      refusal('sqlserver://u@h/d?Encrypt=true'),
      /Encrypt of the address is not taken: did you mean "encrypt"\?/,
    )
    assert.match(
      refusal('sqlserver://u@h/d?instanceName=x'),
      /instanceName of the address is not taken: expected encrypt, trustServerCertificate or caFile/,
    )
    assert.doesNotMatch(refusal('sqlserver://u:1?hunter2@h/d'), /hunter2/)
  })
})

const folder = mkdtempSync(join(tmpdir(), 'runku-config-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'config.yaml')

function loaded(text: string): LoadedConfig {
  writeFileSync(file, text)
  const outcome = loadConfig({ file, env: {} })
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.map(faultText).join('\n'))
  return outcome.value
}

describe('a connector of SQL Server', () => {
  const ORDERS = 'connectors:\n  - id: orders\n    type: sqlserver\n'
  const ADDRESS = '    url: sqlserver://reader:pw@127.0.0.1/orders\n'
  const settingsOf = (rest: string) => {
    const [orders] = loaded(`${ORDERS}${rest}`).config.connectors
    assert.ok(orders)
    return connectorSettings(orders)
  }
  const complaints = (text: string) =>
    loaded(text)
      .connectorFaults.flatMap(({ faults }) => faults.map((fault) => faultText(fault).replace(`${folder}/`, '')))
      .join('\n')

  test('reads the schema dbo unless the file names others, on a port of its own', () => {
    const { engine, connection, schemas } = settingsOf(ADDRESS)
    assert.equal(engine, 'sqlserver')
    const address = {
      host: '127.0.0.1',
      port: 1433,
      user: 'reader',
      password: 'pw',
      database: 'orders',
      tls: 'disable',
    }
    assert.deepEqual([connection, schemas], [address, ['dbo']])
    assert.deepEqual(settingsOf(`${ADDRESS}    schemas: [sales, dbo]\n`).schemas, ['sales', 'dbo'])
  })

  test('hands its callers to the database where the file says so', () => {
    assert.equal(settingsOf(`${ADDRESS}    session_context: true\n`).sessionContext, true)
  })

  test('beyond this machine is encrypted and verified unless the file says otherwise', () => {
    const tlsOf = (rest: string) => settingsOf(rest).connection.tls
    assert.equal(tlsOf('    url: mssql://u@db.example.com/d\n'), 'verify')
    assert.equal(tlsOf('    url: mssql://u@db.example.com/d\n    tls: strict\n'), 'strict')
    assert.equal(tlsOf('    url: mssql://u@db.example.com/d?trustServerCertificate=true\n'), 'require')
  })

  test('strict TLS takes an authority of its own', () => {
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, 'PEM')
    const { tls, tlsCaFile } = settingsOf(`    url: mssql://u@h.example/d?encrypt=strict&caFile=${ca}\n`).connection
    assert.deepEqual([tls, tlsCaFile], ['strict', ca])
  })

  const broken: readonly (readonly [string, string, RegExp])[] = [
    [
      'a socket',
      '    host: /run/x\n    user: u\n    database: d\n',
      /host: expected a host name: with type sqlserver there are no sockets$/,
    ],
    ['a pooler', `${ADDRESS}    pool: { mode: transaction }\n`, /pool\.mode: expected session: with type sqlserver/],
    [
      'two ways to say tls',
      '    url: sqlserver://u@h/d?encrypt=true\n    tls: verify\n',
      /the url has an encrypt already$/,
    ],
  ]
  for (const [what, rest, message] of broken) {
    test(`${what} is refused`, () => assert.match(complaints(`${ORDERS}${rest}`), message))
  }

  test('other engines have no strict TLS', () => {
    const shop = 'connectors:\n  - id: shop\n    type: postgres\n    url: postgres://u@h/d\n    tls: strict\n'
    assert.match(complaints(shop), /tls: expected disable, require or verify: with type postgres/)
  })
})
