import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import type { EngineName } from '../../src/core/schema-model.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { outcome, testDriver } from '../support/driver.js'
import { ENGINE_TARGETS, oneOfEachKind } from '../support/engines.js'
import { atStatement, eventually, type TestDatabase } from '../support/test-server.js'

const folder = mkdtempSync(join(tmpdir(), 'runku-rotation-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface LoginSql {
  make(login: string, password: string, database: string): readonly string[]
  alter(login: string, password: string): string
  drop(login: string): readonly string[]
}

const LOGIN_SQL: Readonly<Record<EngineName, LoginSql>> = {
  postgres: {
    make: (login, password) => [`CREATE ROLE ${login} LOGIN PASSWORD '${password}'`],
    alter: (login, password) => `ALTER ROLE ${login} PASSWORD '${password}'`,
    drop: (login) => [`DROP ROLE ${login}`],
  },
  mysql: {
    make: (login, password, database) => [
      `CREATE USER '${login}'@'%' IDENTIFIED BY '${password}'`,
      `GRANT SELECT ON ${database}.* TO '${login}'@'%'`,
    ],
    alter: (login, password) => `ALTER USER '${login}'@'%' IDENTIFIED BY '${password}'`,
    drop: (login) => [`DROP USER '${login}'@'%'`],
  },
  sqlserver: {
    make: (login, password) => [
      `CREATE LOGIN ${login} WITH PASSWORD = N'${password}'`,
      `CREATE USER ${login} FOR LOGIN ${login}`,
    ],
    alter: (login, password) => `ALTER LOGIN ${login} WITH PASSWORD = N'${password}'`,
    drop: (login) => [`DROP USER ${login}`, `DROP LOGIN ${login}`],
  },
}

/** Strong enough for the rules of any of the servers. */
const [FIRST, SECOND, WRONG] = ['Hunter-first-1', 'Hunter-second-2', 'Hunter-wrong-3'] as const

for (const target of oneOfEachKind(ENGINE_TARGETS)) {
  describe(`a password that is rotated on the ${target.label} server`, () => {
    /** A login of the test's own, the file that holds its password, and a driver that leaves no connection idle. */
    async function rotating(t: TestContext, kind: 'file' | 'command') {
      const db: TestDatabase = await (await target.start()).createDatabase()
      const login = `rotated_${randomBytes(4).toString('hex')}`
      const sql = LOGIN_SQL[target.engine]
      for (const text of sql.make(login, FIRST, db.name)) await db.query(text)
      const file = join(folder, login)
      writeFileSync(file, FIRST)
      const settings = db.reader({ pool: { idleTimeoutMs: 1 } })
      const { password: _, ...connection } = settings.connection
      const given: Partial<ConnectorSettings['connection']> =
        kind === 'file' ? { passwordFile: file } : { passwordCommand: { argv: ['cat', '--', file], ttlMs: 3_600_000 } }
      const made = testDriver(t, { ...settings, connection: { ...connection, user: login, ...given } })
      t.after(async () => {
        await made.driver.close()
        await eventually('the login is dropped', async () => {
          try {
            for (const text of sql.drop(login)) await db.query(text)
            return true
          } catch {
            return false
          }
        })
      })
      return {
        ...made,
        db,
        file,
        alter: (password: string) => db.query(sql.alter(login, password)),
        /** On a connection that is opened for it. */
        runAnew: async (text = 'SELECT 1') => {
          await eventually('no connection is idle', () => made.driver.connections.idle === 0)
          return made.run(text)
        },
      }
    }

    test('a new one in its file is used by the next new connection, without a reload', async (t) => {
      const { runAnew, alter, file, observed } = await rotating(t, 'file')
      assert.equal(outcome(await runAnew()).code, 'OK')
      await alter(SECOND)
      const refused = await runAnew()
      assert.equal(outcome(refused).code, 'CONNECTOR_UNAVAILABLE')
      assert.doesNotMatch(inspect([refused, observed], { depth: null }), /Hunter/)
      writeFileSync(file, `${SECOND}\n`)
      assert.equal(outcome(await runAnew()).code, 'OK')
    })

    test('one that a command printed is asked for again when the server refuses it, however young it is', async (t) => {
      const { runAnew, alter, file } = await rotating(t, 'command')
      assert.equal(outcome(await runAnew()).code, 'OK')
      writeFileSync(file, WRONG)
      assert.equal(outcome(await runAnew()).code, 'OK', 'what it printed before is still used')
      writeFileSync(file, SECOND)
      await alter(SECOND)
      assert.equal(outcome(await runAnew()).code, 'OK')
    })

    test('without one the connector is unavailable until there is, and only the operator is told where', async (t) => {
      for (const kind of ['file', 'command'] as const) {
        const { runAnew, file, observed, driver, db } = await rotating(t, kind)
        rmSync(file)
        for (const missing of [await runAnew(), await driver.introspect([db.schema])]) {
          assert.ok(!missing.ok)
          const { code, reason, detail = '' } = missing.error
          assert.equal(code, 'CONNECTOR_UNAVAILABLE')
          assert.equal(reason, `no password: the password_${kind} cannot be used`)
          assert.match(detail, kind === 'file' ? /does not exist/ : /cat ended with exit code 1/)
          assert.equal(detail.includes(file), kind === 'file')
        }
        assert.doesNotMatch(inspect(observed, { depth: null }), /Hunter/)
        writeFileSync(file, FIRST)
        assert.equal(outcome(await runAnew()).code, 'OK')
      }
    })

    if (target.engine === 'mysql') {
      test('what runs on a connection from before is still ended, from another with the new one', async (t) => {
        const { run, alter, file, db } = await rotating(t, 'file')
        const running = run('SELECT SLEEP(600)', [], { timeoutMs: 2_000 })
        await eventually('it runs', async () => (await atStatement(rotatedSessions(db), /SLEEP/)).length === 1)
        await alter(SECOND)
        writeFileSync(file, SECOND)
        assert.equal(outcome(await running).code, 'TIMEOUT')
        await eventually('the server has ended it', async () => {
          return (await atStatement(rotatedSessions(db), /SLEEP/)).length === 0
        })
      })
    }
  })
}

/** The test's own login is none of those that the database's own account of sessions knows. */
function rotatedSessions(db: TestDatabase): Pick<TestDatabase, 'sessions'> {
  const text = `SELECT ID, COMMAND, INFO FROM information_schema.PROCESSLIST WHERE DB = '${db.name}' AND USER LIKE 'rotated%'`
  return {
    sessions: async () =>
      (await db.query(text)).map(([pid, state, query]) => ({
        pid: Number(pid),
        state: state ?? '',
        query: query ?? '',
      })),
  }
}
