import { createServer } from 'node:net'
import type { ListenAddress } from './http-server.js'

/** One sentence for the operator on why an address cannot be listened on, from the system's error code. */
export function listenFailure(code: string | undefined, address: ListenAddress): string {
  const { host, port } = address
  switch (code) {
    case 'EADDRINUSE':
      return `Cannot listen on ${host}:${port}: the port is already in use.`
    case 'EADDRNOTAVAIL':
      return `Cannot listen on ${host}:${port}: ${host} is not an address of this machine.`
    case 'EACCES':
      return `Cannot listen on ${host}:${port}: this user may not use port ${port}; choose one above 1023.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `Cannot listen on ${host}:${port}: the host name "${host}" does not resolve.`
    default:
      return `Cannot listen on ${host}:${port}${code === undefined ? '' : ` (${code})`}.`
  }
}

/** Tries the address with the system's own server to learn the error code that another server did not give. */
export function probeListen(address: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    probe.listen({ host: address.host, port: address.port, exclusive: true }, () => {
      probe.close(() => resolve(undefined))
    })
  })
}
