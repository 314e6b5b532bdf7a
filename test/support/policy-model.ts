/**
 * What the product promises of a policy, sentence by sentence and as slowly as it reads. It shares no code with the
 * policy engine: property tests hold the two against each other.
 */

export type ModelRead = 'get' | 'search' | 'aggregate'
export type ModelWrite = 'create' | 'update' | 'soft_delete'
export type ModelOperation = ModelRead | ModelWrite
export type ModelCell = string | number | null
export type ModelRow = Readonly<Record<string, ModelCell>>
export type ModelClaims = Readonly<Record<string, string | number | readonly (string | number)[]>>

/** A filter about the row itself, or about the row that the foreign key of exactly these columns references. */
export type ModelFilter = ModelColumnFilter | { readonly parent: readonly string[] }

export interface ModelColumnFilter {
  readonly column: string
  readonly op: string
  readonly value?: string | number | { readonly claim: string }
  readonly values?: readonly (string | number)[] | { readonly claim: string }
}

export interface ModelSection {
  readonly columns: readonly string[]
  readonly preset?: Readonly<Record<string, string | number | { readonly claim: string }>>
}

export interface ModelSoftDelete {
  readonly column: string
  readonly value: string | number
  readonly reads_include_deleted?: boolean
}

/** Limits that may stand everywhere. */
export interface ModelLimits {
  readonly row_cap?: number
  readonly min_group_size?: number
  readonly require_index_above_rows?: number
}

export interface ModelTable extends ModelLimits {
  readonly mask?: readonly string[]
  readonly columns?: readonly string[]
  readonly aggregate?: boolean | { readonly columns: readonly string[] }
  readonly row_filter?: readonly ModelFilter[]
  readonly create?: ModelSection
  readonly update?: ModelSection
  readonly soft_delete?: ModelSoftDelete
}

export interface ModelRole extends ModelLimits {
  readonly read?: readonly string[]
  readonly aggregate?: readonly string[]
  readonly create?: readonly string[]
  readonly update?: readonly string[]
  readonly soft_delete?: readonly string[]
  readonly deny?: readonly string[]
  readonly mask?: Readonly<Record<string, readonly string[]>>
  readonly row_filter?: Readonly<Record<string, readonly ModelFilter[]>>
}

export interface ModelPolicy {
  readonly version: 1
  readonly defaults?: ModelLimits
  readonly tables: Readonly<Record<string, ModelTable>>
  readonly roles: Readonly<Record<string, ModelRole>>
  readonly identities?: Readonly<Record<string, ModelLimits & { readonly read_only?: boolean }>>
}

/** One table of the database as the model needs it. */
export interface ModelCatalogTable {
  readonly columns: Readonly<Record<string, 'integer' | 'text'>>
  readonly key: readonly string[]
  /** Columns that must have a value, and that only a writer gives one. */
  readonly required?: readonly string[]
  /** Columns that an index or a key begins with, and how many rows the database says there are. */
  readonly leading?: readonly string[]
  readonly rows?: number
  readonly references?: readonly ModelReference[]
}

export interface ModelReference {
  readonly columns: readonly string[]
  readonly table: string
  readonly referencedColumns: readonly string[]
}

/** The rows of each table. */
export type ModelContents = Readonly<Record<string, readonly ModelRow[]>>

export interface ModelPlan {
  readonly filters: readonly ModelColumnFilter[]
  /** The first column that a search is ordered by. */
  readonly first?: string
}

export interface ModelCaller {
  readonly name: string
  readonly roles: readonly string[]
  readonly claims: ModelClaims
}

export class PolicyModel {
  readonly #policy: ModelPolicy
  readonly #catalog: Readonly<Record<string, ModelCatalogTable>>
  readonly #contents: ModelContents

  /** `contents`: what is in the database, where rows hang on others. */
  constructor(policy: ModelPolicy, catalog: Readonly<Record<string, ModelCatalogTable>>, contents: ModelContents = {}) {
    this.#policy = policy
    this.#catalog = catalog
    this.#contents = contents
  }

  #table(table: string): ModelTable | undefined {
    return Object.hasOwn(this.#policy.tables, table) ? this.#policy.tables[table] : undefined
  }

  #roles(caller: ModelCaller): readonly ModelRole[] {
    const known = Object.entries(this.#policy.roles).filter(([name]) => caller.roles.includes(name))
    return known.map(([, role]) => role)
  }

