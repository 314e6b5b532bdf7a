import assert from 'node:assert/strict'
import { type Caller, callerOf, entryOf } from './changes.js'
import { forEngine } from './engines.js'
import { type GatewayFolder, type ListedTool, listTools, prepareGateway, startGateway } from './gateway.js'
import { readBack, writerOn } from './left-out.js'
import { policyFor } from './security-sql.js'
import type { EngineTarget, TestDatabase, TestServer, TextRow } from './test-server.js'
import { TRIGGER_SHOP_POLICY, TRIGGER_SHOP_SETUPS } from './trigger-shop.js'

/** A shop whose tables have triggers, behind a gateway of its own. */
export interface ServedShop {
  readonly server: TestServer
  readonly database: TestDatabase
  readonly folder: GatewayFolder
  readonly clerk: Caller
  caller(who: string): Caller
  toolsOf(who: string): Promise<readonly ListedTool[]>
  /** The table with its schema, under which every name is a table's, a reserved word as well. */
  named(table: string): string
  /** Every row that a change could have touched. */
  world(): Promise<readonly (readonly TextRow[])[]>
  /** The call is refused with the code, and leaves the database, triggers' work included, as it was. */
  assertRefused(code: string, tool: string, args: unknown, by?: Caller): ReturnType<Caller['refusal']>
  stop(): Promise<void>
}

const TENANT = new Map([['tenant', 'acme']])
/** Everything that a change could have touched, and in which order it is read. */
const WORLD = {
  customers: 'id',
  orders: 'id',
  lines: 'batch, n',
  tasks: 'id',
  journal: 'what',
  swept: 'id',
  old_totals: 'id',
}

export async function serveTriggerShop(target: EngineTarget): Promise<ServedShop> {
  const server = await target.start()
  const setup = `${forEngine(TRIGGER_SHOP_SETUPS, target.engine)}${readBack(server, ['orders', 'tasks'])}`
  const database = await server.createDatabase(setup)
  const policy = policyFor(target.engine, TRIGGER_SHOP_POLICY)
  const folder = await prepareGateway({
    connectors: [{ id: 'shop', settings: writerOn(server, database), policy }],
    identities: {
      clerk: { roles: ['clerk', 'european'], claims: TENANT },
      foreman: { roles: ['clerk'], claims: TENANT },
      viewer: { roles: ['clerk', 'european'], claims: TENANT },
      stranger: { roles: ['clerk'] },
    },
  })
  const running = await startGateway(folder)
  const caller = (who: string) => callerOf(running.endpoint('shop'), folder.keys[who])
  const clerk = caller('clerk')
  const named = (table: string) => `${database.schema}.${table}`
  const world = () =>
    Promise.all(
      Object.entries(WORLD).map(([table, order]) => database.query(`SELECT * FROM ${named(table)} ORDER BY ${order}`)),
    )
  return {
    server,
    database,
    folder,
    clerk,
    caller,
    toolsOf: (who) => listTools(running.endpoint('shop'), folder.keys[who]),
    named,
    world,
    assertRefused: async (code, tool, args, by = clerk) => {
      const before = await world()
      const refusal = await by.refusal(tool, args)
      assert.equal(refusal.code, code, `${tool} ${JSON.stringify(args)}: ${refusal.text}`)
      assert.deepEqual(await world(), before)
      assert.equal(entryOf(folder, refusal.id).effect, 'none')
      assert.equal(entryOf(folder, refusal.id).code, code)
      return refusal
    },
    stop: async () => {
      await running.stop()
      await folder.remove()
      await database.drop()
    },
  }
}
