import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const SECRET = 'hunter2-very-secret'

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

describe('administration on the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runku-admin-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  function run(...args: readonly string[]): Ended {
    // Without a terminal, as in a script.
    const ended = spawnSync(process.execPath, [MAIN, ...args], {
      cwd: folder,
      encoding: 'utf8',
      input: '',
      env: { PATH: process.env['PATH'] ?? '' },
    })
    return { code: ended.status, out: ended.stdout, err: ended.stderr }
  }

  function done(...args: readonly string[]): string {
    const ended = run(...args)
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.err}`)
    return ended.out
  }

  function json(...args: readonly string[]): Readonly<Record<string, unknown>> {
    const value: unknown = JSON.parse(done(...args, '--json'))
    assert.ok(typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value))
  }

  function refused(...args: readonly string[]): string {
    const ended = run(...args)
    assert.equal(ended.code, 1, `${args.join(' ')}: ${ended.out}`)
    assert.equal(ended.out, '')
    assert.match(ended.err, /^runku: /)
    return ended.err
  }

  before(() => {
    writeFileSync(
      join(folder, 'config.yaml'),
      'admin_store: { path: store.sqlite }\nconnectors:\n  - { id: filed, type: postgres, url: "postgres://u@127.0.0.1:1/d" }\n',
    )
    done('role', 'create', 'analyst')
    done('identity', 'create', 'ada', '--role', 'analyst', '--claim', 'tenant=1')
  })

  test('what cannot be undone is refused without --yes where nobody can be asked', () => {
    done('role', 'create', 'short-lived')
    for (const args of [
      ['role', 'delete', 'short-lived'],
      ['identity', 'delete', 'ada'],
      ['connector', 'remove', 'filed'],
      ['key', 'revoke', 'aaaaaaaaaaaa'],
      ['policy', 'delete', 'crm'],
      ['policy', 'rollback', 'crm'],
    ]) {
      assert.match(refused(...args), /say --yes if that is meant/)
    }
    assert.match(done('role', 'delete', 'short-lived', '--yes'), /Deleted the role "short-lived"/)
    assert.match(refused('role', 'delete', 'short-lived', '--yes'), /there is no role "short-lived"/)
  })

  test('a key is ended for good only when that is meant, and the question holds no secret', () => {
    const made = json('key', 'create', 'ada')
    const [id, key] = [String(made['key_id']), String(made['key'])]
    const state = () => {
      const keys: unknown = json('key', 'list')['keys']
      assert.ok(Array.isArray(keys))
      return Object(keys.find((one: unknown) => Object(one).key_id === id)).state
    }
    for (const given of [id, key, `Bearer ${key}`]) {
      const said = refused('key', 'revoke', given)
      assert.match(said, new RegExp(`ends the key .*${id}.* for good; say --yes`))
      assert.ok(!said.includes(key.slice(16)))
    }
    assert.equal(state(), 'valid')
    done('key', 'revoke', key, '--yes')
    assert.equal(state(), 'revoked')
    // What is so already is no failure: a script may say it twice.
    done('key', 'revoke', id, '--yes')
  })

  test('claims that no database can hold, and names that are none, are refused by name', () => {
    for (const claim of ['__proto__=x', 'a b=x', '=x', '-x=1', 'constructor']) {
      assert.match(refused('identity', 'claims', 'ada', '--claim', claim), /claim/)
    }
    for (const item of ['["a\\u0000"]', '["\\ud800"]']) {
      assert.match(
        refused('identity', 'claims', 'ada', '--claim', `tenant=${item}`),
        /claim tenant: expected text without NUL/,
      )
    }
    done('identity', 'claims', 'ada', '--claim', 'constructor=x')
    assert.deepEqual(json('identity', 'show', 'ada')['claims'], { constructor: 'x' })
    done('identity', 'claims', 'ada', '--claim', 'tenant=1')
  })

  test('the number of a version is plain digits', () => {
    for (const version of ['1e0', '0x1', '-1', '1.0', ' 1', '01', '0', '', '9'.repeat(40)]) {
      assert.match(
        refused('policy', 'show', 'crm', `--version=${version}`),
        /version: expected the number of a version/,
      )
      assert.match(refused('policy', 'rollback', 'crm', `--to=${version}`, '--yes'), /expected the number of a version/)
    }
  })

  test('names with control characters are refused before anything is looked up', () => {
    for (const name of ['a\u0007b', 'a\u001b[2J', 'x'.repeat(300)]) {
      for (const command of ['show', 'disable']) {
        const said = refused('identity', command, name)
        assert.match(said, /identity: expected the name of an identity/)
        assert.ok(!said.includes('\u0007') && !said.includes('\u001b'))
      }
      assert.match(refused('role', 'delete', name, '--yes'), /role: expected the name of a role/)
    }
  })

  test('a role that somebody has, and a reserved one, stay', () => {
    assert.match(refused('role', 'delete', 'analyst', '--yes'), /ada|bound|unbind/)
    assert.match(refused('role', 'delete', 'admin', '--yes'), /reserved/)
    done('role', 'create', 'brief')
    done('binding', 'add', 'ada', 'brief')
    done('role', 'delete', 'brief', '--unbind', '--yes')
    assert.deepEqual(json('identity', 'show', 'ada')['bindings'], [{ role: 'analyst' }])
  })

  test('an identity is shown, changed, disabled, enabled and deleted', () => {
    done('key', 'create', 'ada')
    assert.match(done('identity', 'show', 'ada'), /roles {5}analyst\nclaims {4}tenant=1\nkey/)
    assert.match(done('identity', 'claims', 'ada', '--claim', 'tenant=2', '--claim', 'region=eu'), /tenant=2 region=eu/)
    assert.deepEqual(json('identity', 'show', 'ada')['claims'], { tenant: '2', region: 'eu' })
    done('identity', 'disable', 'ada')
    assert.equal(json('identity', 'show', 'ada')['disabled'], true)
    assert.match(done('identity', 'list'), /ada +disabled/)
    done('identity', 'enable', 'ada')
    assert.equal(json('identity', 'show', 'ada')['disabled'], false)
    done('identity', 'create', 'bob')
    done('identity', 'delete', 'bob', '--yes')
    assert.match(refused('identity', 'show', 'bob'), /there is no identity "bob"/)
    assert.match(refused('identity', 'show', 'aad'), /Did you mean "ada"/)
    assert.match(refused('key', 'list', '--identity', 'aad'), /Did you mean "ada"/)
  })

  test('a connector of the store is added from a file, shown without its secrets, renamed and removed', () => {
    const file = join(folder, 'eu.yaml')
    writeFileSync(
      file,
      `type: postgres\nurl: postgres://reader:${SECRET}@127.0.0.1:1/eu\npolicy: crm\nvars: { region: eu }\n`,
    )
    done('connector', 'add', 'eu', '--file', file)
    assert.match(refused('connector', 'add', 'eu', '--file', file), /exists already/)
    done('connector', 'set', 'eu', '--file', file)
    const listed = done('connector', 'list')
    assert.match(listed, /filed +\/mcp\/filed/)
    assert.match(listed, /eu +\/mcp\/eu +crm +the admin store/)
    for (const shown of [done('connector', 'show', 'eu'), done('connector', 'show', 'eu', '--json'), listed]) {
      assert.ok(!shown.includes(SECRET))
    }
    done('connector', 'rename', 'eu', 'eu-1')
    assert.match(refused('connector', 'rename', 'eu-1', 'filed'), /exists already/)
    assert.match(refused('connector', 'rename', 'filed', 'other'), /files are changed in their files/)
    assert.match(refused('connector', 'set', 'filed', '--file', file), /configured in a file/)
    done('connector', 'remove', 'eu-1', '--yes')
    assert.ok(!done('connector', 'list').includes('eu-1'))
  })

  test('a connector that does not fit is refused by key, and a variable of the serving machine is no fault', () => {
    const file = join(folder, 'bad.yaml')
    writeFileSync(file, 'type: postgres\nurl: postgres://u@127.0.0.1:1/d\npolcy: crm\n')
    assert.match(refused('connector', 'add', 'bad', '--file', file), /polcy: unknown key\. Did you mean "policy"/)
    writeFileSync(file, `type: postgres\nurl: [ ${SECRET}`)
    const broken = refused('connector', 'add', 'bad', '--file', file)
    assert.match(broken, /not YAML/)
    assert.ok(!broken.includes(SECRET))
    assert.match(refused('connector', 'add', 'bad', '--file', join(folder, 'none.yaml')), /none\.yaml/)
    const variable = ['$', '{ELSEWHERE_URL}'].join('')
    writeFileSync(file, `type: postgres\nurl: ${variable}\n`)
    done('connector', 'add', 'elsewhere', '--file', file)
    assert.match(done('connector', 'list'), /elsewhere.*ELSEWHERE_URL is not set/)
    done('connector', 'remove', 'elsewhere', '--yes')
  })

  test('each change waits for a trail with its author, and no secret', () => {
    assert.match(done('reload', '--no-wait'), /Asked every gateway/)
    const db = new Database(join(folder, 'store.sqlite'), { readonly: true })
    const rows = db.prepare('SELECT * FROM audit_pending').all()
    db.close()
    const text = JSON.stringify(rows)
    for (const action of [
      'role.create',
      'identity.create',
      'identity.set_claims',
      'key.create',
      'connector.put',
      'reload',
    ]) {
      assert.ok(text.includes(action), action)
    }
    assert.match(text, /cli:/)
    assert.ok(!text.includes(SECRET))
    assert.ok(!/rk_[a-z0-9]{12}_/.test(text))
  })

  test('the OpenAPI description is printed', () => {
    const document = json('config', 'openapi')
    assert.equal(document['openapi'], '3.1.0')
  })
})
