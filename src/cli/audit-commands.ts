import { type Command, InvalidArgumentError } from 'commander'
import {
  AUDIT_FOUND_ENTRIES,
  AUDIT_FOUND_ENTRIES_CEILING,
  AUDIT_TAIL_ENTRIES,
  AUDIT_TAIL_ENTRIES_CEILING,
} from '../core/limits.js'
import { ok, type Result } from '../core/result.js'
import type { FindOptions } from './audit-find.js'
import { addAuditShip } from './audit-ship.js'
import type { SourceOptions } from './audit-sources.js'
import type { CommandResult, Refusal, Report, Surroundings } from './command.js'
import { untilSignalled } from './signals.js'

type Run = (surroundings: Surroundings, command: Command) => CommandResult | Promise<CommandResult>
type Act = (command: Command, run: Run) => Command
/** Of commands that write what they have to say themselves, as it comes. */
type Stream = (
  surroundings: Surroundings,
  command: Command,
  json: boolean,
) => Promise<Result<Pick<Report, 'exitCode'>, Refusal>>
type ActStream = (command: Command, run: Stream) => Command

/**
 * Adds `audit` and what is below it. `act` has a command run what is given. What reads a trail loads much, so it is loaded when it is
 * called.
 */
export function addAudit(program: Command, act: Act, actStream: ActStream): void {
  const audit = program.command('audit').description('the audit trail: look into it, verify it')
  addVerify(audit, act)
  addSearches(audit, act)
  addReading(audit, actStream)
  addAuditShip(audit, act)
  act(audit.command('schema').description('print the JSON Schema of an entry'), async () => {
    const { entryJsonSchema } = await import('../audit/entry-schema.js')
    const schema = entryJsonSchema()
    return ok({ lines: [JSON.stringify(schema, undefined, 2)], json: schema })
  })
}

/** A trail is found by the configuration, or by these. */
function withSources(command: Command): Command {
  return command
    .option('--buffer <file>', 'the SQLite buffer (default: audit.buffer.path of the configuration)')
    .option('--key-file <file>', 'the chain key (default: audit.chain_key_file, or <buffer>.key)')
}

function sourcesOf(command: Command): SourceOptions {
  const { buffer, keyFile } = command.opts<{ readonly buffer?: string; readonly keyFile?: string }>()
  return { ...(buffer === undefined ? {} : { buffer }), ...(keyFile === undefined ? {} : { keyFile }) }
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

function count(max: number): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,8}$/.test(text) || Number(text) > max) {
      throw new InvalidArgumentError(`expected a number from 1 to ${max}`)
    }
    return Number(text)
  }
}

function time(text: string): string {
  if (
    !/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text) ||
    Number.isNaN(Date.parse(text))
  ) {
    throw new InvalidArgumentError(
      'expected a date or a time with an offset, such as 2026-01-31 or 2026-01-31T08:00:00Z',
    )
  }
  return new Date(text).toISOString()
}

function format(text: string): 'ndjson' | 'csv' {
  if (text !== 'ndjson' && text !== 'csv') throw new InvalidArgumentError('expected ndjson or csv')
  return text
}

interface VerifyFlags {
  readonly head: readonly string[]
  readonly complete?: boolean
  readonly anyOrder?: boolean
}

function addVerify(audit: Command, act: Act): void {
  const verify = withSources(audit.command('verify [file...]'))
    .description('check that no entry was changed, added, removed or moved; exit code 5 when one was')
    .option('--head <line>', 'a head of the chain that was kept elsewhere; may repeat', collect, [])
    .option('--complete', 'every entry from the first one on, or from where the gateway deleted them to, must be there')
    .option('--any-order', 'lines of files may stand in another order than they were written in')
    .addHelpText(
      'after',
      '\nFiles hold lines of stdout or of the file sink, or what a destination kept of batches, compressed with gzip or not. Without\nfiles the buffer and the files of the configuration are checked; the gateway may be running.',
    )
  act(verify, async (from, command) => {
    const { verify: run } = await import('./audit-verify.js')
    const { head, complete = false, anyOrder = false } = command.opts<VerifyFlags>()
    return run(from, { ...sourcesOf(command), files: command.args, heads: head, complete, anyOrder })
  })
}

function withFinding(command: Command): Command {
  return withSources(command)
    .option('--file <file>', 'look through this file instead of the buffer; may repeat', collect, [])
    .option('--limit <n>', 'entries to give, the newest first', count(AUDIT_FOUND_ENTRIES_CEILING), AUDIT_FOUND_ENTRIES)
}

function findingOf(command: Command): FindOptions {
  const { file, limit } = command.opts<{ readonly file: readonly string[]; readonly limit: number }>()
  return { ...sourcesOf(command), files: file, limit }
}

function addSearches(audit: Command, act: Act): void {
  const who = withFinding(audit.command('who <connector> <table> <key...>')).description(
    'every call that returned or changed a row: its table as schema.table, its key as tools show it',
  )
  act(who, async (from, command) => {
    const { who: run } = await import('./audit-find.js')
    const [connector = '', table = '', ...key] = command.args
    return run(from, { connector, table, key }, findingOf(command))
  })
  const hash = withFinding(audit.command('hash <connector> <table> <column> <value>')).description(
    'the hash that stands for a value in entries, and every call that named it',
  )
  act(hash, async (from, command) => {
    const { hash: run } = await import('./audit-find.js')
    const [connector = '', target = '', column = '', value = ''] = command.args
    return run(from, { connector, target, column, value }, findingOf(command))
  })
}

interface ExportFlags {
  readonly from?: string
  readonly to?: string
  readonly connector?: string
  readonly identity?: string
  readonly format: 'ndjson' | 'csv'
  readonly out?: string
}

function addReading(audit: Command, actStream: ActStream): void {
  const tail = withSources(audit.command('tail').description('the newest entries'))
    .option('-n, --lines <n>', 'how many', count(AUDIT_TAIL_ENTRIES_CEILING), AUDIT_TAIL_ENTRIES)
    .option('-f, --follow', 'go on with those that come')
  actStream(tail, async (from, command, json) => {
    const { tail: run } = await import('./audit-tail.js')
    const { lines, follow = false } = command.opts<{ readonly lines: number; readonly follow?: boolean }>()
    const ending = new AbortController()
    if (follow) void untilSignalled('end').then(() => ending.abort())
    return run(from, { ...sourcesOf(command), lines, follow, json, signal: ending.signal })
  })
  const exporting = withSources(
    audit.command('export').description('write the entries, as lines that can be verified or as CSV'),
  )
    .option('--from <time>', 'entries of this time and later', time)
    .option('--to <time>', 'entries before this time', time)
    .option('--connector <id>', 'of this connector alone')
    .option('--identity <name>', 'of this identity alone')
    .option('--format <format>', 'ndjson or csv', format, 'ndjson')
    .option('--out <file>', 'a new file (default: the standard output)')
  actStream(exporting, async (from, command) => {
    const { exportTrail } = await import('./audit-tail.js')
    const flags = command.opts<ExportFlags>()
    const done = await exportTrail(from, { ...flags, ...sourcesOf(command) })
    if (!done.ok) return done
    if (flags.out !== undefined) process.stderr.write(`${done.value.entries} entries\n`)
    return done
  })
}
