import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isSocketFolder, type Tls } from '../../storage/postgres-session.js'

/**
 * The protocol's cancel: a second connection that names the session to interrupt and is then closed by the server, without
 * an answer. https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */

const SSL_REQUEST_CODE = 80_877_103
const CANCEL_REQUEST_CODE = 80_877_102

/** Which session to interrupt. `pg` speaks protocol 3.0, whose secret keys are four bytes on every server version. */
export interface BackendKey {
  readonly processId: number
  readonly secretKey: number
}

export interface CancelTarget {
  readonly host: string
  readonly port: number
  readonly tls: Tls
  readonly timeoutMs: number
}

/** Settles when the server closed the side connection, which it does after it passed the signal on. Rejects on any failure. */
export function sendCancelRequest(target: CancelTarget, key: BackendKey): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = isSocketFolder(target.host)
      ? connectPlain({ path: `${target.host}/.s.PGSQL.${target.port}` })
      : connectPlain({ host: target.host, port: target.port })
    const deadline = setTimeout(() => socket.destroy(new Error('the cancel request timed out')), target.timeoutMs)
    socket.once('close', () => {
      clearTimeout(deadline)
      resolve()
    })
    socket.once('error', reject)
    socket.once('connect', () => {
      const { tls } = target
      if (tls === false) {
        finish(socket, key)
        return
      }
      socket.write(words([8, SSL_REQUEST_CODE]))
      socket.once('data', (answer) => {
        if (answer.toString('latin1') !== 'S') {
          socket.destroy(new Error('the server did not accept TLS for a cancel request'))
          return
        }
        const name = isIP(target.host) === 0 ? { servername: target.host } : {}
        const secure = connectTls({ ...tls, ...name, socket, host: target.host })
        secure.once('error', (error) => socket.destroy(error))
        secure.once('secureConnect', () => finish(secure, key))
      })
    })
  })
}

/** Sends the request and reads until the server closes: a socket that nobody reads would never notice the end. */
function finish(socket: Socket, key: BackendKey): void {
  socket.resume()
  socket.write(words([16, CANCEL_REQUEST_CODE, key.processId, key.secretKey]))
}

function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeInt32BE(value | 0, i * 4)
  return bytes
}
