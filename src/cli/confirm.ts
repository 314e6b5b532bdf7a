import { createInterface } from 'node:readline/promises'
import { ok, type Result } from '../core/result.js'
import { type Refusal, refused } from './command.js'

/** Where a person can be asked: both ends are a terminal. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

/** On the standard error, so that the output stays what a program can read. */
const OWN_TERMINAL: Terminal = { input: process.stdin, output: process.stderr }

/**
 * Asks a person before something is done that cannot be undone; `yes` stands for their answer. Where nobody can be asked, such
 * as in a script, it is refused. `what` completes "this …".
 */
export async function confirmed(
  what: string,
  yes: boolean,
  terminal: Terminal = OWN_TERMINAL,
): Promise<Result<void, Refusal>> {
  if (yes) return ok(undefined)
  if (terminal.input.isTTY !== true || terminal.output.isTTY !== true) {
    return refused(`this ${what}; say --yes if that is meant`)
  }
  const answer = await asked(`This ${what}. Type yes to go on: `, terminal)
  return answer?.trim().toLowerCase() === 'yes' ? ok(undefined) : refused('nothing was done')
}

/** Undefined where the person leaves instead of answering: an end of the input or an interrupt closes the interface. */
function asked(question: string, { input, output }: Terminal): Promise<string | undefined> {
  const reader = createInterface({ input, output })
  return new Promise((resolve) => {
    reader.once('close', () => resolve(undefined))
    reader.question(question).then(resolve, () => resolve(undefined))
  }).then((answer) => {
    reader.close()
    return typeof answer === 'string' ? answer : undefined
  })
}
