import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { type KeyRecord, type KeyStore, StoreFailure } from '../../src/admin/admin-store.js'
import { generateKey, hashSecret, KEY_ID, parseKey, secretMatches } from '../../src/auth/api-key.js'
import { createAuthenticator } from '../../src/auth/authenticate.js'
import { FailureLimit } from '../../src/auth/failure-limit.js'
import { ERRORS, publicText } from '../../src/core/errors.js'
import { ADDRESSES_TRACKED_MAX, AUTH_FAILURES_PER_MINUTE_MAX } from '../../src/core/limits.js'
import type { Observation } from '../../src/observe/observation.js'

const NOW = 1_000_000

function fixture(change: Partial<KeyRecord> = {}) {
  const { keyId, secretHash, key } = generateKey(randomBytes)
  const record: KeyRecord = {
    keyId,
    secretHash,
    identityId: 'id_1',
    identityName: 'anna',
    disabled: false,
    claims: new Map([['tenant', '42']]),
    bindings: [
      { role: 'support', connector: 'crm' },
      { role: 'analyst' },
      { role: 'support' },
      { role: 'other', connector: 'shop' },
    ],
    ...change,
  }
  const used: string[] = []
  const observed: Observation[] = []
  const clock = { now: NOW }
  const store: KeyStore = {
    findKey: (id) => (id === keyId ? record : undefined),
    noteKeyUsed: (id, atMs) => used.push(`${id} ${atMs}`),
  }
  const options = {
    store,
    authEnabled: true,
    anonymousRoles: [],
    clock: () => clock.now,
    observe: (observation: Observation) => observed.push(observation),
    compared: (): Promise<void> | undefined => undefined,
  }
  return { key, keyId, record, used, observed, clock, options, authenticator: createAuthenticator(options) }
}

/** A key of the right form that no store knows. */
function strangersKey(): string {
  return generateKey(randomBytes).key
}

describe('API keys', () => {
  test('a generated key has the documented form and is read back into its parts', async () => {
    for (let i = 0; i < 200; i++) {
      const { keyId, secretHash, key } = generateKey(randomBytes)
      assert.match(key, /^rk_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/)
      assert.match(keyId, KEY_ID)
      const parsed = parseKey(key)
      assert.equal(parsed?.keyId, keyId)
      assert.deepEqual(Buffer.from(hashSecret(parsed?.secret ?? '')), Buffer.from(secretHash))
    }
  })

  test('texts of another form are no keys', async () => {
    const { key } = generateKey(randomBytes)
    for (const text of ['', 'rk_', `${key}x`, key.slice(0, -1), key.toUpperCase(), ` ${key}`, `${key}\n`]) {
      assert.equal(parseKey(text), undefined, text)
    }
  })

  test('one changed character of the secret does not match, and no hash matches nothing', async () => {
    const { key, secretHash } = generateKey(randomBytes)
    const secret = parseKey(key)?.secret ?? ''
    assert.equal(secretMatches(secret, secretHash), true)
    const other = `${secret.startsWith('A') ? 'B' : 'A'}${secret.slice(1)}`
    assert.equal(secretMatches(other, secretHash), false)
    assert.equal(secretMatches(secret, undefined), false)
    assert.equal(secretMatches(secret, secretHash.subarray(0, 16)), false)
  })
})

