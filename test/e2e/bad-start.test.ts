import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../support/postgres.js'
import { runRunku, startRunku } from '../support/runku-process.js'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const LISTEN = 'server: { listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0" }'
const AUDIT = 'audit: { stdout: false, buffer: { path: audit.sqlite } }'
const CONNECTORS = 'connectors: []'

describe('a start that cannot be', () => {
  const root = mkdtempSync(join(tmpdir(), 'runku-bad-start-'))
  let taken: Server
  let port = 0

  before(async () => {
    taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })

  after(() => {
    taken.close()
    rmSync(root, { recursive: true, force: true })
  })

  let folders = 0
  function folderWith(config: readonly string[] | undefined): string {
    folders += 1
    const folder = join(root, String(folders))
    mkdirSync(folder)
    if (config !== undefined) writeFileSync(join(folder, 'config.yaml'), `${config.join('\n')}\n`)
    return folder
  }

  const faults: readonly (readonly [string, () => readonly string[] | undefined, () => RegExp])[] = [
    [
      'an unknown key names its line and the nearest key',
      () => ['server:', '  lisen: 127.0.0.1:0', CONNECTORS],
      () => /config\.yaml:2:3: server\.lisen: unknown key\. Did you mean "listen"\?/,
    ],
    ['a missing file says how to make one', () => undefined, () => /config\.yaml: there is no such file; "runku init"/],
    [
      'a file that is no YAML names the line',
      () => ['server: {', ' listen: ['],
      () => /config\.yaml:\d+:\d+: not valid YAML/,
    ],
    [
      'an unset variable is named, with its place',
      () => [LISTEN, `admin_store: { type: sqlite, path: "\${RUNKU_NOT_SET}" }`, CONNECTORS],
      () => /config\.yaml:2:\d+: admin_store\.path: the environment variable RUNKU_NOT_SET is not set/,
    ],
    [
      'a port in use for the MCP listener is named',
      () => [`server: { listen: "127.0.0.1:${port}", admin_listen: "127.0.0.1:0" }`, AUDIT, CONNECTORS],
      () => new RegExp(`127\\.0\\.0\\.1:${port}: the port is already in use`),
    ],
    [
      'a port in use for the admin listener is named, a connector that is starting notwithstanding',
      () => [
        `server: { listen: "127.0.0.1:0", admin_listen: "127.0.0.1:${port}" }`,
        AUDIT,
        'connectors: [ { id: a, type: postgres, url: "postgres://a:b@127.0.0.1:1/a" } ]',
      ],
      () => new RegExp(`127\\.0\\.0\\.1:${port}: the port is already in use`),
    ],
    [
      'a chain key that cannot be read is named',
      () => [LISTEN, 'audit: { stdout: false, buffer: { path: audit.sqlite }, chain_key_file: "." }', CONNECTORS],
      () => /audit\.chain_key_file: expected the path of a file, but .+ is something else/,
    ],
    [
      'a chain key that is none is named',
      () => [
        LISTEN,
        'audit: { stdout: false, buffer: { path: audit.sqlite }, chain_key_file: config.yaml }',
        CONNECTORS,
      ],
      () => /the audit chain key file ".+config\.yaml" does not hold a key/,
    ],
    [
      'an admin store that is none is named',
      () => [LISTEN, AUDIT, 'admin_store: { type: sqlite, path: config.yaml }', CONNECTORS],
      () => /config\.yaml: this is not an SQLite file/,
    ],
  ]

  for (const [rule, config, expected] of faults) {
    test(`${rule}, in one line`, async () => {
      const folder = folderWith(config())
      const { how, out, err } = await runRunku(folder, ['serve'])
      assert.equal(how, 1, err)
      assert.equal(out, '')
      // A store that was made on the way is told of first.
      assert.match(err, /^(?:\{[^\n]*"msg":"store\.created"\}\n)?runku: [^\n]+\n$/)
      assert.match(err, expected())
      assert.doesNotMatch(err, /\bat .+:\d+:\d+\)?$/m)
    })
  }

  test('a bad start leaves no lock: the same folder starts once the fault is gone', async () => {
    const folder = folderWith([
      `server: { listen: "127.0.0.1:${port}", admin_listen: "127.0.0.1:0" }`,
      AUDIT,
      CONNECTORS,
    ])
    assert.equal((await runRunku(folder, ['serve'])).how, 1)
    writeFileSync(join(folder, 'config.yaml'), `${[LISTEN, AUDIT, CONNECTORS].join('\n')}\n`)
    const serving = startRunku(folder, ['serve'])
    await eventually('it serves', () => serving.err().includes('gateway.listening') || serving.child.exitCode !== null)
    const second = await runRunku(folder, ['serve'])
    assert.equal(second.how, 1)
    assert.match(second.err, /^runku: .*audit\.sqlite" is in use by another running gateway[^\n]*\n$/)
    serving.child.kill('SIGTERM')
    assert.equal((await serving.ended).how, 0, serving.err())
    assert.ok(!readdirSync(folder).some((name) => name.endsWith('-wal')), 'the stores were closed')
  })
})

test('a log that cannot be written loses lines and ends nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runku-full-log-'))
  writeFileSync(join(folder, 'config.yaml'), `${[LISTEN, AUDIT, CONNECTORS].join('\n')}\n`)
  // The device takes no byte: every line of the log fails as on a full disk.
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [MAIN, 'serve', '--config', join(folder, 'config.yaml')], {
    stdio: ['ignore', 'ignore', full],
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  await eventually('the buffer is open', () => existsSync(join(folder, 'audit.sqlite-wal')) || child.exitCode !== null)
  child.kill('SIGTERM')
  assert.equal(await ended, 0, 'it lived until it was told to stop')
  closeSync(full)
  rmSync(folder, { recursive: true, force: true })
})
