import { connect, type Socket } from 'node:net'

/** One run of load over loopback: every connection sends its next request when the answer to the last is there. */
export interface LoadPlan {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  readonly seconds: number
  /** Bodies sent in turn; `%d` becomes a number that differs from request to request, from 1 to `idMax`. */
  readonly body: string
  readonly idMax: number
  /** Every answer must contain this text. */
  readonly expect: string
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly wrong: number
  /** The first answer that was not what it should be. */
  readonly firstWrong?: string
}

interface Tally {
  readonly latencies: number[]
  wrong: number
  firstWrong: string | undefined
}

const HEADERS_END = '\r\n\r\n'

/** The length of the whole response at the start of `text`, or undefined while it is incomplete. */
function responseLength(text: string): number | undefined {
  const headersEnd = text.indexOf(HEADERS_END)
  if (headersEnd === -1) return undefined
  const bodyStart = headersEnd + HEADERS_END.length
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headersEnd))?.[1]
  if (length !== undefined) return text.length >= bodyStart + Number(length) ? bodyStart + Number(length) : undefined
  const chunksEnd = text.indexOf('\r\n0\r\n\r\n', headersEnd)
  return chunksEnd === -1 ? undefined : chunksEnd + 7
}

function runConnection(plan: LoadPlan, seed: number, endsAtMs: number, tally: Tally): Promise<void> {
  return new Promise((resolve, reject) => {
    const head = [
      `POST ${plan.path} HTTP/1.1`,
      `host: ${plan.host}:${plan.port}`,
      'content-type: application/json',
      ...Object.entries(plan.headers).map(([name, value]) => `${name}: ${value}`),
    ].join('\r\n')
    let id = seed
    let sentAtMs = 0
    let received = ''
    const socket: Socket = connect({ host: plan.host, port: plan.port, noDelay: true })
    socket.setEncoding('latin1')
    const send = (): void => {
      id = 1 + ((id * 48_271 + seed) % plan.idMax)
      const body = plan.body.replaceAll('%d', String(id))
      sentAtMs = performance.now()
      socket.write(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}${HEADERS_END}${body}`)
    }
    socket.on('connect', send)
    socket.on('data', (chunk: string) => {
      received += chunk
      const length = responseLength(received)
      if (length === undefined) return
      const now = performance.now()
      tally.latencies.push(now - sentAtMs)
      if (!received.includes(plan.expect)) {
        tally.wrong += 1
        tally.firstWrong ??= received.slice(0, 600)
      }
      received = received.slice(length)
      if (now < endsAtMs) send()
      else socket.end(() => resolve())
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

/** Puts the load on and waits for its end. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const tally: Tally = { latencies: [], wrong: 0, firstWrong: undefined }
  const startMs = performance.now()
  const endsAtMs = startMs + plan.seconds * 1_000
  await Promise.all(
    Array.from({ length: plan.connections }, (_, i) => runConnection(plan, 1 + i * 7_919, endsAtMs, tally)),
  )
  const elapsed = (performance.now() - startMs) / 1_000
  const sorted = Float64Array.from(tally.latencies).sort()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    perSecond: tally.latencies.length / elapsed,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    wrong: tally.wrong,
    ...(tally.firstWrong === undefined ? {} : { firstWrong: tally.firstWrong }),
  }
}

// As a process of its own: a load on the gateway's event loop would measure itself.
if (process.argv[2] !== undefined) {
  const plan: LoadPlan = JSON.parse(process.argv[2])
  process.stdout.write(JSON.stringify(await runLoad(plan)))
}
