import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EMBEDDED, type TestDatabase } from '../support/postgres.js'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'runku-apply-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Not synchronous: this process also drains the output of the database server. */
function runku(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { cwd: folder }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

function policy(mask: string): string {
  return `version: 1\ntables:\n  public.customers:\n    mask: [${mask}]\nroles:\n  analyst: { read: ['*'] }\n`
}

describe('policy apply with a database', () => {
  let database: TestDatabase
  before(async () => {
    const server = await EMBEDDED.start()
    database = await server.createDatabase('CREATE TABLE customers (id int PRIMARY KEY, name text, ssn text)')
    const { host, port, user, password, database: name } = database.reader().connection
    const connection = { host, port, user, password, database: name, tls: 'disable' }
    const connectors = ['shop', 'copy'].map((id) => ({ id, type: 'postgres', policy: 'crm', ...connection }))
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ connectors }))
  })

  test('a document that fits every connector that uses it is stored', async () => {
    writeFileSync(join(folder, 'good.yaml'), policy('ssn'))
    const ended = await runku('policy', 'apply', 'crm', 'good.yaml', '--json')
    assert.equal(ended.code, 0, ended.err)
    const applied: unknown = JSON.parse(ended.out)
    assert.ok(typeof applied === 'object' && applied !== null && 'version' in applied && 'findings' in applied)
    const findings: readonly unknown[] = Array.isArray(applied.findings) ? applied.findings : [undefined]
    const onDatabases = findings.filter((finding) => Object(finding).connector !== undefined)
    assert.deepEqual([applied.version, onDatabases], [1, []])
  })

  test('a column that does not exist is refused with line, connector and nearest column; nothing is stored', async () => {
    writeFileSync(join(folder, 'bad.yaml'), policy('snn'))
    const ended = await runku('policy', 'apply', 'crm', 'bad.yaml')
    assert.equal(ended.code, 1)
    assert.equal(ended.out, '')
    const lines = ended.err.trim().split('\n')
    assert.equal(lines.length, 2, ended.err)
    for (const [i, connector] of ['shop', 'copy'].entries()) {
      assert.match(
        lines[i] ?? '',
        new RegExp(`^runku: bad\\.yaml: line 4: error on connector "${connector}": .*snn.*"ssn"`),
      )
    }
    assert.match((await runku('policy', 'list')).out, /^crm +1 .*shop, copy$/m)
  })

  test('offline the same document is stored, since no database is asked', async () => {
    const ended = await runku('policy', 'apply', 'crm', 'bad.yaml', '--offline')
    assert.equal(ended.code, 0, ended.err)
    assert.match(ended.out, /Applied version 2 of the policy "crm"\. It was not checked against a database\./)
  })
})
