import type { SchemaModel } from '../core/schema-model.js'
import type { PolicyDocument, RolePolicy, TablePolicy } from './policy-document.js'
import { type FindingKind, type Findings, quoted } from './policy-finding.js'
import { bareRecord, type PolicyPath } from './policy-tree.js'

/**
 * Names without their schema. A connector with one schema needs none, so that one policy can serve databases that hold the
 * same tables under different names; from here on every name has its schema.
 */

/** The connector's schemas: one may be left out of names, of several none. */
export type Schemas = readonly string[]

/**
 * The connector's schemas as its catalog spells them. A server that disregards case serves the one schema it was asked for
 * under its own spelling of it.
 */
export function schemasOf(
  configured: Schemas,
  { tables, routines }: Pick<SchemaModel, 'tables' | 'routines'>,
): Schemas {
  const [schema, ...others] = configured
  const found = (tables[0] ?? routines[0])?.ref.schema
  if (schema === undefined || others.length > 0 || found === undefined) return configured
  return found.toLowerCase() === schema.toLowerCase() ? [found] : configured
}

/** Whether the name leaves its schema to the connector. The types of a signature may have schemas of their own. */
export function isUnqualified(name: string): boolean {
  const [spelled = ''] = name.split('(', 1)
  return !spelled.includes('.')
}

function qualified(name: string, schemas: Schemas): string {
  const [schema, ...others] = schemas
  return schema === undefined || others.length > 0 || !isUnqualified(name) ? name : `${schema}.${name}`
}

/** The name as the document has it, for one that has its schema by now. */
export function spelledName(
  section: Readonly<Record<string, unknown>>,
  name: string,
  schemas: Schemas,
): string | undefined {
  if (Object.hasOwn(section, name)) return name
  return Object.keys(section).find((spelled) => qualified(spelled, schemas) === name)
}

/** The place of a finding as the document has it, for its line: findings name tables and procedures with their schemas. */
export function writtenPath(document: PolicyDocument, path: PolicyPath, schemas: Schemas): PolicyPath {
  const [section, name, part, table, ...rest] = path
  const spelled = (names: Readonly<Record<string, unknown>> | undefined, whole: PropertyKey) =>
    spelledName(names ?? {}, String(whole), schemas) ?? whole
  if (name === undefined) return path
  if (section === 'tables' || section === 'procedures') {
    return [section, spelled(document[section], name), ...path.slice(2)]
  }
  if (section !== 'roles' || table === undefined || (part !== 'mask' && part !== 'row_filter')) return path
  const role = new Map(Object.entries(document.roles)).get(String(name))
  return [section, name, part, spelled(role?.[part], table), ...rest]
}

/** The document with every table and procedure under its whole name. One that stands in it both ways is in neither place. */
export function withQualifiedNames(document: PolicyDocument, schemas: Schemas, findings?: Findings): PolicyDocument {
  const names = [...Object.keys(document.tables), ...Object.keys(document.procedures)]
  const references = Object.values(document.tables).flatMap(({ relations = {} }) => Object.values(relations))
  const given = [...names, ...references.map((relation) => relation.references)]
  if (schemas.length !== 1 || !given.some(isUnqualified)) return document
  const twice = (name: string, kind: FindingKind): void => {
    const text = `The policy names ${quoted(name)} twice, with its schema and without; it is withheld. Name it once.`
    if (kind === 'table_named_twice') findings?.withhold({ kind, table: name, text })
    else findings?.procedure(name, { kind, severity: 'error', withholds: true, text })
  }
  const whole = (name: string) => qualified(name, schemas)
  const tables = renamed(document.tables, whole, (name) => twice(name, 'table_named_twice'))
  return {
    ...document,
    tables: bareRecord(tables.map(([name, table]) => [name, withReferences(table, whole)] as const)),
    procedures: bareRecord(renamed(document.procedures, whole, (name) => twice(name, 'procedure_named_twice'))),
    roles: bareRecord(Object.entries(document.roles).map(([name, role]) => [name, roleWith(role, whole)] as const)),
  }
}

type Rename = (name: string) => string

/** Members under their new names; of two that come to one name neither. */
function renamed<T>(
  members: Readonly<Record<string, T>>,
  rename: Rename,
  twice: (name: string) => void,
): readonly (readonly [string, T])[] {
  const entries = Object.entries(members).map(([name, member]) => [rename(name), member] as const)
  const counts = new Map<string, number>()
  for (const [name] of entries) counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const [name, count] of counts) if (count > 1) twice(name)
  return entries.filter(([name]) => counts.get(name) === 1)
}

function withReferences(table: TablePolicy, rename: Rename): TablePolicy {
  if (table.relations === undefined) return table
  const relations = Object.entries(table.relations).map(
    ([name, relation]) => [name, { ...relation, references: rename(relation.references) }] as const,
  )
  return { ...table, relations: bareRecord(relations) }
}

const LISTS = ['read', 'aggregate', 'create', 'update', 'soft_delete', 'call', 'deny'] as const

function roleWith(role: RolePolicy, rename: Rename): RolePolicy {
  const lists = LISTS.flatMap((list) => {
    const names = role[list]?.map((name) => (name === '*' ? name : rename(name)))
    return names === undefined ? [] : [[list, names] as const]
  })
  const { mask, row_filter } = role
  return {
    ...role,
    ...Object.fromEntries(lists),
    ...(mask === undefined ? {} : { mask: keyed(mask, rename) }),
    ...(row_filter === undefined ? {} : { row_filter: keyed(row_filter, rename) }),
  }
}

/** Rules by table. Two spellings of one table are refused above, so none of these takes another's place unseen. */
function keyed<T>(members: Readonly<Record<string, T>>, rename: Rename): Readonly<Record<string, T>> {
  return bareRecord(Object.entries(members).map(([name, member]) => [rename(name), member] as const))
}
