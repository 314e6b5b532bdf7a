import { spawn } from 'node:child_process'
import { constants, type FileHandle, open } from 'node:fs/promises'
import { accessText } from '../../config/files.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { PASSWORD_TIMEOUT_MS, REASON_CHARS_MAX, SECRET_FILE_BYTES_MAX } from '../../core/limits.js'
import { cleanText } from '../../core/names.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { ConnectorSettings } from '../../threads/messages.js'

type Connection = ConnectorSettings['connection']

/** Where the password of new connections comes from. Its errors say where they arose and never hold a password. */
export interface PasswordSource {
  /** The password for a connection that is about to be opened. CONNECTOR_UNAVAILABLE where it cannot be had now. */
  ask(): Promise<Result<string, GatewayError>>
  /** The server refused this one: it is not given from memory again. */
  forget(refused: string): void
  /** Ends what is being asked. */
  close(): void
}

/** Why a connection could not be opened. `refused`: it was the login or its password that the server did not take. */
export interface ConnectFailure {
  readonly error: GatewayError
  readonly refused: boolean
}

/** `nowMs`: monotonic milliseconds. */
export function passwordSource(connection: Connection, nowMs: () => number): PasswordSource {
  const { password = '', passwordFile, passwordCommand } = connection
  if (passwordCommand !== undefined) return new CommandPassword(passwordCommand, nowMs)
  const ask =
    passwordFile === undefined
      ? async () => ok(password)
      : async () => told('password_file', await withinTime(passwordFile, readPassword(passwordFile)))
  return { ask, forget: () => {}, close: () => {} }
}

/**
 * Connects with the password as it is now. Where the server refuses it, it is asked for again, and tried once more if it is
 * another by then: a password that is replaced refuses whoever has just read the old one.
 */
export async function connectWith<T>(
  passwords: PasswordSource,
  connect: (password: string) => Promise<Result<T, ConnectFailure>>,
): Promise<Result<T, GatewayError>> {
  const password = await passwords.ask()
  if (!password.ok) return password
  const first = await connect(password.value)
  if (first.ok) return first
  if (!first.error.refused) return fail(first.error.error)
  passwords.forget(password.value)
  const other = await passwords.ask()
  if (!other.ok || other.value === password.value) return fail(first.error.error)
  const second = await connect(other.value)
  return second.ok ? second : fail(second.error.error)
}

/** A command that prints the password, asked by one at a time for all that wait. */
class CommandPassword implements PasswordSource {
  readonly #argv: readonly string[]
  readonly #ttlMs: number
  readonly #nowMs: () => number
  readonly #stop = new AbortController()
  #kept: { readonly password: string; readonly untilMs: number } | undefined
  #running: Promise<Result<string, GatewayError>> | undefined

  constructor({ argv, ttlMs }: NonNullable<Connection['passwordCommand']>, nowMs: () => number) {
    this.#argv = argv
    this.#ttlMs = ttlMs
    this.#nowMs = nowMs
  }

  ask(): Promise<Result<string, GatewayError>> {
    const kept = this.#kept
    if (kept !== undefined && this.#nowMs() < kept.untilMs) return Promise.resolve(ok(kept.password))
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  forget(refused: string): void {
    if (this.#kept?.password === refused) this.#kept = undefined
  }

  close(): void {
    this.#stop.abort()
  }

  async #run(): Promise<Result<string, GatewayError>> {
    // What is printed may have been made at any moment from here on.
    const startedMs = this.#nowMs()
    const printed = await runCommand(this.#argv, this.#stop.signal)
    const password = printed.ok ? passwordOf(printed.value, `what ${this.#argv[0]} printed`) : printed
    if (password.ok) this.#kept = { password: password.value, untilMs: startedMs + this.#ttlMs }
    return told('password_command', password)
  }
}

/** The entry is told that there is no password, and the operator also where and why. */
function told(key: string, password: Result<string, string>): Result<string, GatewayError> {
  if (password.ok) return password
  const reason = `no password: the ${key} cannot be used`
  const detail = cleanText(`${reason}: ${password.error}`, REASON_CHARS_MAX)
  return fail(gatewayError('CONNECTOR_UNAVAILABLE', { reason, detail }))
}

/** Text in UTF-8, without the line break at its end. `what`: the begin of the error's sentence. */
function passwordOf(bytes: Buffer, what: string): Result<string, string> {
  if (bytes.length > SECRET_FILE_BYTES_MAX) return fail(`${what} is longer than ${SECRET_FILE_BYTES_MAX} bytes`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
    return text === '' ? fail(`${what} is empty`) : ok(text)
  } catch {
    return fail(`${what} is not UTF-8 text`)
  }
}

/** A file system that does not answer must not hold a connection back for ever. */
function withinTime(file: string, reading: Promise<Result<string, string>>): Promise<Result<string, string>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Result<string, string>>((resolve) => {
    const error = `reading the file ${file} took longer than ${PASSWORD_TIMEOUT_MS} ms`
    timer = setTimeout(() => resolve(fail(error)), PASSWORD_TIMEOUT_MS)
  })
  return Promise.race([reading, late]).finally(() => clearTimeout(timer))
}

async function readPassword(file: string): Promise<Result<string, string>> {
  let handle: FileHandle | undefined
  try {
    // A pipe would otherwise keep whoever opens it waiting for a writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!(await handle.stat()).isFile()) return fail(`${file} is not a regular file`)
    const buffer = Buffer.alloc(SECRET_FILE_BYTES_MAX + 1)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
    return passwordOf(buffer.subarray(0, bytesRead), `the file ${file}`)
  } catch (error) {
    return fail(`the file ${file} ${accessText(error)}`)
  } finally {
    await handle?.close()
  }
}

/** Runs a program without a shell, within a time and a size. What it says beside its output is dropped. */
function runCommand([program = '', ...args]: readonly string[], stop: AbortSignal): Promise<Result<Buffer, string>> {
  return new Promise((resolve) => {
    const child = spawnQuietly(program, args)
    if (child === undefined) return resolve(fail(`${program} could not be started`))
    const chunks: Buffer[] = []
    let bytes = 0
    const end = (result: Result<Buffer, string>): void => {
      clearTimeout(deadline)
      stop.removeEventListener('abort', stopped)
      child.stdout.destroy()
      child.kill('SIGKILL')
      resolve(result)
    }
    const stopped = (): void => end(fail(`${program} was stopped`))
    const deadline = setTimeout(
      () => end(fail(`${program} took longer than ${PASSWORD_TIMEOUT_MS} ms`)),
      PASSWORD_TIMEOUT_MS,
    )
    stop.addEventListener('abort', stopped)
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > SECRET_FILE_BYTES_MAX) end(fail(`${program} printed more than ${SECRET_FILE_BYTES_MAX} bytes`))
    })
    child.on('error', (error) => end(fail(`${program} could not be run: it ${accessText(error)}`)))
    child.on('close', (code, signal) => {
      if (code === 0) end(ok(Buffer.concat(chunks)))
      else end(fail(`${program} ended with ${code === null ? signal : `exit code ${code}`}`))
    })
    if (stop.aborted) stopped()
  })
}

/** Undefined where the words cannot be those of a command, such as one that holds a NUL. */
function spawnQuietly(program: string, args: readonly string[]) {
  try {
    return spawn(program, args, { shell: false, stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true })
  } catch {
    return undefined
  }
}
