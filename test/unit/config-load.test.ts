import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { auditSettings } from '../../src/config/audit-config.js'
import { connectorSettings, faultText, type LoadedConfig, loadConfig, redactedConfig } from '../../src/config/config.js'

const folder = mkdtempSync(join(tmpdir(), 'runku-config-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'config.yaml')

function load(text: string, env: Readonly<Record<string, string>> = {}) {
  writeFileSync(file, text)
  return loadConfig({ file, env })
}

function loaded(text: string, env: Readonly<Record<string, string>> = {}): LoadedConfig {
  const outcome = load(text, env)
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.map(faultText).join('\n'))
  return outcome.value
}

/** The lines that end the start, without the folder. */
function endings(text: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const outcome = load(text, env)
  assert.ok(!outcome.ok, 'expected a refusal')
  return outcome.error.map((fault) => faultText(fault).replace(`${folder}/`, ''))
}

/** The faults of one connector that the rest of the configuration survives. */
function connectorLines(text: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const outcome = loaded(text, env)
  return outcome.connectorFaults.flatMap(({ faults }) =>
    faults.map((fault) => faultText(fault).replace(`${folder}/`, '')),
  )
}

writeFileSync(join(folder, 'empty'), '\n')
execFileSync('mkfifo', [join(folder, 'pipe')])

const SHOP = 'connectors:\n  - id: shop\n    type: postgres\n'
const URL = '    url: postgres://reader:pw@127.0.0.1/shop\n'

describe('faults that end the start', () => {
  test('an unknown key names its line, its whole path and the nearest valid key', () => {
    assert.deepEqual(endings('server:\n  listem: 127.0.0.1:1\n'), [
      'config.yaml:2:3: server.listem: unknown key. Did you mean "listen"?',
    ])
    assert.deepEqual(endings('audit:\n  buffer: { path: a, durabilty: full }\n'), [
      'config.yaml:2:22: audit.buffer.durabilty: unknown key. Did you mean "durability"?',
    ])
  })

  test('an unknown top-level key is compared with connectors too', () => {
    assert.deepEqual(endings('conectors: []\n'), [
      'config.yaml:1:1: conectors: unknown key. Did you mean "connectors"?',
    ])
  })

  test('an unknown key that is near to none lists the keys there are', () => {
    assert.match(endings('auth:\n  zzzzzzzz: 1\n').join(), /unknown key: the keys here are enabled, anonymous_roles/)
  })

  test('keys of the design that nothing acts on yet are refused, not ignored', () => {
    for (const text of ['auth: { jwt: [] }', 'auth: { rate: {} }']) {
      assert.match(endings(`${text}\n`).join(), /unknown key/)
    }
  })

  test('a wrong type names line, key and what was expected, and never the value', () => {
    const lines = endings('server:\n  limits:\n    body_bytes_max: lots-of-hunter2\nauth:\n  enabled: hunter2\n')
    assert.deepEqual(lines, [
      'config.yaml:3:5: server.limits.body_bytes_max: expected a whole number from 1024 to 67108864',
      'config.yaml:5:3: auth.enabled: expected true or false',
    ])
  })

  test('a wrong choice suggests the nearest one', () => {
    assert.deepEqual(endings('audit: { buffer: { path: a, durability: ful } }\n'), [
      'config.yaml:1:29: audit.buffer.durability: expected full or normal. Did you mean "full"?',
    ])
  })

  test('a mapping where a list belongs, and the reverse, are named', () => {
    assert.match(endings('connectors: { id: shop }\n').join(), /connectors: expected a list of connectors/)
    assert.match(endings('server: [1]\n').join(), /server: expected keys: listen, admin_listen/)
  })

  test('a missing key inside server.tls is named under server.tls', () => {
    assert.deepEqual(endings('server:\n  tls: { cert_file: x }\n'), [
      'config.yaml:2:3: server.tls.key_file: missing: expected the path of a PEM file',
    ])
    assert.match(
      endings('server:\n  tls: yes\n').join(),
      /server\.tls: expected external, or the keys cert_file, key_file/,
    )
    assert.match(
      endings('server:\n  tls: { cert: x }\n').join('\n'),
      /server\.tls\.cert: unknown key\. Did you mean "cert_file"/,
    )
  })

  test('a tls file that cannot be read is named', () => {
    writeFileSync(join(folder, 'a.crt'), 'x')
    assert.match(
      endings('server:\n  tls: { cert_file: a.crt, key_file: none.key }\n').join(),
      /key_file: the file .*none\.key does not exist/,
    )
  })

  test('an unset variable names variable, line and key, and is never left as text', () => {
    assert.deepEqual(endings(`server:\n  public_url: https://\${RUNKU_NOWHERE}/\n`), [
      'config.yaml:2:3: server.public_url: the environment variable RUNKU_NOWHERE is not set',
    ])
  })

  test('inherited property names are not variables', () => {
    assert.match(endings(`admin_store: { path: "\${constructor}" }\n`).join(), /constructor is not set/)
  })

  test('a missing file is one line with its path and the remedy', () => {
    const outcome = loadConfig({ file: join(folder, 'absent.yaml'), env: {} })
    assert.ok(!outcome.ok)
    assert.deepEqual(outcome.error.map(faultText), [
      `${folder}/absent.yaml: there is no such file; "runku init" writes one to start from`,
    ])
  })

  test('broken YAML names the line and repeats nothing of the file', () => {
    const lines = endings('server:\n  listen: "127.0.0.1:1\nconnectors:\n  - url: postgres://u:hunter2@h/d\n')
    assert.match(lines.join('\n'), /config\.yaml:\d+:\d+: not valid YAML: /)
    assert.doesNotMatch(lines.join('\n'), /hunter2/)
  })

  test('an empty file and a file that is a list are refused with the remedy', () => {
    for (const text of ['', '# nothing\n', '- a\n']) assert.match(endings(text).join(), /expected keys such as server/)
  })

  test('an alias that contains itself ends, and does not hang', () => {
    assert.match(endings('server: &a { limits: *a }\n').join('\n'), /nested too deeply|unknown key|BAD|alias/)
  })

  test('a key that repeats is refused', () => {
    assert.deepEqual(endings('auth:\n  enabled: true\n  enabled: false\n'), [
      'config.yaml:3:3: auth.enabled: this key repeats',
    ])
  })

  test('authentication off is for loopback listeners alone', () => {
    for (const key of ['listen', 'admin_listen']) {
      const text = `server:\n  ${key}: 0.0.0.0:8099\n  tls: external\nauth: { enabled: false }\n`
      assert.match(
        endings(text).join(),
        new RegExp(`server\\.${key}: auth.enabled is false: expected a loopback address`),
      )
    }
    loaded(
      'server:\n  listen: "[::1]:0"\n  admin_listen: localhost:0\nauth: { enabled: false, anonymous_roles: [a] }\n',
    )
  })

  test('a listener beyond loopback needs tls or the word that something else does it', () => {
    assert.match(
      endings('server:\n  listen: 0.0.0.0:8080\n').join(),
      /server\.listen: beyond loopback expected server\.tls/,
    )
    assert.match(endings('server:\n  admin_listen: 10.0.0.1:9090\n').join(), /server\.admin_listen: beyond loopback/)
    // A name that only begins like a loopback address is not one.
    assert.match(endings('server:\n  listen: 127.0.0.1.example.com:80\n').join(), /beyond loopback/)
    loaded('server:\n  listen: 0.0.0.0:8080\n  tls: external\n')
  })

  test('keys that would be without effect are refused', () => {
    assert.match(
      endings('auth: { anonymous_roles: [analyst] }\n').join(),
      /anonymous_roles: used with auth.enabled: false only/,
    )
    assert.match(endings('audit: { stdout: false }\n').join(), /entries must go somewhere/)
    assert.match(
      endings('audit: { shipper: { url: "https://logs.example.com/" } }\n').join(),
      /^config\.yaml:1:\d+: audit\.shipper: expected audit\.buffer beside it/,
    )
  })

  test('two stores in one file, and two listeners on one port, are refused', () => {
    assert.match(endings('audit: { buffer: { path: ./runku.sqlite } }\n').join(), /another file than admin_store\.path/)
    assert.match(
      endings('audit: { buffer: { path: a.db }, file: { path: ./a.db } }\n').join(),
      /audit\.file\.path: expected another file than audit\.buffer\.path/,
    )
    assert.match(endings('server: { listen: "127.0.0.1:1", admin_listen: "127.0.0.1:1" }\n').join(), /another port/)
  })

  test('what is no regular file is no place for one of the gateway: its rights are not taken away either', () => {
    const pipe = join(folder, 'taken')
    execFileSync('mkfifo', ['-m', '666', pipe])
    for (const [key, yaml] of [
      ['audit.buffer.path', 'audit: { buffer: { path: taken } }'],
      ['audit.file.path', 'audit: { file: { path: taken } }'],
      ['audit.chain_key_file', 'audit: { chain_key_file: taken }'],
      ['admin_store.path', 'admin_store: { type: sqlite, path: taken }'],
    ] as const) {
      const text = endings(`${yaml}\n`).join()
      assert.ok(text.includes(`${key}: expected the path of a file, but ${pipe} is something else`), text)
    }
    assert.equal(statSync(pipe).mode & 0o777, 0o666)
  })

  test('a connector without an id, or with a malformed one', () => {
    assert.match(
      endings('connectors:\n  - type: postgres\n').join(),
      /connectors\[0\]\.id: missing: expected a name such as shop/,
    )
    assert.match(endings('connectors:\n  - id: Shop!\n').join(), /connectors\[0\]\.id: expected a name such as shop/)
    assert.match(endings('connectors: [shop]\n').join(), /connectors\[0\]: expected keys: id/)
  })

  test('an admin store that is of neither kind, or of both, or without an address', () => {
    const store = (keys: string) => endings(`admin_store: { ${keys} }\n`).join()
    assert.match(store('type: postgre'), /admin_store\.type: expected sqlite or postgres\. Did you mean "postgres"/)
    assert.match(store('type: postgres'), /admin_store\.url: missing: expected url or url_file/)
    assert.match(store('type: postgres, path: a'), /admin_store\.path: used with type: sqlite only/)
    assert.match(store('url: "postgres://u@h/d"'), /admin_store\.url: used with type: postgres only/)
    assert.match(store('type: postgres, url: "postgres://u@h/d", url_file: f'), /expected url or url_file, not both/)
    assert.match(store('type: postgres, url_file: none'), /admin_store\.url_file: the file .*none does not exist/)
    const malformed = store('type: postgres, url: "mysql://u:hunter2@h/d"')
    assert.match(malformed, /admin_store\.url: expected an address that starts with postgres:\/\//)
    assert.doesNotMatch(malformed, /hunter2/)
  })
})

describe('a fault inside one connector disables that one alone', () => {
  const GOOD = `  - id: good\n    type: postgres\n${URL}`
  const broken: readonly (readonly [string, string, RegExp])[] = [
    [
      'an unset variable in its secret',
      `    url: \${RUNKU_NOWHERE}\n`,
      /^config\.yaml:4:5: connectors\[0\]\.url: the environment variable RUNKU_NOWHERE is not set$/,
    ],
    ['an address that is none', '    url: "mysql://x"\n', /url: expected an address that starts with postgres:\/\//],
    [
      'an unknown key',
      `${URL}    polcy: crm\n`,
      /^config\.yaml:5:5: connectors\[0\]\.polcy: unknown key\. Did you mean "policy"\?$/,
    ],
    [
      'an unknown key deeper down',
      `${URL}    pool: { maxx: 3 }\n`,
      /connectors\[0\]\.pool\.maxx: unknown key\. Did you mean "max"/,
    ],
    ['a key twice', `${URL}${URL}`, /connectors\[0\]\.url: this key repeats/],
    [
      'a missing password_file',
      '    host: h\n    user: u\n    database: d\n    password_file: none\n',
      /password_file: the file .*none does not exist/,
    ],
    [
      'a password_file that is empty',
      '    host: h\n    user: u\n    database: d\n    password_file: empty\n',
      /password_file: the file .*empty is empty/,
    ],
    [
      'a password_file that can be read once alone',
      '    host: h\n    user: u\n    database: d\n    password_file: pipe\n',
      /password_file: .*pipe is not a regular file/,
    ],
    [
      'a password in a file and one from a command',
      '    url: postgres://u@h/d\n    password_file: none\n    password_command: { command: [token] }\n',
      /^config\.yaml:6:5: connectors\[0\]\.password_command: expected one of password, password_file, password_command$/,
    ],
    [
      'a command beside the password of the url',
      `${URL}    password_command: { command: [token] }\n`,
      /password_command: the url holds a password already/,
    ],
    [
      'a command in one text',
      '    url: postgres://u@h/d\n    password_command: { command: "token --now" }\n',
      /password_command\.command: expected a list: the program, then its arguments/,
    ],
    [
      'a command without a program',
      '    url: postgres://u@h/d\n    password_command: { command: [] }\n',
      /password_command\.command: expected a list: the program, then its arguments/,
    ],
    [
      'a password that would be used for no time',
      '    url: postgres://u@h/d\n    password_command: { command: [token], ttl_seconds: 0 }\n',
      /password_command\.ttl_seconds: expected a whole number from 1 to 86400/,
    ],
    ['a missing url_file', '    url_file: none\n', /url_file: the file .*none does not exist/],
    ['no address at all', '', /url: missing: expected url or url_file, or host, user and database/],
    ['an address in parts that lacks one', '    host: h\n    user: u\n', /database: missing/],
    ['url and parts', `${URL}    host: h\n`, /host: the url says this already/],
    ['two passwords', `${URL}    password: x\n`, /password: the url holds a password already/],
    [
      'two ways to say tls',
      '    url: postgres://u@h/d?sslmode=require\n    tls: verify\n',
      /tls: the url has an sslmode already/,
    ],
    [
      'an authority that nothing would use',
      `${URL}    tls: require\n    tls_ca_file: x\n`,
      /tls_ca_file: a certificate authority is used with tls: verify only/,
    ],
    [
      'an authority file that is missing',
      `${URL}    tls: verify\n    tls_ca_file: none.crt\n`,
      /none\.crt does not exist/,
    ],
    ['a wrong type', `${URL}    pool: { max: many }\n`, /pool\.max: expected a whole number from 1 to 1000/],
    [
      'a password of digits without quotes',
      '    host: h\n    user: u\n    database: d\n    password: 123456\n',
      /password: expected text; put a password of digits in quotes/,
    ],
    ['a mode that no pool has', `${URL}    pool: { mode: statement }\n`, /pool\.mode: expected session or transaction/],
    [
      'a session context that is no truth',
      `${URL}    session_context: "on"\n`,
      /session_context: expected true or false/,
    ],
    ['a well-known path', `${URL}    path: /.well-known/x\n`, /path: expected a path such as \/mcp\/shop/],
    ['a path with a slash at its end', `${URL}    path: /mcp/shop/\n`, /path: expected a path/],
    ['a schema twice', `${URL}    schemas: [a, a]\n`, /schemas: a schema repeats/],
  ]
  for (const [name, rest, expected] of broken) {
    test(name, () => {
      const text = `${SHOP}${rest}${GOOD}`
      const outcome = loaded(text)
      assert.deepEqual(
        outcome.config.connectors.map(({ id }) => id),
        ['good'],
      )
      assert.deepEqual(
        outcome.connectorFaults.map(({ id, path }) => [id, path]),
        [['shop', '/mcp/shop']],
      )
      assert.equal(connectorLines(text).length, 1, connectorLines(text).join('\n'))
      assert.match(connectorLines(text).join(), expected)
    })
  }

  test('the path and policy of a faulty connector are known where they are readable', () => {
    const outcome = loaded(`${SHOP}    url: \${RUNKU_NOWHERE}\n    path: /data/shop\n    policy: crm\n`)
    assert.deepEqual(
      outcome.connectorFaults.map(({ path, policy }) => [path, policy]),
      [['/data/shop', 'crm']],
    )
  })
})

describe('what is loaded', () => {
  test('a minimal file has every default', () => {
    const { config } = loaded(`${SHOP}${URL}`)
    assert.deepEqual(config.server.listen, { host: '127.0.0.1', port: 8080 })
    assert.deepEqual(config.server.adminListen, { host: '127.0.0.1', port: 9090 })
    assert.deepEqual(config.adminStore, { type: 'sqlite', path: join(folder, 'runku.sqlite') })
    assert.deepEqual(auditSettings(config.audit), {
      stdout: true,
      onFailure: 'block',
      values: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    })
    const [shop] = config.connectors
    assert.ok(shop)
    assert.deepEqual(connectorSettings(shop), {
      id: 'shop',
      engine: 'postgres',
      connection: { host: '127.0.0.1', port: 5432, user: 'reader', password: 'pw', database: 'shop', tls: 'disable' },
      schemas: ['public'],
      threadsMin: 0,
      threadsMax: 1,
      sessionContext: false,
      pool: { mode: 'session', max: 4, acquireTimeoutMs: 5000, idleTimeoutMs: 300000, lifetimeMaxMs: 3600000 },
    })
    assert.deepEqual(config.idempotency, { windowHours: 24 })
    assert.deepEqual([shop.path, shop.policy, shop.threads.max], ['/mcp/shop', 'shop', 1])
  })

  test('a pooler, a session context, kept values and the window of keys are as the file says', () => {
    const { config } = loaded(
      `audit: { values: { filters: none, writes: full } }\nidempotency: { window_hours: 48 }\n${SHOP}${URL}    pool: { mode: transaction }\n    session_context: true\n`,
    )
    assert.deepEqual(auditSettings(config.audit).values, { filters: 'none', writes: 'full', resultKeys: 'hash' })
    assert.equal(config.idempotency.windowHours, 48)
    const [shop] = config.connectors
    assert.ok(shop)
    assert.equal(connectorSettings(shop).pool.mode, 'transaction')
    assert.equal(connectorSettings(shop).sessionContext, true)
  })

  test('relative paths start at the folder of the file, and the chain key lies beside the buffer', () => {
    writeFileSync(join(folder, 'db.password'), 's3cret\n')
    const { config } = loaded(
      `audit: { buffer: { path: data/audit.db } }\n${SHOP}    host: h\n    user: u\n    database: d\n    password_file: db.password\n`,
    )
    assert.deepEqual(auditSettings(config.audit), {
      stdout: true,
      buffer: { path: join(folder, 'data/audit.db'), durability: 'full', retainMs: 720 * 3_600_000, onFull: 'prune' },
      onFailure: 'block',
      values: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
      chainKeyFile: join(folder, 'data/audit.db.key'),
    })
    const [shop] = config.connectors
    assert.ok(shop)
    const { password, passwordFile } = connectorSettings(shop).connection
    assert.deepEqual([password, passwordFile], [undefined, join(folder, 'db.password')], 'who connects reads it')
  })

  test('how long and how much the trail keeps, its file and its shipper are as the file says', () => {
    const { config } = loaded(
      `audit:
  buffer: { path: a.db, retain_hours: 2, bytes_max: 8388608, on_full: block }
  file: { path: log/a.jsonl, files_max: 3 }
  shipper: { url: "https://logs.example.com/in", headers: { Authorization: "Bearer \${TOKEN}", X-Key: { file: key } }, gzip: false }
  on_failure: degrade
  values: { result_keys: none }
${SHOP}${URL}`,
      { TOKEN: 'hunter2' },
    )
    assert.deepEqual(auditSettings(config.audit), {
      stdout: true,
      buffer: {
        path: join(folder, 'a.db'),
        durability: 'full',
        retainMs: 2 * 3_600_000,
        bytesMax: 8_388_608,
        onFull: 'block',
      },
      file: { path: join(folder, 'log/a.jsonl'), bytesMax: 104_857_600, filesMax: 3 },
      shipper: {
        url: 'https://logs.example.com/in',
        headers: [
          { name: 'Authorization', value: 'Bearer hunter2' },
          { name: 'X-Key', file: join(folder, 'key') },
        ],
        format: 'ndjson',
        gzip: false,
        batchMax: 1_000,
        intervalMs: 1_000,
        timeoutMs: 10_000,
      },
      onFailure: 'degrade',
      values: { filters: 'hash', writes: 'hash', resultKeys: 'none' },
      chainKeyFile: join(folder, 'a.db.key'),
    })
    assert.doesNotMatch(inspect(config, { depth: 9 }) + JSON.stringify(redactedConfig(config)), /hunter2/)
  })

  test('bounds of the trail, and headers that the shipper sets itself, are refused with what was expected', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['buffer: { path: a, retain_hours: 0 }', /retain_hours: expected a whole number from 1 to/],
      ['buffer: { path: a, bytes_max: 100 }', /bytes_max: expected a whole number from 4194304 to/],
      ['buffer: { path: a, on_full: stop }', /on_full: expected prune or block/],
      ['on_failure: ignore', /on_failure: expected block or degrade/],
      ['shipper: { url: "ftp://h/" }', /shipper\.url: expected an http or https address without credentials/],
      ['shipper: { url: "https://u:hunter2@h/" }', /shipper\.url: expected an http or https address/],
      [
        'shipper: { url: "https://h/", headers: { Host: h } }',
        /expected a header that the shipper does not set itself/,
      ],
      [
        'shipper: { url: "https://h/", headers: { A: "a\\nB: c" } }',
        /expected a text, or file:|expected a text of one line/,
      ],
    ]
    for (const [text, expected] of cases) {
      const lines = endings(`audit: { ${text} }\n`).join()
      assert.match(lines, expected)
      assert.doesNotMatch(lines, /hunter2/)
    }
  })

  test('a command that prints the password stands beside a url without one', () => {
    const commandOf = (command: string, env = {}) => {
      const [shop] = loaded(`${SHOP}    url: postgres://u@h/d\n    password_command: ${command}\n`, env).config
        .connectors
      assert.ok(shop)
      return connectorSettings(shop).connection.passwordCommand
    }
    assert.deepEqual(commandOf(`{ command: [bin/token, "\${WHO}"], ttl_seconds: 60 }`, { WHO: 'me' }), {
      argv: [join(folder, 'bin/token'), 'me'],
      ttlMs: 60_000,
    })
    assert.deepEqual(commandOf('{ command: [token] }'), { argv: ['token'], ttlMs: 300_000 })
  })

  test('a database beyond this machine is verified unless the file says otherwise', () => {
    const tlsOf = (rest: string) => loaded(`${SHOP}${rest}`).config.connectors[0]?.connection.tls
    assert.equal(tlsOf('    url: postgres://u@db.example.com/d\n'), 'verify')
    assert.equal(tlsOf('    url: postgres://u@localhost/d\n'), 'disable')
    assert.equal(tlsOf('    url: postgres://u@db.example.com/d\n    tls: disable\n'), 'disable')
    assert.equal(tlsOf('    url: postgres://u@db.example.com/d?sslmode=require\n'), 'require')
  })

  test('variables fill texts, numbers and truth values, and what they hold is not read again', () => {
    const env = { P: '7000', ON: 'false', PW: `1\${P}`, N: '3' }
    const { config } = loaded(
      `server: { listen: "127.0.0.1:\${P}" }\nauth:\n  enabled: \${ON}\n${SHOP}    host: h\n    user: u\n    database: d\n    password: \${PW}\n    pool: { max: "\${N}" }\n`,
      env,
    )
    assert.equal(config.server.listen.port, 7000)
    assert.equal(config.auth.enabled, false)
    const [shop] = config.connectors
    assert.ok(shop)
    assert.equal(connectorSettings(shop).connection.password, `1\${P}`)
    assert.equal(shop.pool.max, 3)
  })

  test('a password of digits in a variable stays text', () => {
    const { config } = loaded(`${SHOP}    host: h\n    user: u\n    database: d\n    password: \${PW}\n`, {
      PW: '0042',
    })
    const [shop] = config.connectors
    assert.ok(shop)
    assert.equal(connectorSettings(shop).connection.password, '0042')
  })

  test(`$\${ stands for \${, and a half placeholder is an error`, () => {
    const text = (password: string) => `${SHOP}    host: h\n    user: u\n    database: d\n    password: '${password}'\n`
    const [shop] = loaded(text(`a$\${b}`)).config.connectors
    assert.ok(shop)
    assert.equal(connectorSettings(shop).connection.password, `a\${b}`)
    for (const half of [`hunter\${2`, `\${}`, `\${A:-b}`, `\${A B}`]) {
      const lines = connectorLines(text(half), { A: 'x' })
      assert.match(lines.join(), /password: expected a variable as \$\{NAME\}/)
      assert.doesNotMatch(lines.join(), /hunter|:-|A B/)
    }
  })

  test('sections with nothing under them are their defaults', () => {
    const { config } = loaded('server:\nauth:\naudit:\nconnectors:\n')
    assert.equal(config.auth.enabled, true)
    assert.deepEqual(config.connectors, [])
  })

  test('names of inherited properties are unknown keys like any other', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      assert.match(endings(`${name}: 1\n`).join(), /unknown key/)
      assert.match(endings(`auth: { ${name}: 1 }\n`).join(), /unknown key/)
    }
  })
})

