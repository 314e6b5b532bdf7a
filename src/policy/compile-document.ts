import { WRITE_OPERATIONS } from '../core/access.js'
import type { KnownObjects } from '../core/known-objects.js'
import { MIN_GROUP_SIZE } from '../core/limits.js'
import type { Column, SchemaModel, TableRef } from '../core/schema-model.js'
import { ColumnResolver, type Rule, roleRule } from './column-resolver.js'
import { type Comment, MentionFinder } from './comment-mentions.js'
import { tablesWithParents, withholdBrokenParents } from './compile-parents.js'
import { compileProcedures } from './compile-procedures.js'
import { draftTables, type TableDraft } from './compile-table.js'
import type {
  CompiledIdentity,
  CompiledPolicy,
  CompiledProcedure,
  CompiledRole,
  CompiledTable,
  Grant,
} from './compiled-policy.js'
import { warnOfLineage } from './lineage.js'
import type { IdentityPolicy, PolicyDocument, PolicyLimits, RolePolicy } from './policy-document.js'
import { Findings, type PolicyFinding, quoted } from './policy-finding.js'
import { schemasOf, withQualifiedNames } from './qualified-names.js'
import type { RowFilter } from './row-filter.js'
import { type PolicyVars, withVars } from './vars.js'

export interface CompileOptions {
  /** The connector's configured schemas: with several, every tool base carries its schema, and so does every name in the policy. */
  readonly schemas: readonly string[]
  /** What the policy was confirmed to be about; absent where it is being confirmed by this very compilation. */
  readonly known?: KnownObjects
  /** What the connector gives to `${vars.name}`, where the document is not filled in yet. */
  readonly vars?: PolicyVars
}

/** What a role says of single tables, before it is known which of them are withheld. */
interface RoleDraft {
  readonly name: string
  readonly policy: RolePolicy
  readonly masks: ReadonlyMap<string, ReadonlySet<number>>
  readonly filters: ReadonlyMap<string, readonly RowFilter[]>
}

/** Resolves a policy against a catalog. Every rule either holds as written or withholds the table it is about. */
export function compileDocument(
  written: PolicyDocument,
  schema: SchemaModel,
  given: CompileOptions,
): { readonly policy: CompiledPolicy; readonly findings: readonly PolicyFinding[] } {
  const findings = new Findings()
  const options = { ...given, schemas: schemasOf(given.schemas, schema) }
  // Filled in even without variables: one that is left in a literal is one that the connector does not have.
  const document = withVars(withQualifiedNames(written, options.schemas, findings), given.vars ?? {}, findings)
  const drafts = draftTables(
    document.tables,
    schema,
    { ...options, withParents: tablesWithParents(document) },
    findings,
  )
  // Roles come before tables are final: a role's vanished mask withholds its table from everybody.
  const roles = Object.entries(document.roles).map(([name, role]) => draftRole(name, role, drafts, findings))
  withholdBrokenParents(document, drafts, findings)
  for (const { name, policy } of roles) warnOfReadGroups(name, policy, { document, drafts }, findings)
  // A draft may hold a table that the policy completed: comments are searched among those, or none would be recognized.
  const completed = new Map([...drafts.values()].map((draft) => [draft.table.ref, draft.table]))
  const finder = new MentionFinder(schema.tables.map((table) => completed.get(table.ref) ?? table))
  const tables = new Map<string, CompiledTable>()
  for (const draft of drafts.values()) {
    if (!findings.withheld.has(draft.name)) tables.set(draft.name, compileTable(draft, finder))
  }
  const procedures = compileProcedures(document.procedures, schema.routines, { ...options, finder }, findings)
  const compiled = {
    schema,
    defaults: document.defaults,
    tables: [...tables.values()].sort((a, b) => (a.toolBase < b.toolBase ? -1 : 1)),
    tableOf: new Map([...tables.values()].map((table) => [table.table, table])),
    procedures: [...procedures.values()].sort((a, b) => (a.tool < b.tool ? -1 : 1)),
    roles: new Map(roles.map((role) => [role.name, compileRole(role, tables, procedures)])),
    identities: new Map(Object.entries(document.identities).map(([name, policy]) => [name, identityOf(name, policy)])),
  }
  const policy = { ...compiled, find: finderByRef(compiled.tables) }
  warnOfLineage(policy, procedures, findings)
  return { policy, findings: findings.list }
}

