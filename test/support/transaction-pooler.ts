import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Client } from 'pg'
import { sendCancelRequest } from '../../src/engines/postgres/cancel-request.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { startPgBouncer } from './pgbouncer.js'

/**
 * What a pooler in transaction mode does to its clients: each transaction may get another session of the server, a startup
 * option it does not know is refused, and a statement prepared under a name is on whichever session parsed it.
 */
export interface TransactionPooler {
  readonly label: string
  /** Where a connector reaches the database of `settings` through the pooler. */
  start(settings: ConnectorSettings): Promise<{ readonly port: number; stop(): Promise<void> }>
}

const SSL_REQUEST = 80_877_103
const CANCEL_REQUEST = 80_877_102
const KNOWN_AT_STARTUP: ReadonlySet<string> = new Set(['user', 'database', 'client_encoding', 'application_name'])
const SESSIONS = 2

/** A session of the server, and whom it serves. */
interface Backend {
  readonly client: Client
  readonly stream: Duplex
  serves: Front | undefined
}

/** A client of the pooler. */
interface Front {
  readonly socket: Socket
  readonly key: number
  /** Whole messages that wait for a session. */
  waiting: Buffer[]
  backend: Backend | undefined
  /** Syncs that were sent on and not answered. */
  pending: number
}

/** Splits a stream into messages: a type byte, the length of the rest, the rest. */
function messages(take: (type: string, message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      take(String.fromCharCode(message[0] ?? 0), message)
    }
  }
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [place, value] of values.entries()) bytes.writeInt32BE(value, place * 4)
  return bytes
}

function refusal(text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${text}\0\0`))
}

/** Hands the free session that has waited longest to each transaction, so that the next one gets another. */
class Pooler {
  readonly #settings: ConnectorSettings
  readonly #free: Backend[] = []
  readonly #backends = new Set<Backend>()
  readonly #fronts = new Set<Front>()
  readonly #line: Front[] = []
  #keys = 0

  constructor(settings: ConnectorSettings) {
    this.#settings = settings
  }

  async open(): Promise<void> {
    const { host, port, user, password, database } = this.#settings.connection
    const client = new Client({ host, port, user, password: password ?? '', database, application_name: 'runku' })
    client.on('error', () => {})
    await client.connect()
    // Past the login, the connection's bytes are passed on as they are.
    const { stream } = client.connection
    stream.removeAllListeners('data')
    const backend: Backend = { client, stream, serves: undefined }
    stream.on(
      'data',
      messages((type, bytes) => this.#answered(backend, type, bytes)),
    )
    this.#backends.add(backend)
    this.#put(backend)
  }

  accept(socket: Socket): void {
    socket.on('error', () => {})
    socket.once('data', (first) => this.#startup(socket, first))
  }

  close(): void {
    for (const { socket } of this.#fronts) socket.destroy()
    for (const { stream } of this.#backends) stream.destroy()
  }

  #startup(socket: Socket, packet: Buffer): void {
    const code = packet.readInt32BE(4)
    if (code === SSL_REQUEST) {
      socket.write('N')
      socket.once('data', (next) => this.#startup(socket, next))
    } else if (code === CANCEL_REQUEST) {
      void this.#cancel(packet.readInt32BE(8)).then(() => socket.end())
    } else {
      const parts = packet.subarray(8).toString('utf8').split('\0')
      const unknown = parts.find((name, place) => place % 2 === 0 && name !== '' && !KNOWN_AT_STARTUP.has(name))
      if (unknown === undefined) this.#welcome(socket)
      else socket.end(refusal(`unsupported startup parameter: ${unknown}`))
    }
  }

  #welcome(socket: Socket): void {
    const front: Front = { socket, key: ++this.#keys, waiting: [], backend: undefined, pending: 0 }
    this.#fronts.add(front)
    socket.on(
      'data',
      messages((type, bytes) => this.#said(front, type, bytes)),
    )
    socket.on('close', () => this.#gone(front))
    socket.write(
      Buffer.concat([
        message('R', words(0)),
        message('S', Buffer.from('server_version\x0015.0\0')),
        message('K', words(front.key, front.key)),
        message('Z', Buffer.from('I')),
      ]),
    )
  }

  #said(front: Front, type: string, bytes: Buffer): void {
    if (type === 'X') return
    if (type === 'P' && bytes[5] !== 0) {
      front.socket.end(refusal('prepared statements are not for transaction mode'))
      return
    }
    if (type === 'S' || type === 'Q') front.pending++
    if (front.backend !== undefined) {
      front.backend.stream.write(bytes)
      return
    }
    if (front.waiting.length === 0) this.#line.push(front)
    front.waiting.push(bytes)
    this.#serve()
  }

  #serve(): void {
    while (this.#line.length > 0 && this.#free.length > 0) {
      const front = this.#line.shift()
      const backend = front === undefined ? undefined : this.#free.shift()
      if (front === undefined || backend === undefined) return
      front.backend = backend
      backend.serves = front
      for (const bytes of front.waiting.splice(0)) backend.stream.write(bytes)
    }
  }

  #answered(backend: Backend, type: string, bytes: Buffer): void {
    const front = backend.serves
    if (front === undefined) return
    front.socket.write(bytes)
    if (type !== 'Z') return
    front.pending--
    if (front.pending > 0 || bytes.toString('latin1', 5) !== 'I') return
    front.backend = undefined
    backend.serves = undefined
    this.#put(backend)
  }

  #put(backend: Backend): void {
    this.#free.push(backend)
    this.#serve()
  }

  /** A client that leaves in the middle takes its session with it. */
  #gone(front: Front): void {
    this.#fronts.delete(front)
    const { backend } = front
    if (backend === undefined) return
    this.#backends.delete(backend)
    backend.stream.destroy()
    this.open().catch(() => {})
  }

  async #cancel(key: number): Promise<void> {
    for (const { key: own, backend } of this.#fronts) {
      if (own !== key || backend === undefined) continue
      // `pg` keeps what the server told it, and its type declarations leave it out.
      const { processID, secretKey } = backend.client as Client & {
        readonly processID: number
        readonly secretKey: number
      }
      const { host, port } = this.#settings.connection
      await sendCancelRequest({ host, port, tls: false, timeoutMs: 2_000 }, { processId: processID, secretKey })
    }
  }
}

const IN_PROCESS: TransactionPooler = {
  label: 'a pooler of two sessions',
  start: async (settings) => {
    const pooler = new Pooler(settings)
    for (let n = 0; n < SESSIONS; n++) await pooler.open()
    const server = createServer((socket) => pooler.accept(socket))
    const port = await listening(server)
    const stop = async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve))
      pooler.close()
      await closed
    }
    return { port, stop }
  },
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
      else reject(new Error('the pooler has no port'))
    })
  })
}

const PGBOUNCER: TransactionPooler = { label: 'PgBouncer', start: (settings) => startPgBouncer(settings, SESSIONS) }

/** One that does to its clients whatever a pooler may, and the one in common use. */
export const TRANSACTION_POOLERS: readonly TransactionPooler[] = [IN_PROCESS, PGBOUNCER]
