import { connect, createServer, type Server, type Socket } from 'node:net'

/** A port in front of a server, which a test can shut and open again: to the client, the server goes away and returns. */
export interface TcpGate {
  readonly port: number
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>
  open(): Promise<void>
  /** Takes connections but passes nothing on, in either direction. */
  mute(): void
  /** The request code that each connection began with, in order. */
  readonly requests: readonly number[]
}

export async function tcpGate(targetPort: number): Promise<TcpGate> {
  const sockets = new Set<Socket>()
  const requests: number[] = []
  let muted = false
  let server: Server | undefined
  const listen = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server = createServer((near) => {
        sockets.add(near)
        near.on('error', () => {})
        near.once('data', (chunk) => requests.push(chunk.readInt32BE(4)))
        if (muted) return
        const far = connect({ host: '127.0.0.1', port: targetPort })
        sockets.add(far)
        far.on('error', () => {})
        near.pipe(far).pipe(near)
        near.on('close', () => far.destroy())
        far.on('close', () => near.destroy())
      })
      server.once('error', reject)
      server.listen({ host: '127.0.0.1', port }, () => {
        const address = server?.address()
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new Error('the gate has no port'))
      })
    })
  const port = await listen(0)
  return {
    port,
    requests,
    open: async () => {
      muted = false
      await listen(port)
    },
    shut: async () => {
      const closing = server
      const closed = new Promise((resolve) => closing?.close(resolve))
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      await closed
    },
    mute: () => {
      muted = true
    },
  }
}
