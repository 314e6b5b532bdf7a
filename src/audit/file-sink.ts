import { constants, type Stats } from 'node:fs'
import { type FileHandle, link, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { AUDIT_FILE_LOOK_INTERVAL_MS, AUDIT_FILE_TAIL_BYTES } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { AuditFileSettings } from '../threads/messages.js'
import { type EntryLine, isHeadLine } from './chain.js'
import { LineSink, type WriteBytes } from './sinks.js'

export interface AuditFileOptions {
  readonly settings: AuditFileSettings
  /** Names the chain whose entries are written. */
  readonly instance: string
  /** The line that says what the chain had come to before its entry `seq`, whose line names `prevHash`. */
  readonly headLine: (seq: number, prevHash: string) => string
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** The file was deleted while it was written, with the lines of these entries in it: they are nowhere else, perhaps. */
  readonly onLost: (fromSeq: number, toSeq: number) => void
}

/** What the end of a file that is there already tells. */
interface Tail {
  /** The last whole line that is an entry of the instance. */
  readonly last: { readonly seq: number; readonly line: string } | undefined
  /** Bytes behind the last line end: a line that a crash cut short. */
  readonly cut: boolean
}

const SEQ = /^\{"seq":(\d{1,15}),/
const PREV_HASH = /,"prev_hash":"([0-9a-f]{64})","hash":"[0-9a-f]{64}"\}$/

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

function errorOf(error: unknown): NodeJS.ErrnoException {
  return error instanceof Error ? error : new Error(String(error))
}

/** A pipe would hold up whoever opens or writes it, and the rights of a device are everybody's. */
function assertRegular(file: Stats): void {
  if (!file.isFile()) throw Object.assign(new Error('no regular file'), { code: 'no regular file' })
}

/**
 * Opens a regular file and nothing else. What lies there is looked at before it is opened, since opening a device can do something to
 * it, and after it, since it may be another by then; without waiting for the other end of a pipe in between.
 */
async function openRegular(path: string, flags: number): Promise<FileHandle> {
  const there = await stat(path).catch(() => undefined)
  if (there !== undefined) assertRegular(there)
  const handle = await open(path, flags | constants.O_NONBLOCK | constants.O_NOCTTY, 0o600)
  try {
    assertRegular(await handle.stat())
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT

/**
 * The file of the file sink: one line an entry, each file begun with a head of the chain. Full files get the number of their first
 * entry into their name, and the oldest of them go. A file that was moved away by another program is begun anew at its path, one that was
 * deleted is told of.
 */
class AuditFile {
  readonly #options: AuditFileOptions
  #handle: FileHandle | undefined
  /** Of the file that is open. */
  #bytes = 0
  #firstSeq: number | undefined
  #lastSeq: number | undefined
  #lookedAtMs: number
  /** The next chunk is to begin with a head: the file, or this process, is new to it. */
  #headDue = true
  #reopenDue = false
  #writing = false

  private constructor(options: AuditFileOptions) {
    this.#options = options
    this.#lookedAtMs = options.nowMs()
  }

  /**
   * Opens or makes the file, mode 0600, and ends a line that a crash cut short. Fails with one sentence for the operator.
   * `resumesAt`: the last entry that is in the file for sure, which an owner with a buffer compares with its own line of that number.
   */
  static async open(
    options: AuditFileOptions,
  ): Promise<
    Result<{ readonly file: AuditFile; readonly resumesAt: { seq: number; line: string } | undefined }, string>
  > {
    const file = new AuditFile(options)
    try {
      await file.#begin()
      const { last, cut } = await readTail(options.settings.path, options.instance)
      if (cut) await file.#append(Buffer.from('\n'))
      return ok({ file, resumesAt: last })
    } catch (error) {
      return fail(
        `audit.file.path "${options.settings.path}" cannot be written (${codeOf(error)}): is its folder there and writable?`,
      )
    }
  }

  /** For a `LineSink`: rotates, begins anew and looks after the file where that is due, then writes. */
  readonly write: WriteBytes = (bytes, done, first) => {
    this.#writing = true
    this.#write(bytes, first)
      .finally(() => {
        this.#writing = false
      })
      .then(
        (written) => done(null, written),
        (error: unknown) => done(errorOf(error), 0),
      )
  }

  /** What was moved away by another program is left to it: the next line begins a file at the path. */
  reopen(): void {
    this.#reopenDue = true
  }

  /** For good. A file that is being written ends with the process: closing it would wait for a write that may never end. */
  async end(): Promise<void> {
    if (!this.#writing) await this.close()
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close().catch(() => {})
  }

  async #write(bytes: Uint8Array, first: EntryLine | undefined): Promise<number> {
    // A line is never split over two files.
    if (first !== undefined) await this.#settle(bytes.length, first)
    if (this.#handle === undefined) await this.#begin()
    const written = await this.#append(bytes)
    if (first !== undefined) {
      this.#firstSeq ??= first.seq
      this.#lastSeq = first.seq + countLines(bytes.subarray(0, written)) - 1
    }
    return written
  }

  /** Makes sure that the file that lies at the path is the one that is open, and has room. */
  async #settle(bytes: number, first: EntryLine): Promise<void> {
    await this.#look()
    if (this.#handle !== undefined && this.#bytes > 0 && this.#bytes + bytes > this.#options.settings.bytesMax) {
      await this.#rotate()
    }
    if (this.#handle === undefined) await this.#begin()
    if (!this.#headDue) return
    const prevHash = PREV_HASH.exec(first.line)?.[1]
    if (prevHash !== undefined) {
      await this.#append(Buffer.from(`${this.#options.headLine(first.seq, prevHash)}\n`))
    }
    this.#headDue = false
  }

  async #look(): Promise<void> {
    const handle = this.#handle
    const nowMs = this.#options.nowMs()
    const due = this.#reopenDue || nowMs - this.#lookedAtMs >= AUDIT_FILE_LOOK_INTERVAL_MS
    if (handle === undefined || !due) return
    this.#lookedAtMs = nowMs
    const opened = await handle.stat()
    const there = await stat(this.#options.settings.path).catch(() => undefined)
    const moved = there === undefined || there.ino !== opened.ino || there.dev !== opened.dev
    if (!moved && !this.#reopenDue) return
    this.#reopenDue = false
    await this.close()
    if (opened.nlink === 0 && this.#firstSeq !== undefined && this.#lastSeq !== undefined) {
      this.#options.onLost(this.#firstSeq, this.#lastSeq)
    }
  }

  async #begin(): Promise<void> {
    const handle = await openRegular(this.#options.settings.path, APPENDING)
    this.#handle = handle
    const { size } = await handle.stat()
    // A file that is there keeps its owner's choice of readers; one that was just made is nobody else's.
    if (size === 0) await handle.chmod(0o600)
    this.#bytes = size
    this.#firstSeq = undefined
    this.#lastSeq = undefined
    this.#headDue = true
  }

  async #append(bytes: Uint8Array): Promise<number> {
    if (this.#handle === undefined) throw new Error('a file is open before it is written')
    const { bytesWritten } = await this.#handle.write(bytes)
    this.#bytes += bytesWritten
    return bytesWritten
  }

  /** What is in a full file is on the disk before the next one is begun. */
  async #rotate(): Promise<void> {
    const { path, filesMax } = this.#options.settings
    await this.#handle?.datasync()
    await this.close()
    const seq = this.#firstSeq ?? (await firstSeqIn(path))
    await moveAside(path, this.#options.instance, seq)
    await prune(path, filesMax)
  }
}

function countLines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1
  return lines
}

/** `audit.jsonl` becomes `audit.<instance>.<number of its first entry>.jsonl`, which sorts by age within an instance. */
async function moveAside(path: string, instance: string, seq: number | undefined): Promise<void> {
  const ending = extname(path)
  const stem = join(dirname(path), basename(path, ending))
  const name = `${stem}.${instance}.${String(seq ?? 0).padStart(15, '0')}`
  for (let copy = 0; ; copy++) {
    const target = `${name}${copy === 0 ? '' : `-${copy}`}${ending}`
    try {
      // A link fails where the name is taken; a rename would replace what is there.
      await link(path, target)
      await unlink(path)
      return
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue
      // A file system without links.
      if (codeOf(error) === 'EPERM' || codeOf(error) === 'ENOTSUP') return void (await rename(path, target))
      throw error
    }
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** Full files beside `path`, of whatever instance, oldest first. */
export async function rotatedFiles(path: string): Promise<readonly string[]> {
  const ending = extname(path)
  const shape = new RegExp(
    `^${escaped(basename(path, ending))}\\.[0-9a-f]{1,64}\\.\\d{15}(?:-\\d+)?${escaped(ending)}$`,
  )
  const folder = dirname(path)
  const names = (await readdir(folder)).filter((name) => shape.test(name))
  const aged = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => undefined)
      return { name, mtimeMs: found?.mtimeMs ?? 0 }
    }),
  )
  const older = (a: (typeof aged)[number], b: (typeof aged)[number]) =>
    a.mtimeMs - b.mtimeMs || (a.name < b.name ? -1 : 1)
  return aged.sort(older).map(({ name }) => join(folder, name))
}

async function prune(path: string, filesMax: number): Promise<void> {
  const files = await rotatedFiles(path)
  for (const file of files.slice(0, Math.max(0, files.length - filesMax))) await unlink(file).catch(() => {})
}

async function readPart(path: string, where: 'start' | 'end'): Promise<string> {
  const handle = await openRegular(path, constants.O_RDONLY)
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, AUDIT_FILE_TAIL_BYTES)
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await handle.read(bytes, 0, length, where === 'end' ? size - length : 0)
    return bytes.subarray(0, bytesRead).toString('utf8')
  } finally {
    await handle.close()
  }
}

async function firstSeqIn(path: string): Promise<number | undefined> {
  const lines = (await readPart(path, 'start')).split('\n')
  const seq = SEQ.exec(lines.find((line) => SEQ.test(line)) ?? '')?.[1]
  return seq === undefined ? undefined : Number(seq)
}

async function readTail(path: string, instance: string): Promise<Tail> {
  let text: string
  try {
    text = await readPart(path, 'end')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { last: undefined, cut: false }
    throw error
  }
  const lines = text.split('\n')
  const rest = lines.pop() ?? ''
  const own = `"instance":${JSON.stringify(instance)}`
  const line = lines.reverse().find((each) => !isHeadLine(each) && SEQ.test(each) && each.includes(own))
  const seq = SEQ.exec(line ?? '')?.[1]
  return {
    last: line === undefined || seq === undefined ? undefined : { seq: Number(seq), line },
    cut: rest !== '',
  }
}

export interface FileSinkOptions extends AuditFileOptions {
  /** The last entry that exists. */
  readonly lastSeq: number
  /** Absent without a buffer: then what the file does not get is nowhere. */
  readonly buffer?: {
    /** As stored: the last entry that was written before. */
    readonly position: number | undefined
    linesAfter(seq: number, linesMax: number): Result<readonly EntryLine[], string>
  }
  readonly onWritten: (seq: number) => void
  readonly onFailing: (detail: string) => void
  readonly onRecovered: () => void
}

/** The file with the sink that fills it. */
export interface FileSink {
  readonly file: AuditFile
  readonly sink: LineSink
}

type Resume = { readonly seq: number; readonly line: string } | undefined

/** Where to go on: behind what the file itself holds, where that is known to be the buffer's own line; else where it was stored. */
function positionOf({ buffer, lastSeq }: FileSinkOptions, resumesAt: Resume): number {
  if (buffer === undefined) return lastSeq
  if (resumesAt !== undefined) {
    const own = buffer.linesAfter(resumesAt.seq - 1, 1)
    if (own.ok && own.value[0]?.line === resumesAt.line) return resumesAt.seq
  }
  // Entries from before the file was first turned on are not written to it.
  return Math.min(buffer.position ?? lastSeq, lastSeq)
}

/** Opens the file and begins to write what it does not hold yet. Fails with one sentence for the operator. */
export async function openFileSink(options: FileSinkOptions): Promise<Result<FileSink, string>> {
  const opened = await AuditFile.open(options)
  if (!opened.ok) return opened
  const { file, resumesAt } = opened.value
  const { buffer, lastSeq, onWritten, onFailing, onRecovered } = options
  const sink = new LineSink({
    write: file.write,
    position: positionOf(options, resumesAt),
    lastSeq,
    ...(buffer && { replay: (afterSeq: number, linesMax: number) => buffer.linesAfter(afterSeq, linesMax) }),
    endCutLine: false,
    onWritten,
    onFailing,
    onRecovered,
  })
  return ok({ file, sink })
}
