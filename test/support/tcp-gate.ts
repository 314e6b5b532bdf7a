import { connect, createServer, type Server, type Socket } from 'node:net'

/** A port in front of a server, which a test can shut and open again: to the client, the server goes away and returns. */
export interface TcpGate {
  readonly port: number
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>
  open(): Promise<void>
  /** Takes connections but passes nothing on, in either direction. */
  mute(): void
  /**
   * Settles when a client sends the text; before it goes on to the server. With `cut` the server gets it, and its answer ends the
   * connection instead of reaching the client.
   */
  heard(text: string, cut?: 'cut'): Promise<void>
  /** The request code that each connection began with, in order. */
  readonly requests: readonly number[]
}

export async function tcpGate(targetPort: number): Promise<TcpGate> {
  const sockets = new Set<Socket>()
  const requests: number[] = []
  const listeners = new Set<(chunk: Buffer) => boolean>()
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
        near.on('data', (chunk) => {
          for (const cuts of listeners) {
            if (!cuts(chunk)) continue
            far.unpipe(near)
            far.once('data', () => near.destroy())
          }
        })
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
    heard: (text, cut) =>
      new Promise((resolve) => {
        const listener = (chunk: Buffer) => {
          if (!chunk.includes(text)) return false
          listeners.delete(listener)
          resolve()
          return cut === 'cut'
        }
        listeners.add(listener)
      }),
  }
}
