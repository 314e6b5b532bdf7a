import { callTool } from './gateway.js'

/** Clients that call in a loop until they are told to stop. */
export interface Callers {
  /** Calls that were answered so far. */
  answered(): number
  /** Ends them; gives every answer that was none of those that were allowed. */
  stop(): Promise<readonly string[]>
}

export interface CallerPlan {
  readonly endpoint: () => string
  readonly key: string
  readonly clients: number
  readonly tool: (n: number) => { readonly name: string; readonly arguments: unknown }
  /** Refusals that are as they should be; default: none. */
  readonly allowed?: RegExp
}

export function startCallers({ endpoint, key, clients, tool, allowed }: CallerPlan): Callers {
  let stopped = false
  let answered = 0
  const odd: string[] = []
  const client = async (own: number) => {
    for (let n = own; !stopped; n += clients) {
      const { name, arguments: args } = tool(n)
      const answer = await callTool(endpoint(), key, name, args).catch((error: unknown) => ({
        isError: true,
        text: String(error),
      }))
      if (answer.isError && allowed?.test(answer.text) !== true) odd.push(answer.text)
      else answered += 1
    }
  }
  const all = Promise.all(Array.from({ length: clients }, (_, own) => client(own)))
  return {
    answered: () => answered,
    stop: async () => {
      stopped = true
      await all
      return odd
    },
  }
}
