import { connect as connectSocket, isIP, type Socket } from 'node:net'
import mysql, { type Connection, type ExecuteValues, type TypeCast } from 'mysql2'
import { invariant } from '../../core/assert.js'
import type { Param } from '../../core/statement.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { WireField } from './cell-text.js'
import { errnoOf, STATEMENTS_FULL } from './errors.js'
import { connectionOptions, isSocketPath, type Product, productOf, SOCKET_OPTIONS, type Tls } from './session.js'
import type { Receiver, WireStatement } from './wire.js'

/** A packet of the protocol, as `mysql2` hands it on. */
interface Packet {
  readonly buffer: Buffer
  readonly offset: number
  readonly end: number
}

/** What the type declarations of `mysql2` leave out. */
interface Undeclared {
  readonly stream: Socket
  readonly _handshakePacket?: { readonly serverVersion: string }
  /** The statements that are kept prepared; what leaves is closed on the server. */
  readonly _statements: { clear(): void }
  handlePacket(packet?: Packet): void
  reset(done: (error: unknown) => void): void
}

type PreparedStatement = Extract<WireStatement, { readonly kind: 'prepared' }>

/** What else hears of a statement's end. */
interface Course {
  ended?(): void
  /** Whether it is run again instead of having failed. */
  retried?(error: unknown): boolean
}

const EOF_MARKER = 0xfe
/** A longer packet that begins like that is a row. */
const EOF_BYTES_MAX = 9
const EOF_WARNINGS_OFFSET = 1
const EOF_STATUS_OFFSET = 3

/** `mysql2` would parse these into objects: bytes are what the server gives. */
const typeCast: TypeCast = (field, next) =>
  field.type === 'GEOMETRY' || field.type === 'VECTOR' ? field.buffer() : next()

/** One connection through `mysql2`: it runs one statement at a time, and knows when it is lost. */
export class MysqlConnection {
  readonly #connection: Connection
  readonly #undeclared: Undeclared
  readonly #closed: Promise<void>
  #receiver: Receiver | undefined
  #lost: unknown
  #connectFailed: ((error: unknown) => void) | undefined
  /** Called when the connection is lost before it was ended. */
  onLost: ((error: unknown) => void) | undefined
  /** Called when the server has no room for another prepared statement: settles when others have closed theirs. */
  onStatementsFull: (() => Promise<unknown>) | undefined

