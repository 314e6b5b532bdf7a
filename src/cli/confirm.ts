import { createInterface } from 'node:readline/promises'
import { ok, type Result } from '../core/result.js'
import { type Refusal, refused } from './command.js'

/**
 * Asks a person before something is done that cannot be undone; `yes` stands for their answer. Where nobody can be asked, such
 * as in a script, it is refused. `what` completes "this …".
 */
export async function confirmed(what: string, yes: boolean): Promise<Result<void, Refusal>> {
  if (yes) return ok(undefined)
  if (!process.stdin.isTTY || !process.stderr.isTTY) return refused(`this ${what}; say --yes if that is meant`)
  // On the standard error, so that the output stays what a program can read.
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`This ${what}. Type yes to go on: `)
    return answer.trim().toLowerCase() === 'yes' ? ok(undefined) : refused('nothing was done')
  } finally {
    terminal.close()
  }
}
