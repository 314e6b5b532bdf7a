import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ALL_RIGHTS } from '../../src/admin/admin-rights.js'
import type { AdminStore } from '../../src/admin/admin-store.js'
import { openApi } from '../../src/admin/openapi.js'
import type { OperationContext } from '../../src/admin/operation.js'
import { OPERATIONS } from '../../src/admin/operations.js'
import { ACCESS_OPERATIONS } from '../../src/admin/operations-access.js'
import { POLICY_OPERATIONS } from '../../src/admin/operations-policies.js'
import { generateKey } from '../../src/auth/api-key.js'
import { checkConnector } from '../../src/config/connector-uses.js'
import { fail, ok } from '../../src/core/result.js'
import { parsePolicy, policyFaultText } from '../../src/policy/policy-document.js'
import { openedStore, STORE_KINDS, time } from '../support/admin-stores.js'
import { must } from '../support/gateway.js'
import { ODD_TEXTS, ODD_VALUES, sampleInput, UNKEEPABLE_TEXTS } from '../support/hostile-input.js'

function contextOf(store: AdminStore): OperationContext {
  return {
    store,
    author: { name: 'cli:test' },
    rights: ALL_RIGHTS,
    nowMs: time.now,
    connectors: async () => [],
    checkConnector: (document) => checkConnector('config.yaml', document, {}, false),
    judgePolicy: async (_policy, text) => {
      const parsed = parsePolicy(text)
      if (parsed.ok) return ok({ json: JSON.stringify(parsed.value), known: new Map(), findings: [] })
      const details = parsed.error.map(policyFaultText)
      return fail({ code: 'INVALID', message: details[0] ?? '', details })
    },
  }
}

/** Members that are one text: a name, an id, a span of time. */
function isShortText(name: string): boolean {
  return !['document', 'version', 'to'].includes(name)
}

for (const { kind, fresh } of STORE_KINDS) {
  describe(`operations on a store of ${kind}, whatever they are given`, () => {
    for (const operation of OPERATIONS) {
      test(`${operation.name} refuses by name what no store can keep, and breaks at nothing`, async () => {
        const store = await openedStore(await fresh())
        const before = (await store.readVersions()).change
        const context = contextOf(store)
        for (const [name, schema] of Object.entries(operation.input.shape)) {
          for (const value of [...UNKEEPABLE_TEXTS, ...ODD_TEXTS, ...ODD_VALUES]) {
            const done = await operation.run(context, { ...sampleInput(operation), [name]: value })
            const given = `${name}: ${JSON.stringify(value).slice(0, 60)}`
            const fits = schema.safeParse(value).success
            if (!fits || UNKEEPABLE_TEXTS.some((text) => text === value)) {
              assert.ok(!done.ok, given)
              assert.equal(done.error.code, 'INVALID', `${given}: ${done.error.message}`)
            }
            if (done.ok) continue
            const { message, details = [] } = done.error
            if (isShortText(name) && !fits) assert.match(message, new RegExp(`^${name}[.:]`), given)
            for (const line of [message, ...details]) {
              assert.ok(line.length > 0 && line.length < 1_000, given)
              assert.doesNotMatch(line, /[\p{Cc}\p{Cs}]/u, given)
            }
          }
        }
        for (const name of ['__proto__', 'constructor', 'nothing', 'a\u0000']) {
          // A spread keeps an own "__proto__", as the reader of JSON makes it.
          const more: unknown = JSON.parse(`{${JSON.stringify(name)}:1}`)
          const input = { ...sampleInput(operation), ...Object(more) }
          const done = await operation.run(context, input)
          assert.ok(!done.ok && done.error.code === 'INVALID', name)
          assert.match(done.error.message, /not a member of this request/)
        }
        if (!operation.changes) assert.equal((await store.readVersions()).change, before)
        await store.close()
      })
    }

    test('the version before the newest is the one that there is, whatever its number', async () => {
      const store = await openedStore(await fresh())
      const context = contextOf(store)
      const apply = (roles: string) =>
        POLICY_OPERATIONS['policy.apply'].run(context, {
          policy: 'crm',
          document: `version: 1\nroles: { ${roles}: {} }`,
        })
      const rollback = (to?: unknown) =>
        POLICY_OPERATIONS['policy.rollback'].run(context, { policy: 'crm', ...(to === undefined ? {} : { to }) })
      assert.equal(must(await apply('a')).version, 1)
      assert.equal(must(await apply('b')).version, 2)
      must(await POLICY_OPERATIONS['policy.delete'].run(context, { policy: 'crm' }))
      assert.equal(must(await apply('c')).version, 3)
      const alone = await rollback()
      assert.ok(!alone.ok && alone.error.message === 'there is no version before the newest')
      assert.equal(must(await apply('d')).version, 4)
      const gone = await rollback(2)
      assert.ok(
        !gone.ok && gone.error.message === 'to: expected an older version; the newest is 4, the older ones are 3',
      )
      const back = must(await rollback())
      assert.deepEqual([back.version, back.restored], [5, 3])
      const shown = must(await POLICY_OPERATIONS['policy.show'].run(context, { policy: 'crm' }))
      assert.deepEqual(Object.keys(Object(shown.document['roles'])), ['c'])
      assert.equal(must(await rollback('4')).restored, 4)
      await store.close()
    })
  })
}

test('a key that somebody put where a name belongs is in no entry', () => {
  const { key, keyId } = generateKey((count) => new Uint8Array(count).fill(7))
  const secret = key.slice(16)
  for (const operation of OPERATIONS) {
    for (const name of Object.keys(operation.input.shape)) {
      for (const value of [key, `Bearer ${key}`, `x${key}y`]) {
        const target = operation.target({ ...sampleInput(operation), [name]: value }) ?? ''
        assert.ok(!target.includes(secret), `${operation.name} ${name}`)
      }
    }
  }
  assert.equal(ACCESS_OPERATIONS['key.revoke'].target({ key_id: key }), keyId)
})

test('the description says of every member what it takes', () => {
  const text = JSON.stringify(openApi(OPERATIONS, '1.0.0'))
  assert.match(text, /\^\[1-9\]\[0-9\]\{0,14\}\$/)
  assert.match(text, /"maxLength":256/)
})
