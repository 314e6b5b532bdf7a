import { qualifiedName, type Routine, type SchemaModel } from '../core/schema-model.js'
import { compileDocument } from './compile-document.js'
import type { PolicyDocument, RolePolicy, TablePolicy } from './policy-document.js'
import { quoted } from './policy-finding.js'
import { bareRecord } from './policy-tree.js'
import { schemasOf } from './qualified-names.js'
import { looksOf, type TableLook } from './suggest-tables.js'
import { suggestionText } from './suggest-text.js'

/** One table of a draft. */
export interface DraftedTable {
  readonly look: TableLook
  /** `support`: only for the role that sees people; it would give others what their masks hide. */
  readonly exposure: 'all' | 'support' | 'left_out'
  /** Why it is left out; before that, what kept it from `reader` and `analyst`. */
  readonly reasons: readonly string[]
}

export interface PolicyDraft {
  readonly tables: readonly DraftedTable[]
  /** Whom `support` helps: tables of people, those that point to them, and what only this role may see. */
  readonly support: ReadonlySet<string>
  /** By table, what a mask hides from somebody. */
  readonly hidden: ReadonlyMap<string, ReadonlySet<string>>
  readonly routines: readonly Routine[]
}

export interface Suggestion {
  /** Commented YAML, the same for the same catalog. */
  readonly text: string
  /** What the text says; it meets the catalog without a finding. */
  readonly document: PolicyDocument
}

/** A table is left out after at most two findings, so that no more rounds than this are needed. */
const ROUNDS_PER_TABLE = 2

/**
 * Drafts a policy from a catalog: every table and view that can be served, secrets and what is sensitive masked for everybody, what is
 * personal masked for `reader` and `analyst` and shown to `support`; nothing is written and no procedure called until its author
 * takes away a comment sign. What would meet the catalog with a finding is left out with the reason beside it.
 */
export function suggestPolicy(schema: SchemaModel, configured: readonly string[]): Suggestion {
  const schemas = schemasOf(configured, schema)
  const looks = looksOf(schema, schemas)
  let draft = draftOf(
    looks.map((look) => {
      const reasons = reasonsAgainst(look)
      return { look, exposure: reasons.length > 0 ? 'left_out' : 'all', reasons }
    }),
    schema.routines,
  )
  for (let round = 0; round <= looks.length * ROUNDS_PER_TABLE; round++) {
    const { findings } = compileDocument(documentOf(draft), schema, { schemas })
    const reasons = new Map<string, string[]>()
    // What nobody can look into is told beside it: left out it would be most of what some servers have.
    const kept = findings.filter(({ kind }) => kind !== 'reads_unknown')
    for (const { table, text } of kept) reasons.set(table, [...(reasons.get(table) ?? []), text])
    if (reasons.size === 0) break
    draft = draftOf(
      draft.tables.map((table) => withReasons(table, reasons.get(table.look.name))),
      schema.routines,
    )
  }
  const document = documentOf(draft)
  return { text: suggestionText(draft, document), document }
}

function reasonsAgainst({ internal, partOf }: TableLook): readonly string[] {
  if (internal) return ['it seems to belong to a framework']
  if (partOf === undefined) return []
  return [`it seems to hold a part of ${quoted(partOf)}, through which its rows are read`]
}

/** The first time the table is kept from those with masks; where that is not enough, from everybody. */
function withReasons(table: DraftedTable, reasons: readonly string[] | undefined): DraftedTable {
  if (reasons === undefined) return table
  return { ...table, exposure: table.exposure === 'all' ? 'support' : 'left_out', reasons: [...new Set(reasons)] }
}

function draftOf(tables: readonly DraftedTable[], routines: readonly Routine[]): PolicyDraft {
  const people = new Set(tables.filter(({ look }) => look.personal.length > 0).map(({ look }) => look.name))
  const support = tables
    .filter(({ look, exposure }) => {
      if (exposure === 'left_out') return false
      const points = look.table.foreignKeys.some(({ references }) => people.has(qualifiedName(references)))
      return exposure === 'support' || people.size === 0 || people.has(look.name) || points
    })
    .map(({ look }) => look.name)
  const hidden = tables.map(({ look }) => {
    return [look.name, new Set([...look.secret, ...look.sensitive, ...look.personal])] as const
  })
  return { tables, support: new Set(support), hidden: new Map(hidden), routines }
}

function documentOf({ tables, support }: PolicyDraft): PolicyDocument {
  const kept = tables.filter(({ exposure }) => exposure !== 'left_out')
  const forAll = kept.filter(({ exposure }) => exposure === 'all')
  const names = kept.length === forAll.length ? ['*'] : forAll.map(({ look }) => look.name)
  const masked = forAll.filter(({ look }) => look.personal.length > 0)
  const mask = bareRecord(masked.map(({ look }) => [look.name, look.personal] as const))
  const masks = masked.length === 0 ? {} : { mask }
  const roles: readonly (readonly [string, RolePolicy])[] = [
    ['reader', { ...(names.length === 0 ? {} : { read: names }), ...masks }],
    ['analyst', { ...(names.length === 0 ? {} : { aggregate: names }), ...masks }],
    ['support', support.size === 0 ? {} : { read: [...support] }],
  ]
  return {
    version: 1,
    defaults: {},
    tables: bareRecord(kept.map(({ look }) => [look.name, tableOf(look)] as const)),
    procedures: bareRecord([]),
    roles: bareRecord(roles),
    identities: bareRecord([]),
  }
}

function tableOf({ toolName, secret, sensitive, key, deleted }: TableLook): TablePolicy {
  const mask = [...secret, ...sensitive]
  return {
    ...(toolName === undefined ? {} : { tool_name: toolName }),
    ...(mask.length === 0 ? {} : { mask }),
    ...(key === undefined ? {} : { key: key.columns }),
    ...(deleted?.present === undefined ? {} : { row_filter: [deleted.present] }),
  }
}
