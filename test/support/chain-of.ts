import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { chainKeys, openHead } from '../../src/audit/chain.js'
import { type ChainReport, verifyChain } from './verify-chain.js'

/** Checks the whole chain of a buffer with its key file and its sealed head, as an auditor would. */
export function chainOf(bufferFile: string, keyFile = `${bufferFile}.key`): ChainReport {
  const keys = chainKeys(Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'hex'))
  const db = new Database(bufferFile, { readonly: true })
  try {
    // In one transaction, since a gateway may be appending.
    return db.transaction(() => {
      const lines = db.prepare<[], string>('SELECT body FROM entries ORDER BY seq').pluck().all()
      const meta = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck()
      const head = openHead(keys, meta.get('instance') ?? '', meta.get('head') ?? '')
      if (head === undefined) throw new Error('the sealed head was not made with this key')
      return verifyChain(lines, keys, head)
    })()
  } finally {
    db.close()
  }
}
