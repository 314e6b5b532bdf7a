import { createRequire } from 'node:module'
import { connect as connectSocket, type Socket } from 'node:net'
import { Connection, Request, TYPES } from 'tedious'
import { invariant, unreachable } from '../../core/assert.js'
import type { Param } from '../../core/statement.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { SessionUse } from '../driver/session-pool.js'
import { type ByteField, exactText, lengthBytes, type WireField } from './cell-text.js'
import { connectionOptions, SOCKET_OPTIONS, type Tls } from './session.js'
import type { Receiver, WireStatement } from './wire.js'

/** How `tedious` reads a value: what it is, and where the next one begins. */
type ReadValue = (buffer: Buffer, offset: number, field: ByteField, options: unknown) => ReadResult
interface ReadResult {
  readonly value: unknown
  readonly offset: number
}

/** A variant has its type and that type's own properties before its value. */
const VARIANT_LENGTH_BYTES = 4
const VARIANT_TYPES: ReadonlyMap<number, string> = new Map([
  [0x28, 'Date'],
  [0x29, 'Time'],
  [0x2a, 'DateTime2'],
  [0x2b, 'DateTimeOffset'],
  [0x3a, 'SmallDateTime'],
  [0x3b, 'Real'],
  [0x3d, 'DateTime'],
  [0x3c, 'Money'],
  [0x7a, 'SmallMoney'],
  [0x6a, 'DecimalN'],
  [0x6c, 'NumericN'],
])

/**
 * `tedious` makes doubles of decimals and money, and instants without their offset of times: what it read is read again,
 * exactly, from the same bytes. This is the only way to, since the bytes are in none of its events.
 */
export function readingExactly(readValue: ReadValue): ReadValue {
  return (buffer, offset, field, options) => {
    const read = readValue(buffer, offset, field, options)
    if (read.value === null) return read
    const value =
      field.type.name === 'Variant'
        ? variantText(buffer.subarray(offset + VARIANT_LENGTH_BYTES, read.offset))
        : exactText(buffer.subarray(offset + lengthBytes(field.type.name), read.offset), field)
    return value === undefined ? read : { value, offset: read.offset }
  }
}

/** Of decimals a precision and a scale stand before the value, of times a scale. */
function variantText(bytes: Buffer): string | undefined {
  const name = VARIANT_TYPES.get(bytes[0] ?? 0)
  const properties = bytes[1] ?? 0
  if (name === undefined) return undefined
  const scale = properties === 0 ? 0 : bytes[1 + properties]
  return exactText(bytes.subarray(2 + properties), { type: { name }, precision: undefined, scale })
}

// The parsers of rows and outputs look this function up each time, and nothing else in this process uses the package.
const valueParser: { readValue: ReadValue } = createRequire(import.meta.url)('tedious/lib/value-parser.js')
valueParser.readValue = readingExactly(valueParser.readValue)

/** Characters that every parameter is declared with, so that texts of any length share a plan; longer ones have no limit. */
const PARAMETER_CHARS = 4_000
/** More than a type may have stands for `max`. */
const WITHOUT_LIMIT = 65_535

/** What a connection is told to expect of TLS, beside what `tedious` itself takes. */
const ENCRYPTED: ReadonlySet<string> = new Set(['ON', 'REQ'])

type TokenParser = ReturnType<Connection['createTokenStreamParser']>
type TokenHandler = Parameters<Connection['createTokenStreamParser']>[1]
type Prelogin = Parameters<Connection['performTlsNegotiation']>[0]

/** What the package tells nobody: how transactions end, and answers that cannot be read. */
interface Told {
  readonly transactionEnded: (how: 'committed' | 'rolled_back') => void
  readonly unreadable: (error: unknown) => void
}

class ToldConnection extends Connection {
  /** Set once the package's own constructor has run, before anything is connected. */
  told: Told | undefined
  encrypted = false

