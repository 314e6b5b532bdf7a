import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))

export interface EndedProcess {
  /** The exit code, or the signal's name. */
  readonly how: number | string
  readonly out: string
  readonly err: string
}

export interface RunkuProcess {
  readonly child: ChildProcess
  out(): string
  err(): string
  readonly ended: Promise<EndedProcess>
}

/** Starts the built program in a folder, with nothing of this process's environment that could matter. */
export function startRunku(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunkuProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended = new Promise<EndedProcess>((resolve) => {
    child.once('close', (code, signal) => resolve({ how: code ?? signal ?? 'unknown', out, err }))
  })
  return { child, out: () => out, err: () => err, ended }
}

/** Runs a command of the built program to its end. */
export function runRunku(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<EndedProcess> {
  return startRunku(folder, args, env).ended
}

/** Processes of this machine whose command line contains a text; empty where the system does not tell. */
export function processesWith(text: string): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => commandLine(pid).includes(text))
  } catch {
    return []
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    // It has ended in the meantime.
    return ''
  }
}
