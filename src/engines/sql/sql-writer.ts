import { invariant, unreachable } from '../../core/assert.js'
import type { Identifier, Table, TableRef } from '../../core/schema-model.js'
import type { CompiledStatement, Param, ResultColumn } from '../../core/statement.js'

/**
 * A literal type, or `never`: a run-time string, a concatenation and a template literal with a hole all describe an open set
 * of texts, of which a record needs no member, so that the empty object extends it. Each member of a union is judged alone.
 */
export type Literal<S extends string> = S extends unknown
  ? // biome-ignore lint/complexity/noBannedTypes: the empty object type is what the test is about.
    {} extends Record<S, 1>
    ? never
    : S
  : never

/** How an engine spells names and parameters, and how many parameters one statement may have. */
export interface SqlStyle {
  readonly quoting: 'double' | 'backtick' | 'bracket'
  /** `$1`, `?` or `@p1`. */
  readonly placeholders: 'dollar' | 'question' | 'at'
  readonly paramsMax: number
}

/** What a statement calls the row of its table, or of a table that it looks the row's parents up in, or theirs. */
export type RowName = 't' | 'inserted' | ParentName | { readonly name: Identifier }

/** By how far up the parent is. */
export type ParentName = 'p1' | 'p2' | 'p3'

/** A row that columns are written of: of another table where there is one, else of the statement's own. */
export interface Row {
  readonly name: RowName
  readonly table?: Table | undefined
}

/** A piece of a statement that is written where it stands, so that parameters are numbered in the order of the text. */
export type Write = (w: SqlWriter) => void

function quoted(quoting: SqlStyle['quoting'], name: string): string {
  switch (quoting) {
    case 'double':
      return `"${name.replaceAll('"', '""')}"`
    case 'backtick':
      return `\`${name.replaceAll('`', '``')}\``
    case 'bracket':
      return `[${name.replaceAll(']', ']]')}]`
    default:
      return unreachable(quoting)
  }
}

/** A text as a literal of the engine's, whatever the server's settings take backslashes for. */
function literal(quoting: SqlStyle['quoting'], text: string): string {
  const doubled = text.replaceAll("'", "''")
  switch (quoting) {
    case 'double':
      return text.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
    case 'backtick':
      return `'${doubled.replaceAll('\\', '\\\\')}'`
    case 'bracket':
      return `N'${doubled}'`
    default:
      return unreachable(quoting)
  }
}

/**
 * The only maker of `CompiledStatement`. Text comes in three ways: literals of the source code, identifiers out of a catalog,
 * and the digits of a whole number. Every value is a parameter.
 */
export class SqlWriter {
  readonly #style: SqlStyle
  readonly #params: Param[] = []
  readonly #named = new Set<Identifier>()
  readonly #namedElsewhere = new Map<Table, Set<Identifier>>()
  #text = ''
  #row: Row = { name: 't' }
  #tooLarge: string | undefined
  readonly #later: { readonly at: number; readonly write: Write }[] = []

  constructor(style: SqlStyle) {
    this.#style = style
  }

  keyword<const S extends string>(text: Literal<S>): this {
    this.#text += text
    return this
  }

  /** Throws for a name that no catalog can hold: a NUL would end the statement's text early in the engine's protocol. */
  identifier(name: Identifier): this {
    invariant(name !== '' && !name.includes('\0'), 'an identifier is not empty and holds no NUL')
    this.#text += quoted(this.#style.quoting, name)
    return this
  }

  /** A column of the statement's table, by the name that the row has in it: a bare name could also mean a result column. */
  column(name: Identifier): this {
    this.#name(name)
    const row = this.#row.name
    if (typeof row === 'object') return this.identifier(row.name).keyword('.').identifier(name)
    return this.keyword(row).keyword('.').identifier(name)
  }

  /** A column of the statement's table where no other could be meant, and engines take no more than its name: it is written. */
  target(name: Identifier): this {
    this.#name(name)
    return this.identifier(name)
  }

