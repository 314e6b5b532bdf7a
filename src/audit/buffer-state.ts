import type Database from 'better-sqlite3'
import type { BufferState } from './appending.js'
import { type Statements, Unusable } from './buffer-file.js'
import { type ChainHead, type ChainKeys, GENESIS, openHead, sealHead } from './chain.js'

/**
 * The head to go on from. It is the sealed one, also when later entries than the last that is there were removed: then
 * their numbers stay missing for every check to see.
 */
function readHead(statements: Statements, keys: ChainKeys, instance: string): ChainHead {
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
  const instance = options.newInstance()
  db.transaction(() => {
    statements.put.run('instance', instance)
    statements.put.run('created_ms', options.nowMs())
    statements.put.run('head', sealHead(options.keys, instance, GENESIS))
  })()
  return instance
}

/** What an open buffer says of itself. `first`: where its chain begins, undefined where that was not made with its keys. */
export function readState(
  statements: Statements,
  { keys, instance }: { readonly keys: ChainKeys; readonly instance: string },
  first: ChainHead | undefined,
): BufferState {
  const head = readHead(statements, keys, instance)
  if (first === undefined) throw new Unusable('what it says of deleted entries was changed')
  const strangers = statements.get.get('strangers')
  return {
    head,
    first: { seq: first.seq, hash: first.hash },
    announced: new Set(statements.intentsLeft.all().map(({ id }) => id)),
    strangerBytes: typeof strangers === 'number' ? strangers : 0,
  }
}
