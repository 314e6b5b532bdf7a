import type { AuditRecord, PlanSummary, ResultKeys } from '../core/audit-entry.js'
import {
  AUDIT_DETAILS_MAX,
  AUDIT_LINE_CHARS_MAX,
  AUDIT_REASON_CHARS_MAX,
  AUDIT_ROLES_MAX,
  AUDIT_TEXT_CHARS_MAX,
  AUDIT_VALUE_CHARS_MAX,
  AUDIT_VALUES_CHARS_MAX,
} from '../core/limits.js'
import type { ValueKeeping } from '../threads/messages.js'

/**
 * The one text of an entry. Member order is fixed, so the hash covers one spelling and a line reads the same everywhere:
 * seq, id, time, instance, connector, epoch, request_id, trace_id, identity, key_id, roles, client, address, tool,
 * operation, target, plan, decision, code, reason, effect, rows, affected, result_keys (table, keys), detail, count, duration_ms,
 * prev_hash, hash.
 * `plan` has columns, filters (column, op, values), metrics (fn, column), group_by, order (by, direction), page,
 * values (column, values), expected (column, values), dry_run, idempotency_key, cut.
 */

/** How the values in a plan are kept, by where they stand. */
export interface Keeping {
  readonly filters: ValueKeeping
  /** What was written, passed to a routine, or expected of a row. */
  readonly writes: ValueKeeping
  /** Keys of rows that were returned or changed. */
  readonly resultKeys: ValueKeeping
}

/** What is stored in place of a value. */
export interface Digests {
  /** Of one value of a column of the entry's connector and target. */
  readonly value: (column: string, value: string) => string
  /** Of a row of a table of the entry's connector. */
  readonly rowKey: (table: string, key: string) => string
}

/**
 * What `JSON.stringify` leaves raw although a terminal, an editor or a line reader acts on it: DEL and C1 controls, line
 * and paragraph separators, bidirectional, zero-width and other invisible characters. The ranges are written out, not
 * taken from Unicode classes, because the canonical text must not change with the version of Node.
 */
const RAW_IN_JSON =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]/gu
const PLAIN = /^[\x20-\x7e]*$/