  #name(name: Identifier): void {
    const { table } = this.#row
    if (table === undefined) this.#named.add(name)
    else this.#namedElsewhere.set(table, (this.#namedElsewhere.get(table) ?? new Set()).add(name))
  }

  /** Every column of its table that the statement has named so far. */
  get named(): ReadonlySet<Identifier> {
    return this.#named
  }

  /** The same of every other table that it looks into. */
  get namedElsewhere(): ReadonlyMap<Table, ReadonlySet<Identifier>> {
    return this.#namedElsewhere
  }

  /** From here on the table's row goes by this name: its own where an engine takes no alias, `inserted` where it says so. */
  rowIs(name: RowName): this {
    this.#row = { name }
    return this
  }

  /** The row that columns are written of just now. */
  get row(): Row {
    return this.#row
  }

  /** Writes a piece whose columns are of this row, such as one that a subquery looks at, and then goes on with the row before. */
  about(row: Row, write: Write): this {
    const before = this.#row
    this.#row = row
    write(this)
    this.#row = before
    return this
  }

  table(ref: TableRef): this {
    return this.identifier(ref.schema).keyword('.').identifier(ref.name)
  }

  /** A name as a text, to compare with what the catalog says now. */
  nameText(name: Identifier): this {
    invariant(name !== '' && !name.includes('\0'), 'an identifier is not empty and holds no NUL')
    this.#text += literal(this.#style.quoting, name)
    return this
  }

  /** The name of a table, with its schema and its quotes, as a text that the engine looks the table up by. */
  tableText({ schema, name }: TableRef): this {
    invariant(
      ![schema, name].some((part) => part === '' || part.includes('\0')),
      'a name is not empty and holds no NUL',
    )
    const { quoting } = this.#style
    this.#text += literal(quoting, `${quoted(quoting, schema)}.${quoted(quoting, name)}`)
    return this
  }

  /** A value that the engine is sent beside the text. It may hold any character: parameters are length-prefixed. */
  param(value: Param): this {
    this.#params.push(value)
    return this.#placeholder()
  }

  /** The parameter before this place once more, for engines whose placeholders are numbered. */
  again(): this {
    invariant(this.#params.length > 0, 'a parameter stands before')
    invariant(this.#style.placeholders !== 'question', 'a placeholder that is used again has a number')
    return this.#placeholder()
  }

  #placeholder(): this {
    switch (this.#style.placeholders) {
      case 'dollar':
        this.#text += `$${this.#params.length}`
        return this
      case 'question':
        this.#text += '?'
        return this
      case 'at':
        this.#text += `@p${this.#params.length}`
        return this
      default:
        return unreachable(this.#style.placeholders)
    }
  }

  /** Marks the statement as one that the engine would not take, and says what it takes, for whoever sent the values. */
  tooLarge(expected: string): this {
    this.#tooLarge ??= expected
    return this
  }

  /** Also of the parameters: how many there are is known at the end. */
  #marks(): Pick<CompiledStatement, 'tooLarge'> {
    const { paramsMax } = this.#style
    if (this.#params.length > paramsMax) {
      this.tooLarge(`fewer values: this database takes ${paramsMax} in one statement, with those that the policy adds`)
    }
    return this.#tooLarge === undefined ? {} : { tooLarge: this.#tooLarge }
  }

  /** The digits of a limit that the operator set, such as the longest cell: part of the statement's shape, not a value. */
  wholeNumber(value: number): this {
    invariant(Number.isSafeInteger(value) && value >= 0, 'a number in SQL text is a whole one and not negative')
    this.#text += value.toString()
    return this
  }

  /** The name of a collation, which no engine that takes it here lets be quoted. */
  collation(name: Identifier): this {
    invariant(/^[A-Za-z0-9_]+$/.test(name), 'the name of a collation is one word')
    this.#text += name
    return this
  }

  /** Whether the row is one that a statement is just writing, beside which some engines take no subquery. */
  get readsInserted(): boolean {
    return this.#row.name === 'inserted'
  }

  /** Writes each item, with the separator between them. */
  list<const S extends string, T>(items: readonly T[], separator: Literal<S>, write: (item: T) => void): this {
    items.forEach((item, index) => {
      if (index > 0) this.#text += separator
      write(item)
    })
    return this
  }

  /**
   * A piece that stands here and is written last, when all columns are known that the statement names. It has no parameters,
   * which are numbered as they come.
   */
  later(write: Write): this {
    this.#later.push({ at: this.#text.length, write })
    return this
  }

  /** From the end, so that places before keep their meaning. */
  #writeLast(): void {
    for (const { at, write } of this.#later.splice(0).reverse()) {
      const [before, behind, count] = [this.#text.slice(0, at), this.#text.slice(at), this.#params.length]
      this.#text = before
      write(this)
      invariant(this.#params.length === count, 'what is written last has no parameters')
      this.#text += behind
    }
  }

  /** The writer is spent afterwards. Cells come back in the order of `columns`, without names. */
  finish(
    columns: readonly ResultColumn[],
    marks: Pick<CompiledStatement, 'shown' | 'keyCells' | 'runsCode' | 'guard' | 'marked'> = {},
  ): CompiledStatement {
    this.#writeLast()
    // The one cast to the brand: what stands in `#text` came through the methods above.
    return {
      text: this.#text,
      params: this.#params,
      columns,
      ...marks,
      ...this.#marks(),
    } as unknown as CompiledStatement
  }
}