describe('authentication', () => {
  test('a valid key gives its identity with the roles that hold on the connector, each once', async () => {
    const { authenticator, key, keyId, used } = fixture()
    const outcome = await authenticator.authenticate(`Bearer ${key}`, 'crm', '10.0.0.1')
    assert.deepEqual(outcome, {
      ok: true,
      value: { id: 'id_1', name: 'anna', keyId, roles: ['analyst', 'support'], claims: new Map([['tenant', '42']]) },
    })
    assert.deepEqual(used, [`${keyId} ${NOW}`])
    const elsewhere = await authenticator.authenticate(`bearer ${key}`, 'shop', '10.0.0.1')
    assert.ok(elsewhere.ok)
    assert.deepEqual(elsewhere.value.roles, ['analyst', 'other', 'support'])
  })

  test('without a bearer key the answer says that one is required', async () => {
    const { authenticator, key } = fixture()
    for (const header of [undefined, '', 'Basic YTpi', key]) {
      const outcome = await authenticator.authenticate(header, 'crm', '10.0.0.1')
      assert.equal(outcome.ok ? 'ok' : outcome.error.code, 'AUTH_MISSING', String(header))
    }
  })

  test('unknown, wrong, malformed, revoked, expired and disabled get one text, and reasons of their own', async () => {
    const wrong = fixture()
    const wrongSecret = `rk_${wrong.keyId}_${strangersKey().slice(16)}`
    const revoked = fixture({ revokedAt: NOW - 1 })
    const expired = fixture({ expiresAt: NOW })
    const disabled = fixture({ disabled: true })
    const attempts = [
      [wrong, strangersKey(), 'unknown key'],
      [wrong, wrongSecret, 'wrong secret'],
      [wrong, 'nonsense', 'malformed key'],
      [revoked, revoked.key, 'revoked key'],
      [expired, expired.key, 'expired key'],
      [disabled, disabled.key, 'disabled identity'],
    ] as const
    const texts = new Set<string>()
    for (const [{ authenticator, used }, key, reason] of attempts) {
      const outcome = await authenticator.authenticate(`Bearer ${key}`, 'crm', '10.0.0.1')
      assert.ok(!outcome.ok)
      assert.equal(outcome.error.code, 'AUTH_INVALID')
      assert.equal(outcome.error.reason, reason)
      texts.add(publicText(outcome.error))
      assert.deepEqual(used, [])
    }
    assert.equal(texts.size, 1)
  })

  test('a revoked key shows that it is revoked only to who has its secret', async () => {
    const { authenticator, keyId } = fixture({ revokedAt: NOW - 1 })
    const outcome = await authenticator.authenticate(
      `Bearer rk_${keyId}_${strangersKey().slice(16)}`,
      'crm',
      '10.0.0.1',
    )
    assert.equal(outcome.ok ? '' : outcome.error.reason, 'wrong secret')
  })

  test('a key that has not expired yet is good to the last millisecond', async () => {
    const { authenticator, key, clock } = fixture({ expiresAt: NOW + 10 })
    clock.now = NOW + 9
    assert.ok((await authenticator.authenticate(`Bearer ${key}`, 'crm', 'a')).ok)
    clock.now = NOW + 10
    assert.ok(!(await authenticator.authenticate(`Bearer ${key}`, 'crm', 'a')).ok)
  })

  test('a store that cannot be read refuses, even a valid key, and is reported', async () => {
    const { key, options, observed } = fixture()
    const store: KeyStore = {
      findKey: () => {
        throw new StoreFailure('locked', 'the store is locked')
      },
      noteKeyUsed: () => {},
    }
    const outcome = await createAuthenticator({ ...options, store }).authenticate(`Bearer ${key}`, 'crm', '10.0.0.1')
    assert.ok(!outcome.ok)
    assert.equal(outcome.error.code, 'AUTH_UNAVAILABLE')
    assert.deepEqual(ERRORS[outcome.error.code].reply, { kind: 'http', status: 503 })
    assert.deepEqual(observed, [{ kind: 'auth.store_failed', detail: 'the store is locked' }])
  })

  test('a store that answers at once is not waited for', () => {
    const { authenticator, key } = fixture()
    assert.ok(!(authenticator.authenticate(`Bearer ${key}`, 'crm', '10.0.0.1') instanceof Promise))
  })

  test('a store that answers later is waited for, judged by the time of its answer, and refuses when it fails', async () => {
    const { key, keyId, record, options, clock, used, observed } = fixture({ expiresAt: NOW + 10 })
    let answer: (found: KeyRecord | undefined) => void = () => {}
    let failing: (error: Error) => void = () => {}
    const store: KeyStore = {
      findKey: () =>
        new Promise((resolve, reject) => {
          answer = resolve
          failing = reject
        }),
      noteKeyUsed: options.store.noteKeyUsed,
    }
    const slow = createAuthenticator({ ...options, store })
    const ask = () => slow.authenticate(`Bearer ${key}`, 'crm', '10.0.0.1')
    const good = ask()
    assert.deepEqual(used, [])
    answer(record)
    assert.ok((await good).ok)
    assert.deepEqual(used, [`${keyId} ${NOW}`])
    const late = ask()
    clock.now = NOW + 10
    answer(record)
    const expired = await late
    assert.equal(expired.ok ? '' : expired.error.reason, 'expired key')
    const unknown = ask()
    answer(undefined)
    const outcome = await unknown
    assert.equal(outcome.ok ? '' : outcome.error.reason, 'unknown key')
    const lost = ask()
    failing(new StoreFailure('unusable', 'the store is away'))
    const refused = await lost
    assert.equal(refused.ok ? '' : refused.error.code, 'AUTH_UNAVAILABLE')
    assert.deepEqual(observed, [{ kind: 'auth.store_failed', detail: 'the store is away' }])
    const broken = ask()
    failing(new Error('a bug'))
    await assert.rejects(Promise.resolve(broken), /a bug/)
  })

  test('after the store was away a valid caller waits until what is served was compared with it, and is refused where it cannot be', async () => {
    const { key, options, observed } = fixture()
    let asked = 0
    let settle: () => void = () => {}
    let failing: (error: Error) => void = () => {}
    const compared = () => {
      asked += 1
      return new Promise<void>((resolve, reject) => {
        settle = resolve
        failing = reject
      })
    }
    for (const authEnabled of [true, false]) {
      const authenticator = createAuthenticator({ ...options, authEnabled, compared })
      const ask = () => authenticator.authenticate(`Bearer ${key}`, 'crm', '10.0.0.1')
      const waiting = ask()
      settle()
      assert.ok((await waiting).ok)
      const lost = ask()
      failing(new StoreFailure('missing', 'the store is away'))
      const refused = await lost
      assert.equal(refused.ok ? '' : refused.error.code, 'AUTH_UNAVAILABLE')
    }
    assert.deepEqual([asked, observed.length], [4, 2])
    const stranger = createAuthenticator({ ...options, compared }).authenticate(
      `Bearer ${strangersKey()}`,
      'crm',
      '::1',
    )
    assert.ok(!(stranger instanceof Promise))
    assert.equal(asked, 4, 'nothing is compared for who is refused anyway')
  })

  test('with authentication off everybody is anonymous, whatever they send', async () => {
    const { options, key } = fixture()
    const authenticator = createAuthenticator({ ...options, authEnabled: false, anonymousRoles: ['b', 'a', 'b'] })
    for (const header of [undefined, `Bearer ${key}`, 'Bearer nonsense']) {
      const outcome = await authenticator.authenticate(header, 'crm', '127.0.0.1')
      assert.deepEqual(outcome, {
        ok: true,
        value: { id: 'anonymous', name: 'anonymous', roles: ['a', 'b'], claims: new Map() },
      })
    }
  })
})

