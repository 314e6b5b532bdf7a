import { connect, createServer, type Socket } from 'node:net'

/**
 * A port in front of a server that lets everything pass until a COMMIT comes by. `before`: the connection is cut and the
 * server never sees it. `after`: the server answers it, and the connection is cut instead of passing the answer on. `held`:
 * the server never sees it, and the connection stays as it is. `late`: the server sees it when the client is gone.
 */
export interface CommitGate {
  readonly port: number
  mode: 'open' | 'before' | 'after' | 'held' | 'late'
  /** How many of them the gate did not let pass as they came. */
  readonly stopped: number
  stop(): Promise<void>
}

/** As it stands in PostgreSQL's message that has it parsed, in MySQL's packet of a query, and in SQL Server's batch. */
const COMMITS = [Buffer.from('\0COMMIT\0'), Buffer.from('\x03COMMIT'), Buffer.from('COMMIT TRANSACTION', 'utf16le')]

type State = 'passing' | 'cut at the answer' | 'held'

const STOPPED: Readonly<Record<Exclude<CommitGate['mode'], 'open'>, State>> = {
  before: 'held',
  after: 'cut at the answer',
  held: 'held',
  late: 'held',
}

export async function commitGate(targetPort: number): Promise<CommitGate> {
  const sockets = new Set<Socket>()
  let stopped = 0
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: targetPort })
    let state: State = 'passing'
    let late: Buffer | undefined
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.on('data', (chunk) => {
      if (state === 'held') return
      if (gate.mode !== 'open' && COMMITS.some((commit) => chunk.includes(commit))) {
        stopped += 1
        state = STOPPED[gate.mode]
        if (gate.mode === 'before') near.destroy()
        if (gate.mode === 'late') late = chunk
      }
      if (state !== 'held') far.write(chunk)
    })
    far.on('data', (chunk) => {
      if (state === 'cut at the answer') near.destroy()
      else if (near.destroyed) far.end()
      else near.write(chunk)
    })
    near.on('close', () => {
      if (late === undefined) far.destroy()
      // It stays until the server has answered: one that sees it go first may never look at the last thing it said.
      else far.write(late)
    })
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
    get stopped() {
      return stopped
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return gate
}
