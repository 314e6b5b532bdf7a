import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createConnection } from 'mysql2/promise'
import { forEngine } from '../support/engines.js'
import { eventually, MARIADB, mysqlTarget, READER_ACCOUNT } from '../support/mariadb.js'
import { mysqlTestServer } from '../support/mariadb-server.js'
import { findMariadb, startThrowawayMariadb } from '../support/throwaway-mariadb.js'

const MODULE = fileURLToPath(new URL('../support/throwaway-mariadb.js', import.meta.url))

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}

test('a stopped server leaves no folder and no listener, and stopping twice is one stop', async () => {
  const server = await startThrowawayMariadb({ program: await findMariadb() })
  assert.equal((await stat(server.folder)).mode & 0o077, 0, 'nobody else may look into the folder')
  assert.equal(await refuses(server.port), false)
  await Promise.all([server.stop(), server.stop()])
  assert.equal(existsSync(server.folder), false)
  assert.equal(await refuses(server.port), true)
})

test('the server never runs as root, asks every account for its password, and listens here alone', async () => {
  const server = await startThrowawayMariadb({ program: await findMariadb() })
  try {
    assert.notEqual((await stat(join(server.folder, 'socket'))).uid, 0)
    const { host, port, user, password } = server
    for (const login of [{ user }, { user: '' }, { user: 'mariadb.sys' }]) {
      await assert.rejects(createConnection({ host, port, ...login }), /Access denied/)
      await assert.rejects(createConnection({ socketPath: join(server.folder, 'socket'), ...login }), /Access denied/)
    }
    const connection = await createConnection({ host, port, user, password, rowsAsArray: true })
    const [rows] = await connection.query('SELECT @@bind_address, @@local_infile, @@character_set_server, @@log_bin')
    assert.deepEqual(rows, [['127.0.0.1', 0, 'utf8mb4', 0]])
    await connection.end()
  } finally {
    await server.stop()
  }
})

