import { nearest } from '../core/names.js'
import { claimsUsed } from '../policy/claim-names.js'
import type { PolicyDocument } from '../policy/policy-document.js'
import { quoted } from '../policy/policy-finding.js'
import type { PolicyTree } from '../policy/policy-tree.js'
import type { AdminStore } from './admin-store.js'
import type { PolicyFindingShown } from './operation.js'

/** An identity of the gateway's own, while authentication is off. */
const ANONYMOUS = 'anonymous'

/**
 * Warns of roles that nobody has and of identities that do not exist: a slip of the pen there gives rights to nobody, or takes none
 * away. `anonymousRoles`: those of whoever comes while authentication is off. Identities of tokens are not in the store, so those with a colon in their names are not judged; nor are claims of theirs, so
 * that of a claim which no identity has only one that is nearly another's is taken for a slip.
 */
export async function warnOfNames(
  store: Pick<AdminStore, 'listIdentities' | 'listRoles'>,
  document: PolicyDocument,
  tree: Pick<PolicyTree, 'lineOf'>,
  anonymousRoles: readonly string[] = [],
): Promise<readonly PolicyFindingShown[]> {
  const [roles, identities] = [Object.keys(document.roles), Object.keys(document.identities)]
  const claims = claimsUsed(document)
  if (roles.length + identities.length + claims.length === 0) return []
  const [storedRoles, storedIdentities] = await Promise.all([store.listRoles(), store.listIdentities()])
  const known = storedRoles.map(({ name }) => name)
  const bound = storedIdentities.flatMap(({ bindings }) => bindings.map(({ role }) => role))
  const held = new Set([...anonymousRoles, ...bound])
  const names = storedIdentities.map(({ name }) => name)
  const given = [...new Set(storedIdentities.flatMap((identity) => [...identity.claims.keys()]))]
  return [
    ...claims.flatMap(({ claim, path }) => {
      const near = given.includes(claim) ? undefined : hint(claim, given)
      if (near === undefined || near === '') return []
      const text = `No identity has the claim ${quoted(claim)}.${near}`
      return [{ severity: 'warning' as const, line: tree.lineOf(path), text }]
    }),
    ...roles.flatMap((role) => {
      if (held.has(role)) return []
      const text = known.includes(role)
        ? `Nobody has the role ${quoted(role)}; bind it with "runku binding add".`
        : `There is no role ${quoted(role)}, so nobody has it.${hint(role, known)} Make it with "runku role create".`
      return [{ severity: 'warning' as const, line: tree.lineOf(['roles', role]), text }]
    }),
    ...identities.flatMap((identity) => {
      if (identity === ANONYMOUS || identity.includes(':') || names.includes(identity)) return []
      const text = `There is no identity ${quoted(identity)}, so its settings are nobody's.${hint(identity, names)}`
      return [{ severity: 'warning' as const, line: tree.lineOf(['identities', identity]), text }]
    }),
  ]
}

function hint(name: string, candidates: readonly string[]): string {
  const near = nearest(name, candidates)
  return near === undefined ? '' : ` Did you mean ${quoted(near)}?`
}
