import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { connectorSettings, faultText, type LoadedConfig, loadConfig } from '../../src/config/config.js'

const folder = mkdtempSync(join(tmpdir(), 'runku-config-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'config.yaml')

function loaded(text: string, env: Readonly<Record<string, string>> = {}): LoadedConfig {
  writeFileSync(file, text)
  const outcome = loadConfig({ file, env })
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.map(faultText).join('\n'))
  return outcome.value
}

/** The faults of one connector that the rest of the configuration survives, without the folder. */
function connectorLines(text: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  return loaded(text, env).connectorFaults.flatMap(({ faults }) =>
    faults.map((fault) => faultText(fault).replace(`${folder}/`, '')),
  )
}

describe('a connector of MySQL or MariaDB', () => {
  const STOCK = 'connectors:\n  - id: stock\n    type: mysql\n'
  const ADDRESS = '    url: mysql://reader:pw@127.0.0.1/stock\n'
  const settingsOf = (rest: string) => {
    const [stock] = loaded(`${STOCK}${rest}`).config.connectors
    assert.ok(stock)
    return connectorSettings(stock)
  }

  test('has the database as its one schema, and a port of its own', () => {
    const { engine, connection, schemas, pool, sessionContext } = settingsOf(ADDRESS)
    assert.equal(engine, 'mysql')
    const address = { host: '127.0.0.1', port: 3306, user: 'reader', password: 'pw', database: 'stock', tls: 'disable' }
    assert.deepEqual(connection, address)
    assert.deepEqual([schemas, pool.mode, sessionContext], [['stock'], 'session', false])
    assert.deepEqual(settingsOf(`${ADDRESS}    schemas: [stock]\n`).schemas, ['stock'])
    const parts = '    host: h\n    user: u\n    database: d\n    tls: require\n'
    assert.deepEqual(settingsOf(parts), {
      ...settingsOf(ADDRESS),
      connection: { host: 'h', port: 3306, user: 'u', database: 'd', tls: 'require' },
      schemas: ['d'],
    })
  })

  test('may be reached by its socket, without TLS', () => {
    const socket = '    host: /run/mysqld/mysqld.sock\n    user: u\n    database: d\n'
    const { host, tls } = settingsOf(socket).connection
    assert.deepEqual([host, tls], ['/run/mysqld/mysqld.sock', 'disable'])
    assert.match(
      connectorLines(`${STOCK}${socket}    tls: verify\n`).join(),
      /tls: a socket has no TLS: expected disable/,
    )
  })

  test('beyond this machine is verified unless the file says otherwise', () => {
    const tlsOf = (rest: string) => settingsOf(rest).connection.tls
    assert.equal(tlsOf('    url: mariadb://u@db.example.com/d\n'), 'verify')
    assert.equal(tlsOf('    url: mysql://u@db.example.com/d?ssl-mode=REQUIRED\n'), 'require')
  })

  const broken: readonly (readonly [string, string, RegExp])[] = [
    [
      'the address of another engine',
      '    url: postgres://u@h/d\n',
      /url: expected an address that starts with mysql:\/\/ or mariadb:\/\/$/,
    ],
    [
      'two ways to say tls',
      '    url: mysql://u@h/d?ssl-mode=REQUIRED\n    tls: verify\n',
      /the url has an ssl-mode already/,
    ],
    [
      'another schema than the database',
      `${ADDRESS}    schemas: [public]\n`,
      /schemas: with type mysql the database is the one schema: leave this out, or name the database$/,
    ],
    [
      'several schemas',
      `${ADDRESS}    schemas: [stock, other]\n`,
      /schemas: with type mysql the database is the one schema/,
    ],
    [
      'a pool for a transaction pooler',
      `${ADDRESS}    pool: { mode: transaction }\n`,
      /^config\.yaml:5:13: connectors\[0\]\.pool\.mode: expected session: with type mysql a connection keeps settings/,
    ],
    [
      'a session context',
      `${ADDRESS}    session_context: true\n`,
      /session_context: expected false: with type mysql nothing can be set for one transaction alone$/,
    ],
  ]
  for (const [name, rest, expected] of broken) {
    test(`is refused with ${name}`, () => {
      const lines = connectorLines(`${STOCK}${rest}`)
      assert.equal(lines.length, 1, lines.join('\n'))
      assert.match(lines.join(), expected)
    })
  }

  test('repeats no secret, whatever is wrong with its address', () => {
    const secret = 'hunter2-very-secret'
    for (const url of [
      `mysql://u:${secret}@h:99999/d`,
      `mysql://u:1?${secret}@h/d`,
      `mysql://u:12?ssl-mode=${secret}@h/d`,
    ]) {
      const lines = connectorLines(`${STOCK}    url: \${DB}\n`, { DB: url })
      assert.ok(lines.length > 0, `${url} was taken`)
      assert.doesNotMatch(lines.join('\n'), /hunter2/)
    }
  })
})
