import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keptRecord, recordMembers } from '../../src/audit/entry-text.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { AUDIT_LINE_CHARS_MAX, AUDIT_TEXT_CHARS_MAX } from '../../src/core/limits.js'
import type { ValueKeeping } from '../../src/threads/messages.js'
import { auditRecord } from '../support/audit-records.js'

const digests = {
  value: (column: string, value: string) => `hmac:${column}/${value}`,
  rowKey: (table: string, key: string) => `hmac:${table}#${key}`,
}

function textOf(record: AuditRecord, keeping: ValueKeeping = 'hash'): string {
  return `{${recordMembers(record, 'i1', { filters: keeping, writes: keeping, resultKeys: keeping }, digests)}}`
}

function entryOf(record: AuditRecord, keeping: ValueKeeping = 'hash'): Record<string, unknown> {
  return JSON.parse(textOf(record, keeping)) as Record<string, unknown>
}

const TEXT_FIELDS = [
  'id',
  'time',
  'connector',
  'request_id',
  'trace_id',
  'identity',
  'key_id',
  'client',
  'address',
  'tool',
  'target',
  'reason',
] as const

test('members stand in the documented order whatever the order of the record, and absent ones are left out', () => {
  const record = auditRecord('a', { trace_id: 't', reason: 'r', affected: 1, count: 2 })
  const reversed = Object.fromEntries(Object.entries(record).reverse()) as unknown as AuditRecord
  const expected =
    'id time instance connector epoch request_id trace_id identity key_id roles client address tool operation target plan decision code reason effect rows affected count duration_ms'
  assert.equal(Object.keys(entryOf(record)).join(' '), expected)
  assert.equal(textOf(reversed), textOf(record))
  const { connector: _, ...without } = record
  assert.equal('connector' in entryOf(without), false)
})

test('half of a surrogate pair is kept as U+FFFD, wherever it came from, and whole ones as they are', () => {
  const kept = (text: string) => entryOf(auditRecord('a', { client: text }))['client']
  assert.equal(kept('a\ud83d'), 'a\ufffd')
  assert.equal(kept('\ude00b\ud83d\ud83d\ude00'), '\ufffdb\ufffd\ud83d\ude00')
  assert.equal(kept('\u{1f600}\u{e0041}\\ud83d'), '\u{1f600}\u{e0041}\\ud83d')
  const cut = String(kept(`${'x'.repeat(AUDIT_TEXT_CHARS_MAX - 2)}\u{1f600}\u{1f600}`))
  assert.ok(cut.endsWith('x\ufffd…'))
  assert.match(textOf(auditRecord('a', { client: '\ud83d', tool: '\udc00' })), /^(?:[^\\]|\\ufffd)+$/)
})

test('hostile text in any field yields one line of harmless characters and is kept in full', () => {
  const hostile = `a\nb\r\u001b[31m\u0000\u007f\u009b2J\u0085\u2028\u2029\u202e\u2066\u200f\u061c\u200b\ufeff\u{e0041}","hash":"x"}`
  for (const name of TEXT_FIELDS) {
    const text = textOf(auditRecord('a', { [name]: hostile }))
    assert.match(text, /^[\x20-\x7e]+$/, name)
    assert.equal((JSON.parse(text) as Record<string, unknown>)[name], hostile, name)
  }
  const plan = {
    columns: [hostile],
    filters: [{ column: hostile, op: 'eq' as const, values: [hostile] }],
    group_by: [hostile],
    metrics: [{ fn: 'sum' as const, column: hostile }],
    order: [{ by: hostile, direction: 'asc' as const }],
  }
  const text = textOf(auditRecord('a', { roles: [hostile], plan }), 'full')
  assert.match(text, /^[\x20-\x7e]+$/)
  assert.deepEqual((JSON.parse(text) as AuditRecord).plan, plan)
})

test('any text at all yields one line without control, separator or bidirectional characters', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 })
  fc.assert(
    fc.property(text, text, (client, value) => {
      const line = textOf(
        auditRecord('a', { client, plan: { filters: [{ column: 'c', op: 'eq', values: [value] }] } }),
        'full',
      )
      assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
      const entry = JSON.parse(line) as AuditRecord
      assert.equal(entry.client, client)
      assert.equal(entry.plan?.filters?.[0]?.values?.[0], value)
    }),
  )
})

