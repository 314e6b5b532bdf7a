import type { ValueType } from './schema-model.js'

declare const compiled: unique symbol

/** How the worker turns one column of a result into JSON. */
export interface ResultColumn {
  readonly name: string
  readonly type: ValueType
  /** Longest text to hand out; the statement fetched at most one character (or byte) more. Absent: never cut. */
  readonly charsMax?: number
}

export type Param = string | null | readonly string[]

/** Parameterized SQL. Made by `SqlWriter` and nowhere else: its text is literals, catalog identifiers and placeholders. */
export interface CompiledStatement {
  readonly text: string
  readonly params: readonly Param[]
  readonly columns: readonly ResultColumn[]
  readonly [compiled]: true
}
