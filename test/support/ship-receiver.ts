import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What a receiver does with the request of this number, from 0, once all of it has arrived. */
export type Answering = (response: ServerResponse, request: ReceivedRequest, number: number) => void

export interface Receiver {
  readonly url: string
  readonly port: number
  /** All that arrived whole, in order. */
  readonly requests: readonly ReceivedRequest[]
  close(): Promise<void>
}

/** An HTTP server on loopback that keeps what it is sent and answers as it is told to. */
export async function startReceiver(answering: Answering, port = 0): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8')
      const received = { path: request.url ?? '', headers: request.headers, body }
      requests.push(received)
      answering(response, received, requests.length - 1)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  // A listening TCP server has an address of this kind.
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${bound}/ingest`,
    port: bound,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function answer(status: number, body = '', headers: Readonly<Record<string, string>> = {}): Answering {
  return (response) => void response.writeHead(status, headers).end(body)
}

/** Takes the request and drops the connection instead of an answer. */
export const drop: Answering = (response) => void response.socket?.destroy()

/** Takes the request and never answers. */
export const hang: Answering = () => {}

/** One answer after the other, the last one for all that follow. */
export function inTurn(...answers: readonly Answering[]): Answering {
  return (response, request, number) => answers[Math.min(number, answers.length - 1)]?.(response, request, number)
}
