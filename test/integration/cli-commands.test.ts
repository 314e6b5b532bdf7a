import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'runku-cli-'))
after(() => rmSync(root, { recursive: true, force: true }))

const SECRET = 'hunter2-very-secret'
const everything: string[] = []

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the built program in a folder, with nothing of this process's environment that could matter. */
function runku(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
  const ended = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  everything.push(ended.stdout, ended.stderr)
  return { code: ended.status, out: ended.stdout, err: ended.stderr }
}

function freshFolder(name: string): string {
  const folder = join(root, name)
  mkdirSync(folder)
  return folder
}

function done(ended: Ended): string {
  assert.equal(ended.code, 0, ended.err)
  return ended.out
}

/** A refusal is one line on the standard error, without a stack. */
function oneLine(ended: Ended): string {
  assert.equal(ended.code, 1)
  assert.equal(ended.out, '')
  assert.match(ended.err, /^runku: [^\n]+\n$/)
  return ended.err.trim()
}

function json(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  assert.ok(typeof value === 'object' && value !== null)
  return Object.fromEntries(Object.entries(value))
}

const POLICY = `version: 1
tables:
  public.customers:
    mask: [ssn]
roles:
  analyst: { read: ['*'] }
`

describe('from nothing to a stored policy', () => {
  let folder = ''
  before(() => {
    folder = freshFolder('whole')
    writeFileSync(join(folder, 'policy.yaml'), POLICY)
  })
  const run = (...args: readonly string[]) => runku(folder, args)

  test('init writes a config, the store and one key, and nobody else may read them', () => {
    const out = done(run('init'))
    assert.equal(out.match(/rk_[a-z0-9]{12}_[A-Za-z0-9_-]{43}/g)?.length, 1)
    for (const name of ['config.yaml', 'runku.sqlite']) {
      assert.equal((statSync(join(folder, name)).mode & 0o777).toString(8), '600', name)
    }
    assert.deepEqual(readdirSync(folder).sort(), ['config.yaml', 'policy.yaml', 'runku.sqlite'])
  })

  test('init never overwrites', () => {
    const before = readFileSync(join(folder, 'config.yaml'), 'utf8')
    assert.equal(oneLine(run('init')), 'runku: ./config.yaml exists already and is left as it is')
    assert.equal(readFileSync(join(folder, 'config.yaml'), 'utf8'), before)
  })

  test('init beside an older store refuses and leaves nothing behind', () => {
    assert.match(oneLine(run('init', '--config', 'other.yaml')), /has an identity "admin" already/)
    assert.equal(existsSync(join(folder, 'other.yaml')), false)
  })

  test('role, identity, key, binding, policy', () => {
    done(run('role', 'create', 'analyst'))
    done(run('identity', 'create', 'anna', '--role', 'analyst', '--claim', 'tenant=42', '--claim', 'regions=["eu"]'))
    const key = json(done(run('key', 'create', 'anna', '--expires', '90d', '--json')))
    assert.match(String(key['key']), /^rk_/)
    assert.ok(Date.parse(String(key['expires_at'])) > Date.now())
    done(run('binding', 'add', 'anna', 'auditor', '--connector', 'shop'))
    const identities = json(done(run('identity', 'list', '--json')))['identities']
    assert.ok(Array.isArray(identities))
    const anna = Object(identities.find((item: unknown) => Object(item).identity === 'anna'))
    assert.deepEqual(anna.bindings, [{ role: 'analyst' }, { role: 'auditor', connector: 'shop' }])
    assert.deepEqual(anna.claims, { tenant: '42', regions: ['eu'] })
    done(run('binding', 'remove', 'anna', 'auditor', '--connector', 'shop'))

    const applied = json(done(run('policy', 'apply', 'shop', 'policy.yaml', '--offline', '--json')))
    assert.equal(applied['version'], 1)
    assert.match(String(applied['author']), /^cli:.+/)
    assert.match(
      done(run('policy', 'apply', 'shop', 'policy.yaml', '--offline')),
      /Applied version 2 of the policy "shop"/,
    )
    assert.match(done(run('policy', 'list')), /^shop +2 +cli:/m)
  })

  test('a key is shown when it is made and never again; a whole key may be given to revoke it', () => {
    const made = json(done(run('key', 'create', 'anna', '--json')))
    const secret = String(made['key']).slice(16)
    const revoked = run('key', 'revoke', String(made['key']), '--yes')
    const listed = run('key', 'list')
    assert.match(done(listed), new RegExp(`${String(made['key_id'])} +anna +revoked`))
    for (const ended of [revoked, listed, run('key', 'list', '--json')]) {
      assert.ok(!`${done(ended)}${ended.err}`.includes(secret))
    }
  })

  test('both common options work before the command and after it', () => {
    for (const args of [
      ['--json', '--config', 'config.yaml', 'role', 'list'],
      ['role', '--json', '--config', 'config.yaml', 'list'],
      ['role', 'list', '--json', '--config', 'config.yaml'],
    ]) {
      assert.ok('roles' in json(done(run(...args))))
    }
  })

  test('a command that only reads makes no store where none is, and one that changes something says that it made one', () => {
    const path = join(folder, 'runku.sqlite')
    rmSync(path)
    for (const reading of [
      ['role', 'list'],
      ['key', 'list'],
      ['policy', 'show', 'crm'],
      ['check'],
      ['reload', '--no-wait'],
    ]) {
      assert.match(
        oneLine(run(...reading)),
        /runku\.sqlite: there is no admin store here: "runku serve" and every command/,
      )
    }
    assert.equal(existsSync(path), false)
    const made = run('role', 'create', 'clerk')
    assert.match(done(made), /clerk/)
    assert.equal(made.err, `runku: created the admin store ${path}\n`)
    assert.equal(run('role', 'create', 'other').err, '')
    rmSync(path)
    assert.deepEqual(json(run('role', 'create', 'clerk', '--json').err), { notes: [`created the admin store ${path}`] })
    assert.match(done(run('role', 'list')), /admin +reserved/)
  })
})

