import { toolBaseName } from '../core/names.js'
import { type Column, qualifiedName, type SchemaModel, type Table } from '../core/schema-model.js'
import { filterOpsFor } from '../core/tool-grammar.js'
import type { PolicyFilter, SoftDeletePolicy } from './policy-document.js'
import { type Holding, holdingOf, listed, wordsOf } from './suggest-columns.js'

/** What a table looks as if it were, by its names and its catalog entry alone. */
export interface TableLook {
  readonly table: Table
  readonly name: string
  readonly secret: readonly string[]
  readonly sensitive: readonly string[]
  readonly personal: readonly string[]
  /** Belongs to a framework, not to whoever uses the data. */
  readonly internal: boolean
  /** The tables whose rows it joins, where that is all it does. */
  readonly joins?: readonly string[]
  /** A key that the catalog does not give. */
  readonly key?: { readonly columns: readonly string[]; readonly sure: boolean }
  /** The column that says whose row it is. */
  readonly tenant?: string
  readonly deleted?: DeletedLook
  /** The table that it seems to hold a part of the rows of, which are read through that one. */
  readonly partOf?: string
  /** A readable `<t>` for its tools, where its own name does not make one. */
  readonly toolName?: string
}

/** How deleted rows are marked. */
export interface DeletedLook {
  readonly mark: SoftDeletePolicy
  /** What a row that is not deleted satisfies; absent where NULL would count as deleted. */
  readonly present?: PolicyFilter
}

const INTERNAL =
  /^(?:schema_migrations|ar_internal_metadata|flyway_schema_history|__efmigrationshistory|alembic_version|databasechangelog(?:lock)?|spatial_ref_sys|geometry_columns|pg_stat_statements(?:_info)?|sysdiagrams|(?:knex|sequelize|goose|django|prisma|typeorm|doctrine|drizzle|laravel|_prisma|__drizzle)_?(?:db_version|meta|migrations?(?:_lock)?|migration_versions)|migrations?|django_(?:session|content_type|admin_log)|SequelizeMeta)$/i
const PEOPLE: ReadonlySet<string> = new Set(
  listed(`
  customer, client, user, person, people, employee, staff, contact, patient, member, student, teacher, subscriber,
  guest, applicant, candidate, donor, driver, account`),
)

/** Looks at every table and view of the catalog, in its order. */
export function looksOf(schema: SchemaModel, schemas: readonly string[]): readonly TableLook[] {
  const toolNames = proposedToolNames(schema.tables, schemas)
  const keyed = schema.tables
    .filter(({ primaryKey }) => primaryKey.length > 0)
    .map((table) => ({ table, name: qualifiedName(table.ref), words: wordsOf(table.ref.name).map(singular) }))
  return schema.tables.map((table) => lookOf(table, keyed, toolNames.get(table)))
}

/** A table with a key, and the words of its name. */
interface Keyed {
  readonly table: Table
  readonly name: string
  readonly words: readonly string[]
}

