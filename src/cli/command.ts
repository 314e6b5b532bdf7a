import { type AdminStore, StoreFailure, type StoreRefusal } from '../admin/admin-store.js'
import { openAdminStore } from '../admin/open-admin-store.js'
import type { RandomBytes } from '../auth/api-key.js'
import { faultText, type LoadedConfig, loadConfig } from '../config/config.js'
import { ADMIN_COMMAND_BUSY_TIMEOUT_MS } from '../core/limits.js'
import { fail, type Result } from '../core/result.js'

/** What a command takes from outside. */
export interface Surroundings {
  /** Path of `config.yaml`, as given. */
  readonly configFile: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly randomBytes: RandomBytes
  /** Who changes the store, such as `cli:anna`. */
  readonly author: string
  /** Told, in a sentence, what was done on the way that nobody asked for by name. */
  readonly note: (text: string) => void
}

/** The exit code of an audit trail in which something is not as the gateway wrote it. */
export const EXIT_NOT_WHOLE = 5

/** What a command did: lines for a person, and the same as data for `--json`. */
export interface Report {
  readonly lines: readonly string[]
  readonly json: unknown
  /** Where it is not the one for "done": what was found is told by the code as well. */
  readonly exitCode?: number
}

/** Why it did nothing: one line each, the first one enough to understand it. */
export interface Refusal {
  readonly lines: readonly string[]
}

export type CommandResult = Result<Report, Refusal>

export function refused(...lines: readonly string[]): Result<never, Refusal> {
  return fail({ lines })
}

/** What the standard error is told of a refusal and of what was done on the way to it: a line each, or with `--json` one object. */
export function refusalText(reasons: readonly string[], json: boolean, notes: readonly string[] = []): string {
  if (!json) return [...notes, ...reasons].map((line) => `runku: ${line}\n`).join('')
  return `${JSON.stringify({ error: { messages: reasons }, ...(notes.length === 0 ? {} : { notes }) })}\n`
}

/** What the standard error is told, besides the result, of what was done on the way to it. */
export function notesText(notes: readonly string[], json: boolean): string {
  if (notes.length === 0) return ''
  return json ? `${JSON.stringify({ notes })}\n` : notes.map((line) => `runku: ${line}\n`).join('')
}

export function storeRefused(refusal: StoreRefusal): Result<never, Refusal> {
  return refused(refusal.message)
}

/** Loads the configuration, or refuses with a line for each fault that would end a start. */
export function readConfig(surroundings: Surroundings): Result<LoadedConfig, Refusal> {
  const loaded = loadConfig({ file: surroundings.configFile, env: surroundings.env })
  return loaded.ok ? loaded : refused(...loaded.error.map(faultText))
}

/** Whether a command only reads: then it makes no store where there is none, since what it would show is nowhere. */
export type StoreUse = 'reads' | 'changes'

/** Runs a command on the configured admin store, migrated as needed and made for one that changes it, and closes it. */
export async function withStore(
  surroundings: Surroundings,
  use: StoreUse,
  run: (store: AdminStore, loaded: LoadedConfig) => CommandResult | Promise<CommandResult>,
): Promise<CommandResult> {
  const loaded = readConfig(surroundings)
  return loaded.ok ? onStore(surroundings, loaded.value, use, (store) => run(store, loaded.value)) : loaded
}

export async function onStore(
  surroundings: Surroundings,
  loaded: LoadedConfig,
  use: StoreUse,
  run: (store: AdminStore) => CommandResult | Promise<CommandResult>,
): Promise<CommandResult> {
  const opened = await openAdminStore(loaded.config.adminStore, {
    clock: surroundings.clock,
    randomBytes: surroundings.randomBytes,
    busyTimeoutMs: ADMIN_COMMAND_BUSY_TIMEOUT_MS,
    whereNone: use === 'reads' ? 'refuse' : 'create',
    created: (place) => surroundings.note(`created the admin store ${place}`),
  })
  if (!opened.ok) return refused(opened.error)
  try {
    return await run(opened.value)
  } catch (error) {
    if (error instanceof StoreFailure) return refused(error.message)
    throw error
  } finally {
    await opened.value.close()
  }
}

/** Columns of equal width, a header first; "nothing" as one line where there are no rows. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): readonly string[] {
  if (rows.length === 0) return [empty]
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)))
  return [header, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
