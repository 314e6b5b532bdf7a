import { invariant, unreachable } from '../../core/assert.js'
import type { Identifier, TableRef } from '../../core/schema-model.js'
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

/** What a statement calls the row of its table. */
export type RowName = 't' | 'inserted' | { readonly name: Identifier }

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

/**
 * The only maker of `CompiledStatement`. Text comes in three ways: literals of the source code, identifiers out of a catalog,
 * and the digits of a whole number. Every value is a parameter.
 */
export class SqlWriter {
  readonly #style: SqlStyle
  readonly #params: Param[] = []
  #text = ''
  #row: RowName = 't'

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
    if (this.#row === 'inserted') return this.keyword('inserted.').identifier(name)
    if (this.#row === 't') return this.keyword('t.').identifier(name)
    return this.identifier(this.#row.name).keyword('.').identifier(name)
  }

  /** From here on the table's row goes by this name: its own where an engine takes no alias, `inserted` where it says so. */
  rowIs(row: RowName): this {
    this.#row = row
    return this
  }

  table(ref: TableRef): this {
    return this.identifier(ref.schema).keyword('.').identifier(ref.name)
  }

  /** A value that the engine is sent beside the text. It may hold any character: parameters are length-prefixed. */
  param(value: Param): this {
    this.#params.push(value)
    invariant(this.#params.length <= this.#style.paramsMax, 'a statement has no more parameters than its engine takes')
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
    return this.#row === 'inserted'
  }

  /** Writes each item, with the separator between them. */
  list<const S extends string, T>(items: readonly T[], separator: Literal<S>, write: (item: T) => void): this {
    items.forEach((item, index) => {
      if (index > 0) this.#text += separator
      write(item)
    })
    return this
  }

  /** The writer is spent afterwards. Cells come back in the order of `columns`, without names. */
  finish(columns: readonly ResultColumn[], marks: Pick<CompiledStatement, 'runsCode'> = {}): CompiledStatement {
    // The one cast to the brand: what stands in `#text` came through the methods above.
    return { text: this.#text, params: this.#params, columns, ...marks } as unknown as CompiledStatement
  }
}