function lookOf(table: Table, keyed: readonly Keyed[], toolName: string | undefined): TableLook {
  const references = new Set<string>(table.foreignKeys.flatMap(({ columns }) => columns))
  const held: Readonly<Record<Holding, string[]>> = { secret: [], sensitive: [], personal: [] }
  for (const column of table.columns) {
    const holding = holds(table, column, references.has(column.name))
    if (holding !== undefined) held[holding].push(column.name)
  }
  const { secret, sensitive, personal } = held
  const joins = joinedBy(table, references)
  const key = proposedKey(table, keyed, new Set([...secret, ...sensitive]))
  const tenant = table.columns.find(isTenant)?.name
  const deleted = deletedLook(table)
  const partOf = wholeOf(table, keyed)
  return {
    table,
    name: qualifiedName(table.ref),
    secret,
    sensitive,
    personal,
    internal: INTERNAL.test(table.ref.name),
    ...(joins === undefined ? {} : { joins }),
    ...(key === undefined ? {} : { key }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(deleted === undefined ? {} : { deleted }),
    ...(partOf === undefined ? {} : { partOf }),
    ...(toolName === undefined ? {} : { toolName }),
  }
}

/** What follows the name of the whole where a table holds a part of it: `_p2007_01`, `_2024`, `_default`. */
const PART = /^_(?:p|part|y)?_?(?:\d[\d_qmwp]*|default)$/i

/** Without a key of its own, with the columns of another table in their order, and called after it: a child table by inheritance, as a rule. */
function wholeOf(table: Table, keyed: readonly Keyed[]): string | undefined {
  if (table.kind !== 'table' || table.primaryKey.length > 0) return undefined
  const shape = shapeOf(table)
  return keyed.find(({ table: whole }) => {
    const { schema, name } = whole.ref
    const isNamed =
      schema === table.ref.schema && table.ref.name.startsWith(name) && PART.test(table.ref.name.slice(name.length))
    return isNamed && shapeOf(whole) === shape
  })?.name
}

function shapeOf({ columns }: Table): string {
  return JSON.stringify(columns.map(({ name, type }) => [name, type.native]))
}

/** A plain `name` is somebody's where the table is of people. */
function holds(table: Table, column: Column, isReference: boolean): Holding | undefined {
  const found = holdingOf(column, isReference)
  if (found !== undefined || column.type.logical !== 'text') return found
  const ofPeople = wordsOf(table.ref.name).some((word) => PEOPLE.has(word) || PEOPLE.has(word.replace(/s$/, '')))
  return ofPeople && wordsOf(column.name).join(' ') === 'name' ? 'personal' : undefined
}

/** A key of two references and more, and hardly anything beside it. */
function joinedBy(table: Table, references: ReadonlySet<string>): readonly string[] | undefined {
  const { primaryKey, columns, foreignKeys } = table
  const others = columns.filter(
    ({ name, type }) => !references.has(name) && !primaryKey.includes(name) && type.logical !== 'timestamp',
  )
  const inKey = foreignKeys.filter((key) => key.columns.every((column) => primaryKey.includes(column)))
  const covered = new Set(inKey.flatMap((key) => key.columns))
  const joins = inKey.length > 1 && primaryKey.every((column) => covered.has(column)) && others.length <= 1
  return joins ? inKey.map((key) => qualifiedName(key.references)) : undefined
}

/** Of a table a unique key that is never NULL; of a view the key of a table that it reads, or what is called like one. */
function proposedKey(table: Table, keyed: readonly Keyed[], hidden: ReadonlySet<string>): TableLook['key'] {
  if (table.primaryKey.length > 0) return undefined
  const usable = (names: readonly string[]) =>
    names.length > 0 &&
    names.every((name) => {
      const column = table.columns.find((each) => each.name === name)
      return column !== undefined && !hidden.has(name) && filterOpsFor(column.type).includes('eq')
    })
  const nullable = new Set<string>(table.columns.filter((column) => column.nullable).map(({ name }) => name))
  const unique = table.uniqueKeys.find((key) => usable(key) && !key.some((name) => nullable.has(name)))
  if (unique !== undefined) return { columns: unique, sure: true }
  if (table.kind !== 'view' && table.kind !== 'materialized_view') return undefined
  const guessed = viewKeys(table, keyed).find(usable)
  return guessed === undefined ? undefined : { columns: guessed, sure: false }
}

/** The nearer the view's name is to the table's, the more likely a row of the one is a row of the other. */
function viewKeys(view: Table, keyed: readonly Keyed[]): readonly (readonly string[])[] {
  const words = new Set(wordsOf(view.ref.name).map(singular))
  const read = view.reads && new Set(view.reads.map(({ table }) => qualifiedName(table)))
  const sources = keyed.filter(({ table, name }) => table !== view && read?.has(name) !== false)
  const named = sources
    .map(({ table, words: own }) => ({ table, shared: own.filter((word) => words.has(word)).length }))
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared)
  const own = [/^(?:id|uuid|guid)$/i, /^[a-z]id$/i].flatMap((like) =>
    view.columns.filter(({ name }) => like.test(name)).map(({ name }) => [name]),
  )
  // A column `id` of a view is tried by itself: whose it is, its name does not say.
  const keysOf = (tables: readonly { readonly table: Table }[]) =>
    tables.map(({ table }) => table.primaryKey).filter((key) => key.join() !== 'id')
  const only = sources.length === 1 ? sources : []
  return [...keysOf(named), ...own, ...keysOf(only)]
}

function singular(word: string): string {
  return word.length > 3 ? word.replace(/s$/, '') : word
}

const TENANTS: ReadonlySet<string> = new Set(
  listed(`
  tenant, tenant id, tenant uuid, org id, organization id, organisation id, workspace id, company id, mandant,
  mandant id`),
)

function isTenant(column: Column): boolean {
  return TENANTS.has(wordsOf(column.name).join(' ')) && filterOpsFor(column.type).includes('eq')
}

const DELETED_TIMES: ReadonlySet<string> = new Set(
  listed(`
  deleted at, deleted on, deleted, date deleted, deletion date, deletion time, deletion at, removed at, deleted date,
  deleted time`),
)
const DELETED_FLAGS: ReadonlySet<string> = new Set(
  listed(`
  deleted, is deleted, is removed, deleted flag, is del`),
)

function deletedLook({ columns }: Table): DeletedLook | undefined {
  for (const { name, type, nullable } of columns) {
    const words = wordsOf(name).join(' ')
    const isTime = type.logical === 'timestamp' || type.logical === 'date'
    if (isTime && nullable && DELETED_TIMES.has(words)) {
      return { mark: { column: name, value: 'now' }, present: { column: name, op: 'is_null' } }
    }
    if (!DELETED_FLAGS.has(words)) continue
    const [set, unset] = type.logical === 'boolean' ? ([true, false] as const) : ([1, 0] as const)
    if (type.logical !== 'boolean' && type.logical !== 'integer') continue
    const present = nullable ? {} : { present: { column: name, op: 'eq' as const, value: unset } }
    return { mark: { column: name, value: set }, ...present }
  }
  return undefined
}

const TOOL_CHARS_MAX = 22

/** A name in snake case where the gateway would otherwise make one with a hash; none that two tables would share. */
function proposedToolNames(tables: readonly Table[], schemas: readonly string[]): ReadonlyMap<Table, string> {
  const several = schemas.length > 1
  const own = (table: Table) => (several ? `${table.ref.schema}_${table.ref.name}` : String(table.ref.name))
  const taken = new Set<string>()
  for (const table of tables) if (toolBaseName(own(table)) === own(table)) taken.add(own(table))
  const names = new Map<Table, string>()
  for (const table of tables) {
    if (toolBaseName(own(table)) === own(table)) continue
    const short = snake(table.ref.name)
    const candidates = several ? [snake(own(table)), short] : [short]
    const name = candidates.find(
      (each) => each.length <= TOOL_CHARS_MAX && toolBaseName(each) === each && !taken.has(each),
    )
    if (name === undefined) continue
    taken.add(name)
    names.set(table, name)
  }
  return names
}

function snake(name: string): string {
  return wordsOf(name).join('_')
}
