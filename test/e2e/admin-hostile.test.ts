import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { IDENTITY_NAME } from '../../src/admin/names.js'
import { pathMembers } from '../../src/admin/openapi.js'
import type { AdminOperation } from '../../src/admin/operation.js'
import { OPERATIONS } from '../../src/admin/operations.js'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import { ADMIN_BODY_BYTES_MAX } from '../../src/core/limits.js'
import { type GatewayFolder, prepareGateway, type RunningGateway, startGateway } from '../support/gateway.js'
import {
  ODD_BODIES,
  ODD_ESCAPES,
  ODD_TEXTS,
  ODD_VALUES,
  sampleInput,
  UNKEEPABLE_TEXTS,
} from '../support/hostile-input.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { RawConnection } from '../support/raw-http.js'

/** A request as it is sent; every one of these is wrong. */
interface Sent {
  readonly method: string
  /** Below `/admin/api`, with its query. */
  readonly path: string
  readonly body?: string | Uint8Array
  /** In place of what a client sends. */
  readonly headers?: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly allow: string | undefined
}

function byQuery({ method }: AdminOperation): boolean {
  return method === 'GET' || method === 'DELETE'
}

function inQuery(operation: AdminOperation): readonly string[] {
  const path = pathMembers(operation.path)
  return Object.keys(operation.input.shape).filter((name) => !path.includes(name))
}

/** The operation's address with samples in its path, `part` in place of one of them. */
function pathOf(operation: AdminOperation, name?: string, part = ''): string {
  const samples = sampleInput(operation)
  return operation.path.replace(/\{([a-z_]+)\}/g, (_whole, member: string) =>
    member === name ? part : encodeURIComponent(String(samples[member])),
  )
}

function bodyOf(operation: AdminOperation): Readonly<Record<string, unknown>> {
  const path = pathMembers(operation.path)
  return Object.fromEntries(Object.entries(sampleInput(operation)).filter(([name]) => !path.includes(name)))
}

function oddTexts(member: string): readonly string[] {
  const names = ['identity', 'role', 'roles'].includes(member)
  return ODD_TEXTS.filter((text) => !names || !IDENTITY_NAME.pattern.test(text))
}

function plain(operation: AdminOperation, more: Partial<Sent> = {}): Sent {
  const body = byQuery(operation) ? {} : { body: JSON.stringify(bodyOf(operation)) }
  return { method: operation.method, path: pathOf(operation), ...body, ...more }
}

function pathFaults(operation: AdminOperation): readonly Sent[] {
  return pathMembers(operation.path).flatMap((name) =>
    ODD_ESCAPES.map((part) => plain(operation, { path: pathOf(operation, name, part) })),
  )
}

function queryFaults(operation: AdminOperation): readonly Sent[] {
  const path = pathOf(operation)
  const odd = ['nothing=1', '__proto__=1', 'a[]=1', '%zz=1', '=', 'a=%ED%A0%80', 'caf\u00e9=1', 'constructor']
  const queries = byQuery(operation)
    ? [
        ...odd,
        ...pathMembers(operation.path).map((name) => `${name}=again`),
        ...inQuery(operation).flatMap((name) => [
          `${name}=a&${name}=a`,
          `${name}=`,
          `${name}[]=a`,
          ...ODD_ESCAPES.map((part) => `${name}=${part}`),
          ...oddTexts(name).flatMap((text) =>
            /[\ud800-\udfff]/u.test(text) ? [] : [`${name}=${encodeURIComponent(text)}`],
          ),
        ]),
      ]
    : [...odd, ...Object.keys(operation.input.shape).map((name) => `${name}=1`)]
  return queries.map((query) => plain(operation, { path: `${path}?${query}` }))
}

