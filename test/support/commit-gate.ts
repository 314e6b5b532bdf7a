import { connect, createServer, type Socket } from 'node:net'

/**
 * A port in front of a server that lets everything pass until a COMMIT comes by. `before`: the connection is cut and the
 * server never sees it. `after`: the server answers it, and the connection is cut instead of passing the answer on. `held`:
 * the server never sees it, and the connection stays as it is.
 */
export interface CommitGate {
  readonly port: number
  mode: 'open' | 'before' | 'after' | 'held'
  stop(): Promise<void>
}

/** As it stands in the message that has it parsed. */
const COMMIT = Buffer.from('\0COMMIT\0')

export async function commitGate(targetPort: number): Promise<CommitGate> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: targetPort })
    let state: 'passing' | 'cut at the answer' | 'held' = 'passing'
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.on('data', (chunk) => {
      if (state === 'held') return
      if (gate.mode !== 'open' && chunk.includes(COMMIT)) {
        if (gate.mode === 'before') near.destroy()
        state = gate.mode === 'after' ? 'cut at the answer' : 'held'
      }
      if (state !== 'held') far.write(chunk)
    })
    far.on('data', (chunk) => {
      if (state === 'cut at the answer') near.destroy()
      else near.write(chunk)
    })
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  const gate: CommitGate = {
    port: await new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: '127.0.0.1', port: 0 }, () => {
        const address = server.address()
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new Error('the gate has no port'))
      })
    }),
    mode: 'open',
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return gate
}