test('a server whose parent is killed ends by itself and deletes its folder', async () => {
  const script = `
    const { findMariadb, startThrowawayMariadb } = await import(${JSON.stringify(MODULE)})
    const { port, folder } = await startThrowawayMariadb({ program: await findMariadb() })
    console.log(JSON.stringify({ port, folder }))
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve) => createInterface(parent.stdout).once('line', resolve))
  const { port, folder } = JSON.parse(line)
  assert.equal(await refuses(port), false)
  parent.kill('SIGKILL')
  await eventually('the folder is gone', () => !existsSync(folder))
  assert.equal(await refuses(port), true)
})

test('a parent killed while the server is being made leaves nothing either', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'runku-test-'))
  await chmod(scratch, 0o777)
  const script = `
    const { findMariadb, startThrowawayMariadb } = await import(${JSON.stringify(MODULE)})
    await startThrowawayMariadb({ program: await findMariadb() })`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: scratch },
  })
  await eventually('the system tables are being made', async () => {
    const [folder] = await readdir(scratch)
    return folder !== undefined && existsSync(join(scratch, folder, 'data'))
  })
  parent.kill('SIGKILL')
  await eventually('the folder is gone', async () => (await readdir(scratch)).length === 0)
  await rm(scratch, { recursive: true })
})

test('a program that the server’s user may not read is copied', async (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('only root has another user run the server')
  const program = await findMariadb()
  const hidden = await mkdtemp(join(tmpdir(), 'runku-test-'))
  try {
    await cp(program.path, join(hidden, 'mariadbd'))
    await cp(program.share, join(hidden, 'share'), { recursive: true })
    const copy = { ...program, path: join(hidden, 'mariadbd'), share: join(hidden, 'share') }
    const server = await startThrowawayMariadb({ program: copy })
    assert.ok(existsSync(join(server.folder, 'native', 'mariadbd')))
    await server.stop()
    assert.equal(existsSync(server.folder), false)
  } finally {
    await rm(hidden, { recursive: true })
  }
})

test('a server that cannot start says why', async () => {
  const program = await findMariadb()
  await assert.rejects(
    startThrowawayMariadb({ program, settings: { 'no-such-setting': 'x' } }),
    /did not start.*no-such-setting/s,
  )
  await assert.rejects(
    startThrowawayMariadb({ program: { ...program, path: '/no/such/mariadbd' } }),
    /\/no\/such\/mariadbd/,
  )
})

const SETUP = `
  CREATE TABLE open_table (id INT PRIMARY KEY, at TIMESTAMP NULL, raw VARBINARY(4));
  INSERT INTO open_table VALUES (1, '2024-02-29 12:00:00', X'41'), (2, NULL, NULL);
  CREATE TABLE \`closed;\`\`table\` (id INT PRIMARY KEY);
  CREATE PROCEDURE twice(IN n INT) BEGIN SELECT n; SELECT n * 2; END;
`
const CLOSE = `REVOKE SELECT ON \`closed;\`\`table\` FROM ${READER_ACCOUNT}`

async function runAs(settings: { readonly connection: object }, sql: string): Promise<unknown> {
  const { tls: _, ...account } = { tls: '', ...settings.connection }
  const connection = await createConnection({ ...account, rowsAsArray: true })
  try {
    return (await connection.query(sql))[0]
  } finally {
    await connection.end()
  }
}

test('the logins may do with every table what they may on PostgreSQL, less what the test takes away', async () => {
  const database = await (await MARIADB.start()).createDatabase(SETUP, CLOSE)
  assert.equal(database.schema, database.name)
  const reader = database.reader()
  assert.deepEqual([reader.engine, reader.schemas], ['mysql', [database.name]])
  assert.deepEqual(await runAs(reader, 'SELECT id FROM open_table ORDER BY id'), [[1], [2]])
  await assert.rejects(runAs(reader, 'INSERT INTO open_table (id) VALUES (3)'), /denied/)
  await assert.rejects(runAs(reader, 'SELECT * FROM `closed;``table`'), /denied/)
  await assert.rejects(runAs(reader, 'CREATE TABLE made (id INT)'), /denied/)
  await runAs(reader, 'CALL twice(1)')
  const writer = database.writer()
  await runAs(writer, 'INSERT INTO open_table (id) VALUES (3)')
  await runAs(writer, 'UPDATE `closed;``table` SET id = 1')
  await assert.rejects(runAs(writer, 'DELETE FROM open_table'), /denied/)
  await runAs(writer, 'CALL twice(1)')
  await database.drop()
})

test('the superuser’s cells are text, and its last statement’s rows are the answer', async () => {
  const database = await (await MARIADB.start()).createDatabase(SETUP)
  assert.deepEqual(await database.query('SELECT * FROM open_table ORDER BY id'), [
    ['1', '2024-02-29 12:00:00', 'A'],
    ['2', null, null],
  ])
  assert.deepEqual(await database.query('SELECT id FROM open_table WHERE id = ?', ['2']), [['2']])
  assert.deepEqual(await database.query('SELECT 1; SELECT 2, 3'), [['2', '3']])
  assert.deepEqual(await database.query('CALL twice(4)'), [['8']])
  assert.deepEqual(await database.query('DELETE FROM open_table'), [])
  assert.deepEqual(await database.query('DO 1; DO 2'), [])
  await assert.rejects(database.query('SELECT 1; SELECT nothing'), /nothing/)
  await database.drop()
})

test('the sessions of a database are those of the gateway, and not those of the test', async () => {
  const server = await MARIADB.start()
  const [database, other] = [await server.createDatabase(), await server.createDatabase()]
  assert.deepEqual(await database.sessions(), [])
  for (const settings of [database.reader(), database.superuser()]) {
    const { host, port, user, password = '', database: name } = settings.connection
    const connection = await createConnection({ host, port, user, password, database: name })
    const asleep = [{ pid: connection.threadId, state: 'Sleep', query: '' }]
    await eventually('the session waits', async () => (await database.sessions())[0]?.state === 'Sleep')
    assert.deepEqual(await database.sessions(), asleep)
    assert.deepEqual(await other.sessions(), [])
    await connection.end()
    await eventually('the session is gone', async () => (await database.sessions()).length === 0)
  }
  await database.drop()
  await other.drop()
})

test('a dropped database leaves no rights behind', async () => {
  const server = await MARIADB.start()
  const database = await server.createDatabase(SETUP, `GRANT SELECT (id) ON \`closed;\`\`table\` TO ${READER_ACCOUNT}`)
  const rights = () =>
    server.query(
      `SELECT Db FROM mysql.db WHERE Db = ? UNION ALL SELECT Db FROM mysql.tables_priv WHERE Db = ?
       UNION ALL SELECT Db FROM mysql.columns_priv WHERE Db = ? UNION ALL SELECT Db FROM mysql.procs_priv WHERE Db = ?`,
      Array.from({ length: 4 }, () => database.name),
    )
  assert.notDeepEqual(await rights(), [])
  await database.drop()
  assert.deepEqual(await rights(), [])
  assert.deepEqual(await server.query('SHOW DATABASES LIKE ?', [database.name]), [])
})

test('a server that goes on is left as it was', async () => {
  const server = await MARIADB.start()
  let left = 0
  const visit = await mysqlTestServer('visited', server.address, async () => {
    left++
  })
  const [kept, dropped] = [await visit.createDatabase(SETUP), await visit.createDatabase(SETUP)]
  await dropped.drop()
  await visit.stop()
  assert.equal(left, 1)
  assert.deepEqual(await server.query('SHOW DATABASES LIKE ?', [kept.name]), [])
  assert.deepEqual(await server.query('SELECT Db FROM mysql.tables_priv WHERE Db = ?', [kept.name]), [])
})

test('an address of a server that is none fails the tests that ask for it, naming what was expected', async () => {
  for (const wanted of ['nonsense', 'postgres://root:x@127.0.0.1:1', 'mysql://127.0.0.1:1', 'mysql://root:x@']) {
    const target = mysqlTarget(wanted)
    assert.deepEqual([target.engine, target.label], ['mysql', 'mysql'])
    await assert.rejects(target.start(), /RUNKU_TEST_MYSQL_URL is not mysql:/)
  }
  await assert.rejects(mysqlTarget('mysql://root:x%40@127.0.0.1:1').start(), /ECONNREFUSED/)
})

test('what a test keeps for each engine is found by the engine’s name', () => {
  const map = { postgres: 1, mysql: 2, sqlserver: 3 }
  const found = (['postgres', 'mysql', 'sqlserver'] as const).map((engine) => forEngine(map, engine))
  assert.deepEqual(found, [1, 2, 3])
})
