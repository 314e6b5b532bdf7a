import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedIdentity } from '../../src/admin/admin-store.js'
import { warnOfNames } from '../../src/admin/policy-names.js'
import { parsePolicyText } from '../../src/policy/policy-document.js'

const ANNA: ListedIdentity = {
  id: '1',
  name: 'anna',
  disabled: false,
  claims: new Map(),
  bindings: [{ role: 'reader', connector: 'shop' }],
  createdAt: 0,
}
const STORE = {
  listRoles: async () => ['admin', 'reader', 'spare'].map((name) => ({ name, reserved: name === 'admin' })),
  listIdentities: async () => [ANNA],
}

async function warned(text: string, anonymousRoles: readonly string[] = []): Promise<readonly string[]> {
  const parsed = parsePolicyText(text)
  assert.ok(parsed.ok)
  const findings = await warnOfNames(STORE, parsed.value.document, parsed.value.tree, anonymousRoles)
  return findings.map(({ line, text: said }) => `${line}: ${said}`)
}

test('a role is known by somebody who has it, on whichever connector', async () => {
  assert.deepEqual(await warned('version: 1\nroles:\n  reader: {}\n'), [])
  assert.deepEqual(await warned('version: 1\nroles:\n  spare: {}\n'), [
    '3: Nobody has the role "spare"; bind it with "runku binding add".',
  ])
  assert.match(
    (await warned('version: 1\nroles:\n  raeder: {}\n'))[0] ?? '',
    /^3: There is no role "raeder", .* "reader"\?/,
  )
})

test('roles of whoever comes while authentication is off are had by somebody', async () => {
  assert.deepEqual(await warned('version: 1\nroles:\n  visitor: {}\n', ['visitor']), [])
})

test('an identity is known by its name; that of a token and the anonymous one are not judged', async () => {
  assert.deepEqual(await warned("version: 1\nidentities:\n  anna: {}\n  anonymous: {}\n  'idp:42': {}\n"), [])
  assert.deepEqual(await warned('version: 1\nidentities:\n  ana: {}\n'), [
    '3: There is no identity "ana", so its settings are nobody\'s. Did you mean "anna"?',
  ])
})
