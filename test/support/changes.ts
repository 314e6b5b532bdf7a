import assert from 'node:assert/strict'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import { callTool, type GatewayFolder, type ToolAnswer } from './gateway.js'

/** What a mutation answers. */
export interface Changed {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly row_count: number
  readonly affected_rows: number
  readonly changed: boolean
  readonly dry_run?: boolean
  readonly replayed?: boolean
}

/** One caller of one connector. Each of its calls has a request id of its own, by which its entry is found. */
export interface Caller {
  call(tool: string, args: unknown): Promise<ToolAnswer & { readonly id: string }>
  /** The result of a mutation that has to succeed. */
  change(tool: string, args: unknown): Promise<Changed>
  /** The structured result of a call that has to succeed. */
  result(tool: string, args: unknown): Promise<Readonly<Record<string, unknown>>>
  /** The text of a call that has to be refused, and its code. */
  refusal(tool: string, args: unknown): Promise<{ readonly code: string; readonly text: string; readonly id: string }>
}

let calls = 0

export function callerOf(endpoint: string, key: string | undefined): Caller {
  const call: Caller['call'] = async (tool, args) => {
    const id = `change-${++calls}`
    return { ...(await callTool(endpoint, key, tool, args, id)), id }
  }
  const result: Caller['result'] = async (tool, args) => {
    const answer = await call(tool, args)
    assert.equal(answer.isError, false, `${tool} ${JSON.stringify(args)}: ${answer.text}`)
    assert.equal(answer.text, JSON.stringify(answer.structured))
    // A result is an object by its schema; the assertions that follow look at its members.
    return answer.structured as Readonly<Record<string, unknown>>
  }
  return {
    call,
    result,
    change: async (tool, args) => (await result(tool, args)) as unknown as Changed,
    refusal: async (tool, args) => {
      const { isError, text, id } = await call(tool, args)
      assert.equal(isError, true, `${tool} ${JSON.stringify(args)}: ${text}`)
      return { code: text.split(':')[0] ?? '', text, id }
    },
  }
}

/** The entry of the call with this request id: there is exactly one. */
export function entryOf(folder: GatewayFolder, requestId: string): AuditEntry {
  const found = folder.entries().filter((entry) => entry.request_id === requestId)
  const [entry] = found
  assert.ok(entry !== undefined && found.length === 1, `${found.length} entries of ${requestId}`)
  return entry
}