function draftRole(
  name: string,
  policy: RolePolicy,
  drafts: ReadonlyMap<string, TableDraft>,
  findings: Findings,
): RoleDraft {
  const masks = new Map<string, ReadonlySet<number>>()
  const filters = new Map<string, readonly RowFilter[]>()
  const granted = new Set((['read', 'aggregate', ...WRITE_OPERATIONS] as const).flatMap((grant) => policy[grant] ?? []))
  const resolverOf = (table: string, { text: rule, path }: Rule): ColumnResolver | undefined => {
    if (!granted.has(table) && !granted.has('*')) {
      const text = `${rule} limits ${quoted(table)}, which role ${quoted(name)} does not grant; the rule does nothing.`
      findings.warn({ kind: 'rule_without_grant', table, path, text })
    }
    const draft = drafts.get(table)
    return draft && new ColumnResolver(table, draft.table, findings, draft)
  }
  for (const [table, columns] of Object.entries(policy.mask ?? {})) {
    const rule = roleRule(name, 'mask', table)
    const resolver = resolverOf(table, rule)
    if (resolver !== undefined) masks.set(table, resolver.positions(columns, rule))
  }
  for (const [table, list] of Object.entries(policy.row_filter ?? {})) {
    const rule = roleRule(name, 'row_filter', table)
    const resolver = resolverOf(table, rule)
    if (resolver !== undefined) filters.set(table, resolver.filters(list, rule))
  }
  warnOfVoidGrants(name, policy, drafts, findings)
  warnOfMaskedCreates(name, policy, { drafts, masks }, findings)
  return { name, policy, masks, filters }
}

/** `*` grants whatever there is; a table that is named for a mutation it does not have was meant to have it. */
function warnOfVoidGrants(
  role: string,
  policy: RolePolicy,
  drafts: ReadonlyMap<string, TableDraft>,
  findings: Findings,
): void {
  for (const operation of WRITE_OPERATIONS) {
    for (const [index, table] of (policy[operation] ?? []).entries()) {
      const draft = drafts.get(table)
      if (draft === undefined || draft.policy[operation] !== undefined) continue
      const text = `roles.${role}.${operation} names ${quoted(table)}, which has no ${operation} of its own; the grant does nothing.`
      const path = ['roles', role, operation, index]
      findings.warn({ kind: 'grant_without_section', table, path, text })
    }
  }
}

/** A role whose mask hides what only a caller can fill grants a create that nobody with this role alone has. */
function warnOfMaskedCreates(
  role: string,
  policy: RolePolicy,
  { drafts, masks }: { readonly drafts: ReadonlyMap<string, TableDraft>; readonly masks: RoleDraft['masks'] },
  findings: Findings,
): void {
  for (const [table, masked] of masks) {
    const draft = drafts.get(table)
    const create = draft?.writes.operations.create
    const grants = policy.create?.includes(table) === true || policy.create?.includes('*') === true
    const missing = create?.required.find((position) => masked.has(position))
    if (!grants || draft === undefined || missing === undefined) continue
    const column = draft.table.columns[missing]?.name ?? ''
    const text = `roles.${role} grants create of ${quoted(table)} and masks ${quoted(column)}, without which no row can be made; with this role alone there is no create.`
    const { path } = roleRule(role, 'mask', table)
    findings.warn({ kind: 'create_incomplete', table, column, path, text })
  }
}