describe('failing attempts', () => {
  const codeOf = async (from: ReturnType<typeof fixture>, key: string, address: string) => {
    const outcome = await from.authenticator.authenticate(`Bearer ${key}`, 'crm', address)
    return outcome.ok ? 'OK' : outcome.error.code
  }
  const exhaust = async (from: ReturnType<typeof fixture>, address: string) => {
    const attempts = Array.from({ length: AUTH_FAILURES_PER_MINUTE_MAX }, () => codeOf(from, strangersKey(), address))
    const codes = await Promise.all(attempts)
    assert.deepEqual([...new Set(codes)], ['AUTH_INVALID'])
  }

  test('more of them in a minute than allowed are limited, by address, until the minute is over', async () => {
    const from = fixture()
    await exhaust(from, '10.0.0.1')
    assert.equal(await codeOf(from, strangersKey(), '10.0.0.1'), 'RATE_LIMITED')
    assert.equal(await codeOf(from, strangersKey(), '10.0.0.2'), 'AUTH_INVALID')
    from.clock.now += 60_000
    assert.equal(await codeOf(from, strangersKey(), '10.0.0.1'), 'AUTH_INVALID')
  })

  test('a valid key is never limited, whatever its address did', async () => {
    const from = fixture()
    await exhaust(from, '10.0.0.1')
    for (let i = 0; i < 100; i++) {
      assert.equal(await codeOf(from, strangersKey(), '10.0.0.1'), 'RATE_LIMITED')
      assert.equal(await codeOf(from, from.key, '10.0.0.1'), 'OK')
    }
  })

  test('a request without any key is not an attempt', async () => {
    const from = fixture()
    for (let i = 0; i < AUTH_FAILURES_PER_MINUTE_MAX * 2; i++)
      await from.authenticator.authenticate(undefined, 'crm', '10.0.0.1')
    assert.equal(await codeOf(from, strangersKey(), '10.0.0.1'), 'AUTH_INVALID')
  })

  test('the addresses of one IPv6 network share a count, however they are written', async () => {
    const from = fixture()
    for (let i = 0; i < AUTH_FAILURES_PER_MINUTE_MAX; i++)
      await codeOf(from, strangersKey(), `2001:db8:0:7::${i.toString(16)}`)
    assert.equal(await codeOf(from, strangersKey(), '2001:DB8:0000:0007:ffff:1:2:3'), 'RATE_LIMITED')
    assert.equal(await codeOf(from, strangersKey(), '2001:db8:0:8::1'), 'AUTH_INVALID')
  })

  test('memory stays bounded under any number of addresses', async () => {
    const limit = new FailureLimit(() => NOW)
    for (let i = 0; i < ADDRESSES_TRACKED_MAX + 500; i++) limit.exceeded(`host-${i}`)
    assert.equal(limit.tracked, ADDRESSES_TRACKED_MAX)
  })
})
