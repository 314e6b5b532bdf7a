/**
 * What a connector's introspector learned from the real catalog, in terms no engine owns. Plain data: it crosses threads
 * as bytes. Identifiers are branded, and SQL text can take identifiers from nowhere else.
 */
declare const identifier: unique symbol
/** A name as the catalog spells it. Made by introspection alone (`catalogName`), so no caller text can become one. */
export type Identifier = string & { readonly [identifier]: true }

/** The introspectors' way to brand a name that came out of a catalog query. */
export function catalogName(name: string): Identifier {
  return name as Identifier
}

export type LogicalType =
  | 'integer'
  | 'bigint'
  | 'decimal'
  | 'float'
  | 'text'
  | 'boolean'
  | 'timestamp'
  | 'date'
  | 'time'
  | 'interval'
  | 'uuid'
  | 'json'
  | 'bytes'
  | 'enum'
  | 'array'
  | 'unknown'

/**
 * What the text of an `unknown` type has to be, where the gateway knows. `set`: a list of its members. `words`: members or
 * labels that the catalog does not show whole, `shown` those that it does; `several` where a value is a list of them.
 */
export type TextForm =
  | { readonly kind: 'set'; readonly members: readonly string[] }
  | { readonly kind: 'words'; readonly shown: readonly string[]; readonly several?: true }
  | { readonly kind: 'geometry' }
  | { readonly kind: 'inet4' }
  | { readonly kind: 'inet6' }

/** One value type: logical for the gateway, native for the operator and the dialect. */
export interface ValueType {
  readonly logical: LogicalType
  /** As the engine writes it, such as `numeric(10,2)`. Shown to operators, never parsed. */
  readonly native: string
  /** Labels of an `enum`, in the catalog's order. */
  readonly labels?: readonly string[]
  /** Element type of an `array`. */
  readonly element?: ValueType
  /** `timestamp` and `time`: whether values carry an offset. */
  readonly withZone?: boolean
  /**
   * `integer`: inclusive range; absent where the type has none of its own. `boolean`: present where the engine has no such
   * type and a number stands in, whose other values are given and taken as they are.
   */
  readonly range?: readonly [number, number]
  /** `integer`: zero is a value as well, though it lies outside of `range`. */
  readonly alsoZero?: true
  /** `bigint`: from 0 to 2^64 − 1 instead of the signed range. */
  readonly unsigned?: true
  /** `decimal`: the engine's most digits, before and after the point together. With it come no NaN and no infinities. */
  readonly digitsMax?: number
  /** `decimal`: digits before and after the point together that the declared type keeps; a longer number does not fit. */
  readonly precision?: number
  /** `float`: the engine has neither NaN nor infinities. */
  readonly finite?: true
  /** `float`: kept with half the digits of a double. */
  readonly single?: true
  /** `float`: of the numbers near zero, whose first digits are zeros as they are kept, the engine has none. */
  readonly normal?: true
  /** `unknown`: what its text has to be; absent where any text is taken. */
  readonly form?: TextForm
  /** `date`, `timestamp`: years 0000 to 9999, in which month and day may be zero; nothing is endless or before. */
  readonly zeroParts?: true
  /** `date`, `timestamp`: the first and the last year; with them nothing is endless or before. */
  readonly years?: readonly [number, number]
  /** `timestamp`: holds whole minutes only, or only milliseconds that end in 0, 3 or 7; what lies between is rounded. */
  readonly steps?: 'minutes' | 'thirds'
  /** `timestamp` with a zone: offsets are whole minutes, of which these are the most. */
  readonly offsetMinutesMax?: number
  /** `time`: 24:00:00 is none. */
  readonly endsBeforeMidnight?: true
  /** `time`: a span from -838:59:59 to 838:59:59 instead of a time of day. */
  readonly span?: true
  /**
   * `text`: values that look different can compare as equal, by case, accents or trailing spaces. `timestamp`: by offsets;
   * `bytes`: by zeros at the end.
   */
  readonly looseEquality?: true
  /** Of extremes that are equal and look different the engine gives any, whatever it is asked: they have no `min` or `max`. */
  readonly extremesVary?: true
  /** `text`: by whose rules it is compared, for engines that must be told so beside values that have rules of their own. */
  readonly collation?: Identifier
  /** `text`: a shorter value is compared as if spaces followed it: `a` equals `a` and a space, and comes after `a` and a tab. */
  readonly padsSpaces?: true
  /** `text`: comparisons already disregard case. */
  readonly foldsCase?: true
  /** `text`: the characters that the column can hold, where not every one: comparing with another is an error in some engines. */
  readonly repertoire?: 'ascii' | 'latin1' | 'bmp' | 'other'
  /** `text` and `enum`-like text: the declared length in characters, when there is one. */
  readonly charsMax?: number
  /** Whether the engine can compare values for equality, and order them. */
  readonly equality: boolean
  readonly ordered: boolean
  /** Schema of the type's comparison operators, where that is not the engine's own catalog: a type of an extension. */
  readonly operatorSchema?: Identifier
  /** Columns of the type are never written: a value would be kept as one of another type than what was read. */
  readonly readOnly?: true
  /** Set when the column's type is a domain, a named restriction of the type described here. */
  readonly domain?: true
  /** `decimal`, `float`, `timestamp`, `time`: digits after the point that the declared type keeps; a longer fraction is rounded. */
  readonly fractionDigitsMax?: number
  /** The type as the catalog names it, without lengths, for engines that cast a value to it. Absent for what is no type of its own. */
  readonly typeRef?: TableRef
}

