import { lineJson } from '../entry-text.js'

/**
 * An entry that a destination took apart and wrote in its own way, put together as it was sealed: the members in their one order, and
 * nothing that was added to them.
 */

type Members = Readonly<Record<string, unknown>>
/** What an entry's members hold: a list of objects of these members, one object, or whatever it is. */
interface Shape {
  readonly [member: string]: Shape | 'as it is'
}

const VALUES: Shape = { column: 'as it is', values: 'as it is' }

/** In the order of `membersText`, which writes an entry. */
const ENTRY: Shape = {
  id: 'as it is',
  time: 'as it is',
  instance: 'as it is',
  connector: 'as it is',
  epoch: 'as it is',
  request_id: 'as it is',
  trace_id: 'as it is',
  identity: 'as it is',
  key_id: 'as it is',
  roles: 'as it is',
  client: 'as it is',
  address: 'as it is',
  tool: 'as it is',
  operation: 'as it is',
  target: 'as it is',
  plan: {
    columns: 'as it is',
    filters: { column: 'as it is', op: 'as it is', values: 'as it is' },
    metrics: { fn: 'as it is', column: 'as it is' },
    group_by: 'as it is',
    order: { by: 'as it is', direction: 'as it is' },
    page: { limit: 'as it is' },
    values: VALUES,
    expected: VALUES,
    dry_run: 'as it is',
    idempotency_key: 'as it is',
    cut: 'as it is',
  },
  decision: 'as it is',
  code: 'as it is',
  reason: 'as it is',
  effect: 'as it is',
  rows: 'as it is',
  affected: 'as it is',
  result_keys: { table: 'as it is', keys: 'as it is' },
  detail: 'as it is',
  count: 'as it is',
  duration_ms: { total: 'as it is', queue: 'as it is', db: 'as it is' },
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function ordered(value: unknown, shape: Shape | 'as it is'): unknown {
  if (shape === 'as it is') return value
  if (Array.isArray(value)) return value.map((item) => ordered(item, shape))
  if (!isMembers(value)) return value
  const found: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(shape)) {
    if (value[name] !== undefined) found[name] = ordered(value[name], inner)
  }
  return found
}

/** Whether something read from JSON means to be an entry. */
export function isEntry(value: unknown): value is Members {
  return (
    isMembers(value) &&
    typeof value['seq'] === 'number' &&
    typeof value['hash'] === 'string' &&
    typeof value['prev_hash'] === 'string'
  )
}

/** The line that the entry had when it was sealed, if nothing of it was changed. */
export function canonicalLine(entry: Members): string {
  const members = lineJson(ordered(entry, ENTRY)).slice(1, -1)
  const { seq, prev_hash: prevHash, hash } = entry
  return `{"seq":${JSON.stringify(seq)},${members},"prev_hash":${JSON.stringify(prevHash)},"hash":${JSON.stringify(hash)}}`
}