function escapeUnits(text: string): string {
  let escaped = ''
  for (let i = 0; i < text.length; i++) escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`
  return escaped
}

/** JSON of one line that no reader can mistake for two, and no terminal acts on. */
export function lineJson(value: unknown): string {
  const json = JSON.stringify(value)
  // Outside strings JSON is ASCII, so whatever is escaped here stands inside a string.
  return PLAIN.test(json) ? json : json.replace(RAW_IN_JSON, escapeUnits)
}

/** Text from an entry for a terminal: what would act on it is shown as an escape instead. */
export function printable(text: string): string {
  return lineJson(text).slice(1, -1).replaceAll('\\"', '"')
}

/** What acts on a terminal or a line reader, outside JSON: the controls too, which JSON escapes by itself. */
const ACTING = new RegExp(`[\\u0000-\\u001f]|${RAW_IN_JSON.source}`, 'gu')

/** Text with what would act on its reader as the escapes that `printable` shows; quotes and backslashes stay, so that JSON stays JSON. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(ACTING, (found) => lineJson(found).slice(1, -1))
}

function capped(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
}

function field(text: string | undefined): string | undefined {
  return text === undefined ? undefined : capped(text, AUDIT_TEXT_CHARS_MAX)
}

function cappedRoles(roles: readonly string[]): readonly string[] {
  const shown = roles.slice(0, AUDIT_ROLES_MAX).map((role) => capped(role, AUDIT_TEXT_CHARS_MAX))
  return roles.length <= AUDIT_ROLES_MAX ? shown : [...shown, '…']
}

function cappedDetail(detail: NonNullable<AuditRecord['detail']>): NonNullable<AuditRecord['detail']> {
  const shown = Object.entries(detail).slice(0, AUDIT_DETAILS_MAX)
  return Object.fromEntries(
    shown.map(([name, value]) => [
      capped(name, AUDIT_TEXT_CHARS_MAX),
      typeof value === 'string' ? capped(value, AUDIT_TEXT_CHARS_MAX) : value,
    ]),
  )
}

/** Values of one entry on their way into its text: kept as configured, as many as it has room for. */
class KeptValues {
  readonly #digest: Digests['value']
  #room = AUDIT_VALUES_CHARS_MAX
  #cut = false

  constructor(digest: Digests['value']) {
    this.#digest = digest
  }

  /** Whether something was left out for length. */
  get cut(): boolean {
    return this.#cut
  }

  keep(column: string, values: readonly string[], keeping: 'full' | 'hash'): readonly string[] {
    const texts: string[] = []
    for (const value of values) {
      if (this.#room <= 0) {
        this.#cut = true
        break
      }
      const text = keeping === 'hash' ? this.#digest(column, value) : capped(value, AUDIT_VALUE_CHARS_MAX)
      this.#room -= text.length
      texts.push(text)
    }
    return texts
  }
}

type Filters = NonNullable<PlanSummary['filters']>
type Written = NonNullable<PlanSummary['values']>

function keptFilters(filters: Filters, keeping: ValueKeeping, room: KeptValues): Filters {
  return filters.map(({ column, op, values }) => {
    const name = capped(column, AUDIT_TEXT_CHARS_MAX)
    if (values === undefined || keeping === 'none') return { column: name, op }
    return { column: name, op, values: room.keep(column, values, keeping) }
  })
}

function keptWritten(written: Written, keeping: ValueKeeping, room: KeptValues): Written {
  return written.map(({ column, values }) => {
    const name = capped(column, AUDIT_TEXT_CHARS_MAX)
    if (values === undefined || keeping === 'none') return { column: name }
    return { column: name, values: room.keep(column, values, keeping) }
  })
}

function keptPlan(plan: PlanSummary, keeping: Keeping, digest: Digests['value']): PlanSummary {
  const room = new KeptValues(digest)
  const filters = plan.filters && keptFilters(plan.filters, keeping.filters, room)
  const values = plan.values && keptWritten(plan.values, keeping.writes, room)
  const expected = plan.expected && keptWritten(plan.expected, keeping.writes, room)
  return {
    ...(plan.columns && { columns: plan.columns.map((column) => capped(column, AUDIT_TEXT_CHARS_MAX)) }),
    ...(filters && { filters }),
    ...(plan.metrics && {
      metrics: plan.metrics.map(({ fn, column }) => (column === undefined ? { fn } : { fn, column })),
    }),
    ...(plan.group_by && { group_by: plan.group_by }),
    ...(plan.order && { order: plan.order.map(({ by, direction }) => ({ by, direction })) }),
    ...(plan.page && { page: { limit: plan.page.limit } }),
    ...(values && { values }),
    ...(expected && { expected }),
    ...(plan.dry_run && { dry_run: true }),
    ...(plan.idempotency_key !== undefined && {
      idempotency_key: capped(plan.idempotency_key, AUDIT_TEXT_CHARS_MAX),
    }),
    ...((plan.cut === true || room.cut) && { cut: true }),
  }
}

function withoutValues({ filters, values, expected, ...rest }: PlanSummary): PlanSummary {
  const { columns, metrics, group_by, order, page, ...last } = rest
  const bare = (written: Written) => written.map(({ column }) => ({ column }))
  return {
    ...(columns && { columns }),
    ...(filters && { filters: filters.map(({ column, op }) => ({ column, op })) }),
    ...(metrics && { metrics }),
    ...(group_by && { group_by }),
    ...(order && { order }),
    ...(page && { page }),
    ...(values && { values: bare(values) }),
    ...(expected && { expected: bare(expected) }),
    ...last,
    cut: true,
  }
}

/**
 * The keys as configured. None is ever left out or shortened, or nobody could say that a row was not seen: keys that are too long to
 * be kept as they are become digests.
 */
function keptKeys(
  found: readonly ResultKeys[],
  keeping: ValueKeeping,
  digest: Digests['rowKey'],
): readonly ResultKeys[] | undefined {
  if (keeping === 'none') return undefined
  let room = AUDIT_VALUES_CHARS_MAX
  return found.map(({ table, keys }) => {
    if (keeping === 'full') {
      room -= keys.reduce((sum, key) => sum + key.length, 0)
      if (room >= 0) return { table, keys }
    }
    return { table, keys: keys.map((key) => digest(table, key)) }
  })
}

/** What of a record is kept otherwise than it came. */
interface Kept {
  readonly plan: PlanSummary | undefined
  readonly keys: readonly ResultKeys[] | undefined
}

function membersText(record: AuditRecord, instance: string, { plan, keys }: Kept): string {
  const { total, queue, db } = record.duration_ms
  const json = lineJson({
    id: field(record.id),
    time: field(record.time),
    instance,
    connector: field(record.connector),
    epoch: record.epoch,
    request_id: field(record.request_id),
    trace_id: field(record.trace_id),
    identity: field(record.identity),
    key_id: field(record.key_id),
    roles: record.roles && cappedRoles(record.roles),
    client: field(record.client),
    address: field(record.address),
    tool: field(record.tool),
    operation: record.operation,
    target: field(record.target),
    plan,
    decision: record.decision,
    code: record.code,
    reason: record.reason === undefined ? undefined : capped(record.reason, AUDIT_REASON_CHARS_MAX),
    effect: record.effect,
    rows: record.rows,
    affected: record.affected,
    result_keys: keys,
    detail: record.detail && cappedDetail(record.detail),
    count: record.count,
    duration_ms: { total, queue, db },
  })
  return wellFormed(json).slice(1, -1)
}

/**
 * Half of a surrogate pair, which JSON writes as an escape, is no text that can be kept everywhere: collectors put U+FFFD in its
 * place, and the entry would not be the one that was sealed. So it is sealed with that.
 */
function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json
  // Where two halves are a pair, both are escaped or none is, and one behind a backslash that is escaped itself is no escape.
  const escapes = /\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\./g
  return json.replace(escapes, (found) => (/^\\ud[89a-f][0-9a-f]{2}$/.test(found) ? '\\ufffd' : found))
}

/** A plan that an entry has room for: too long a one loses its values first, and then everything but the mark `cut`. */
function fitting(record: AuditRecord, plan: PlanSummary): PlanSummary {
  // The instance's name is short, and keys of rows are bounded by how many rows a call gives.
  const fits = (shorter: PlanSummary) =>
    membersText(record, '', { plan: shorter, keys: undefined }).length <= AUDIT_LINE_CHARS_MAX
  if (fits(plan)) return plan
  const bare = withoutValues(plan)
  return fits(bare) ? bare : { cut: true }
}

function keptOf(record: AuditRecord, keeping: Keeping, digests: Digests): Kept {
  const { plan, result_keys: found } = record
  return {
    plan: plan && keptPlan(plan, keeping, digests.value),
    keys: found && keptKeys(found, keeping.resultKeys, digests.rowKey),
  }
}

/** The record with its values kept as configured, and small enough for an entry. Kept once more with `full`, it stays what it is. */
export function keptRecord(record: AuditRecord, keeping: Keeping, digests: Digests): AuditRecord {
  const { plan: _asked, result_keys: _found, ...rest } = record
  const { plan, keys } = keptOf(record, keeping, digests)
  return { ...rest, ...(plan && { plan: fitting(record, plan) }), ...(keys && { result_keys: keys }) }
}

/** The members of an entry between `seq` and `prev_hash`, in order, as JSON without braces, kept as `keptRecord` says. */
export function recordMembers(record: AuditRecord, instance: string, keeping: Keeping, digests: Digests): string {
  const kept = keptOf(record, keeping, digests)
  const text = membersText(record, instance, kept)
  // Most entries fit, and are put together once.
  if (text.length <= AUDIT_LINE_CHARS_MAX || kept.plan === undefined) return text
  return membersText(record, instance, { ...kept, plan: fitting(record, kept.plan) })
}
