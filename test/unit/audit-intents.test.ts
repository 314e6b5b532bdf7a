import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MaybePromise } from '../../src/admin/admin-store.js'
import { CallPath, type CallReply, type ToolCall } from '../../src/call.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import type { CallEnd, NotStarted } from '../../src/idempotency.js'
import type { CallListener, Connector } from '../../src/threads/connector.js'
import type { IntentMessage, IntentVerdict, OutcomeMessage } from '../../src/threads/messages.js'

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The path between a trail and a connector that do what a test says, in the order it says. */
function staged(
  options: { readonly keepsIntents?: boolean; readonly begin?: NotStarted; readonly slow?: boolean } = {},
) {
  const log: string[] = []
  const records: AuditRecord[] = []
  const intents: AuditRecord[] = []
  const waiting: ((durable: boolean) => void)[] = []
  const ends: CallEnd[] = []
  /** Answers of a store that is slow. */
  const claims: (() => void)[] = []
  const keeps: (() => void)[] = []
  const keep = (end: CallEnd): MaybePromise<void> => {
    ends.push(end)
    if (options.slow === true) return new Promise((resolve) => keeps.push(resolve))
  }
  const replies: string[] = []
  const verdicts: IntentVerdict[] = []
  let listener: CallListener | undefined
  let ids = 0
  const path = new CallPath({
    audit: {
      available: true,
      degraded: false,
      status: { strangersFull: false },
      keepsIntents: options.keepsIntents ?? true,
      intend: (record, onDurable) => {
        log.push('intend')
        intents.push(record)
        waiting.push(onDurable)
      },
      append: (record, onDurable) => {
        log.push('append')
        records.push(record)
        waiting.push(onDurable)
      },
    },
    idempotency: {
      begin: (name, planHash) => {
        log.push(`begin ${name.identity} ${name.connector} ${name.tool} ${name.key} ${planHash}`)
        const begun = options.begin ?? ({ kind: 'started', end: keep } as const)
        return options.slow === true ? new Promise((resolve) => claims.push(() => resolve(begun))) : begun
      },
    },
    nowMs: () => 5,
    wallMs: () => 1_700_000_000_000,
    newId: () => `id${++ids}`,
    meter: () => {},
  })
  const connector: Connector = {
    id: 'shop',
    call: (_request, given) => {
      listener = given
      return 1
    },
    cancel: () => {},
    list: () => {},
  }
  const call: ToolCall = {
    facts: { connector: 'shop', address: '127.0.0.1', startedAtMs: 0 },
    identity: { id: 'id_ana', name: 'ana', roles: ['support'], claims: new Map() },
    requestId: 7,
    tool: 'update_customers_by_pk',
    args: {},
  }
  path.call(call, connector, (reply: CallReply) => {
    log.push('reply')
    replies.push(reply.kind === 'result' ? Buffer.from(reply.members).toString('utf8') : reply.message)
  })
  assert.ok(listener !== undefined)
  const { announced, ended } = listener
  return {
    path,
    log,
    records,
    intents,
    ends,
    replies,
    verdicts,
    claimed: async () => {
      claims.shift()?.()
      await settled()
    },
    kept: async () => {
      keeps.shift()?.()
      await settled()
    },
    announce: (more: Partial<IntentMessage> = {}) => {
      announced({ ...INTENT, ...more }, 3, (verdict) => {
        log.push('answer')
        verdicts.push(verdict)
      })
    },
    end: (more: Partial<OutcomeMessage> = {}) => ended({ ...COMMITTED, ...more }, 3),
    /** The trail answers what has waited longest. */
    durable: (durable: boolean) => waiting.shift()?.(durable),
  }
}

const INTENT: IntentMessage = {
  kind: 'intent',
  callId: 1,
  operation: 'update',
  target: 'public.customers',
  plan: { values: [{ column: 'email', values: ['a@b.c'] }] },
}

const COMMITTED: OutcomeMessage = {
  kind: 'outcome',
  callId: 1,
  decision: 'allowed',
  code: 'OK',
  effect: 'committed',
  operation: 'update',
  target: 'public.customers',
  affected: 1,
  keys: [{ id: '4711' }],
  rows: 1,
  queueMs: 1,
  dbMs: 1,
  body: Buffer.from('"content":[]'),
}

const WITH_KEY = { idempotency: { key: 'k1', planHash: 'h' } }

test('a writing call goes when its intent is on disk, and not before', () => {
  const stage = staged()
  stage.announce()
  assert.deepEqual(stage.verdicts, [])
  stage.durable(true)
  assert.deepEqual(stage.verdicts, [{ kind: 'go' }])
  stage.end()
  assert.deepEqual(stage.replies, [])
  stage.durable(true)
  assert.equal(stage.replies.length, 1)
  assert.deepEqual(stage.log, ['intend', 'answer', 'append', 'reply'])
})

