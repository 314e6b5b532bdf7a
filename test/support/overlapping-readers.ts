import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

/** A thread that reads a buffer by two connections whose short transactions overlap: there is never a moment without a reader. */
const readers = [
  new Database(String(workerData), { readonly: true }),
  new Database(String(workerData), { readonly: true }),
]

function read(reader: Database.Database): void {
  reader.exec('BEGIN')
  reader.prepare('SELECT seq, length(body) FROM entries ORDER BY seq DESC LIMIT 20').all()
}

function turn(ending: number): void {
  const [first, second] = ending === 0 ? readers : [...readers].reverse()
  if (first === undefined || second === undefined) return
  read(second)
  if (first.inTransaction) first.exec('COMMIT')
  setTimeout(() => turn(1 - ending), 2)
}

turn(0)
parentPort?.postMessage('reading')