describe('refusals', () => {
  const folder = freshFolder('refusals')
  writeFileSync(
    join(folder, 'config.yaml'),
    `connectors:\n  - id: shop\n    type: postgres\n    url: \${SHOP}\n    policy: crm\n`,
  )
  const run = (...args: readonly string[]) => runku(folder, args)

  test('a missing config names the path and the remedy', () => {
    assert.equal(
      oneLine(run('role', 'list', '--config', 'absent.yaml')),
      'runku: absent.yaml: there is no such file; "runku init" writes one to start from',
    )
  })

  test('a bad config names line, key and nearest key', () => {
    writeFileSync(join(folder, 'bad.yaml'), 'auth:\n  enabld: true\n')
    assert.equal(
      oneLine(run('role', 'list', '--config', 'bad.yaml')),
      'runku: bad.yaml:2:3: auth.enabld: unknown key. Did you mean "enabled"?',
    )
  })

  test('with --json a refusal is JSON on the standard error', () => {
    const ended = run('identity', 'create', 'anna', '--role', 'analyst', '--json')
    assert.equal(ended.code, 1)
    assert.equal(ended.out, '')
    assert.deepEqual(json(ended.err), {
      error: { messages: ['there is no role "analyst". Make it with "runku role create".'] },
      notes: [`created the admin store ${join(folder, 'runku.sqlite')}`],
    })
  })

  test('a connector that is not configured is refused with the nearest one', () => {
    done(run('identity', 'create', 'anna'))
    assert.match(
      oneLine(run('binding', 'add', 'anna', 'auditor', '--connector', 'shp')),
      /no connector "shp"\. Did you mean "shop"\?/,
    )
  })

  test('wrong usage has an exit code of its own', () => {
    for (const args of [
      ['rolle'],
      ['role'],
      ['role', 'create'],
      ['role', 'list', '--nonsense'],
      ['demo', '--port', 'x'],
    ]) {
      const ended = run(...args)
      assert.equal(ended.code, 2, args.join(' '))
      assert.doesNotMatch(ended.err, /\n\s+at /)
    }
    assert.match(done(run('--help')), /Exit codes: 0 done, 1 refused or failed .*, 2 wrong usage/s)
    assert.match(done(run('--version')), /^\d+\.\d+\.\d+\n$/)
  })

  test('with --json wrong usage is one JSON object on the standard error, wherever the option stands', () => {
    const cases: readonly (readonly [args: readonly string[], said: RegExp])[] = [
      [['rolle', '--json'], /unknown command 'rolle'.*Did you mean role/],
      [['--json', 'rolle'], /unknown command 'rolle'/],
      [['role', '--json'], /expected a command.*runku role/],
      [['--json'], /expected a command.*runku/],
      [['role', 'create', '--json'], /missing required argument 'role'/],
      [['--json', 'role', 'list', '--nonsense'], /unknown option '--nonsense'/],
      [['role', 'list', 'too', 'many', '--json'], /too many arguments/],
      [['connector', 'add', 'eu', '--json'], /--file/],
      [['demo', '--port', 'x', '--json'], /expected a number from 0 to 65535/],
    ]
    for (const [args, said] of cases) {
      const ended = run(...args)
      assert.deepEqual([ended.code, ended.out], [2, ''], args.join(' '))
      const { error, ...rest } = json(ended.err)
      assert.deepEqual(rest, {})
      const messages: unknown = Object(error).messages
      assert.ok(Array.isArray(messages) && messages.length > 0)
      assert.match(messages.join(' '), said)
      assert.doesNotMatch(messages.join(' '), /^error:/)
    }
    // Behind "--" it is an argument like any other.
    assert.match(oneLine(run('role', 'create', '--', '--json')), /not a name for a role/)
  })

  test('a start and a check that fail say so in JSON as well', () => {
    const served = run('serve', '--config', 'absent.yaml', '--json')
    assert.deepEqual([served.code, served.out], [1, ''])
    assert.match(String(Object(json(served.err)['error']).messages), /absent\.yaml: there is no such file/)
    writeFileSync(join(folder, 'lost.yaml'), 'admin_store: { path: lost.sqlite }\n')
    writeFileSync(join(folder, 'lost.sqlite'), 'nothing that SQLite would know, '.repeat(99))
    for (const config of ['absent.yaml', 'lost.yaml']) {
      const checked = run('check', '--config', config, '--json')
      assert.deepEqual([checked.code, checked.err], [1, ''])
      assert.equal(json(checked.out)['ok'], false)
      assert.match(String(json(checked.out)['faults']), /there is no such file|this is not an SQLite file/)
    }
  })

  test('every command tells its options and the exit codes, and asking for help is no wrong usage', () => {
    const commandsOf = (help: string) =>
      [...(help.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+)/gm)].flatMap(([, name = '']) =>
        name === 'help' ? [] : [name],
      )
    let seen = 0
    const walk = (path: readonly string[]) => {
      const help = done(run(...path, '--help'))
      assert.match(help, /Usage: runku/)
      for (const option of ['--config <file>', '--json', '--help']) assert.ok(help.includes(option), path.join(' '))
      assert.match(
        help,
        /Exit codes: 0 done, 1 refused or failed .*, 2 wrong usage, 3 something.*\n4 a connector.*, 5 the trail.*, 130/,
      )
      const below = commandsOf(help)
      seen += 1
      for (const name of below) walk([...path, name])
      if (below.length > 0) assert.equal(done(run(...path, 'help')), help, path.join(' '))
    }
    walk([])
    assert.ok(seen > 35, String(seen))
  })

  test('a faulty policy names line and nearest key, and nothing is stored', () => {
    writeFileSync(join(folder, 'faulty.yaml'), POLICY.replace('mask:', 'masc:'))
    const line = oneLine(run('policy', 'apply', 'crm', 'faulty.yaml', '--offline'))
    assert.match(line, /^runku: faulty\.yaml: line 4, .*unknown key.*did you mean "mask"/)
    assert.match(oneLine(run('policy', 'apply', 'crm', 'none.yaml')), /the file none\.yaml does not exist/)
    assert.deepEqual(json(done(run('policy', 'list', '--json')))['policies'], [])
  })

  test('a policy is applied against the database, and refused where that cannot be asked', () => {
    writeFileSync(join(folder, 'policy.yaml'), POLICY)
    const apply = (env: Readonly<Record<string, string>>, name = 'crm') =>
      oneLine(runku(folder, ['policy', 'apply', name, 'policy.yaml'], env))
    assert.match(apply({}), /connectors\[0\]\.url: the environment variable SHOP is not set/)
    assert.match(
      apply({ SHOP: `postgres://u:${SECRET}@127.0.0.1:1/shop` }),
      /the catalog of connector "shop" cannot be read: /,
    )
    assert.match(
      apply({ SHOP: `postgres://u:${SECRET}@127.0.0.1:1/shop` }, 'cmr'),
      /no connector uses a policy "cmr".*Did you mean "crm"\?/,
    )
    assert.deepEqual(json(done(run('policy', 'list', '--json')))['policies'], [])
  })

  test('a store that is locked or no store is one line', () => {
    writeFileSync(join(folder, 'junk.yaml'), 'admin_store: { path: junk.sqlite }\n')
    writeFileSync(join(folder, 'junk.sqlite'), 'nothing that SQLite would know, '.repeat(99))
    assert.match(oneLine(run('role', 'list', '--config', 'junk.yaml')), /junk\.sqlite: this is not an SQLite file/)
  })
})

test('config schema prints the JSON Schema and needs no configuration', () => {
  const folder = freshFolder('schema')
  const schema = json(done(runku(folder, ['config', 'schema'])))
  assert.deepEqual(Object.keys(Object(schema['properties'])).sort(), [
    'admin_store',
    'audit',
    'auth',
    'connectors',
    'connectors_dir',
    'idempotency',
    'server',
  ])
})

test('no output of any command holds the secret of a connector', () => {
  assert.ok(everything.length > 50)
  assert.ok(!everything.join('\n').includes(SECRET))
})