  /** "`*` means every table named under `tables:`." */
  #covers(list: readonly string[] | undefined, table: string): boolean {
    return list !== undefined && this.#table(table) !== undefined && (list.includes('*') || list.includes(table))
  }

  /** "`read` grants get, search, … and aggregate; `aggregate` grants aggregates alone"; "an explicit deny wins". */
  granting(caller: ModelCaller, table: string, operation: ModelOperation): readonly ModelRole[] {
    const roles = this.#roles(caller)
    if (roles.some((role) => this.#covers(role.deny, table))) return []
    if (operation === 'aggregate' && this.#table(table)?.aggregate === false) return []
    if (operation === 'create' || operation === 'update' || operation === 'soft_delete') {
      // "A mutation exists only where the table has the section and a role grants it"; "read-only identity: no mutation".
      if (this.#table(table)?.[operation] === undefined) return []
      if (this.#policy.identities?.[caller.name]?.read_only === true) return []
      return roles.filter((role) => this.#covers(role[operation], table))
    }
    return roles.filter(
      (role) => this.#covers(role.read, table) || (operation === 'aggregate' && this.#covers(role.aggregate, table)),
    )
  }

  /**
   * "A column is usable in an operation when a granting role without a row filter shows it, or when every granting role
   * shows it; a table-level mask always hides it." An allow list hides what it does not name; aggregates keep to theirs.
   */
  shows(caller: ModelCaller, table: string, operation: ModelOperation, column: string): boolean {
    const policy = this.#table(table)
    const granting = this.granting(caller, table, operation)
    if (policy === undefined || granting.length === 0) return false
    if (policy.mask?.includes(column) === true) return false
    if (policy.columns !== undefined && !policy.columns.includes(column)) return false
    const { aggregate } = policy
    if (operation === 'aggregate' && typeof aggregate === 'object' && !aggregate.columns.includes(column)) return false
    const roleShows = (role: ModelRole) => role.mask?.[table]?.includes(column) !== true
    const unfiltered = granting.filter((role) => role.row_filter?.[table] === undefined)
    return unfiltered.some(roleShows) || granting.every(roleShows)
  }

  columnsShown(caller: ModelCaller, table: string, operation: ModelOperation): readonly string[] {
    if (!this.allowed(caller, table, operation)) return []
    const columns = Object.keys(this.#catalog[table]?.columns ?? {})
    return columns.filter((column) => this.shows(caller, table, operation, column))
  }

  /** Deny by default; an operation needs something to show, and `get` its whole key. */
  allowed(caller: ModelCaller, table: string, operation: ModelOperation): boolean {
    const catalog = this.#catalog[table]
    if (catalog === undefined || this.granting(caller, table, operation).length === 0) return false
    const shown = Object.keys(catalog.columns).filter((column) => this.shows(caller, table, operation, column))
    const keyed = catalog.key.length > 0 && catalog.key.every((column) => shown.includes(column))
    if (operation === 'get' || operation === 'soft_delete') return keyed
    if (operation !== 'create' && operation !== 'update') return shown.length > 0
    const settable = this.settable(caller, table, operation)
    if (operation === 'update') return keyed && settable.length > 0
    return settable.length > 0 && this.#unfilled(table).every((column) => settable.includes(column))
  }

  /** "Allowed, visible, writable columns only"; "a column with a preset is not the caller's". */
  settable(caller: ModelCaller, table: string, operation: 'create' | 'update'): readonly string[] {
    const section = this.#table(table)?.[operation]
    if (section === undefined) return []
    return Object.keys(this.#catalog[table]?.columns ?? {}).filter(
      (column) =>
        section.columns.includes(column) &&
        !Object.hasOwn(section.preset ?? {}, column) &&
        this.shows(caller, table, operation, column),
    )
  }

  /** What a new row needs and neither the catalog nor a preset gives. */
  #unfilled(table: string): readonly string[] {
    const preset = this.#table(table)?.create?.preset ?? {}
    return (this.#catalog[table]?.required ?? []).filter((column) => !Object.hasOwn(preset, column))
  }

  required(table: string): readonly string[] {
    return this.#unfilled(table)
  }

  /** Whether the claims that the presets of a mutation need are there and fit. */
  presetsSuffice(caller: ModelCaller, table: string, operation: 'create' | 'update'): boolean {
    return Object.entries(this.#table(table)?.[operation]?.preset ?? {}).every(
      ([column, value]) => this.#operands({ column, op: 'eq', value }, table, caller) !== undefined,
    )
  }

  /** "Row scope is computed per operation …: any of their filters (a role without one: all rows), and always the table's." */
  inScope(caller: ModelCaller, table: string, operation: ModelOperation, row: ModelRow): boolean {
    const holds = (filters: readonly ModelFilter[]) =>
      filters.every((filter) => this.#holds(filter, table, row, caller))
    if (!holds(this.#table(table)?.row_filter ?? [])) return false
    if (operation !== 'create' && this.#isDeleted(table, row)) return false
    return this.granting(caller, table, operation).some((role) => holds(role.row_filter?.[table] ?? []))
  }

  /** A row counts as deleted unless it says otherwise: "reads include deleted" only where the policy asks for it. */
  #isDeleted(table: string, row: ModelRow): boolean {
    const marked = this.#table(table)?.soft_delete
    if (marked === undefined || marked.reads_include_deleted === true) return false
    const cell = row[marked.column] ?? null
    return cell === null || String(cell) === String(marked.value)
  }

  /** "A check that the written row still satisfies it", where a soft delete may write its own mark. */
  mayBeWritten(caller: ModelCaller, table: string, operation: ModelWrite, row: ModelRow): boolean {
    const aside = operation === 'soft_delete' ? this.#table(table)?.soft_delete?.column : undefined
    if (operation === 'update' && this.#isDeleted(table, row)) return false
    const isAside = (filter: ModelFilter) => 'column' in filter && filter.column === aside
    const holds = (filters: readonly ModelFilter[]) =>
      filters.every((filter) => isAside(filter) || this.#holds(filter, table, row, caller))
    if (!holds(this.#table(table)?.row_filter ?? [])) return false
    const lists = this.granting(caller, table, operation).map((role) => role.row_filter?.[table] ?? [])
    return lists.some((list) => this.#usable(list, table, caller) && holds(list))
  }

  /** Whether every row that the mutation may touch is, by the roles alone, one that `get` finds. */
  isReadable(caller: ModelCaller, table: string, operation: ModelWrite): boolean {
    const readers = this.granting(caller, table, 'get')
    if (readers.some((role) => role.row_filter?.[table] === undefined)) return true
    return this.granting(caller, table, operation).every((role) => readers.includes(role))
  }

  /** Whether the caller's claims let any row be in scope at all: "a claim that is missing fails closed". */
  claimsSuffice(caller: ModelCaller, table: string, operation: ModelOperation): boolean {
    if (!this.#usable(this.#table(table)?.row_filter ?? [], table, caller)) return false
    return this.granting(caller, table, operation).some((role) =>
      this.#usable(role.row_filter?.[table] ?? [], table, caller),
    )
  }

  /** Whether the claims are there that these filters need, and those of parents that they lead to. */
  #usable(filters: readonly ModelFilter[], table: string, caller: ModelCaller): boolean {
    return filters.every((filter) => {
      if ('column' in filter) return this.#operands(filter, table, caller) !== undefined
      const parent = this.#reference(filter.parent, table).table
      const lists = this.#readLists(caller, parent)
      if (!this.#usable(this.#table(parent)?.row_filter ?? [], parent, caller)) return false
      return lists === undefined || lists.some((list) => this.#usable(list, parent, caller))
    })
  }

  #reference(columns: readonly string[], table: string): ModelReference {
    const found = this.#catalog[table]?.references?.find(
      (reference) =>
        reference.columns.length === columns.length && reference.columns.every((column) => columns.includes(column)),
    )
    if (found === undefined) throw new Error(`the model knows no key ${columns.join(', ')} of ${table}`)
    return found
  }

  /** The filters of the roles by which the caller reads the table; undefined where it may not. */
  #readLists(caller: ModelCaller, table: string): readonly (readonly ModelFilter[])[] | undefined {
    const readers = this.granting(caller, table, 'get')
    return readers.length === 0 ? undefined : readers.map((role) => role.row_filter?.[table] ?? [])
  }

  /**
   * "The row that the key references must be in the caller's scope": by the filters of its table, where the caller may read it
   * also by those of its roles, and not deleted.
   */
  #parentHolds(columns: readonly string[], table: string, row: ModelRow, caller: ModelCaller): boolean {
    const reference = this.#reference(columns, table)
    const parents = (this.#contents[reference.table] ?? []).filter((parent) =>
      reference.columns.every((column, index) => {
        const cell = row[column] ?? null
        return cell !== null && cell === (parent[reference.referencedColumns[index] ?? ''] ?? null)
      }),
    )
    const lists = this.#readLists(caller, reference.table)
    return parents.some((parent) => {
      const holds = (filters: readonly ModelFilter[]) =>
        filters.every((filter) => this.#holds(filter, reference.table, parent, caller))
      if (this.#isDeleted(reference.table, parent)) return false
      return holds(this.#table(reference.table)?.row_filter ?? []) && (lists === undefined || lists.some(holds))
    })
  }

  /** "Every limit may also stand under a table, a role, an identity; the most specific wins"; of several roles, the largest. */
  largest(limit: 'row_cap' | 'require_index_above_rows', caller: ModelCaller, table: string, builtIn: number): number {
    const own = this.#policy.identities?.[caller.name]?.[limit]
    if (own !== undefined) return own
    const base = this.#table(table)?.[limit] ?? this.#policy.defaults?.[limit] ?? builtIn
    const operations = ['get', 'search', 'aggregate'] as const
    const granting = operations.flatMap((operation) => this.granting(caller, table, operation))
    return granting.reduce((largest, role) => Math.max(largest, role[limit] ?? base), granting.length === 0 ? base : 0)
  }

  /**
   * "The smallest size among the granting roles that by themselves give all rows and every column that the caller may
   * aggregate; where there is none, the largest of all."
   */
  groupSize(caller: ModelCaller, table: string): number {
    const own = this.#policy.identities?.[caller.name]?.min_group_size
    if (own !== undefined) return own
    const base = this.#table(table)?.min_group_size ?? this.#policy.defaults?.min_group_size ?? 1
    const granting = this.granting(caller, table, 'aggregate')
    const sizes = (roles: readonly ModelRole[]) => roles.map((role) => role.min_group_size ?? base)
    const columns = this.columnsShown(caller, table, 'aggregate')
    const whole = granting.filter(
      (role) =>
        role.row_filter?.[table] === undefined &&
        !columns.some((column) => role.mask?.[table]?.includes(column) === true),
    )
    if (granting.length === 0) return base
    return whole.length > 0 ? Math.min(...sizes(whole)) : Math.max(...sizes(granting))
  }

  /**
   * "On tables above `require_index_above_rows`, a search or aggregate needs a usable indexed filter or order", in the call or
   * in the row scope. Whether the caller may use the columns and has the claims is asked elsewhere.
   */
  lacksIndex(caller: ModelCaller, table: string, operation: 'search' | 'aggregate', plan: ModelPlan, builtIn: number) {
    const { leading = [], rows = 0 } = this.#catalog[table] ?? {}
    if (rows <= this.largest('require_index_above_rows', caller, table, builtIn)) return false
    const finds = (filter: ModelFilter) =>
      'column' in filter && leading.includes(filter.column) && filter.op !== 'neq' && filter.op !== 'not_null'
    if (operation === 'search' && plan.first !== undefined && leading.includes(plan.first)) return false
    if (plan.filters.some(finds) || this.#table(table)?.row_filter?.some(finds) === true) return false
    const granting = this.granting(caller, table, operation)
    if (granting.some((role) => role.row_filter?.[table] === undefined)) return true
    const lists = granting.map((role) => role.row_filter?.[table] ?? [])
    const usable = lists.filter((list) => this.#usable(list, table, caller))
    return !usable.every((list) => list.some(finds))
  }

  /** The values to compare with, or undefined where a claim is missing, misfits, or is a list where `in` is not. */
  #operands(filter: ModelColumnFilter, table: string, caller: ModelCaller): readonly (string | number)[] | undefined {
    const source = filter.values ?? filter.value
    if (source === undefined) return []
    const isText = this.#catalog[table]?.columns[filter.column] === 'text'
    if (typeof source !== 'object') return [source]
    if (!('claim' in source)) return source
    const claim = Object.hasOwn(caller.claims, source.claim) ? caller.claims[source.claim] : undefined
    if (claim === undefined || (typeof claim === 'object' && filter.op !== 'in')) return undefined
    const values = typeof claim === 'object' ? claim : [claim]
    const fitting = values.filter((value) => (isText ? typeof value === 'string' : /^-?\d+$/.test(String(value))))
    return fitting.length === values.length ? values : undefined
  }

  /** A comparison with NULL holds for nothing but `is_null`. */
  #holds(filter: ModelFilter, table: string, row: ModelRow, caller: ModelCaller): boolean {
    if ('parent' in filter) return this.#parentHolds(filter.parent, table, row, caller)
    const cell = row[filter.column] ?? null
    if (filter.op === 'is_null') return cell === null
    if (filter.op === 'not_null') return cell !== null
    const operands = this.#operands(filter, table, caller)
    if (operands === undefined || cell === null) return false
    const same = (operand: string | number) => String(operand) === String(cell)
    const [operand = 0] = operands
    const order =
      typeof cell === 'number' ? cell - Number(operand) : cell < String(operand) ? -1 : same(operand) ? 0 : 1
    switch (filter.op) {
      case 'in':
        return operands.some(same)
      case 'eq':
        return same(operand)
      case 'neq':
        return !same(operand)
      case 'gt':
        return order > 0
      case 'gte':
        return order >= 0
      case 'lt':
        return order < 0
      case 'lte':
        return order <= 0
      default:
        throw new Error(`the model does not know ${filter.op}`)
    }
  }
}
