import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread, MessageChannel, type MessagePort, Worker, workerData } from 'node:worker_threads'
import { openSqliteAdminStore } from '../src/admin/sqlite-admin-store.js'
import { chainKeys, GENESIS } from '../src/audit/chain.js'
import { sealRecord } from '../src/audit/ledger.js'
import { createAuthenticator } from '../src/auth/authenticate.js'
import { encodeRows } from '../src/connector/encode-result.js'
import type { Identity } from '../src/core/identity.js'
import { postgresDialect } from '../src/engines/postgres/dialect.js'
import { encodeResult, parseBody } from '../src/mcp/json-rpc.js'
import { buildPlan } from '../src/plan/build-plan.js'
import { summarize } from '../src/plan/plan-summary.js'
import { parsePolicy } from '../src/policy/policy-document.js'
import { compilePolicy } from '../src/policy/policy-engine.js'
import { Mailbox } from '../src/threads/mailbox.js'
import { resolveTarget } from '../src/tools/tool-target.js'
import { must } from '../test/support/gateway.js'
import { SHOP } from '../test/support/schema.js'

/** `npm run bench:stages`: what each stage of a point read costs, in microseconds on one idle core, and the hop between threads. */
interface Ping {
  readonly kind: 'ping'
  readonly body: Uint8Array
}

function microseconds(work: () => unknown): number {
  for (let i = 0; i < 20_000; i++) work()
  const rounds: number[] = []
  for (let round = 0; round < 7; round++) {
    const startMs = performance.now()
    for (let i = 0; i < 20_000; i++) work()
    rounds.push((performance.now() - startMs) / 20)
  }
  return rounds.sort((a, b) => a - b)[3] ?? 0
}

async function hop(inFlight: number): Promise<number> {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(new URL(import.meta.url), { workerData: port2, transferList: [port2] })
  const wanted = 60_000
  let answered = 0
  const body = Buffer.alloc(400, 'x')
  const elapsed = await new Promise<number>((resolve) => {
    let startMs = performance.now()
    const mailbox: Mailbox<Ping, Ping> = new Mailbox(
      port1,
      () => {
        answered += 1
        if (answered === wanted / 3) startMs = performance.now()
        if (answered === wanted) resolve(performance.now() - startMs)
        else if (answered + inFlight <= wanted) mailbox.send({ kind: 'ping', body })
      },
      () => {},
    )
    for (let i = 0; i < inFlight; i++) mailbox.send({ kind: 'ping', body })
  })
  await worker.terminate()
  return (elapsed * 1_000) / (wanted - wanted / 3)
}

function echo(port: MessagePort): void {
  const mailbox: Mailbox<Ping, Ping> = new Mailbox(
    port,
    (message) => mailbox.send(message),
    () => {},
  )
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'runku-bench-'))
  const path = join(folder, 'store.sqlite')
  const store = must(openSqliteAdminStore({ path, clock: Date.now, randomBytes, busyTimeoutMs: 1_000 }))
  const changes = store.changes({ name: 'bench' })
  must(await changes.createRole('reader'))
  must(await changes.createIdentity('load', ['reader'], new Map()))
  const { key } = must(await changes.createKey('load'))
  const options = {
    store,
    authEnabled: true,
    anonymousRoles: [],
    clock: Date.now,
    observe: () => {},
    compared: () => undefined,
  }
  const { authenticate } = createAuthenticator(options)
  const policy = must(parsePolicy("version: 1\ntables: { public.customers: }\nroles: { reader: { read: ['*'] } }"))
  const { engine } = compilePolicy(policy, SHOP, { schemas: ['public'] })
  const caller: Identity = { id: 'i', name: 'load', keyId: 'k', roles: ['reader'], claims: new Map() }
  const text =
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_customers_by_pk","arguments":{"id":4711}}}'
  const bytes = Buffer.from(text)
  const target = resolveTarget(engine.rights(caller), 'get_customers_by_pk')
  if (target?.operation !== 'get') throw new Error('the tool exists')
  const built = must(buildPlan(target, { id: 4711 }))
  const { plan } = built
  const validated = must(engine.validate(plan, caller))
  const statement = postgresDialect.compile(validated)
  const row = statement.columns.map(({ type }) =>
    type.logical === 'integer' ? '4711' : type.logical === 'decimal' ? '12.50' : 'text',
  )
  const keyColumns = new Set(['id'])
  const rows = {
    columns: statement.columns,
    rows: [row],
    dialect: postgresDialect,
    keyColumns,
    responseCharsMax: 24_000,
  }
  const { body } = encodeRows(rows)
  const keys = chainKeys(randomBytes(32))
  const record = {
    id: 'a-1',
    time: new Date(0).toISOString(),
    connector: 'shop',
    identity: 'load',
    roles: ['reader'],
    tool: 'get_customers_by_pk',
    operation: 'get',
    target: 'public.customers',
    plan: summarize(target, built),
    decision: 'allowed',
    code: 'OK',
    effect: 'none',
    duration_ms: { total: 1 },
  } as const
  const seal = { keys, keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' }, instance: 'bench' } as const
  const stages: readonly (readonly [string, () => unknown])[] = [
    ['authenticate (SQLite store, SHA-256)', () => authenticate(`Bearer ${key}`, 'shop', '127.0.0.1')],
    ['parse the body', () => parseBody(bytes)],
    ['tool → target → plan', () => must(buildPlan(target, { id: 4711 }))],
    ['validate', () => engine.validate(plan, caller)],
    ['compile', () => postgresDialect.compile(validated)],
    ['encode one row', () => encodeRows(rows)],
    ['wrap the reply', () => encodeResult(7, body)],
    ['seal an entry (canonical text, filter digest, HMAC)', () => sealRecord(seal, GENESIS, record)],
  ]
  process.stdout.write('| stage | µs |\n| --- | --- |\n')
  for (const [name, work] of stages) process.stdout.write(`| ${name} | ${microseconds(work).toFixed(2)} |\n`)
  for (const inFlight of [1, 32, 256]) {
    process.stdout.write(
      `| there and back between threads, ${inFlight} in flight, per message | ${(await hop(inFlight)).toFixed(2)} |\n`,
    )
  }
  await store.close()
  rmSync(folder, { recursive: true, force: true })
}

if (isMainThread) await measure()
else echo(workerData)