function bodyFaults(operation: AdminOperation): readonly Sent[] {
  if (byQuery(operation)) return [plain(operation, { body: '{}' }), plain(operation, { body: 'x'.repeat(1_000) })]
  const members = inQuery(operation).flatMap((name) => {
    const schema = operation.input.shape[name]
    // Some of the values fit some of the members, and some of the odd texts are good names.
    const values = [...UNKEEPABLE_TEXTS, ...oddTexts(name), ...ODD_VALUES]
    return values
      .filter((value) => typeof value === 'string' || schema?.safeParse(value).success !== true)
      .map((value) => JSON.stringify({ ...bodyOf(operation), [name]: value }))
  })
  const inPath = pathMembers(operation.path).map((name) => JSON.stringify({ ...bodyOf(operation), [name]: 'again' }))
  const own = JSON.stringify(bodyOf(operation))
  const types = [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=latin1' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': '' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ]
  return [
    ...[...members, ...inPath, ...ODD_BODIES].map((body) => plain(operation, { body })),
    ...types.map((headers) => plain(operation, { headers, body: own })),
  ]
}

function verbFaults(): readonly (Sent & { readonly allowed: readonly string[] })[] {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'HEAD']
  const paths = [...new Set(OPERATIONS.map((operation) => pathOf(operation)))]
  return [...paths, '/openapi.json'].flatMap((path) => {
    const own = OPERATIONS.filter((operation) => pathOf(operation) === path).map(({ method }) => method)
    const allowed = (own.length === 0 ? (['GET'] as const) : own).flatMap((method) =>
      method === 'GET' ? ['GET', 'HEAD'] : [method],
    )
    return methods
      .filter((method) => !allowed.includes(method))
      .map((method) => ({ method, path, allowed: [...new Set(allowed)] }))
  })
}