describe('secrets', () => {
  const SECRET = 'hunter2-very-secret'
  test('no dump or print of a loaded configuration shows one', () => {
    const outcome = loaded(`${SHOP}    url: \${DB}\n`, { DB: `postgres://u:${SECRET}@h/d` })
    const shown = [
      JSON.stringify(outcome),
      inspect(outcome, { depth: null, showHidden: true }),
      JSON.stringify(redactedConfig(outcome.config)),
      String(outcome.config.connectors[0]?.connection.password),
    ].join('\n')
    assert.doesNotMatch(shown, /hunter2/)
    assert.match(JSON.stringify(redactedConfig(outcome.config)), /"password":"\[redacted\]"/)
    const [shop] = outcome.config.connectors
    assert.ok(shop)
    assert.equal(connectorSettings(shop).connection.password, SECRET)
  })

  test('the words of a command, and what a file holds, show in none either', () => {
    writeFileSync(join(folder, 'db.secret'), SECRET)
    const given = [`password_command: { command: [token, ${SECRET}] }`, 'password_file: db.secret']
    for (const line of given) {
      const outcome = loaded(`${SHOP}    url: postgres://u@h/d\n    ${line}\n`)
      const shown = [
        JSON.stringify(outcome),
        inspect(outcome, { depth: null, showHidden: true }),
        JSON.stringify(redactedConfig(outcome.config)),
      ].join('\n')
      assert.doesNotMatch(shown, /hunter2/)
    }
  })

  test('no fault repeats one, whatever is wrong with the value that holds it', () => {
    const values = [
      `postgres://u:${SECRET}@h:99999/d`,
      `postgres://u:${SECRET}@h/d?${SECRET}=1`,
      `postgres://u:1?${SECRET}@h/d`,
      `postgres://u:12?sslmode=${SECRET}@h/d`,
      `postgres://u:a#${SECRET}@h/d`,
      `postgres://u:a/${SECRET}@h/d`,
      `postgres://u:%${SECRET}@h/d`,
      `${SECRET}`,
      `postgres://u:${SECRET}\n@h/d`,
    ]
    for (const value of values) {
      const lines = connectorLines(`${SHOP}    url: \${DB}\n`, { DB: value })
      assert.ok(lines.length > 0, `${value} was taken`)
      assert.doesNotMatch(lines.join('\n'), /hunter2/)
    }
    for (const key of ['port', 'tls', 'path', 'id', 'type', 'pool', 'schemas']) {
      const outcome = load(`connectors:\n  - id: shop\n    type: postgres\n    ${key}: ${SECRET}\n`)
      assert.doesNotMatch(JSON.stringify(outcome), /hunter2/)
    }
  })
})