  /** Begins to connect. `timeoutMs`: for the whole of it, authentication included. */
  constructor(
    settings: ConnectorSettings,
    tls: Tls,
    { password, timeoutMs }: { readonly password: string; readonly timeoutMs: number },
  ) {
    this.#connection = mysql.createConnection({
      ...connectionOptions(settings, tls),
      password,
      connectTimeout: timeoutMs,
      typeCast,
      stream: () => openSocket(settings.connection),
    })
    // Everything that is declared for a connection is there; these members are as well.
    this.#undeclared = this.#connection as unknown as Undeclared
    this.#readStatus()
    const { stream } = this.#undeclared
    this.#closed = new Promise((resolve) => stream.once('close', () => resolve()))
    this.#connection.on('error', (error) => this.#lose(error))
    stream.once('close', () => this.#lose(new Error('the server closed the connection')))
  }

  /** Settles once the server has let the login in. */
  connected(): Promise<void> {
    return new Promise((resolve, reject) => {
      // `mysql2` says nothing to whoever waits here when the connection is ended meanwhile.
      this.#connectFailed = reject
      this.#connection.connect((error) => {
        if (error) return reject(error)
        // Only now is it the stream that stays: TLS puts another one around the socket.
        this.#undeclared.stream.on('data', (chunk: Buffer) => this.#receiver?.arrived(chunk.length))
        resolve()
      })
    })
  }

  get product(): Product {
    return productOf(this.#undeclared._handshakePacket?.serverVersion ?? '')
  }

  get threadId(): number {
    return this.#connection.threadId
  }

  get lost(): boolean {
    return this.#lost !== undefined
  }

  /** Runs one statement; the receiver hears of its end exactly once, and later than this returns. */
  submit(statement: WireStatement, receiver: Receiver): void {
    if (this.#lost !== undefined) {
      queueMicrotask(() => receiver.failed(this.#lost))
      return
    }
    this.#receiver = receiver
    switch (statement.kind) {
      case 'prepared':
        return this.#execute(statement, receiver)
      case 'control':
        return this.#follow(this.#connection.query({ sql: statement.text }), receiver)
      default:
        this.#undeclared.reset((error) => {
          this.#receiver = undefined
          if (error) receiver.failed(error)
          else receiver.done()
        })
    }
  }

  /**
   * Closes every statement that is kept prepared on the server. Between two statements only. Settles when the server has done
   * so, which answers nothing to a close and is therefore asked something after it.
   */
  forgetStatements(): Promise<void> {
    if (this.#lost !== undefined) return Promise.resolve()
    this.#undeclared._statements.clear()
    return new Promise((resolve) => this.#connection.ping(() => resolve()))
  }

  /** Says goodbye to the server, and closes the socket when the server does not answer in time. */
  async end(timeoutMs: number): Promise<void> {
    this.onLost = undefined
    const { stream } = this.#undeclared
    const timer = setTimeout(() => stream.destroy(), timeoutMs)
    try {
      if (this.#lost === undefined) this.#connection.end(() => {})
      else stream.destroy()
      await this.#closed
    } finally {
      clearTimeout(timer)
    }
  }

  destroy(): void {
    this.onLost = undefined
    this.#undeclared.stream.destroy()
  }

  /**
   * Where the server has no room for one more statement, some is made and it is prepared again, once. What runs may fail by
   * the same number, and is never run twice.
   */
  #execute(statement: PreparedStatement, receiver: Receiver, again = false): void {
    // What a row of this statement is made of is set once, for the connection.
    const command = this.#connection.execute({ sql: statement.text, values: statement.params.map(bound) })
    const kept = statement.once !== true && !again
    this.#follow(command, receiver, {
      ended: () => {
        if (!kept) this.#connection.unprepare(statement.text)
      },
      retried: (error) => {
        // The command has a statement as soon as that is prepared, which its declarations do not say.
        const prepared = (command as { readonly statement?: unknown }).statement !== undefined
        if (again || prepared || errnoOf(error) !== STATEMENTS_FULL) return false
        // Whoever waits for the answer has a deadline, and a socket that is lost answers at once.
        void Promise.all([this.forgetStatements(), this.onStatementsFull?.()]).then(() =>
          this.#execute(statement, receiver, true),
        )
        return true
      },
    })
  }

  #follow(command: ReturnType<Connection['query']>, receiver: Receiver, course: Course = {}): void {
    let retried = false
    command.on('fields', (fields: readonly WireField[] | undefined) => {
      if (fields !== undefined) receiver.fields(fields)
    })
    command.on('result', (result: readonly unknown[] | { affectedRows: number | string; warningStatus: number }) => {
      if ('affectedRows' in result) receiver.completed(Number(result.affectedRows), result.warningStatus)
      else receiver.row(result)
    })
    command.on('error', (error: unknown) => {
      if (course.retried?.(error) === true) {
        retried = true
        return
      }
      this.#receiver = undefined
      receiver.failed(error)
    })
    command.on('end', () => {
      if (retried) return
      if (this.#receiver === receiver) this.#receiver = undefined
      if (this.#lost === undefined) course.ended?.()
      receiver.done()
    })
  }

  /** The status that closes the columns and the rows of a set is nowhere in the events of `mysql2`. */
  #readStatus(): void {
    const undeclared = this.#undeclared
    const handle = undeclared.handlePacket.bind(undeclared)
    undeclared.handlePacket = (packet) => {
      const receiver = this.#receiver
      if (receiver !== undefined && packet !== undefined && packet.buffer[packet.offset] === EOF_MARKER) {
        if (packet.end - packet.offset <= EOF_BYTES_MAX) {
          const { buffer, offset } = packet
          receiver.status(
            buffer.readUInt16LE(offset + EOF_STATUS_OFFSET),
            buffer.readUInt16LE(offset + EOF_WARNINGS_OFFSET),
          )
        }
      }
      handle(packet)
    }
  }

  #lose(error: unknown): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    const receiver = this.#receiver
    this.#receiver = undefined
    this.#connectFailed?.(error)
    receiver?.failed(error)
    this.onLost?.(error)
  }
}

function openSocket({ host, port }: ConnectorSettings['connection']): Socket {
  if (isSocketPath(host)) return connectSocket({ path: host })
  const socket = connectSocket({ host, port, ...SOCKET_OPTIONS })
  // `mysql2` gives TLS no name where the host is an address, and Node then checks the certificate against the socket's
  // own host, which it keeps for names alone: without this it would be checked against `localhost`.
  return isIP(host) === 0 ? socket : Object.assign(socket, { _host: host })
}

function bound(param: Param): ExecuteValues {
  if (param === null || typeof param === 'string') return param
  invariant('type' in param, 'this engine binds no lists')
  const { type, value } = param
  switch (type) {
    case 'integer':
      return mysql.TypedParameter.LONGLONG(BigInt(value))
    case 'unsigned':
      return mysql.TypedParameter.LONGLONG.unsigned(BigInt(value))
    case 'decimal':
      return mysql.TypedParameter.NEWDECIMAL(value)
    case 'float':
      return mysql.TypedParameter.DOUBLE(Number(value))
    default:
      return mysql.TypedParameter.BLOB(Buffer.from(value, 'base64'))
  }
}
