import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { AdminStore, IdempotencyClaim, StoreChanges, StoreRefusal } from '../../src/admin/admin-store.js'
import { parseKey, secretMatches } from '../../src/auth/api-key.js'
import type { ClaimValue } from '../../src/core/identity.js'
import {
  INSTANCE_KEPT_MS,
  INSTANCE_LIVE_MS,
  LAST_USED_FLUSH_INTERVAL_MS,
  RELOAD_REPORTS_KEPT,
} from '../../src/core/limits.js'
import type { Result } from '../../src/core/result.js'
import { numbersOf, openedStore, STORE_KINDS, type StorePlace, time } from '../support/admin-stores.js'
import { must } from '../support/gateway.js'
import type { StoreOrder } from '../support/store-process.js'
import { eventually } from '../support/test-server.js'

const AUTHOR = { name: 'cli:test' }
const PROGRAM = fileURLToPath(new URL('../support/store-process.js', import.meta.url))

function refusal(outcome: Result<unknown, StoreRefusal>): string {
  assert.ok(!outcome.ok, 'expected a refusal')
  return `${outcome.error.code}: ${outcome.error.message}`
}

async function versionOf(store: AdminStore): Promise<number> {
  return (await store.readVersions()).change
}

async function pendingOf(place: StorePlace): Promise<readonly string[]> {
  const rows = await place.rows('SELECT action, target FROM audit_pending ORDER BY seq')
  return rows.map((row) => row.join(' '))
}

/** Another process that does these changes in turn on the same store. */
async function otherProcess(place: StorePlace, order: Omit<StoreOrder, 'settings'>): Promise<void> {
  const { settings } = place
  const plain = settings.type === 'sqlite' ? settings : { type: settings.type, url: settings.url.reveal() }
  const child = fork(PROGRAM, [JSON.stringify({ settings: plain, ...order })], { execArgv: [] })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
}

