import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type ChainKeys, type EntryLine, openCheckpoint, openHead, readLink, writeHeadLine } from '../audit/chain.js'
import { printable } from '../audit/entry-text.js'
import { ENTRY_CSV_HEADING, entryCsvLine } from '../audit/reports/entry-csv.js'
import { entryIn, parseEntry } from '../audit/reports/entry-facts.js'
import { TrailBuffer } from '../audit/verify/read-buffer.js'
import type { AuditEntry } from '../core/audit-entry.js'
import { AUDIT_FAULTS_SHOWN_MAX, AUDIT_TAIL_INTERVAL_MS } from '../core/limits.js'
import { ok, type Result } from '../core/result.js'
import { findTrail, type SourceOptions } from './audit-sources.js'
import { EXIT_NOT_WHOLE, type Refusal, type Report, refused, type Surroundings } from './command.js'

interface Opened {
  readonly buffer: TrailBuffer
  readonly keys: ChainKeys
}

function openBuffer(surroundings: Surroundings, options: SourceOptions): Result<Opened, Refusal> {
  const trail = findTrail(surroundings, options)
  if (!trail.ok) return trail
  const { buffer: path, keys } = trail.value
  if (path === undefined) return refused('there is no audit buffer: give --buffer')
  const opened = TrailBuffer.open(path)
  return opened.ok ? ok({ buffer: opened.value, keys }) : refused(opened.error)
}

/** Waits where the reader is slower; a reader that has gone ends the work without a word. */
async function send(out: Writable, text: string): Promise<void> {
  if (out.destroyed || out.write(text)) return
  await Promise.race([once(out, 'drain'), once(out, 'close')])
}

/** Which of the lines that were given the gateway did not write as they are, told on the standard error as they come. */
class Strangers {
  readonly #keys: ChainKeys
  readonly #instance: string
  #found = 0

  constructor({ buffer, keys }: Opened) {
    this.#keys = keys
    this.#instance = buffer.meta().instance
  }