test('readable text of other languages stays readable', () => {
  assert.ok(textOf(auditRecord('a', { identity: 'José 北京' })).includes('"identity":"José 北京"'))
})

test('every text field is capped, and a cut one shows it', () => {
  for (const name of TEXT_FIELDS) {
    const value = entryOf(auditRecord('a', { [name]: 'x'.repeat(100_000) }))[name]
    assert.ok(typeof value === 'string' && value.length <= (name === 'reason' ? 1_024 : AUDIT_TEXT_CHARS_MAX), name)
    assert.ok(value.endsWith('…'), name)
  }
  const roles = entryOf(auditRecord('a', { roles: Array.from({ length: 500 }, (_, i) => `role${i}`) }))['roles']
  assert.ok(Array.isArray(roles) && roles.length === 51 && roles.at(-1) === '…')
})

test('filter values are kept, replaced by digests or left out as configured', () => {
  const plan = { filters: [{ column: 'country', op: 'in' as const, values: ['DE', 'FR'] }] }
  const filtersFor = (keeping: ValueKeeping) =>
    (entryOf(auditRecord('a', { plan }), keeping) as unknown as AuditRecord).plan?.filters
  assert.deepEqual(filtersFor('full'), plan.filters)
  assert.deepEqual(filtersFor('hash'), [
    { column: 'country', op: 'in', values: ['hmac:country/DE', 'hmac:country/FR'] },
  ])
  assert.deepEqual(filtersFor('none'), [{ column: 'country', op: 'in' }])
})

const WRITE_PLAN = {
  filters: [{ column: 'id', op: 'eq' as const, values: ['7'] }],
  values: [{ column: 'email', values: ['a@b.c'] }, { column: 'phone' }],
  expected: [{ column: 'name', values: ['Ana'] }],
}

test('written and expected values are kept as configured for writes, whatever holds for filters', () => {
  const planFor = (filters: ValueKeeping, writes: ValueKeeping) => {
    const members = recordMembers(
      auditRecord('a', { plan: WRITE_PLAN }),
      'i1',
      { filters, writes, resultKeys: 'hash' },
      digests,
    )
    return (JSON.parse(`{${members}}`) as AuditRecord).plan
  }
  assert.deepEqual(planFor('full', 'full'), WRITE_PLAN)
  assert.deepEqual(planFor('none', 'hash'), {
    filters: [{ column: 'id', op: 'eq' }],
    values: [{ column: 'email', values: ['hmac:email/a@b.c'] }, { column: 'phone' }],
    expected: [{ column: 'name', values: ['hmac:name/Ana'] }],
  })
  assert.deepEqual(planFor('full', 'none'), {
    filters: WRITE_PLAN.filters,
    values: [{ column: 'email' }, { column: 'phone' }],
    expected: [{ column: 'name' }],
  })
})

test('a dry run and an idempotency key stand in the plan', () => {
  const plan = { ...WRITE_PLAN, dry_run: true as const, idempotency_key: 'k'.repeat(300) }
  const kept = (entryOf(auditRecord('a', { plan }), 'full') as unknown as AuditRecord).plan
  assert.equal(kept?.dry_run, true)
  assert.equal(kept?.idempotency_key?.length, AUDIT_TEXT_CHARS_MAX)
})

test('a record kept for later becomes the text that it would have become at once', () => {
  const long = Array.from({ length: 50 }, (_, i) => ({ column: `c${i}`, values: ['\u202e'.repeat(1_000)] }))
  for (const plan of [WRITE_PLAN, { ...WRITE_PLAN, values: long }]) {
    for (const keeping of ['full', 'hash', 'none'] as const) {
      const record = auditRecord('a', { plan })
      const kept = keptRecord(record, { filters: keeping, writes: keeping, resultKeys: keeping }, digests)
      const later = JSON.parse(JSON.stringify(kept)) as AuditRecord
      assert.equal(textOf(later, 'full'), textOf(record, keeping))
    }
  }
})