test('an intent is the entry of the call if its outcome never comes, under the id of its outcome', () => {
  const stage = staged()
  stage.announce()
  stage.durable(true)
  stage.end()
  const [intent] = stage.intents
  const [record] = stage.records
  assert.equal(intent?.id, record?.id)
  assert.equal(record?.affected, 1)
  assert.equal(record?.effect, 'committed')
  const { id: _, time: __, duration_ms: ___, ...told } = intent ?? {}
  assert.deepEqual(told, {
    connector: 'shop',
    address: '127.0.0.1',
    operation: 'update',
    request_id: '7',
    identity: 'ana',
    roles: ['support'],
    tool: 'update_customers_by_pk',
    epoch: 3,
    target: 'public.customers',
    plan: INTENT.plan,
    decision: 'errored',
    code: 'DB_EFFECT_UNKNOWN',
    reason: 'the process ended before the outcome was known',
    effect: 'unknown',
  })
})

test('an intent that cannot be kept refuses the call', () => {
  const stage = staged()
  stage.announce()
  stage.durable(false)
  assert.deepEqual(stage.verdicts, [{ kind: 'refused', code: 'AUDIT_UNAVAILABLE' }])
})

test('without a buffer nothing is written: the call is refused before its key is claimed', () => {
  const stage = staged({ keepsIntents: false })
  stage.announce(WITH_KEY)
  assert.deepEqual(stage.verdicts, [
    { kind: 'refused', code: 'AUDIT_UNAVAILABLE', reason: 'writing calls need audit.buffer' },
  ])
  assert.deepEqual(stage.log, ['answer'])
})

test('an idempotency key is claimed before the intent, for the caller and the tool', () => {
  const stage = staged()
  stage.announce(WITH_KEY)
  stage.durable(true)
  assert.deepEqual(stage.log, ['begin id_ana shop update_customers_by_pk k1 h', 'intend', 'answer'])
})

test('a key that was used answers for the call, which is not announced', () => {
  const replay = { kind: 'replay', affected: 1, keys: [{ id: '4711' }] } as const
  const stage = staged({ begin: replay })
  stage.announce(WITH_KEY)
  assert.deepEqual(stage.verdicts, [replay])
  assert.deepEqual(stage.intents, [])
  assert.deepEqual(stage.ends, [])
})

test('how a call ended is kept under its key before its entry is written', () => {
  const cases: readonly (readonly [Partial<OutcomeMessage>, CallEnd])[] = [
    [{}, { kind: 'done', affected: 1, keys: [{ id: '4711' }] }],
    [{ code: 'DB_CONSTRAINT', decision: 'errored', effect: 'none' }, { kind: 'none' }],
    [{ code: 'DB_EFFECT_UNKNOWN', decision: 'errored', effect: 'unknown' }, { kind: 'unknown' }],
  ]
  for (const [outcome, end] of cases) {
    const stage = staged()
    stage.announce(WITH_KEY)
    stage.durable(true)
    stage.end(outcome)
    assert.deepEqual(stage.ends, [end])
  }
})

test('a key that is claimed slowly keeps the order: claim, intent, go', async () => {
  const stage = staged({ slow: true })
  stage.announce(WITH_KEY)
  assert.deepEqual([stage.intents, stage.verdicts], [[], []])
  await stage.claimed()
  assert.deepEqual(stage.verdicts, [])
  stage.durable(true)
  assert.deepEqual(stage.verdicts, [{ kind: 'go' }])
  assert.deepEqual(stage.log, ['begin id_ana shop update_customers_by_pk k1 h', 'intend', 'answer'])
})

test('a call that ends while its key is claimed frees the key, announces nothing more, and is answered once', async () => {
  const stage = staged({ slow: true })
  stage.announce(WITH_KEY)
  stage.end({ code: 'CONNECTOR_UNAVAILABLE', decision: 'errored', effect: 'none' })
  stage.durable(true)
  assert.equal(stage.replies.length, 1)
  assert.deepEqual(stage.ends, [])
  await stage.claimed()
  assert.deepEqual(stage.ends, [{ kind: 'none' }])
  assert.deepEqual([stage.intents, stage.verdicts, stage.replies.length], [[], [], 1])
})

test('the reply waits until the outcome is kept under its key, however soon its entry is', async () => {
  const stage = staged({ slow: true })
  stage.announce(WITH_KEY)
  await stage.claimed()
  stage.durable(true)
  stage.end()
  stage.durable(true)
  await settled()
  assert.deepEqual(stage.replies, [])
  await stage.kept()
  assert.equal(stage.replies.length, 1)
})

test('a change whose entry could not be kept is not called undone, and its entry is given to the trail again', () => {
  const stage = staged()
  stage.announce()
  stage.durable(true)
  stage.end()
  stage.durable(false)
  assert.match(stage.replies[0] ?? '', /DB_EFFECT_UNKNOWN/)
  assert.doesNotMatch(stage.replies[0] ?? '', /no call is served/)
  stage.path.settleOwed()
  assert.equal(stage.records.length, 2)
  assert.deepEqual(stage.records[1], stage.records[0])
  stage.durable(false)
  stage.path.settleOwed()
  stage.durable(true)
  stage.path.settleOwed()
  assert.equal(stage.records.length, 3)
})

test('a call without effect whose entry could not be kept is told that no call is served', () => {
  const stage = staged()
  stage.end({ effect: 'none' })
  stage.durable(false)
  assert.match(stage.replies[0] ?? '', /AUDIT_UNAVAILABLE/)
  stage.path.settleOwed()
  assert.equal(stage.records.length, 1)
})
