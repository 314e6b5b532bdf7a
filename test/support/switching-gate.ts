import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A port in front of several servers: each connection goes to the next of them, as behind a load balancer. */
export async function switchingGate(
  ports: readonly number[],
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const sockets = new Set<Socket>()
  let taken = 0
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: ports[taken++ % ports.length] ?? 0 })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  // A server that listens on a port has this kind of address.
  const { port } = server.address() as AddressInfo
  return {
    port,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