test('a full list of a thousand digests fits an entry', () => {
  const values = Array.from({ length: 1_000 }, (_, i) => String(i))
  const members = recordMembers(
    auditRecord('a', { plan: { filters: [{ column: 'id', op: 'in', values }] } }),
    'i1',
    { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    { ...digests, value: () => `hmac:${'0'.repeat(32)}` },
  )
  const { plan } = JSON.parse(`{${members}}`) as AuditRecord
  assert.equal(plan?.filters?.[0]?.values?.length, 1_000)
  assert.equal(plan?.cut, undefined)
})

test('a line never exceeds its cap: the plan loses values first, then all but the mark', () => {
  const values = Array.from({ length: 1_000 }, () => '\u202e'.repeat(1_000))
  const wide = entryOf(
    auditRecord('a', { plan: { columns: ['id'], filters: [{ column: 'id', op: 'in', values }] } }),
    'full',
  )
  assert.deepEqual(wide['plan'], { columns: ['id'], filters: [{ column: 'id', op: 'in' }], cut: true })
  const long = (count: number) =>
    Array.from({ length: count }, () => ({ column: 'c', values: ['\u202e'.repeat(1_000)] }))
  const written = entryOf(auditRecord('a', { plan: { values: long(39), expected: long(1), dry_run: true } }), 'full')
  const bare = { values: Array.from({ length: 39 }, () => ({ column: 'c' })), expected: [{ column: 'c' }] }
  assert.deepEqual(written['plan'], { ...bare, dry_run: true, cut: true })
  const columns = Array.from({ length: 1_600 }, (_, i) => `${'c'.repeat(60)}${i}`)
  const worst = auditRecord('a', { plan: { columns }, roles: Array.from({ length: 50 }, () => '\u202e'.repeat(64)) })
  const everyField = Object.fromEntries(TEXT_FIELDS.map((name) => [name, '\u202e'.repeat(2_000)]))
  const text = textOf({ ...worst, ...everyField }, 'full')
  assert.ok(text.length <= AUDIT_LINE_CHARS_MAX, `${text.length}`)
  assert.deepEqual((JSON.parse(text) as AuditRecord).plan, { cut: true })
})

test('keys of rows are kept as configured, and stand between affected and detail', () => {
  const record = auditRecord('a', {
    rows: 2,
    affected: 1,
    result_keys: [{ table: 'public.lines', keys: ['7', '["7","b"]'] }],
    detail: { version: 3 },
  })
  const keysFor = (keeping: ValueKeeping) => entryOf(record, keeping)['result_keys']
  assert.deepEqual(keysFor('full'), record.result_keys)
  assert.deepEqual(keysFor('hash'), [
    { table: 'public.lines', keys: ['hmac:public.lines#7', 'hmac:public.lines#["7","b"]'] },
  ])
  assert.equal(keysFor('none'), undefined)
  const members = Object.keys(entryOf(record))
  assert.deepEqual(members.slice(members.indexOf('affected'), members.indexOf('detail') + 1), [
    'affected',
    'result_keys',
    'detail',
  ])
})

test('no key of a row is ever left out: those too long to be kept as they are become digests, whatever the plan loses', () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => `${'k'.repeat(30)}${i}`)
  const plan = { columns: Array.from({ length: 1_600 }, (_, i) => `${'c'.repeat(60)}${i}`) }
  const entry = entryOf(auditRecord('a', { plan, result_keys: [{ table: 'public.t', keys }] }), 'full')
  assert.deepEqual(entry['plan'], { cut: true })
  assert.deepEqual(entry['result_keys'], [{ table: 'public.t', keys: keys.map((key) => `hmac:public.t#${key}`) }])
})

test('a record with keys that is kept for later becomes the text that it would have become at once', () => {
  const record = auditRecord('a', { result_keys: [{ table: 'public.t', keys: ['1'] }] })
  for (const keeping of ['full', 'hash', 'none'] as const) {
    const kept = keptRecord(record, { filters: keeping, writes: keeping, resultKeys: keeping }, digests)
    assert.equal(textOf(JSON.parse(JSON.stringify(kept)) as AuditRecord, 'full'), textOf(record, keeping))
  }
})