/** Groups hide nobody from a role that may read the rows themselves. Told once a role, by the first of its tables. */
function warnOfReadGroups(
  role: string,
  policy: RolePolicy,
  { document, drafts }: { readonly document: PolicyDocument; readonly drafts: ReadonlyMap<string, TableDraft> },
  findings: Findings,
): void {
  const read = [...drafts.values()].filter(({ name, policy: table, aggregable }) => {
    const granted = policy.read?.includes('*') === true || policy.read?.includes(name) === true
    const denied = policy.deny?.includes('*') === true || policy.deny?.includes(name) === true
    const size = policy.min_group_size ?? table.min_group_size ?? document.defaults.min_group_size ?? MIN_GROUP_SIZE
    return granted && !denied && aggregable !== undefined && size > 1
  })
  const [first, ...others] = read
  if (first === undefined) return
  const also = others.length === 0 ? '' : ` and ${others.length} more tables`
  const text = `roles.${role} has a min_group_size and may read the rows of ${quoted(first.name)}${also}: the size hides nothing from it. Grant aggregate instead of read.`
  findings.warn({ kind: 'group_size_with_reads', table: first.name, path: ['roles', role, 'read'], text })
}

function grantOf<T>(names: readonly string[] | undefined, members: ReadonlyMap<string, T>): Grant<T> {
  return names?.includes('*') === true ? 'all' : new Set((names ?? []).flatMap((name) => members.get(name) ?? []))
}

function compileRole(
  draft: RoleDraft,
  tables: ReadonlyMap<string, CompiledTable>,
  procedures: ReadonlyMap<string, CompiledProcedure>,
): CompiledRole {
  const { name, policy } = draft
  return {
    name,
    reads: grantOf(policy.read, tables),
    aggregates: grantOf(policy.aggregate, tables),
    writes: {
      create: grantOf(policy.create, tables),
      update: grantOf(policy.update, tables),
      soft_delete: grantOf(policy.soft_delete, tables),
    },
    calls: grantOf(policy.call, procedures),
    denies: grantOf(policy.deny, tables),
    masks: byTable(draft.masks, tables),
    filters: byTable(draft.filters, tables),
    limits: policy,
  }
}

function byTable<T>(
  byName: ReadonlyMap<string, T>,
  tables: ReadonlyMap<string, CompiledTable>,
): ReadonlyMap<CompiledTable, T> {
  const found = new Map<CompiledTable, T>()
  for (const [name, value] of byName) {
    const table = tables.get(name)
    if (table !== undefined) found.set(table, value)
  }
  return found
}

function identityOf(name: string, policy: IdentityPolicy): CompiledIdentity {
  return { name, readOnly: policy.read_only === true, limits: policy }
}

function compileTable(draft: TableDraft, finder: MentionFinder): CompiledTable {
  const { table, toolBase, positions, shown, aggregable, key, filters, writes } = draft
  const { notDeleted, column: softDeleteColumn } = writes.softDelete ?? {}
  const comments = finder.commentsOf(table)
  const limits: PolicyLimits = draft.policy
  const bare = table.columns.map(withoutComment)
  return {
    table,
    toolBase,
    positions,
    shown,
    aggregable,
    key,
    filters: { existing: notDeleted === undefined ? filters : [...filters, notDeleted], created: filters },
    writes: writes.operations,
    softDeleteColumn,
    limits,
    comment: comments.table,
    columnComments: comments.columns,
    bare,
    commented: bare.map((column, index) => withComment(column, comments.columns[index])),
    views: new Map(),
  }
}

function withoutComment(column: Column): Column {
  const { comment: _, ...bare } = column
  return bare
}

function withComment(column: Column, comment: Comment | undefined): Column {
  return comment === undefined ? column : { ...column, comment: comment.text }
}

/** Schema and name apart: joined with a dot, `a.b` and `c` would be `a` and `b.c`. */
function finderByRef(tables: readonly CompiledTable[]): (ref: TableRef) => CompiledTable | undefined {
  const bySchema = new Map<string, Map<string, CompiledTable>>()
  for (const table of tables) {
    const { schema, name } = table.table.ref
    const byName = bySchema.get(schema) ?? new Map<string, CompiledTable>()
    byName.set(name, table)
    bySchema.set(schema, byName)
  }
  return ({ schema, name }) => bySchema.get(schema)?.get(name)
}
