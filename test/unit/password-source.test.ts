import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { type GatewayError, gatewayError } from '../../src/core/errors.js'
import { PASSWORD_TIMEOUT_MS, SECRET_FILE_BYTES_MAX } from '../../src/core/limits.js'
import { fail, ok, type Result } from '../../src/core/result.js'
import { connectWith, type PasswordSource, passwordSource } from '../../src/engines/driver/password-source.js'
import { settingsOf } from '../support/driver.js'
import { eventually } from '../support/test-server.js'

const folder = mkdtempSync(join(tmpdir(), 'runku-passwords-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const SECRET = 'hunter2-very-secret'
let made = 0
const fresh = () => join(folder, `${++made}`)

type Given = Partial<ReturnType<typeof settingsOf>['connection']>
const sourceOf = (given: Given, nowMs = () => 0) =>
  passwordSource({ ...settingsOf({ port: 1 }).connection, ...given }, nowMs)
const ofFile = (passwordFile: string) => sourceOf({ passwordFile })

async function password(source: PasswordSource): Promise<string> {
  const asked = await source.ask()
  assert.ok(asked.ok, inspect(asked))
  return asked.value
}

/** The operator's text; the entry's says nothing of places and causes. */
async function refusal(source: PasswordSource): Promise<string> {
  const asked = await source.ask()
  assert.ok(!asked.ok, 'expected no password')
  const { code, reason = '', detail = '' } = asked.error
  assert.equal(code, 'CONNECTOR_UNAVAILABLE')
  assert.match(reason, /^no password: the password_(file|command) cannot be used$/)
  assert.doesNotMatch(inspect(asked), /hunter2/)
  return detail
}

describe('a password in the settings or in a file', () => {
  test('one that is absent is empty', async () => {
    assert.equal(await password(sourceOf({})), '')
    assert.equal(await password(sourceOf({ password: SECRET })), SECRET)
  })

  test('a file is read each time, without the line break at its end', async () => {
    const file = fresh()
    const source = ofFile(file)
    for (const [text, expected] of [
      ['one', 'one'],
      ['two\n', 'two'],
      ['three\r\n', 'three'],
      [' f\nour \n\n', ' f\nour \n'],
      ['pässwörd', 'pässwörd'],
    ] as const) {
      writeFileSync(file, text)
      assert.equal(await password(source), expected)
    }
  })

  test('what keeps a file from being read is told to the operator, with its path and nothing that it holds', async () => {
    const missing = fresh()
    assert.match(await refusal(ofFile(missing)), new RegExp(`password_file.*${missing} does not exist`))
    const cases = [
      ['', /is empty/],
      ['\n', /is empty/],
      [SECRET.repeat(SECRET_FILE_BYTES_MAX / 16), new RegExp(`longer than ${SECRET_FILE_BYTES_MAX} bytes`)],
      [Buffer.concat([Buffer.from(SECRET), Buffer.from([0xff])]), /is not UTF-8 text/],
    ] as const
    for (const [held, expected] of cases) {
      const file = fresh()
      writeFileSync(file, held)
      const detail = await refusal(ofFile(file))
      assert.ok(detail.includes(file))
      assert.match(detail, expected)
    }
    assert.match(await refusal(ofFile(folder)), /is not a regular file/)
  })

  test('a pipe is refused at once, whoever writes to it', async () => {
    const pipe = fresh()
    execFileSync('mkfifo', [pipe])
    assert.match(await refusal(ofFile(pipe)), /is not a regular file/)
  })
})

describe('a password that a command prints', () => {
  /** Prints how often it ran. */
  function counting(): readonly string[] {
    const file = fresh()
    writeFileSync(file, '')
    return ['sh', '-c', `printf x >> ${file}; printf 'run %s\\n' "$(wc -c < ${file} | tr -d ' ')"`]
  }
  const ofCommand = (argv: readonly string[], nowMs = () => 0) =>
    sourceOf({ passwordCommand: { argv, ttlMs: 1_000 } }, nowMs)

  test('it is kept for its time, and not longer', async () => {
    let nowMs = 5_000
    const source = ofCommand(counting(), () => nowMs)
    assert.equal(await password(source), 'run 1')
    nowMs += 999
    assert.equal(await password(source), 'run 1')
    nowMs += 1
    assert.equal(await password(source), 'run 2')
  })

  test('its time counts from when the command began', async () => {
    let nowMs = 0
    const source = ofCommand(counting(), () => nowMs)
    const asked = source.ask()
    nowMs = 1_000
    await asked
    assert.equal(await password(source), 'run 2')
  })

  test('all that wait at once get it from one run', async () => {
    const source = ofCommand(counting())
    const asked = await Promise.all([source.ask(), source.ask(), source.ask()])
    assert.deepEqual(asked, [ok('run 1'), ok('run 1'), ok('run 1')])
  })

  test('one that the server refused is not given again, and no other is forgotten by it', async () => {
    const source = ofCommand(counting())
    assert.equal(await password(source), 'run 1')
    source.forget('an older one')
    assert.equal(await password(source), 'run 1')
    source.forget('run 1')
    assert.equal(await password(source), 'run 2')
  })

  test('no shell reads its words', async () => {
    assert.equal(await password(ofCommand(['printf', '%s', '$(echo x); $HOME'])), '$(echo x); $HOME')
  })

  test('a command that fails is no password, and is run again the next time', async () => {
    const file = fresh()
    const script = `cat ${file} 2>/dev/null || { echo ${SECRET}; echo ${SECRET} >&2; exit 3; }`
    const source = ofCommand(['sh', '-c', script])
    const detail = await refusal(source)
    assert.match(detail, /password_command.*: sh ended with exit code 3$/)
    writeFileSync(file, 'there')
    assert.equal(await password(source), 'there')
  })

  test('what else keeps it from printing one is told, and none of its words but the program', async () => {
    const cases = [
      [['no-such-program', SECRET], /no-such-program could not be run: it does not exist/],
      [['sh', '-c', 'kill -9 $$', SECRET], /sh ended with SIGKILL/],
      [['true', SECRET], /what true printed is empty/],
      [['sh', '-c', 'printf "\\377"', SECRET], /what sh printed is not UTF-8 text/],
      [['sh', '-c', 'yes hunter2', SECRET], new RegExp(`sh printed more than ${SECRET_FILE_BYTES_MAX} bytes`)],
      [['sh', `${SECRET}\0`], /sh could not be started/],
    ] as const
    for (const [argv, expected] of cases) assert.match(await refusal(ofCommand(argv)), expected)
  })

  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  /** One that never ends by itself, and says which process it is. */
  function endless() {
    const file = fresh()
    const source = ofCommand(['sh', '-c', `echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 3600`])
    return { source, pid: () => Number(readFileSync(file, 'utf8')), begun: () => existsSync(file) }
  }

  test('a command that does not end in time is ended', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { source, pid, begun } = endless()
    const asked = refusal(source)
    t.mock.timers.tick(PASSWORD_TIMEOUT_MS - 1)
    while (!begun()) await new Promise((resolve) => setImmediate(resolve))
    assert.ok(isAlive(pid()))
    t.mock.timers.tick(1)
    assert.match(await asked, new RegExp(`sh took longer than ${PASSWORD_TIMEOUT_MS} ms`))
    t.mock.timers.reset()
    await eventually('it is gone', () => !isAlive(pid()))
  })

  test('a command is ended with its driver', async () => {
    const { source, pid, begun } = endless()
    const asked = refusal(source)
    await eventually('it runs', begun)
    source.close()
    assert.match(await asked, /sh was stopped/)
    await eventually('it is gone', () => !isAlive(pid()))
    assert.match(await refusal(source), /sh was stopped/)
  })
})

describe('connecting with a password', () => {
  const refused = gatewayError('CONNECTOR_UNAVAILABLE', { reason: 'refused' })
  /** A server that takes one password alone, and a source that gives these one after another. */
  async function connecting(taken: string, given: readonly string[], because = true) {
    const tried: string[] = []
    let asked = 0
    const source: PasswordSource = {
      ask: async () => ok(given[Math.min(asked++, given.length - 1)] ?? ''),
      forget: () => {},
      close: () => {},
    }
    const outcome: Result<string, GatewayError> = await connectWith(source, async (attempt) => {
      tried.push(attempt)
      return attempt === taken ? ok(attempt) : fail({ error: refused, refused: because })
    })
    return { outcome, tried }
  }

  test('one that was replaced just then is asked for again, once', async () => {
    assert.deepEqual(await connecting('new', ['old', 'new']), { outcome: ok('new'), tried: ['old', 'new'] })
    assert.deepEqual(await connecting('newest', ['old', 'new', 'newest']), {
      outcome: fail(refused),
      tried: ['old', 'new'],
    })
  })

  test('the same one is not tried twice, which could lock the login', async () => {
    assert.deepEqual(await connecting('other', ['same']), { outcome: fail(refused), tried: ['same'] })
  })

  test('a server that is away is not asked again', async () => {
    assert.deepEqual(await connecting('new', ['old', 'new'], false), { outcome: fail(refused), tried: ['old'] })
  })
})
