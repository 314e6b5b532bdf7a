import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

export type SdkTool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

/** The client that most agents are built on, connected (`initialize` has been answered) with a key. */
export async function connectSdk(endpoint: string, key: string): Promise<Client> {
  const client = new Client({ name: 'runku-test', version: '1.0.0' })
  const headers = { Authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } })
  // The class leaves `sessionId` undefined where the interface leaves it out; under exact optional types those differ.
  await client.connect(transport as Transport)
  return client
}

/** What an SDK call gave, in the parts that tests look at. */
export interface SdkAnswer {
  readonly isError: boolean
  readonly text: string
  readonly structured: unknown
}

/** Calls a tool; the client throws when the answer's structure does not fit the tool's output schema. */
export async function callSdk(client: Client, name: string, args: Record<string, unknown>): Promise<SdkAnswer> {
  const result = await client.callTool({ name, arguments: args })
  const content: unknown = result['content']
  const first: unknown = Array.isArray(content) ? content[0] : undefined
  const text = typeof first === 'object' && first !== null && 'text' in first ? String(first.text) : ''
  return { isError: result['isError'] === true, text, structured: result['structuredContent'] }
}

export interface RowsAnswer {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly row_count: number
  readonly truncated: boolean
  readonly cut?: readonly { readonly what: string; readonly where: string }[]
}

/** The structure of a get, search or aggregate that succeeded; throws with the refusal's text otherwise. */
export function rowsOf(answer: { readonly isError: boolean; readonly text: string; readonly structured: unknown }) {
  if (answer.isError) throw new Error(answer.text)
  // The shape is the tool's output schema, against which the client has checked it.
  return answer.structured as RowsAnswer
}