for (const { kind, fresh } of STORE_KINDS) {
  /** A store with one identity and one key. */
  async function withKey(place?: StorePlace) {
    const at = place ?? (await fresh())
    const store = await openedStore(at)
    const changes = store.changes(AUTHOR)
    must(await changes.createRole('analyst'))
    must(await changes.createIdentity('anna', ['analyst'], new Map([['tenant', '42']])))
    return { place: at, store, changes, ...must(await changes.createKey('anna')) }
  }

  describe(`what a store on ${kind} keeps`, () => {
    test('a new store has the reserved roles, numbers that can be watched, and nothing else', async () => {
      const store = await openedStore(await fresh())
      assert.equal(store.kind, kind)
      assert.deepEqual(
        await store.listRoles(),
        ['admin', 'auditor', 'operator'].map((name) => ({ name, reserved: true })),
      )
      const empty = [store.listIdentities(), store.listKeys(), store.listPolicies(), store.listConnectors()]
      assert.deepEqual(await Promise.all(empty), [[], [], [], []])
      assert.deepEqual(await numbersOf(store), { change: 1, reload: 0 })
      assert.equal(await store.healthy(), true)
      await store.close()
      await store.close()
    })

    test('a key is stored as a hash alone and finds its identity, claims and bindings', async () => {
      const { place, store, changes, keyId, key } = await withKey()
      must(await changes.addBinding('anna', 'auditor', 'shop'))
      const record = await store.findKey(keyId)
      assert.ok(record)
      assert.equal(secretMatches(parseKey(key)?.secret ?? '', record.secretHash), true)
      assert.deepEqual(record.bindings, [{ role: 'analyst' }, { role: 'auditor', connector: 'shop' }])
      assert.deepEqual([record.identityName, record.claims.get('tenant'), record.disabled], ['anna', '42', false])
      assert.equal(await store.findKey('aaaaaaaaaaaa'), undefined)
      const kept = JSON.stringify([
        await place.rows('SELECT * FROM api_keys'),
        await place.rows('SELECT * FROM audit_pending'),
      ])
      assert.ok(!kept.includes(parseKey(key)?.secret ?? ''))
      await store.close()
    })

    test('claims of every kind come back as they were', async () => {
      const store = await openedStore(await fresh())
      const claims = new Map<string, ClaimValue>([
        ['text', '007'],
        ['number', 1.5],
        ['truth', false],
        ['list', ['a', 1, true]],
        ['constructor', 'x'],
        ['odd', '\u0001 " \\ é 😀'],
      ])
      must(await store.changes(AUTHOR).createIdentity('anna', [], claims))
      assert.deepEqual((await store.findIdentity('anna'))?.claims, claims)
      assert.deepEqual((await store.listIdentities())[0]?.claims, claims)
      await store.close()
    })

    test('keys and identities are listed with what is known of them, and no secret', async () => {
      const { store, changes, keyId } = await withKey()
      must(await changes.addBinding('anna', 'operator', 'shop'))
      must(await changes.setIdentityDisabled('anna', true))
      const second = must(await changes.createKey('anna', time.now + 1_000))
      assert.deepEqual(
        (await store.listKeys()).toSorted(
          (a, b) => Number(a.keyId === second.keyId) - Number(b.keyId === second.keyId),
        ),
        [
          { keyId, identity: 'anna', createdAt: time.now },
          { keyId: second.keyId, identity: 'anna', createdAt: time.now, expiresAt: time.now + 1_000 },
        ],
      )
      const [listed] = await store.listIdentities()
      assert.deepEqual(listed?.bindings, [{ role: 'analyst' }, { role: 'operator', connector: 'shop' }])
      assert.deepEqual([listed?.name, listed?.disabled, listed?.createdAt], ['anna', true, time.now])
      assert.deepEqual(await store.findIdentity('anna'), listed)
      assert.equal(await store.findIdentity('nobody'), undefined)
      await store.close()
    })

    test('every version of a policy is kept and found, with what it was confirmed to be about', async () => {
      const store = await openedStore(await fresh())
      assert.equal(await store.findPolicy('crm'), undefined)
      assert.deepEqual(await store.policyHistory('crm'), [])
      const known = new Map([['shop', '["a"]']])
      must(await store.changes({ name: 'cli:a' }).applyPolicy('crm', '{"version":1}', known))
      const second = must(await store.changes({ name: 'cli:b' }).applyPolicy('crm', '{"version":1,"tables":{}}'))
      assert.deepEqual(await store.findPolicy('crm'), second)
      assert.deepEqual([second.version, second.author], [2, 'cli:b'])
      assert.equal((await store.findPolicy('crm', 1))?.document, '{"version":1}')
      assert.equal(await store.findPolicy('crm', 3), undefined)
      assert.deepEqual(await store.listPolicies(), [{ name: 'crm', version: 2, author: 'cli:b', appliedAt: time.now }])
      assert.deepEqual(
        (await store.policyHistory('crm')).map(({ version, author }) => `${version} ${author}`),
        ['2 cli:b', '1 cli:a'],
      )
      assert.equal(await store.findKnownObjects('crm', 1, 'shop'), '["a"]')
      assert.equal(await store.findKnownObjects('crm', 2, 'shop'), undefined)
      await store.close()
    })

    test('the first confirmation of a version stands, changes no version, and one of a deleted version is forgotten', async () => {
      const store = await openedStore(await fresh())
      must(await store.changes(AUTHOR).applyPolicy('crm', '{}'))
      const before = await store.readVersions()
      await store.recordKnownObjects('crm', 1, 'shop', '[1]')
      await store.recordKnownObjects('crm', 1, 'shop', '[2]')
      await store.recordKnownObjects('crm', 7, 'shop', '[3]')
      assert.equal(await store.findKnownObjects('crm', 1, 'shop'), '[1]')
      assert.equal(await store.findKnownObjects('crm', 7, 'shop'), undefined)
      assert.deepEqual(await store.readVersions(), before)
      await store.close()
    })

    test('a version and what it is known to be about are there together or not at all', async () => {
      const place = await fresh()
      const [writer, reader] = [await openedStore(place), await openedStore(place)]
      const changes = writer.changes(AUTHOR)
      let applied = 0
      const applying = (async () => {
        for (; applied < 30; applied++)
          must(await changes.applyPolicy('crm', '{}', new Map([['shop', `[${applied}]`]])))
      })()
      while (applied < 30) {
        const policy = await reader.findPolicy('crm')
        if (policy !== undefined) {
          assert.equal(await reader.findKnownObjects('crm', policy.version, 'shop'), `[${policy.version - 1}]`)
        }
      }
      await applying
      await writer.close()
      await reader.close()
    })
  })

  describe(`what a store on ${kind} refuses`, () => {
    test('names that need quoting, and those of inherited properties with underscores', async () => {
      const store = await openedStore(await fresh())
      const changes = store.changes(AUTHOR)
      for (const name of ['', ' a', 'a b', 'a"b', '__proto__', 'ä', 'x'.repeat(65), 'a\n']) {
        assert.match(refusal(await changes.createRole(name)), /^INVALID: .*expected a name such as analyst/)
        assert.match(refusal(await changes.createIdentity(name, [], new Map())), /expected a name such as anna/)
        assert.match(refusal(await changes.applyPolicy(name, '{}')), /expected a name such as crm/)
        assert.match(refusal(await changes.putConnector(name, JSON.stringify({ id: name }))), /a name such as shop/)
      }
      const created = (name: string, claims: readonly (readonly [string, ClaimValue])[] = []) =>
        changes.createIdentity(name, [], new Map(claims))
      assert.match(refusal(await created('a:b')), /expected a name such as anna/)
      assert.match(refusal(await created('anonymous')), /while authentication is off/)
      assert.match(refusal(await created('a', [['__proto__', 'x']])), /name for a claim/)
      assert.match(refusal(await created('a', [['n', 2 ** 53]])), /not exact/)
      assert.equal(await versionOf(store), 1)
      await store.close()
    })

    test('a role or identity that does not exist, with the nearest one, and nothing is written', async () => {
      const { store, changes } = await withKey()
      const before = await versionOf(store)
      assert.equal(
        refusal(await changes.createIdentity('bob', ['analyst', 'analist'], new Map())),
        'NOT_FOUND: there is no role "analist". Did you mean "analyst"?',
      )
      assert.equal((await store.listIdentities()).length, 1)
      assert.match(refusal(await changes.addBinding('ana', 'analyst')), /no identity "ana"\. Did you mean "anna"\?/)
      assert.match(refusal(await changes.createKey('zzzzz')), /no identity "zzzzz"\. Make it with/)
      assert.match(refusal(await changes.deleteIdentity('ana')), /NOT_FOUND.*Did you mean "anna"/)
      assert.match(refusal(await changes.setIdentityDisabled('ana', true)), /NOT_FOUND/)
      assert.match(refusal(await changes.setClaims('ana', new Map())), /NOT_FOUND/)
      assert.match(refusal(await changes.deleteRole('analist', true)), /NOT_FOUND.*Did you mean "analyst"/)
      assert.match(refusal(await changes.deletePolicy('crm')), /NOT_FOUND/)
      assert.match(refusal(await changes.deleteConnector('shop')), /NOT_FOUND/)
      assert.match(refusal(await changes.renameConnector('shop', 'store')), /NOT_FOUND/)
      assert.equal(await versionOf(store), before)
      await store.close()
    })

    test('a claim that no database can hold is refused, and so is a name that is no name', async () => {
      const { store, changes } = await withKey()
      const before = await versionOf(store)
      for (const value of ['a\u0000', '\u0000', 'x\ud800', '\udc00y', ['fine', 'no\u0000t']]) {
        const claims = new Map<string, ClaimValue>([['tenant', value]])
        const rule = /INVALID: claim tenant: expected text without NUL and without halves of surrogate pairs/
        assert.match(refusal(await changes.setClaims('anna', claims)), rule)
        assert.match(refusal(await changes.createIdentity('bob', [], claims)), rule)
      }
      for (const name of ['__proto__', '', 'a b', 'a\u0000', '\ud800']) {
        assert.match(
          refusal(await changes.setClaims('anna', new Map([[name, 'x']]))),
          /INVALID: this is not a name for a claim/,
        )
      }
      assert.equal(await versionOf(store), before)
      assert.deepEqual((await store.findIdentity('anna'))?.claims, new Map([['tenant', '42']]))
      await store.close()
    })

    test('what exists already, and the removal of what does not', async () => {
      const { store, changes } = await withKey()
      assert.match(refusal(await changes.createRole('admin')), /EXISTS.*exists already/)
      assert.match(refusal(await changes.createIdentity('anna', [], new Map())), /EXISTS/)
      assert.match(refusal(await changes.addBinding('anna', 'analyst')), /EXISTS.*has this role there already/)
      const elsewhere = /NOT_FOUND.*not bound to role "analyst" on connector "shop"/
      assert.match(refusal(await changes.removeBinding('anna', 'analyst', 'shop')), elsewhere)
      assert.match(refusal(await changes.revokeKey('aaaaaaaaaaaa')), /NOT_FOUND/)
      assert.match(refusal(await changes.revokeKey('x')), /INVALID/)
      assert.match(refusal(await changes.createKey('anna', time.now)), /INVALID.*must expire after now/)
      assert.match(refusal(await changes.applyPolicy('crm', 'tables:')), /INVALID.*JSON/)
      await store.close()
    })

    test('the deletion of a reserved role, and of one that somebody holds unless it is unbound', async () => {
      const { place, store, changes, keyId } = await withKey()
      assert.match(refusal(await changes.deleteRole('admin', true)), /INVALID.*reserved/)
      assert.match(refusal(await changes.deleteRole('analyst', false)), /INVALID.*bound to "anna"/)
      must(await changes.createIdentity('bob', ['analyst'], new Map()))
      assert.match(refusal(await changes.deleteRole('analyst', false)), /bound to 2 identities, such as "anna"/)
      must(await changes.deleteRole('analyst', true))
      assert.deepEqual((await store.findKey(keyId))?.bindings, [])
      assert.ok(!(await store.listRoles()).some(({ name }) => name === 'analyst'))
      must(await changes.createRole('idle'))
      must(await changes.deleteRole('idle', false))
      assert.deepEqual((await pendingOf(place)).slice(-3), [
        'role.delete analyst',
        'role.create idle',
        'role.delete idle',
      ])
      await store.close()
    })

    test('a connector whose document is no object or says another id', async () => {
      const store = await openedStore(await fresh())
      const changes = store.changes(AUTHOR)
      for (const document of ['', '[]', '"shop"', 'null', '{}', '{"id":"other"}']) {
        assert.match(refusal(await changes.putConnector('shop', document)), /^INVALID/, document)
      }
      assert.deepEqual(await store.listConnectors(), [])
      await store.close()
    })
  })

  describe(`changes of a store on ${kind}`, () => {
    test('the deletion of an identity takes its keys and bindings along', async () => {
      const { place, store, changes, keyId } = await withKey()
      assert.ok(await store.findKey(keyId))
      must(await changes.deleteIdentity('anna'))
      assert.equal(await store.findKey(keyId), undefined)
      assert.deepEqual(await store.listKeys(), [])
      assert.deepEqual(await place.rows('SELECT * FROM role_bindings'), [])
      must(await changes.createIdentity('anna', [], new Map()))
      await store.close()
    })

    test('a disabled identity shows at once, and so do other claims', async () => {
      const { store, changes, keyId } = await withKey()
      assert.equal((await store.findKey(keyId))?.disabled, false)
      must(await changes.setIdentityDisabled('anna', true))
      assert.equal((await store.findKey(keyId))?.disabled, true)
      must(await changes.setIdentityDisabled('anna', false))
      assert.equal((await store.findKey(keyId))?.disabled, false)
      must(await changes.setClaims('anna', new Map([['region', 'eu']])))
      assert.deepEqual((await store.findKey(keyId))?.claims, new Map([['region', 'eu']]))
      must(await changes.removeBinding('anna', 'analyst'))
      assert.deepEqual((await store.findKey(keyId))?.bindings, [])
      await store.close()
    })

    test('a deleted policy is gone in every version, and no number means two documents', async () => {
      const { place, store, changes } = await withKey()
      must(await changes.applyPolicy('crm', '{}', new Map([['shop', '[]']])))
      must(await changes.applyPolicy('crm', '{}'))
      must(await changes.deletePolicy('crm'))
      assert.equal(await store.findPolicy('crm'), undefined)
      assert.deepEqual(await store.policyHistory('crm'), [])
      assert.deepEqual(await place.rows('SELECT * FROM known_objects'), [])
      assert.equal(must(await changes.applyPolicy('crm', '{}')).version, 3)
      assert.equal(must(await changes.applyPolicy('crm', '{}')).version, 4)
      must(await changes.deletePolicy('crm'))
      assert.equal(must(await changes.applyPolicy('other', '{}')).version, 1)
      await store.close()
      const again = await openedStore(place)
      assert.equal(must(await again.changes(AUTHOR).applyPolicy('crm', '{}')).version, 5)
      assert.deepEqual(
        (await again.policyHistory('crm')).map(({ version }) => version),
        [5],
      )
      await again.close()
    })

    test('a number that an older program gave is not given again', async () => {
      const { place, store, changes } = await withKey()
      must(await changes.applyPolicy('crm', '{}'))
      await place.rows(
        "INSERT INTO policies (name, version, document, author, applied_at) VALUES ('crm', 7, '{}', 'a', 1)",
      )
      assert.equal(must(await changes.applyPolicy('crm', '{}')).version, 8)
      await store.close()
    })

    test('a connector is put, put anew and deleted, and what was known of its database goes with it', async () => {
      const { place, store, changes } = await withKey()
      const first = must(await changes.putConnector('shop', '{"id":"shop","type":"postgres"}'))
      assert.deepEqual(await store.listConnectors(), [first])
      assert.deepEqual([first.author, first.changedAt], ['cli:test', time.now])
      must(await store.changes({ name: 'anna' }).putConnector('shop', '{"id":"shop","type":"mysql"}'))
      assert.deepEqual(
        (await store.listConnectors()).map(({ author, document }) => [author, document]),
        [['anna', '{"id":"shop","type":"mysql"}']],
      )
      must(
        await changes.applyPolicy(
          'crm',
          '{}',
          new Map([
            ['shop', '[]'],
            ['other', '[]'],
          ]),
        ),
      )
      must(await changes.deleteConnector('shop'))
      assert.deepEqual(await store.listConnectors(), [])
      assert.deepEqual(await place.rows('SELECT connector FROM known_objects'), [['other']])
      await store.close()
    })

    test('what is bound to a renamed connector and confirmed for it goes along, its policy and its idempotency keys too', async () => {
      const { store, changes, keyId } = await withKey()
      must(await changes.putConnector('shop', '{"id":"shop","type":"postgres"}'))
      must(await changes.addBinding('anna', 'operator', 'shop'))
      must(await changes.addBinding('anna', 'auditor', 'shop'))
      // Left over from a connector that had the new id before.
      must(await changes.addBinding('anna', 'auditor', 'store'))
      must(
        await changes.applyPolicy(
          'shop',
          '{}',
          new Map([
            ['shop', '["new"]'],
            ['store', '["old"]'],
          ]),
        ),
      )
      const claim = { identity: 'i', connector: 'shop', tool: 't', key: 'k', planHash: 'h', instance: 'g/r/1' }
      assert.deepEqual(await store.beginIdempotent(claim, 1_000), { kind: 'new' })
      const renamed = must(await changes.renameConnector('shop', 'store'))
      assert.deepEqual(JSON.parse(renamed.document), { id: 'store', type: 'postgres', policy: 'shop' })
      assert.deepEqual(await store.listConnectors(), [renamed])
      assert.deepEqual((await store.findKey(keyId))?.bindings, [
        { role: 'analyst' },
        { role: 'auditor', connector: 'store' },
        { role: 'operator', connector: 'store' },
      ])
      assert.equal(await store.findKnownObjects('shop', 1, 'store'), '["new"]')
      assert.equal(await store.findKnownObjects('shop', 1, 'shop'), undefined)
      assert.equal((await store.beginIdempotent({ ...claim, connector: 'store' }, 1_000)).kind, 'started')
      must(await changes.putConnector('other', '{"id":"other"}'))
      assert.match(refusal(await changes.renameConnector('other', 'store')), /EXISTS/)
      assert.match(refusal(await changes.renameConnector('other', 'A')), /INVALID/)
      assert.deepEqual(must(await changes.renameConnector('store', 'store')), renamed)
      await store.close()
    })

    test('uses are written once a minute at most, and when the store closes', async () => {
      const { place, store, keyId } = await withKey()
      const reader = await openedStore(place)
      const lastUsed = async () => (await reader.listKeys())[0]?.lastUsedAt
      store.noteKeyUsed(keyId, time.now)
      await store.flushLastUsed()
      assert.equal(await lastUsed(), undefined)
      const first = time.now
      time.now += LAST_USED_FLUSH_INTERVAL_MS
      const version = await versionOf(store)
      await store.flushLastUsed()
      assert.equal(await lastUsed(), first)
      store.noteKeyUsed(keyId, first - 1)
      time.now += LAST_USED_FLUSH_INTERVAL_MS
      await store.flushLastUsed()
      assert.equal(await lastUsed(), first, 'a use never goes back')
      assert.equal(await versionOf(store), version)
      store.noteKeyUsed(keyId, time.now)
      await store.close()
      assert.equal(await lastUsed(), time.now)
      await reader.close()
    })
  })

  describe(`the audit trail of changes on ${kind}`, () => {
    const made: readonly (readonly [string, (changes: StoreChanges) => Promise<Result<unknown, StoreRefusal>>])[] = [
      ['role.create r', (changes) => changes.createRole('r')],
      ['identity.create bob', (changes) => changes.createIdentity('bob', ['r'], new Map([['tenant', 'secret claim']]))],
      ['identity.set_claims bob', (changes) => changes.setClaims('bob', new Map([['tenant', 'other claim']]))],
      ['identity.disable bob', (changes) => changes.setIdentityDisabled('bob', true)],
      ['identity.enable bob', (changes) => changes.setIdentityDisabled('bob', false)],
      ['binding.add bob', (changes) => changes.addBinding('bob', 'r', 'shop')],
      ['binding.remove bob', (changes) => changes.removeBinding('bob', 'r', 'shop')],
      ['policy.apply crm', (changes) => changes.applyPolicy('crm', '{}', new Map([['shop', '[]']]))],
      ['policy.delete crm', (changes) => changes.deletePolicy('crm')],
      ['connector.put shop', (changes) => changes.putConnector('shop', '{"id":"shop","password":"hidden"}')],
      ['connector.rename shop', (changes) => changes.renameConnector('shop', 'shop2')],
      ['connector.delete shop2', (changes) => changes.deleteConnector('shop2')],
      ['identity.delete bob', (changes) => changes.deleteIdentity('bob')],
      ['role.delete r', (changes) => changes.deleteRole('r', false)],
    ]

    test('every change moves the version by one and is written down with who made it, without secrets or claims', async () => {
      const place = await fresh()
      const store = await openedStore(place)
      const changes = store.changes({ name: 'anna', keyId: 'abcdefghijkl', address: '10.0.0.1' })
      for (const [entry, make] of made) {
        const before = await numbersOf(store)
        must(await make(changes))
        assert.deepEqual(await numbersOf(store), { ...before, change: before.change + 1 }, entry)
        assert.equal((await pendingOf(place)).at(-1), entry)
      }
      const pending = await store.claimPending('g1', 100, 1_000)
      assert.deepEqual(
        pending.map(({ action, target }) => `${action} ${target}`),
        made.map(([entry]) => entry),
      )
      assert.equal(new Set(pending.map(({ id }) => id)).size, made.length)
      for (const { author, time: at } of pending) {
        assert.deepEqual(author, { name: 'anna', keyId: 'abcdefghijkl', address: '10.0.0.1' })
        assert.equal(at, time.now)
      }
      assert.ok(!/claim"|hidden|secret/.test(JSON.stringify(pending.map(({ detail }) => detail))))
      assert.deepEqual(pending[7]?.detail, { version: 1, confirmed: 'shop' })
      await store.close()
    })

    test('what changes nothing, or is refused, moves nothing and is written down nowhere', async () => {
      const { place, store, changes, keyId } = await withKey()
      must(await changes.revokeKey(keyId))
      must(await changes.setIdentityDisabled('anna', true))
      must(await changes.putConnector('shop', '{"id":"shop"}'))
      const [versions, pending] = [await store.readVersions(), await pendingOf(place)]
      time.now += 5
      must(await changes.revokeKey(keyId))
      must(await changes.setIdentityDisabled('anna', true))
      must(await changes.setClaims('anna', new Map([['tenant', '42']])))
      must(await changes.putConnector('shop', '{"id":"shop"}'))
      must(await changes.renameConnector('shop', 'shop'))
      refusal(await changes.createRole('admin'))
      refusal(await changes.addBinding('anna', 'analyst'))
      refusal(await changes.createKey('nobody'))
      assert.deepEqual(await store.readVersions(), versions)
      assert.deepEqual(await pendingOf(place), pending)
      assert.equal((await store.findKey(keyId))?.revokedAt, time.now - 5, 'the first revocation stands')
      await store.close()
    })

    test('a request to reload moves its own number, and is written down', async () => {
      const place = await fresh()
      const store = await openedStore(place)
      assert.equal(await store.changes(AUTHOR).requestReload(), 1)
      assert.deepEqual(await numbersOf(store), { change: 1, reload: 1 })
      assert.deepEqual(await pendingOf(place), ['reload.request every instance'])
      await store.close()
    })

    test('each change is claimed once by instances that claim at the same time, oldest first', async () => {
      const place = await fresh()
      const stores = await Promise.all([openedStore(place), openedStore(place)])
      const changes = stores[0].changes(AUTHOR)
      for (let i = 0; i < 40; i++) must(await changes.createRole(`role-${i}`))
      const claimed: string[][] = [[], []]
      await Promise.all(
        stores.map(async (store, i) => {
          for (;;) {
            const some = await store.claimPending(`g${i}`, 3, 60_000)
            if (some.length === 0) return
            claimed[i]?.push(...some.map(({ target }) => target))
            await store.settlePending(some.map(({ id }) => id))
          }
        }),
      )
      const all = claimed.flat()
      assert.deepEqual(all.toSorted(), Array.from({ length: 40 }, (_, i) => `role-${i}`).toSorted())
      const numbers = (names: readonly string[]) => names.map((name) => Number(name.slice('role-'.length)))
      for (const own of claimed)
        assert.deepEqual(
          numbers(own),
          numbers(own).toSorted((a, b) => a - b),
        )
      assert.deepEqual(await pendingOf(place), [])
      await Promise.all(stores.map((store) => store.close()))
    })

    test('a claim that was not settled in time is taken over, and settling twice is no error', async () => {
      const place = await fresh()
      const [one, other] = [await openedStore(place), await openedStore(place)]
      must(await one.changes(AUTHOR).createRole('a'))
      const [mine] = await one.claimPending('g1', 10, 1_000)
      time.now += 999
      assert.deepEqual(await other.claimPending('g2', 10, 1_000), [])
      time.now += 1
      const taken = await other.claimPending('g2', 10, 1_000)
      assert.deepEqual(taken, [mine])
      assert.deepEqual(await one.claimPending('g1', 10, 1_000), [])
      const ids = taken.map(({ id }) => id)
      await other.settlePending(ids)
      await one.settlePending([...ids, 'change_unknown'])
      await one.settlePending([])
      assert.deepEqual(await pendingOf(place), [])
      await one.close()
      await other.close()
    })
  })

  describe(`changes are seen by the next read on ${kind}`, () => {
    test('a revocation, a binding and a new identity of another process', async () => {
      const { place, store, keyId } = await withKey()
      assert.equal((await store.findKey(keyId))?.revokedAt, undefined)
      await otherProcess(place, { changes: [['addBinding', 'anna', 'auditor']] })
      assert.deepEqual((await store.findKey(keyId))?.bindings, [{ role: 'analyst' }, { role: 'auditor' }])
      await otherProcess(place, {
        changes: [
          ['revokeKey', keyId],
          ['createRole', 'later'],
        ],
      })
      assert.notEqual((await store.findKey(keyId))?.revokedAt, undefined)
      assert.ok((await store.listRoles()).some(({ name }) => name === 'later'))
      await store.close()
    })

    test('two stores that change in turn never see each other late', async () => {
      const { place, store: a, keyId } = await withKey()
      const b = await openedStore(place)
      for (let i = 0; i < 20; i++) {
        const [writer, reader] = i % 2 === 0 ? [a, b] : [b, a]
        const role = `role-${i}`
        must(await writer.changes(AUTHOR).createRole(role))
        must(await writer.changes(AUTHOR).addBinding('anna', role))
        for (const store of [reader, writer]) {
          const record = await store.findKey(keyId)
          assert.ok(
            record?.bindings.some((binding) => binding.role === role),
            role,
          )
        }
      }
      await a.close()
      await b.close()
    })

    test('under load, every look-up that begins after a revocation was committed elsewhere sees it', async () => {
      const place = await fresh()
      const { store: writer } = await withKey(place)
      const reader = await openedStore(place)
      const changes = writer.changes(AUTHOR)
      const keys: string[] = []
      for (let i = 0; i < 20; i++) keys.push(must(await changes.createKey('anna')).keyId)
      /** Key ids whose revocation has been acknowledged. */
      const revoked = new Set<string>()
      let looked = 0
      let done = false
      const look = async () => {
        for (let i = 0; !done; i++) {
          const keyId = keys[i % keys.length] ?? ''
          const must_be = revoked.has(keyId)
          const record = await reader.findKey(keyId)
          if (must_be) assert.notEqual(record?.revokedAt, undefined)
          looked += 1
          if (looked % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const looking = Promise.all(Array.from({ length: 32 }, look))
      for (const keyId of keys) {
        must(await changes.revokeKey(keyId))
        revoked.add(keyId)
        assert.notEqual((await reader.findKey(keyId))?.revokedAt, undefined)
      }
      done = true
      await looking
      assert.ok(looked > 100)
      await writer.close()
      await reader.close()
    })

    test('while nothing changed, a key is the very same record: nothing is read again', async () => {
      const { place, store, keyId } = await withKey()
      const other = await openedStore(place)
      const record = await store.findKey(keyId)
      assert.equal(await store.findKey(keyId), record)
      time.now += LAST_USED_FLUSH_INTERVAL_MS
      other.noteKeyUsed(keyId, time.now)
      await other.flushLastUsed()
      assert.equal(await store.findKey(keyId), record)
      must(await other.changes(AUTHOR).createRole('later'))
      assert.notEqual(await store.findKey(keyId), record)
      await store.close()
      await other.close()
    })

    test('whoever watches is told of changes and of requests to reload by others, until they stop', async () => {
      const place = await fresh()
      const [watching, other] = [await openedStore(place), await openedStore(place)]
      let seen = await watching.readVersions()
      let told = 0
      const end = watching.watch(async () => {
        told += 1
        seen = await watching.readVersions()
      })
      must(await other.changes(AUTHOR).createRole('a'))
      await eventually('a change is seen', () => seen.change === 2)
      await other.changes(AUTHOR).requestReload()
      await eventually('a request to reload is seen', () => seen.reload === 1)
      must(await watching.changes(AUTHOR).createRole('b'))
      await eventually("one's own change is seen", () => seen.change === 3)
      end()
      end()
      const before = told
      must(await watching.changes(AUTHOR).createRole('c'))
      assert.equal(await versionOf(watching), 4)
      assert.equal(told, before)
      await watching.close()
      await other.close()
    })
  })

  describe(`instances that serve a store on ${kind}`, () => {
    const runOf = (run: string, instance = `gateway of ${run}`) => ({ run, instance, host: 'web-1', pid: 7 })
    const age = (place: StorePlace, run: string, ms: number) =>
      place.rows(`UPDATE instances SET seen_at = seen_at - ${ms} WHERE run = '${run}'`)
    const liveOf = async (store: AdminStore) => (await store.listInstances()).map(({ run, live }) => [run, live])

    test('requests to reload that are made at once have numbers of their own', async () => {
      const place = await fresh()
      const stores = await Promise.all([openedStore(place), openedStore(place)])
      const asked = Array.from({ length: 10 }, (_, i) => stores[i % 2 === 0 ? 0 : 1].changes(AUTHOR).requestReload())
      const numbers = (await Promise.all(asked)).toSorted((a, b) => a - b)
      assert.deepEqual(
        numbers,
        Array.from({ length: 10 }, (_, i) => i + 1),
      )
      await Promise.all(stores.map((store) => store.close()))
    })

    test('an instance is live while it says so often enough, and until it ends; nothing of it moves a number or is audited', async () => {
      const place = await fresh()
      const store = await openedStore(place)
      const before = await store.readVersions()
      await store.noteInstance(runOf('a'))
      await store.noteInstance(runOf('b'))
      await age(place, 'b', INSTANCE_LIVE_MS)
      assert.deepEqual(await liveOf(store), [
        ['a', true],
        ['b', false],
      ])
      await store.noteInstance(runOf('b'))
      assert.deepEqual(await store.listInstances(), [
        { ...runOf('a'), live: true, answered: -1 },
        { ...runOf('b'), live: true, answered: -1 },
      ])
      await store.forgetInstance('a')
      await store.forgetInstance('a')
      assert.deepEqual(await liveOf(store), [['b', true]])
      assert.deepEqual(await store.readVersions(), before)
      assert.deepEqual(await pendingOf(place), [])
      await store.close()
    })

    test('a report covers the requests before it, and of several the oldest that does is given', async () => {
      const place = await fresh()
      const store = await openedStore(place)
      for (let i = 0; i < 3; i++) await store.changes(AUTHOR).requestReload()
      await store.reportReload(runOf('a'), 1, 'a1')
      await store.reportReload(runOf('a'), 3, 'a3 😀 \u0007 "')
      await store.reportReload(runOf('b'), 2, 'b2')
      await store.reportReload(runOf('b'), 2, 'b2 again')
      const answered = (await store.listInstances()).map(({ run, answered }) => [run, answered])
      assert.deepEqual(answered, [
        ['a', 3],
        ['b', 2],
      ])
      const reports = async (request: number) => Object.fromEntries(await store.reloadReports(request))
      assert.deepEqual(await reports(1), { a: 'a1', b: 'b2 again' })
      assert.deepEqual(await reports(2), { a: 'a3 😀 \u0007 "', b: 'b2 again' })
      assert.deepEqual(await reports(3), { a: 'a3 😀 \u0007 "' })
      assert.deepEqual(await reports(4), {})
      await store.close()
    })

    test('a report on a request that this store never had answers none that it will have', async () => {
      const store = await openedStore(await fresh())
      await store.reportReload(runOf('a'), 5, 'of another store')
      assert.deepEqual([...(await store.reloadReports(1))], [])
      assert.deepEqual((await store.listInstances())[0], { ...runOf('a'), live: true, answered: -1 })
      await store.close()
    })

    test('old rows go: reports beyond the newest, runs that nobody has seen for long, and the earlier run of a gateway', async () => {
      const place = await fresh()
      const store = await openedStore(place)
      const count = RELOAD_REPORTS_KEPT + 5
      for (let i = 0; i < count; i++) {
        await store.reportReload(runOf('a'), await store.changes(AUTHOR).requestReload(), 'x')
      }
      const reports = async () => (await place.rows('SELECT request FROM reload_reports')).length
      assert.equal(await reports(), RELOAD_REPORTS_KEPT)
      await age(place, 'a', INSTANCE_KEPT_MS)
      await store.noteInstance(runOf('b'))
      assert.deepEqual([await liveOf(store), await reports()], [[['b', true]], 0])
      await store.noteInstance({ ...runOf('c', 'gateway of b'), host: 'web-2' })
      await store.noteInstance(runOf('d', 'gateway of b'))
      assert.deepEqual(
        (await liveOf(store)).map(([run]) => run),
        ['d', 'c'],
      )
      await store.close()
    })
  })

  describe(`idempotency keys on ${kind}`, () => {
    const CLAIM: IdempotencyClaim = {
      identity: 'i',
      connector: 'shop',
      tool: 't',
      key: 'k',
      planHash: 'h',
      instance: 'g/r/1',
    }

    test('a key is found started, done with its outcome, bound to its plan, and free when it changed nothing', async () => {
      const store = await openedStore(await fresh())
      assert.deepEqual(await store.beginIdempotent(CLAIM, 1_000), { kind: 'new' })
      const started = { kind: 'started', instance: 'g/r/1', createdAt: time.now }
      assert.deepEqual(await store.beginIdempotent({ ...CLAIM, instance: 'g/r/2' }, 1_000), started)
      assert.deepEqual(await store.beginIdempotent({ ...CLAIM, planHash: 'x' }, 1_000), { kind: 'other_plan' })
      // Nobody but the one that started it ends it.
      await store.finishIdempotent({ ...CLAIM, instance: 'g/r/2' }, undefined)
      assert.deepEqual(await store.beginIdempotent({ ...CLAIM, instance: 'g/r/2' }, 1_000), started)
      await store.finishIdempotent(CLAIM, { affected: 2, keys: [{ id: '4711' }] })
      const done = { kind: 'done', affected: 2, keys: [{ id: '4711' }] }
      assert.deepEqual(await store.beginIdempotent(CLAIM, 1_000), done)
      await store.finishIdempotent(CLAIM, undefined)
      assert.deepEqual(await store.beginIdempotent(CLAIM, 1_000), done)
      const other = { ...CLAIM, key: 'k2' }
      await store.beginIdempotent(other, 1_000)
      await store.finishIdempotent(other, undefined)
      assert.deepEqual(await store.beginIdempotent(other, 1_000), { kind: 'new' })
      assert.equal(await versionOf(store), 1)
      await store.close()
    })

    test('what is older than the window does not count, and is forgotten', async () => {
      const place = await fresh()
      const store = await openedStore(place)
      await store.beginIdempotent(CLAIM, 1_000)
      await store.finishIdempotent(CLAIM, { affected: 1, keys: [] })
      await store.beginIdempotent({ ...CLAIM, key: 'k2' }, 1_000)
      time.now += 1_000
      assert.deepEqual(await store.beginIdempotent({ ...CLAIM, planHash: 'x' }, 1_000), { kind: 'new' })
      assert.equal((await store.beginIdempotent({ ...CLAIM, planHash: 'x' }, 1_000)).kind, 'started')
      await store.purgeIdempotent(1_000)
      assert.deepEqual(await place.rows('SELECT key FROM idempotency'), [['k']])
      await store.close()
    })

    test('of many claims at once through two stores, one starts each key', async () => {
      const place = await fresh()
      const stores = await Promise.all([openedStore(place), openedStore(place)])
      for (let round = 0; round < 10; round++) {
        const found = await Promise.all(
          Array.from({ length: 12 }, async (_, i) => {
            const store = stores[i % 2] ?? stores[0]
            return store.beginIdempotent({ ...CLAIM, key: `k${round}`, instance: `g/r/${i}` }, 1_000)
          }),
        )
        assert.equal(found.filter((each) => each.kind === 'new').length, 1)
        assert.equal(new Set(found.map((each) => (each.kind === 'started' ? each.instance : ''))).size, 2)
      }
      await Promise.all(stores.map((store) => store.close()))
    })
  })

  describe(`making a store on ${kind}`, () => {
    test('processes that start on a missing store at once all succeed, and make it once', async () => {
      const place = await fresh()
      await Promise.all(
        Array.from({ length: 5 }, (_, i) => otherProcess(place, { changes: [['createRole', `of-${i}`]] })),
      )
      const store = await openedStore(place)
      assert.equal((await store.listRoles()).length, 3 + 5)
      assert.deepEqual(await numbersOf(store), { change: 6, reload: 0 })
      await store.close()
    })
  })
}
