import assert from 'node:assert/strict'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import {
  type GatewayFolder,
  type GatewayPlan,
  post,
  prepareGateway,
  readEntries,
  rpcCall,
  type SpawnedGateway,
  type SpawnOptions,
  spawnGateway,
} from './gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from './notes.js'
import type { TestDatabase } from './postgres.js'
import { runRunku } from './runku-process.js'

/** Beside the notes a table to write to: what a call made is seen by its id. */
export const COUNTED_SETUP = `${NOTES_SETUP}
CREATE TABLE things (id text PRIMARY KEY, number integer);
INSERT INTO things VALUES ('locked', 0);
`
const POLICY = NOTES_POLICY.replace(
  '\nroles:',
  '\n  public.things: { create: { columns: [id, number] }, update: { columns: [number] } }\nroles:',
).replace("reader: { read: ['*'] }", "reader: { read: ['*'], create: [public.things], update: [public.things] }")

export interface Reply {
  readonly status: number
  readonly text: string
}

/** What clients sent and what they got. Every call has an id of its own. */
export interface Tally {
  readonly sent: Set<string>
  readonly replies: Map<string, Reply>
}

export interface Counted {
  readonly folder: GatewayFolder
  readonly gateway: SpawnedGateway
  readonly endpoint: string
  readonly key: string
  readonly tally: Tally
}

export interface CountedPlan {
  readonly audit?: string
  readonly server?: string
  readonly spawn?: SpawnOptions
}

export function countedFolder(database: TestDatabase, { audit, server }: CountedPlan = {}): Promise<GatewayFolder> {
  const plan: GatewayPlan = {
    connectors: [{ id: 'notes', settings: database.writer(), policy: POLICY }],
    identities: { reader: { roles: ['reader'] } },
    audit: audit ?? '{ stdout: false, buffer: { path: audit.sqlite, durability: normal } }',
    ...(server === undefined ? {} : { server }),
  }
  return prepareGateway(plan)
}

export async function startCounted(folder: GatewayFolder, tally = newTally(), spawn?: SpawnOptions): Promise<Counted> {
  const gateway = await spawnGateway(folder, ['notes'], spawn)
  return { folder, gateway, endpoint: gateway.endpoint('notes'), key: folder.keys['reader'] ?? '', tally }
}

export function newTally(): Tally {
  return { sent: new Set(), replies: new Map() }
}

export const SEARCH = { name: 'search_notes', arguments: { columns: ['id'], limit: 1 } }

export function creation(id: string) {
  return { name: 'create_things', arguments: { values: { id } } }
}

/** One call, tallied; undefined when no reply came. */
export async function tallied(
  { endpoint, key, tally }: Counted,
  id: string,
  call: Parameters<typeof rpcCall>[1] = SEARCH,
): Promise<Reply | undefined> {
  tally.sent.add(id)
  try {
    const { status, text } = await post(endpoint, key, rpcCall(id, call))
    const reply = { status, text }
    tally.replies.set(id, reply)
    return reply
  } catch {
    return undefined
  }
}

/** Clients that call one after the other, every fourth time with a write, until the test has seen enough. */
export async function load(counted: Counted, clients: number, goesOn: () => boolean, prefix = 'load'): Promise<void> {
  const client = async (own: number) => {
    for (let n = 0; goesOn(); n++) {
      const id = `${prefix}-${own}-${n}`
      const reply = await tallied(counted, id, n % 4 === 3 ? creation(id) : SEARCH)
      if (reply === undefined || reply.status === 503) return
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, own) => client(own)))
}

export function isUnavailable({ text }: Reply): boolean {
  return text.includes('AUDIT_UNAVAILABLE')
}

/** Ends the gateway and gives the code of its exit. */
export async function stopCounted({ gateway }: Counted): Promise<void> {
  gateway.child.kill('SIGTERM')
  assert.equal(await gateway.exited, 0, JSON.stringify(gateway.log.slice(-5)))
}

export interface Count {
  readonly entries: readonly AuditEntry[]
  readonly answered: number
}

/**
 * That each call that was answered has exactly one entry, no call has two, no entry is of anything else, what changed has an entry
 * that does not deny it, and the chain is whole.
 */
export async function assertCounted(
  { folder, tally }: Counted,
  database: TestDatabase,
  buffer = folder.bufferFile,
): Promise<Count> {
  const entries = readEntries(buffer).filter(
    ({ operation, request_id: id }) => id !== undefined && operation !== 'request',
  )
  const byId = new Map(entries.map((entry) => [entry.request_id ?? '', entry]))
  assert.equal(byId.size, entries.length, 'a call has two entries')
  const none = (rule: string, ids: readonly string[]) => assert.deepEqual(ids, [], rule)
  const answered = [...tally.replies].filter(([, reply]) => !isUnavailable(reply) && reply.status !== 503)
  none(
    'answered without an entry',
    answered.map(([id]) => id).filter((id) => !byId.has(id)),
  )
  none(
    'an entry of what nobody sent',
    [...byId.keys()].filter((id) => !tally.sent.has(id)),
  )
  const rows = (await database.query("SELECT id FROM things WHERE id <> 'locked'")).map(([id]) => id ?? '')
  const told = (id: string) => ['committed', 'unknown'].includes(byId.get(id)?.effect ?? '')
  none(
    'changed without an entry that tells of it',
    rows.filter((id) => tally.sent.has(id) && !told(id)),
  )
  const made = new Set(rows)
  const committed = [...byId.values()].filter(
    ({ effect, operation }) => effect === 'committed' && operation === 'create',
  )
  none(
    'an entry of a change that is not there',
    committed.map(({ request_id: id = '' }) => id).filter((id) => !made.has(id)),
  )
  const verified = await runRunku(folder.folder, ['audit', 'verify', '--config', folder.configFile])
  assert.equal(verified.how, 0, verified.out + verified.err)
  return { entries, answered: answered.length }
}
