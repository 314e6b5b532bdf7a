import type { ValueType } from './schema-model.js'

declare const compiled: unique symbol

/** How the worker turns one column of a result into JSON. */
export interface ResultColumn {
  readonly name: string
  readonly type: ValueType
  /** Longest text to hand out; the statement fetched at most one character (or byte) more. Absent: never cut. */
  readonly charsMax?: number
}

/** A value that is bound by its own type, for engines that would compare its text as something lossy. `bytes` is base64. */
export interface TypedParam {
  readonly type: 'integer' | 'unsigned' | 'decimal' | 'float' | 'bytes'
  readonly value: string
}

/** A list or a typed value only for engines whose dialect writes such. */
export type Param = string | null | readonly string[] | TypedParam

/** Parameterized SQL. Made by `SqlWriter` and nowhere else: its text is literals, catalog identifiers and placeholders. */
export interface CompiledStatement {
  readonly text: string
  readonly params: readonly Param[]
  readonly columns: readonly ResultColumn[]
  /** How many of `columns` the caller asked for: those behind are read for the entry alone. Absent: all. */
  readonly shown?: number
  /** Which of `columns` are the key of the row, in key order. Absent where rows have none that the caller may see. */
  readonly keyCells?: readonly number[]
  /** Code that somebody keeps in the database runs in it, such as a view's functions, and may leave its session changed. */
  readonly runsCode?: true
  /** Present where the engine would not take the statement, which is then never sent: what it takes, for the caller. */
  readonly tooLarge?: string
  /**
   * Each row that it returns begins with `@mark`, which is drawn when it runs and tells its rows from those that triggers
   * return. `counted`: then comes how many rows it wrote. One cell more than `columns` follows.
   */
  readonly marked?: 'rows' | 'counted'
  /**
   * What has to be run before, in one transaction with it, where an engine takes no such condition: the first cell of its one
   * row is `t`, or the columns that the statement names are no longer those of the catalog as it was read.
   */
  readonly guard?: CompiledStatement
  readonly [compiled]: true
}