  override createTokenStreamParser(...[message, handler]: Parameters<Connection['createTokenStreamParser']>) {
    this.#listen(handler)
    const parser: TokenParser = super.createTokenStreamParser(message, handler)
    // Nothing listens for this in the package, so that an answer that is none would end the process.
    parser.parser.on('error', (error: unknown) => this.told?.unreadable(error))
    return parser
  }

  /** A server that says it cannot encrypt, or whoever speaks in its place, would otherwise be sent the password in clear. */
  override async performTlsNegotiation(...[prelogin, signal]: [prelogin: Prelogin, signal: AbortSignal]) {
    if (this.encrypted && !ENCRYPTED.has(prelogin.encryptionString ?? '')) {
      throw Object.assign(new Error('the server does not encrypt'), { code: 'EENCRYPT' })
    }
    return super.performTlsNegotiation(prelogin, signal)
  }

  #listen(handler: TokenHandler): void {
    const acknowledges = 'attentionReceived' in handler
    const committed = handler.onCommitTransaction.bind(handler)
    const rolledBack = handler.onRollbackTransaction.bind(handler)
    handler.onCommitTransaction = (token) => {
      this.told?.transactionEnded('committed')
      if (!acknowledges) committed(token)
    }
    handler.onRollbackTransaction = (token) => {
      this.told?.transactionEnded('rolled_back')
      if (!acknowledges) rolledBack(token)
    }
    if (!acknowledges) return
    // An attention can be acknowledged with more than that, which the package takes for a fault.
    handler.onErrorMessage = () => {}
    handler.onInfoMessage = () => {}
    handler.onDoneProc = () => {}
    handler.onDoneInProc = () => {}
    handler.onReturnStatus = () => {}
  }
}

/** One connection through `tedious`: it runs one statement at a time, and knows when it is lost. */
export class SqlserverConnection {
  readonly #connection: ToldConnection
  readonly #timeoutMs: number
  #sockets: readonly Socket[] = []
  #receiver: Receiver | undefined
  #lost: unknown
  #destroyed = false
  #connectFailed: ((error: unknown) => void) | undefined
  /** Called when the connection is lost before it was ended. */
  onLost: ((error: unknown) => void) | undefined

