import { z } from 'zod'
import { DECISIONS, ERRORS } from '../core/errors.js'

/**
 * The shape of an entry, for whoever reads the trail. Members are only added, never given another meaning; readers pass over those
 * they do not know.
 */

const text = z.string().min(1)
const whole = z.int().nonnegative()
const HASH = z.string().regex(/^[0-9a-f]{64}$/)

const kept = z
  .object({
    column: text,
    values: z
      .array(z.string())
      .optional()
      .describe('As `audit.values` says; absent of NULL, and where nothing is kept.'),
  })
  .describe('A column with its values.')

const plan = z
  .object({
    columns: z.array(text).optional(),
    filters: z.array(kept.extend({ op: text })).optional(),
    metrics: z.array(z.object({ fn: text, column: text.optional() })).optional(),
    group_by: z.array(text).optional(),
    order: z.array(z.object({ by: text, direction: z.enum(['asc', 'desc']) })).optional(),
    page: z.object({ limit: whole }).optional(),
    values: z.array(kept).optional(),
    expected: z.array(kept).optional(),
    dry_run: z.literal(true).optional(),
    idempotency_key: text.optional(),
    cut: z.literal(true).optional().describe('Parts were left out for length.'),
  })
  .describe('What was asked.')

const OPERATIONS = [
  'get',
  'search',
  'aggregate',
  'create',
  'update',
  'soft_delete',
  'call',
  'schema_overview',
  'unknown',
  'request',
  'admin',
  'gateway',
  'audit',
] as const

export const entrySchema = z
  .object({
    seq: z.int().positive().describe('Number within the instance, without gaps.'),
    id: text.describe('Unique for the entry.'),
    time: z.iso.datetime({ precision: 3 }).describe('When it ended, UTC.'),
    instance: text.describe('Names the chain.'),
    connector: text.optional(),
    epoch: whole.optional().describe('Number of the catalog and policy that judged the call.'),
    request_id: z.string().optional().describe('The JSON-RPC id, as text.'),
    trace_id: text.optional(),
    identity: text.optional(),
    key_id: text.optional(),
    roles: z.array(z.string()).optional(),
    client: z.string().optional(),
    address: text.optional(),
    tool: z.string().optional().describe('As the client named it; of other operations what was done.'),
    operation: z.enum(OPERATIONS),
    target: text.optional(),
    plan: plan.optional(),
    decision: z.enum(DECISIONS),
    code: z.enum(['OK', ...Object.keys(ERRORS)]).describe('The public code.'),
    reason: z.string().optional().describe('For the operator alone.'),
    effect: z.enum(['none', 'committed', 'unknown']).describe('What was done to the database or the admin store.'),
    rows: whole.optional(),
    affected: whole.optional(),
    result_keys: z
      .array(z.object({ table: text, keys: z.array(z.string()) }))
      .optional()
      .describe('Which rows were returned or changed.'),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
    count: z.int().positive().optional().describe('How many refusals a folded entry stands for.'),
    duration_ms: z.object({
      total: z.number().nonnegative(),
      queue: z.number().nonnegative().optional(),
      db: z.number().nonnegative().optional(),
    }),
    prev_hash: HASH,
    hash: HASH,
  })
  .meta({ title: 'Runku audit entry', description: 'One line of the audit trail.' })

/** The JSON Schema of an entry. */
export function entryJsonSchema(): unknown {
  return z.toJSONSchema(entrySchema)
}