describe('administrative requests that nobody means', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let running: RunningGateway
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: { root: { roles: ['admin'] }, reader: { roles: ['reader'] } },
    })
    running = await startGateway(folder)
  })

  after(async () => {
    agent.destroy()
    await running?.stop()
    await folder?.remove()
  })

  function send({ method, path, body, headers }: Sent, who = 'root'): Promise<Answer> {
    const { hostname, port } = new URL(running.gateway.adminUrl)
    const own = { authorization: `Bearer ${folder.keys[who]}`, 'content-type': 'application/json', ...headers }
    const sent = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    return new Promise((resolve, reject) => {
      const asked = request(
        { agent, hostname, port, method, path: `/admin/api${path}`, headers: { ...own, ...sent } },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (piece: string) => {
            text += piece
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text, allow: response.headers.allow }))
          response.on('error', reject)
        },
      )
      asked.on('error', reject)
      asked.end(body)
    })
  }

  const adminEntries = () => folder.entries().filter((entry) => entry.operation === 'admin')

  /** Sends all of them, four at a time, and gives the entries that were made. */
  async function sendAll(
    all: readonly Sent[],
    check: (sent: Sent, answer: Answer) => void,
  ): Promise<readonly AuditEntry[]> {
    const before = adminEntries().length
    const queue = [...all]
    const one = async () => {
      for (let sent = queue.shift(); sent !== undefined; sent = queue.shift()) {
        const answer = await send(sent)
        check(sent, answer)
      }
    }
    await Promise.all([one(), one(), one(), one()])
    await eventually('the entries are there', () => adminEntries().length >= before + all.length)
    return adminEntries().slice(before)
  }

  function shown({ method, path, body }: Sent): string {
    return `${method} ${path.slice(0, 200)} ${JSON.stringify(body === undefined ? '' : Buffer.from(body).toString()).slice(0, 200)}`
  }

  /** Each is refused in words, and has one entry with who it was. */
  async function refusedEach(all: readonly Sent[], operation: string | undefined): Promise<void> {
    const entries = await sendAll(all, (sent, { status, text }) => {
      assert.ok(status >= 400 && status < 500, `${status} for ${shown(sent)}: ${text}`)
      if (sent.method === 'HEAD') return
      const { code, error, ...rest }: Readonly<Record<string, unknown>> = JSON.parse(text)
      assert.match(String(code), /^(ADMIN|PROTOCOL)_[A-Z_]+$/, shown(sent))
      assert.ok(typeof error === 'string' && error.length > 10 && error.length < 1_000, shown(sent))
      assert.doesNotMatch(error, /[\p{Cc}\p{Cs}]/u, shown(sent))
      assert.ok(
        Object.keys(rest).every((name) => name === 'details'),
        shown(sent),
      )
    })
    assert.equal(entries.length, all.length)
    for (const { identity, key_id, decision, code, tool } of entries) {
      assert.deepEqual([identity, decision, key_id === undefined], ['root', 'blocked', false], code)
      if (operation !== undefined) assert.equal(tool, operation)
    }
  }

  for (const operation of OPERATIONS) {
    test(`${operation.name}: whatever is wrong with its path, query or body is refused and has one entry`, async () => {
      await refusedEach([...pathFaults(operation), ...queryFaults(operation), ...bodyFaults(operation)], operation.name)
    })
  }

  test('a verb that an address does not take is told which it takes, HEAD being what GET is without the body', async () => {
    const faults = verbFaults()
    await refusedEach(faults, undefined)
    for (const fault of faults) {
      const { status, allow } = await send(fault)
      assert.deepEqual([status, allow], [405, fault.allowed.join(', ')], shown(fault))
    }
    const before = adminEntries().length
    const [got, head] = [await send({ method: 'GET', path: '/roles' }), await send({ method: 'HEAD', path: '/roles' })]
    assert.deepEqual([got.status, head.status, head.text], [200, 200, ''])
    await eventually('both are written down', () => adminEntries().length === before + 2)
  })

  test('an address that there is not is refused like any other, however it is spelt', async () => {
    const paths = [
      '',
      '/',
      '/nothing',
      '//roles',
      '/roles//',
      '/roles/a/b',
      '/%72oles',
      '/Roles',
      '/roles;x=1',
      '/%00',
      '/__proto__',
    ]
    await refusedEach(
      paths.map((path) => ({ method: 'GET', path })),
      undefined,
    )
    await refusedEach(
      [
        { method: 'GET', path: '/openapi.json?x=1' },
        { method: 'GET', path: '/openapi.json', body: '{}' },
      ],
      'openapi',
    )
  })

  test('a body that is larger than taken is refused with an entry of who sent it', async () => {
    await refusedEach([{ method: 'POST', path: '/roles', body: 'x'.repeat(ADMIN_BODY_BYTES_MAX + 1) }], undefined)
  })

  test('whoever may not ask is refused for that, and a key in an address is in no entry', async () => {
    const { reader, root } = folder.keys
    assert.ok(reader !== undefined && root !== undefined)
    const before = adminEntries().length
    const { status } = await send({ method: 'POST', path: `/keys/${root}/revoke` }, 'reader')
    assert.equal(status, 403)
    await eventually('the entry is there', () => adminEntries().length === before + 1)
    const [entry] = adminEntries().slice(before)
    assert.deepEqual([entry?.identity, entry?.target], ['reader', root.slice(3, 15)])
    assert.ok(!JSON.stringify(folder.entries()).includes(root.slice(16)))
  })

  test('requests that arrive together are both done or neither is, and what was begun has its entry', async () => {
    const { port } = new URL(running.gateway.adminUrl)
    const body = (role: string) => JSON.stringify({ role })
    const create = (role: string) =>
      `POST /admin/api/roles HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${folder.keys['root']}\r\nContent-Type: application/json\r\nContent-Length: ${body(role).length}\r\n\r\n${body(role)}`
    const before = adminEntries().length
    const connection = new RawConnection(Number(port)).write(`${create('first')}${create('second')}x`)
    const text = await connection.closed()
    const answered = [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => match[1])
    const roles = (await send({ method: 'GET', path: '/roles' })).text
    const made = ['first', 'second'].filter((role) => roles.includes(`"${role}"`))
    assert.deepEqual(answered.filter((status) => status === '200').length, made.length, text)
    await eventually('the entries are there', () => adminEntries().length > before)
    const [entry] = adminEntries().slice(before)
    assert.equal(entry?.target, 'first')
  })
})
