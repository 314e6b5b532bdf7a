import { invariant } from '../../core/assert.js'
import { CANCEL_GRACE_MS, SESSION_GONE_POLL_MS, SESSION_GONE_TIMEOUT_MS } from '../../core/limits.js'
import { Cancellation } from '../engine.js'
import type { MysqlConnection } from './connection.js'
import { errnoOf, KILL_DENIED, NO_SUCH_THREAD } from './errors.js'
import { whereaboutsQuery } from './session.js'
import { runStatement, type WireSession } from './wire.js'

/** Which server a session is on, and from where that server sees it come. */
export interface Whereabouts {
  readonly server: string
  /** Absent where the login does not see such a session. */
  readonly client?: string
}

/** What a killer acts on and tells of. */
export interface KillTarget {
  readonly threadId: number
  /** Absent where it could not be learned: then nothing is killed. */
  readonly whereabouts: Whereabouts | undefined
  /** A connection of the killer's own. Rejects with what kept it from connecting. */
  open(): Promise<MysqlConnection>
  /** A request could not be made. */
  failed(error: unknown): void
  /** Nothing shows that the session's own server was reached, so that nothing can be killed from here. Told once. */
  elsewhere(): void
  /** Monotonic milliseconds. */
  nowMs(): number
}

/** `there`: the session lives. `unreachable`: the server cannot be asked. `elsewhere`: what answers is another server. */
type Presence = 'gone' | 'there' | 'unreachable' | 'elsewhere'

/**
 * Ends what another session runs, over a connection of its own: never more than one at a time. Behind one address there can
 * be several servers, which number their sessions alike, so that nothing is killed before the server has shown that it is
 * the one that the session is on, and that the session is seen to come from where it did.
 */
export class Killer {
  readonly #target: KillTarget
  #connection: MysqlConnection | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = false
  #ending = false
  #elsewhere = false

  constructor(target: KillTarget) {
    invariant(Number.isSafeInteger(target.threadId), 'a thread of the server has a number')
    this.#target = target
  }

  /** Interrupts the statement that runs now; does nothing while an earlier request is still on its way. */
  interrupt(): void {
    if (!this.#waiting) void this.#enqueue(() => this.#ask('QUERY'))
  }

  /** Ends the whole session on the server. */
  kill(): void {
    void this.#enqueue(() => this.#ask('CONNECTION'))
  }

  /**
   * Settles when the session is gone from the server, when nobody can tell, or after `SESSION_GONE_TIMEOUT_MS`: what runs with
   * the rights of a routine's owner may only be killed by that owner, and can outlive every limit.
   */
  async gone(): Promise<void> {
    const sinceMs = this.#target.nowMs()
    let deadlineMs = sinceMs + SESSION_GONE_TIMEOUT_MS
    for (let waitMs = 5; !this.#ending && this.#target.nowMs() < deadlineMs; waitMs *= 2) {
      const presence = await this.#enqueue(() => this.#ask('CONNECTION'))
      if (presence === 'gone' || presence === 'unreachable') return
      // The server's own limit has ended by then whatever it ends at all.
      if (presence === 'elsewhere') deadlineMs = Math.min(deadlineMs, sinceMs + CANCEL_GRACE_MS)
      await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, SESSION_GONE_POLL_MS)))
    }
  }

  /** Settles when everything was asked for and the connection is closed. */
  async end(): Promise<void> {
    this.#ending = true
    await this.#last
    await this.#connection?.end(CANCEL_GRACE_MS)
  }

  #enqueue(ask: () => Promise<Presence>): Promise<Presence> {
    if (this.#ending) return Promise.resolve('unreachable')
    this.#waiting = true
    const asked = this.#last.then(async () => {
      try {
        return await ask()
      } catch (error) {
        // Only a connection that still answers is asked again.
        const connection = this.#connection
        this.#connection = undefined
        connection?.destroy()
        this.#target.failed(error)
        return 'unreachable'
      } finally {
        this.#waiting = false
      }
    })
    this.#last = asked
    return asked
  }

  /** Asks for the end of the statement or of the session, where that is the session that is meant. */
  async #ask(what: 'QUERY' | 'CONNECTION'): Promise<Presence> {
    if (this.#elsewhere) return 'elsewhere'
    const { threadId, whereabouts } = this.#target
    if (whereabouts?.client === undefined) return this.#isElsewhere()
    const connection = await this.#connected()
    const found = await seen(connection, threadId)
    if (found.server !== whereabouts.server) return this.#isElsewhere()
    if (found.client !== undefined && !sameClient(found.client, whereabouts.client)) return 'gone'
    // A login does not see a session that runs with the rights of another, and may not end it. The answer tells whether it is
    // still there.
    if (found.client === undefined && what === 'QUERY') return 'there'
    try {
      await run(connection, `KILL ${what} ${threadId}`)
      return 'there'
    } catch (error) {
      const number = errnoOf(error)
      if (number === NO_SUCH_THREAD) return 'gone'
      if (number === KILL_DENIED) return 'there'
      throw error
    }
  }

  #isElsewhere(): Presence {
    this.#elsewhere = true
    this.#target.elsewhere()
    return 'elsewhere'
  }

  async #connected(): Promise<MysqlConnection> {
    if (this.#connection !== undefined && !this.#connection.lost) return this.#connection
    const connection = await this.#target.open()
    this.#connection = connection
    return connection
  }
}

/** What this connection's server says of a session: one round trip. */
async function seen(connection: MysqlConnection, threadId: number): Promise<Whereabouts> {
  return whereaboutsOf(await run(connection, whereaboutsQuery(connection.product, threadId)))
}

/** From the one row that `whereaboutsQuery` gives. */
export function whereaboutsOf([server, client]: readonly (string | null)[]): Whereabouts {
  return { server: server ?? '', ...(client == null ? {} : { client }) }
}

/**
 * The port alone counts where both have one: of a session that runs with the rights of a routine's owner, the server shows
 * the owner's host in place of the client's.
 */
function sameClient(one: string, other: string): boolean {
  const ports = [one, other].map((client) => /:(\d+)$/.exec(client)?.[1])
  return ports.includes(undefined) ? one === other : ports[0] === ports[1]
}

/** Runs one statement in the time that a cancel has; throws what it failed with. The first row of its answer. */
async function run(connection: MysqlConnection, text: string): Promise<readonly (string | null)[]> {
  const session: WireSession = {
    submit: (statement, receiver) => connection.submit(statement, receiver),
    cancel: () => connection.destroy(),
    limited: () => [],
    abandon: () => connection.destroy(),
  }
  const limits = { timeoutMs: CANCEL_GRACE_MS, bytesMax: KILL_BYTES_MAX }
  const end = await runStatement(session, { kind: 'control', text }, limits, new Cancellation())
  if (end.kind === 'done') return end.answer.sets[0]?.rows[0] ?? []
  throw end.kind === 'failed' ? end.error : new Error('the server did not answer in time')
}

const KILL_BYTES_MAX = 1_000
