import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type ChainHead, chainKeys, GENESIS } from '../../src/audit/chain.js'
import { sealRecord } from '../../src/audit/ledger.js'
import { Outbox } from '../../src/audit/outbox.js'
import { type AuditIndex, openIndex } from '../../src/audit/reports/index-file.js'
import { makeReport } from '../../src/audit/reports/make-report.js'
import { parseQuestion, type ReportName, type ReportScope } from '../../src/audit/reports/report-query.js'
import type { AuditEntry, AuditRecord } from '../../src/core/audit-entry.js'
import { monotonicMs } from '../../src/core/clock.js'
import type { ValueKeeping } from '../../src/threads/messages.js'
import { must } from './gateway.js'

export const REPORT_KEYS = chainKeys(Buffer.alloc(32, 9))
export const EVERYTHING: ReportScope = { gateway: true }

/** A buffer that a test fills as it likes, with its index beside it. Lines are made as the audit thread makes them. */
export class ReportBuffer {
  readonly folder: string
  readonly path: string
  readonly #db: Database.Database
  readonly #keeping: ValueKeeping
  readonly #instance: string
  #head: ChainHead = GENESIS

  constructor(keeping: ValueKeeping = 'hash', instance = 'aaaaaaaaaaaaaaaa') {
    this.#keeping = keeping
    this.#instance = instance
    this.folder = mkdtempSync(join(tmpdir(), 'runku-reports-'))
    this.path = join(this.folder, 'audit.sqlite')
    must(
      Outbox.open({
        path: this.path,
        durability: 'normal',
        retainMs: 1,
        onFull: 'prune',
        keys: REPORT_KEYS,
        keeping: { filters: keeping, writes: keeping, resultKeys: keeping },
        intentsAreLost: false,
        nowMs: Date.now,
        newInstance: () => instance,
      }),
    ).close()
    this.#db = new Database(this.path)
    this.#db.pragma('synchronous = OFF')
  }

  get lastSeq(): number {
    return this.#head.seq
  }

  /** Appends entries; `skipped` numbers before the first are missing. */
  append(records: readonly AuditRecord[], skipped = 0): void {
    const insert = this.#db.prepare('INSERT INTO entries (seq, id, time_ms, body) VALUES (?, ?, ?, ?)')
    const keeping = { filters: this.#keeping, writes: this.#keeping, resultKeys: this.#keeping }
    this.#head = { seq: this.#head.seq + skipped, hash: this.#head.hash }
    this.#db.transaction(() => {
      for (const record of records) {
        const entry = sealRecord({ keys: REPORT_KEYS, instance: this.#instance, keeping }, this.#head, record)
        insert.run(entry.seq, `${record.id}-${entry.seq}`, Date.parse(record.time), entry.line)
        this.#head = entry
      }
    })()
  }

  /** Deletes the oldest entries, as retention does. */
  prune(beforeSeq: number): void {
    this.#db.prepare('DELETE FROM entries WHERE seq < ?').run(beforeSeq)
  }

  /** Runs any SQL, for what only an intruder would do. */
  tamper(sql: string, ...values: readonly (string | number)[]): void {
    this.#db.prepare(sql).run(...values)
  }

  lines(): readonly string[] {
    return this.#db.prepare<[], string>('SELECT body FROM entries ORDER BY seq').pluck().all()
  }

  entries(): readonly AuditEntry[] {
    return this.lines().map((body) => JSON.parse(body) as AuditEntry)
  }

  index(): AuditIndex {
    return must(openIndex({ buffer: this.path, keys: REPORT_KEYS }))
  }

  remove(): void {
    this.#db.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Follows to the end. */
export function followAll(index: AuditIndex): void {
  while (!must(index.follow(monotonicMs() + 1_000, monotonicMs))) {
    // More is there.
  }
}

export interface ShownReport {
  readonly instance: string
  readonly from_seq?: number
  readonly to_seq?: number
  readonly behind: number
  readonly next?: string
  readonly [member: string]: unknown
}

/** A report as its reader gets it. */
export function shownReport(index: AuditIndex, report: ReportName, query: string, scope = EVERYTHING): ShownReport {
  const question = must(parseQuestion(report, query, '', Date.now()))
  const { text } = must(makeReport(index, { ...question, scope }))
  return JSON.parse(text) as ShownReport
}

/** Every page of a report. */
export function allPages(index: AuditIndex, report: ReportName, query: string, member: string): readonly unknown[] {
  const rows: unknown[] = []
  let next: string | undefined
  do {
    const page = shownReport(index, report, next === undefined ? query : `${query}&cursor=${encodeURIComponent(next)}`)
    const part = page[member]
    if (Array.isArray(part)) rows.push(...part)
    next = page.next
  } while (next !== undefined)
  return rows
}