  /** Connects when it is told to. `timeoutMs`: for the whole of it, authentication included. */
  constructor(
    settings: ConnectorSettings,
    use: SessionUse,
    tls: Tls,
    { password, timeoutMs }: { readonly password: string; readonly timeoutMs: number },
  ) {
    const { host, user } = settings.connection
    this.#timeoutMs = timeoutMs
    this.#connection = new ToldConnection({
      server: host,
      authentication: { type: 'default', options: { userName: user, password } },
      options: {
        ...connectionOptions(settings, tls, use),
        connectTimeout: timeoutMs,
        connector: () => this.#openSocket(settings.connection),
      },
    })
    this.#connection.encrypted = tls !== false && tls.mode !== 'strict'
    this.#connection.told = {
      transactionEnded: (how) => this.#receiver?.transactionEnded(how),
      unreadable: (error) => {
        this.#lose(error)
        this.destroy()
      },
    }
    this.#connection.on('error', (error) => this.#lose(error))
    this.#connection.on('end', () => this.#lose(new Error('the server closed the connection')))
  }

  /** Settles once the server has let the login in, and at the latest when that took too long. */
  connected(): Promise<void> {
    return new Promise((resolve, reject) => {
      // The package waits without an end for the rest of an answer that never comes.
      const timer = setTimeout(() => {
        reject(Object.assign(new Error('connecting took too long'), { code: 'ETIMEOUT' }))
        this.destroy()
      }, this.#timeoutMs)
      const settle = (settled: () => void): void => {
        clearTimeout(timer)
        this.#connectFailed = undefined
        settled()
      }
      this.#connectFailed = (error) => settle(() => reject(error))
      this.#connection.connect((error) => {
        if (error) return settle(() => reject(error))
        // The last one: a server can have sent the connection on to another.
        this.#sockets.at(-1)?.on('data', (chunk: Buffer) => this.#receiver?.arrived(chunk.length))
        settle(resolve)
      })
    })
  }

  get lost(): boolean {
    return this.#lost !== undefined || this.#destroyed
  }

  /** Runs one statement; the receiver hears of its end exactly once, and later than this returns. */
  submit(statement: WireStatement, receiver: Receiver): void {
    if (this.lost) {
      queueMicrotask(() => receiver.failed(this.#lost ?? new Error('the connection was closed')))
      return
    }
    this.#receiver = receiver
    const request = this.#request(statement, receiver)
    switch (statement.kind) {
      case 'statement':
        for (const [i, param] of statement.params.entries()) bind(request, `p${i + 1}`, param)
        this.#connection.execSql(request)
        return
      case 'control':
        this.#connection.execSqlBatch(request)
        return
      case 'reset':
        this.#connection.resetConnectionOnNextRequest = true
        this.#connection.execSqlBatch(request)
        return
      default:
        unreachable(statement)
    }
  }

  /** Sends an attention, once for each statement: the package keeps to that. */
  cancel(): void {
    if (!this.lost) this.#connection.cancel()
  }

  /** The protocol has no farewell: a session ends with its socket. Settles when that is closed. */
  async end(): Promise<void> {
    this.destroy()
    await Promise.all(this.#sockets.map(closed))
  }

  destroy(): void {
    this.onLost = undefined
    this.#destroyed = true
    this.#connectFailed?.(new Error('the connection was closed'))
    for (const socket of this.#sockets) socket.destroy()
    if (this.#sockets.length > 0) this.#connection.close()
  }

  #request(statement: WireStatement, receiver: Receiver): Request {
    const request = new Request(statement.text, (error) => {
      if (this.#receiver === receiver) this.#receiver = undefined
      if (error) receiver.failed(error)
      else receiver.done()
    })
    request.on('columnMetadata', (columns) => {
      // With `useColumnNames` off they are a list, which the declarations do not tell from the other form.
      if (Array.isArray(columns)) receiver.fields(columns satisfies readonly WireField[])
    })
    request.on('row', (cells: readonly { readonly value: unknown }[]) => receiver.row(cells.map(({ value }) => value)))
    return request
  }

  /** The socket is this connection's own from the start, so that it can be closed at any moment. */
  #openSocket(connection: ConnectorSettings['connection']): Promise<Socket> {
    const routed = this.#connection.routingData
    const address = routed === undefined ? connection : { host: routed.server, port: routed.port }
    const socket = connectSocket({ host: address.host, port: address.port, ...SOCKET_OPTIONS })
    this.#sockets = [...this.#sockets, socket]
    if (this.#destroyed) socket.destroy()
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('the connection was closed')))
      socket.once('connect', () => {
        socket.off('error', reject)
        // Nothing of the package listens between its own listeners.
        socket.on('error', () => {})
        resolve(socket)
      })
    })
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

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** Text for everything but whole numbers, doubles and bytes: the statement says what it is to become. */
function bind(request: Request, name: string, param: Param): void {
  if (param === null || typeof param === 'string') return bindText(request, name, param)
  invariant('type' in param, 'this engine binds no lists')
  const { type, value } = param
  switch (type) {
    case 'integer':
    case 'unsigned':
      return request.addParameter(name, TYPES.BigInt, BigInt(value))
    case 'decimal':
      return bindText(request, name, value)
    case 'float':
      return request.addParameter(name, TYPES.Float, Number(value))
    case 'bytes':
      return request.addParameter(name, TYPES.VarBinary, Buffer.from(value, 'base64'), { length: WITHOUT_LIMIT })
    default:
      return unreachable(type)
  }
}

function bindText(request: Request, name: string, text: string | null): void {
  const length = text !== null && text.length > PARAMETER_CHARS ? WITHOUT_LIMIT : PARAMETER_CHARS
  request.addParameter(name, TYPES.NVarChar, text, { length })
}