  isGenuine({ seq, line }: EntryLine): boolean {
    const { link } = readLink(this.#keys, line)
    if (link?.seq === seq && link.instance === this.#instance) return true
    this.#found += 1
    if (this.#found <= AUDIT_FAULTS_SHOWN_MAX) process.stderr.write(`entry ${seq} is NOT GENUINE\n`)
    return false
  }

  /** What it comes to, at the end. */
  finish(): Pick<Report, 'exitCode'> {
    if (this.#found === 0) return {}
    process.stderr.write(`${this.#found} not genuine: "runku audit verify" says what was done to the trail\n`)
    return { exitCode: EXIT_NOT_WHOLE }
  }
}

export interface TailOptions extends SourceOptions {
  readonly lines: number
  readonly follow: boolean
  readonly json: boolean
  /** Ends a `follow`. */
  readonly signal: AbortSignal
}

/** One entry for a person: when, who, what, and how it ended; as it is where it is no entry. */
function tailLine(line: string): string {
  if (entryIn(line) === undefined) return `NOT AN ENTRY  ${printable(line)}`
  const { time, identity, address, connector, tool, operation, target, decision, code, rows, affected, reason } =
    parseEntry(line)
  const who = identity ?? address ?? ''
  const what = [connector, tool ?? operation, target].filter((part) => part !== undefined && part !== '').join(' ')
  const numbers = [rows === undefined ? '' : `rows ${rows}`, affected === undefined ? '' : `affected ${affected}`]
  const parts = [time, decision, code, who, what, ...numbers, reason ?? '']
  return parts
    .filter((part) => part !== '')
    .map(printable)
    .join('  ')
}

/** `runku audit tail`: the newest entries, and with `--follow` those that come. */
export async function tail(
  surroundings: Surroundings,
  options: TailOptions,
): Promise<Result<Pick<Report, 'exitCode'>, Refusal>> {
  const opened = openBuffer(surroundings, options)
  if (!opened.ok) return opened
  const { buffer } = opened.value
  const strangers = new Strangers(opened.value)
  const show = async (entry: EntryLine) => {
    const mark = strangers.isGenuine(entry) ? '' : 'NOT GENUINE  '
    await send(process.stdout, `${options.json ? entry.line : mark + tailLine(entry.line)}\n`)
  }
  try {
    let last = 0
    for (const entry of buffer.last(options.lines)) {
      await show(entry)
      last = entry.seq
    }
    while (options.follow && !options.signal.aborted && !process.stdout.destroyed) {
      for (const entry of buffer.after(last)) {
        await show(entry)
        last = entry.seq
      }
      await wait(AUDIT_TAIL_INTERVAL_MS, undefined, { signal: options.signal }).catch(() => {})
    }
    return ok(strangers.finish())
  } finally {
    buffer.close()
  }
}

export interface ExportOptions extends SourceOptions {
  /** ISO 8601; entries of this time and later, and before that. */
  readonly from?: string
  readonly to?: string
  readonly connector?: string
  readonly identity?: string
  readonly format: 'ndjson' | 'csv'
  /** A new file; absent: the standard output. */
  readonly out?: string
}

function wanted(entry: AuditEntry, { from, to, connector, identity }: ExportOptions): boolean {
  if (from !== undefined && entry.time < from) return false
  if (to !== undefined && entry.time >= to) return false
  if (connector !== undefined && entry.connector !== connector) return false
  return identity === undefined || entry.identity === identity
}

/** What the chain had come to before the first entry that the buffer has. */
function firstHead({ buffer, keys }: Opened, time: string): string {
  const { instance, checkpoint: sealed } = buffer.meta()
  const checkpoint = sealed === undefined ? undefined : openCheckpoint(keys, instance, sealed)
  const { seq, hash } = checkpoint ?? { seq: 0, hash: '0'.repeat(64) }
  return `${writeHeadLine(keys, { instance, seq, hash, time })}\n`
}

function lastHead({ buffer, keys }: Opened, time: string): string {
  const { instance, head: sealed } = buffer.meta()
  const head = sealed === undefined ? undefined : openHead(keys, instance, sealed)
  return head === undefined ? '' : `${writeHeadLine(keys, { instance, ...head, time })}\n`
}

/**
 * `runku audit export`: the entries as their lines, or as CSV. All of them as lines stand between two heads of the chain, so that
 * whoever has the key can verify what was exported.
 */
export async function exportTrail(
  surroundings: Surroundings,
  options: ExportOptions,
): Promise<Result<{ readonly entries: number } & Pick<Report, 'exitCode'>, Refusal>> {
  const opened = openBuffer(surroundings, options)
  if (!opened.ok) return opened
  const { buffer } = opened.value
  const { from, to, connector, identity, format, out: path } = options
  const all = [from, to, connector, identity].every((filter) => filter === undefined)
  const time = new Date(surroundings.clock()).toISOString()
  const out: Writable = path === undefined ? process.stdout : createWriteStream(path, { flags: 'wx', mode: 0o600 })
  const strangers = new Strangers(opened.value)
  let failure: Error | undefined
  out.on('error', (error: Error) => {
    failure = error
  })
  let entries = 0
  try {
    if (format === 'csv') await send(out, ENTRY_CSV_HEADING)
    else if (all) await send(out, firstHead(opened.value, time))
    const closing = format === 'ndjson' && all ? lastHead(opened.value, time) : ''
    for (const stored of buffer.after(0)) {
      if (out.destroyed || failure !== undefined) break
      const { line } = stored
      const entry = entryIn(line)
      if (entry !== undefined && !wanted(entry, options)) continue
      // What is no entry may have been any: it is told of, whatever is asked for.
      strangers.isGenuine(stored)
      if (entry === undefined && !all) continue
      if (format === 'csv' && entry === undefined) continue
      await send(out, entry !== undefined && format === 'csv' ? entryCsvLine(entry) : `${line}\n`)
      entries += 1
    }
    if (closing !== '') await send(out, closing)
    if (path !== undefined) {
      out.end()
      await finished(out).catch(() => {})
    }
  } finally {
    buffer.close()
  }
  if (path !== undefined && failure !== undefined) return refused(`"${path}" cannot be written: ${failure.message}`)
  return ok({ entries, ...strangers.finish() })
}
