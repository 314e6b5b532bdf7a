import { rmSync, statSync } from 'node:fs'

/** What SQLite keeps beside a database in WAL mode, for as long as a connection is open. */
const COMPANIONS = ['-wal', '-shm'] as const
const SUFFIXES = ['', ...COMPANIONS] as const

function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}

/**
 * Tells whether an open database still is the one that lies at its path. An open file goes on answering and taking writes
 * after it was removed or replaced; and a connection whose `-wal` or `-shm` is gone no longer sees what others write, while
 * nobody will ever read what it writes.
 */
export class SqliteFiles {
  readonly #path: string
  readonly #known: readonly (string | undefined)[]

  /** To be made once the connection is in WAL mode and has read something, so that its files exist. */
  constructor(path: string) {
    this.#path = path
    this.#known = SUFFIXES.map((suffix) => identityOf(path + suffix))
  }

  /** The first file that is missing or another one now, or undefined while all are in place. */
  disturbed(): string | undefined {
    const suffix = SUFFIXES.find((each, i) => identityOf(this.#path + each) !== this.#known[i])
    return suffix === undefined ? undefined : this.#path + suffix
  }

  /** Whether another file lies at the path of the database itself. */
  replaced(): boolean {
    const now = identityOf(this.#path)
    return now !== undefined && now !== this.#known[0]
  }

  /** Removes those of this database's companions that still lie beside the file that took its place. */
  removeCompanions(): void {
    COMPANIONS.forEach((suffix, i) => {
      const file = this.#path + suffix
      if (identityOf(file) === this.#known[i + 1]) rmSync(file, { force: true })
    })
  }
}
