import type { IdentityPolicy, PolicyDocument, ProcedurePolicy, RolePolicy, TablePolicy } from './policy-document.js'
import { bareRecord } from './policy-tree.js'

/** What a connector without a policy serves: nothing, to nobody. */
export const EMPTY_POLICY: PolicyDocument = {
  version: 1,
  defaults: {},
  tables: bareRecord<TablePolicy>([]),
  procedures: bareRecord<ProcedurePolicy>([]),
  roles: bareRecord<RolePolicy>([]),
  identities: bareRecord<IdentityPolicy>([]),
}
