import type Database from 'better-sqlite3'
import type { BufferState } from './appending.js'
import { type ProvenBeside, proveBeside, readBeside } from './beside-chain.js'
import { type Statements, Unusable } from './buffer-file.js'
import { type ChainHead, type ChainKeys, GENESIS, type KeptHead, openHead, SUM_BYTES, sealHead } from './chain.js'
import { Seals } from './seals.js'

/**
 * The head to go on from. It is the sealed one, also when later entries than the last that is there were removed: then
 * their numbers stay missing for every check to see.
 */
function readHead(statements: Statements, keys: ChainKeys, instance: string): KeptHead {
  const lastSeq = statements.lastSeq.get() ?? 0
  const sealed = statements.get.get('head')
  const head = typeof sealed === 'string' ? openHead(keys, instance, sealed) : undefined
  if (head === undefined) {
    throw new Unusable('its entries were made with another chain key, or its head was changed: put the key back')
  }
  if (lastSeq > head.seq) throw new Unusable('another program has added entries to it')
  return head
}

/** Names the chain; a new buffer begins it. */
export function readInstance(
  db: Database.Database,
  statements: Statements,
  options: { readonly keys: ChainKeys; readonly nowMs: () => number; readonly newInstance: () => string },
): string {
  const found = statements.get.get('instance')
  if (typeof found === 'string') return found
  const { keys, nowMs, newInstance } = options
  const instance = newInstance()
  const nonce = new Seals({ keys, instance }).nonce()
  const beside = { nonce, announced: 0, withheld: 0, undelivered: 0, sinks: [], sum: new Uint8Array(SUM_BYTES) }
  db.transaction(() => {
    statements.put.run('instance', instance)
    statements.put.run('created_ms', nowMs())
    statements.put.run('head', sealHead(keys, instance, { ...GENESIS, beside }))
  })()
  return instance
}

export interface OpenedState {
  readonly state: BufferState
  /** What was found beside the chain. */
  readonly found: ProvenBeside
  /** Whether what is not genuine is still there, or nothing is sealed yet. */
  readonly unsettled: boolean
}

/** What an open buffer says of itself. `first`: where its chain begins, undefined where that was not made with its keys. */
export function readState(
  db: Database.Database,
  statements: Statements,
  chain: { readonly keys: ChainKeys; readonly instance: string; readonly seals: Seals },
  first: ChainHead | undefined,
): OpenedState {
  const head = readHead(statements, chain.keys, chain.instance)
  if (first === undefined) throw new Unusable('what it says of deleted entries was changed')
  const found = proveBeside(readBeside(db), head, chain.seals)
  const strangers = statements.get.get('strangers')
  const { announced, counts, undelivered, sum, sinks } = found
  const { seq, hash } = head
  const state = {
    head: { seq, hash },
    first: { seq: first.seq, hash: first.hash },
    announced,
    counts,
    undelivered,
    sum,
    sinks,
    strangerBytes: typeof strangers === 'number' ? strangers : 0,
  }
  return { state, found, unsettled: head.beside === undefined || found.tampered.length > 0 }
}
