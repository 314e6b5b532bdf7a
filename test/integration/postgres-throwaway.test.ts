import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, lstatSync } from 'node:fs'
import { chmod, cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { embeddedBinaries, startThrowawayPostgres, systemBinaries } from '../../src/demo/throwaway-postgres.js'
import { EMBEDDED, eventually } from '../support/postgres.js'

const MODULE = fileURLToPath(new URL('../../src/demo/throwaway-postgres.js', import.meta.url))

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
  const server = await startThrowawayPostgres({ binaries: await embeddedBinaries() })
  assert.ok(existsSync(server.folder))
  assert.equal((await stat(server.folder)).mode & 0o077, 0, 'nobody else may look into the folder')
  await Promise.all([server.stop(), server.stop()])
  assert.equal(existsSync(server.folder), false)
  assert.equal(await refuses(server.port), true)
})

test('the server never runs as root, asks for its password, and speaks UTF-8', async () => {
  const server = await EMBEDDED.start()
  assert.notEqual((await stat(join(server.process.folder, 'cluster', 'postmaster.pid'))).uid, 0)
  assert.deepEqual(await server.query('SHOW server_encoding'), [['UTF8']])
  assert.deepEqual(await server.query("SELECT upper('é'), lower('ÇA')"), [['É', 'ça']])
  const open = await server.query("SELECT count(*) FROM pg_hba_file_rules WHERE auth_method <> 'scram-sha-256'")
  assert.deepEqual(open, [['0']])
  assert.deepEqual(await server.query('SHOW listen_addresses'), [['127.0.0.1']])
})

test('a server whose parent is killed ends by itself and deletes its folder', async () => {
  const script = `
    const { embeddedBinaries, startThrowawayPostgres } = await import(${JSON.stringify(MODULE)})
    const { port, folder } = await startThrowawayPostgres({ binaries: await embeddedBinaries() })
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
    const { embeddedBinaries, startThrowawayPostgres } = await import(${JSON.stringify(MODULE)})
    startThrowawayPostgres({ binaries: await embeddedBinaries() })`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: scratch },
  })
  await eventually('initdb is at work', async () => {
    const [folder] = await readdir(scratch)
    return folder !== undefined && existsSync(join(scratch, folder, 'cluster'))
  })
  parent.kill('SIGKILL')
  await eventually('the folder is gone', async () => (await readdir(scratch)).length === 0)
  await rm(scratch, { recursive: true })
})

test('binaries that the server may not read, or that lack their links, are copied and completed', async () => {
  const binaries = await embeddedBinaries()
  assert.ok(binaries.root !== undefined)
  const hidden = await mkdtemp(join(tmpdir(), 'runku-test-'))
  try {
    const root = join(hidden, 'native')
    await cp(binaries.root, root, { recursive: true, filter: (source) => !lstatSync(source).isSymbolicLink() })
    const server = await startThrowawayPostgres({ binaries: { postgres: join(root, 'bin', 'postgres'), root } })
    assert.ok(existsSync(join(server.folder, 'native')))
    await server.stop()
    assert.equal(existsSync(server.folder), false)
  } finally {
    await rm(hidden, { recursive: true })
  }
})

test('a server that cannot start says why', async () => {
  const binaries = systemBinaries() ?? (await embeddedBinaries())
  await assert.rejects(
    startThrowawayPostgres({ binaries, settings: { no_such_setting: 'x' } }),
    /did not start.*no_such_setting/s,
  )
  await assert.rejects(startThrowawayPostgres({ binaries: { postgres: '/no/such/postgres' } }), /\/no\/such\/postgres/)
})