export interface Column {
  readonly name: Identifier
  /** The one name agents use for it, everywhere: its own where clients can take it, else an alias with a hash. */
  readonly agentName: string
  /** The catalog's own number for the column, stable across renames. */
  readonly catalogId: number
  /** The catalog's own name or number of the declared type, without lengths, where a statement can ask for it cheaply. */
  readonly catalogType?: Identifier
  readonly type: ValueType
  readonly nullable: boolean
  readonly hasDefault: boolean
  /** `always`: never writable; `by_default`: writable; `computed`: a stored or virtual expression. */
  readonly generated: 'no' | 'always' | 'by_default' | 'computed'
  readonly comment?: string
}

export interface TableRef {
  readonly schema: Identifier
  readonly name: Identifier
}

export type TableKind = 'table' | 'view' | 'materialized_view' | 'partitioned_table' | 'foreign_table'

export interface ForeignKey {
  /** As the catalog or the policy calls it. Never part of SQL text. */
  readonly name: string
  readonly columns: readonly Identifier[]
  readonly references: TableRef
  readonly referencedColumns: readonly Identifier[]
}

export interface Index {
  readonly name: Identifier
  /** Key columns in order; an expression ends the list, since nothing after it can be matched by a column. */
  readonly columns: readonly Identifier[]
  readonly unique: boolean
  readonly partial: boolean
}

/** That an object, when it runs, reads a table or view: as far as the catalog tells, itself or through views that it reads and routines that it calls. */
export interface TableRead {
  readonly table: TableRef
  /** `all`: whole rows, or columns that nobody can tell apart. Otherwise by name; none where rows are only counted. */
  readonly columns: readonly Identifier[] | 'all'
}

export interface Table {
  readonly ref: TableRef
  /** The catalog's own id, stable across renames. */
  readonly catalogId: string
  readonly kind: TableKind
  readonly comment?: string
  readonly columns: readonly Column[]
  /** Present where the engine hides columns from the login by their names: another one that takes a shown name is shown. */
  readonly columnsWithheld?: true
  /** Empty when the table has none. */
  readonly primaryKey: readonly Identifier[]
  /** A key that the policy gives: rows are asked for and ordered by it, but only its author says that it tells them apart. */
  readonly declaredKey?: readonly Identifier[]
  readonly uniqueKeys: readonly (readonly Identifier[])[]
  readonly foreignKeys: readonly ForeignKey[]
  readonly indexes: readonly Index[]
  /** The planner's estimate; absent when the engine never counted. */
  readonly rowEstimate?: number
  /** Present where the engine cannot undo a change of the table, which is therefore never written. */
  readonly notTransactional?: true
  /** Present where the table is kept in memory, whose rows nobody can lock before they are judged: it is never written. */
  readonly memoryOptimized?: true
  /** `by_key`: a new row can only be read by its key, because an insert does not return it. Absent: it does. */
  readonly insertReadBack?: 'by_key'
  /** The same of rows that an update changed. */
  readonly updateReadBack?: 'by_key'
  /** Of a view: what it reads, by schema and name. Absent where the catalog does not tell, or does not tell this login. */
  readonly reads?: readonly TableRead[]
  /** Present where it may read more than that: something that it calls runs text of its own making, or cannot be looked into. */
  readonly readsUnsure?: true
}

export interface RoutineParameter {
  /** Absent where the catalog gives none; then the agent-facing name counts from one: `arg1`. */
  readonly name?: Identifier
  readonly agentName: string
  readonly mode: 'in' | 'inout' | 'variadic' | 'out'
  readonly type: ValueType
  readonly hasDefault: boolean
}

export interface ResultField {
  readonly name: Identifier
  readonly agentName: string
  readonly type: ValueType
}

/** What a routine gives back. `set`: as many as there are. `unknown`: a record whose shape only the call itself decides. */
export type RoutineResult =
  | { readonly kind: 'void' }
  | { readonly kind: 'scalar'; readonly set: boolean; readonly type: ValueType }
  | { readonly kind: 'record'; readonly set: boolean; readonly fields: readonly ResultField[] }
  /** Outputs that the catalog describes, and any number of result sets that only the call itself does. */
  | { readonly kind: 'sets'; readonly fields: readonly ResultField[] }
  | { readonly kind: 'unknown' }

/** A function or procedure that the login may execute. */
export interface Routine {
  readonly ref: TableRef
  /** The catalog's own id. */
  readonly catalogId: string
  readonly kind: 'function' | 'procedure'
  /** Types of the input parameters as the engine writes them: tells overloads apart. */
  readonly signature: string
  readonly comment?: string
  /** What its author promised of it: that it changes nothing. */
  readonly declaredReadOnly: boolean
  /** Runs with its owner's rights instead of the login's. */
  readonly securityDefiner: boolean
  readonly parameters: readonly RoutineParameter[]
  readonly result: RoutineResult
  /** What its body reads, as far as its words tell. Absent as for a view. */
  readonly reads?: readonly TableRead[]
  /** As of a view. */
  readonly readsUnsure?: true
}

export type EngineName = 'postgres' | 'mysql' | 'sqlserver'

/** Facts about the connector's login that an operator should be warned about. */
export interface LoginFacts {
  readonly superuser: boolean
  /** Qualified names of tables that the login owns, and of those it can write. Capped; counts are exact. */
  readonly owns: readonly string[]
  readonly writes: readonly string[]
  readonly ownsCount: number
  readonly writesCount: number
  /** The server's own limit of connections, to compare the gateway's pools with. */
  readonly connectionsMax?: number
}

export interface SchemaModel {
  readonly engine: EngineName
  readonly serverVersion: string
  /** Ordered by schema, then name. */
  readonly tables: readonly Table[]
  /** Ordered by schema, name and signature. */
  readonly routines: readonly Routine[]
  readonly login: LoginFacts
}

/** `schema.table`, the spelling policies and entries use. */
export function qualifiedName(ref: TableRef): string {
  return `${ref.schema}.${ref.name}`
}
