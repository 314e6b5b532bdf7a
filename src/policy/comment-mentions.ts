import { COMMENT_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import type { Table } from '../core/schema-model.js'

/** A comment fit to be shown, and the columns it names: it is withheld from whoever may not see all of them. */
export interface Comment {
  readonly text: string
  /** Positions in the comment's own table. */
  readonly own: readonly number[]
  readonly foreign: readonly Mention[]
}

export interface Mention {
  readonly table: Table
  /** Position in `table.columns`. */
  readonly column: number
}

/** Far more than is ever shown, so that a name across the cut is found whole. */
const SEARCHED_CHARS_MAX = 10_000
/** No engine takes longer identifiers; bounds the look around each dot. */
const IDENTIFIER_CHARS_MAX = 256
const WORD = /[\p{L}\p{N}_]/u
const WORDS_ONLY = /^[\p{L}\p{N}_]+$/u
const WORD_END = /[\p{L}\p{N}_]+$/u
const WORD_START = /^[\p{L}\p{N}_]+/u
const QUOTES = /["'`[\]]/g

/** The spelling in which names and comments are compared: no invisible characters, one width, one case. */
function folded(text: string): string {
  return cleanText(text, SEARCHED_CHARS_MAX).normalize('NFKC').toLowerCase()
}

/** A lone surrogate half counts as no part of a word, so that an emoji beside a name does not hide it. */
function isWordAt(text: string, index: number): boolean {
  const unit = text[index]
  return unit !== undefined && WORD.test(unit)
}

/** Whether `name` stands in `text` with no letter, digit or underscore beside it. Both are folded. */
function hasWord(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!isWordAt(text, at - 1) && !isWordAt(text, at + name.length)) return true
  }
  return false
}

interface NamedTable {
  readonly table: Table
  readonly name: string
  readonly columns: readonly string[]
}

/** Finds in comments the names of columns, of their own table anywhere, of other tables where written `table.column`. */
export class MentionFinder {
  readonly #tables: readonly Table[]
  #byName: Map<string, NamedTable[]> | undefined
  /** Tables whose names are no single word, to be looked for one by one. */
  #odd: NamedTable[] = []

  /** `tables`: the whole catalog, since a table that nobody may use is hidden from everybody. */
  constructor(tables: readonly Table[]) {
    this.#tables = tables
  }

  /** The comments of a table and of each of its columns, by position. */
  commentsOf(table: Table): {
    readonly table: Comment | undefined
    readonly columns: readonly (Comment | undefined)[]
  } {
    const names = table.columns.map((column) => folded(column.name))
    return {
      table: this.#comment(table, names, table.comment),
      columns: table.columns.map((column) => this.#comment(table, names, column.comment)),
    }
  }

  /** The comment of what is no table; `hidden` are names of its own that are shown to nobody. */
  commentOf(raw: string | undefined, hidden: readonly string[]): Comment | undefined {
    if (raw === undefined) return undefined
    const text = cleanText(raw, COMMENT_CHARS_MAX)
    const searched = folded(raw)
    if (text === '' || hidden.some((name) => folded(name) !== '' && hasWord(searched, folded(name)))) return undefined
    return { text, own: [], foreign: searched.includes('.') ? this.#foreign(undefined, searched) : [] }
  }

  #comment(table: Table, names: readonly string[], raw: string | undefined): Comment | undefined {
    if (raw === undefined) return undefined
    const text = cleanText(raw, COMMENT_CHARS_MAX)
    if (text === '') return undefined
    const searched = folded(raw)
    const own = names.flatMap((name, index) => (name !== '' && hasWord(searched, name) ? [index] : []))
    return { text, own, foreign: searched.includes('.') ? this.#foreign(table, searched) : [] }
  }

  #foreign(own: Table | undefined, searched: string): readonly Mention[] {
    const text = searched.replace(QUOTES, '')
    const mentions: Mention[] = []
    for (let dot = text.indexOf('.'); dot !== -1; dot = text.indexOf('.', dot + 1)) {
      for (const named of this.#tablesEndingAt(text.slice(Math.max(0, dot - IDENTIFIER_CHARS_MAX), dot))) {
        if (named.table === own) continue
        for (const column of columnsStartingAt(named, text.slice(dot + 1, dot + 1 + IDENTIFIER_CHARS_MAX)))
          mentions.push({ table: named.table, column })
      }
    }
    return mentions
  }

  #tablesEndingAt(before: string): readonly NamedTable[] {
    const byName = this.#index()
    const word = WORD_END.exec(before)?.[0]
    const named = word === undefined ? [] : (byName.get(word) ?? [])
    const odd = this.#odd.filter(
      ({ name }) => before.endsWith(name) && !(isWordAt(name, 0) && isWordAt(before, before.length - name.length - 1)),
    )
    return [...named, ...odd]
  }

  #index(): Map<string, NamedTable[]> {
    if (this.#byName !== undefined) return this.#byName
    const byName = new Map<string, NamedTable[]>()
    for (const table of this.#tables) {
      const name = folded(table.ref.name).replace(QUOTES, '')
      if (name === '') continue
      const columns = table.columns.map((column) => folded(column.name).replace(QUOTES, ''))
      const named = { table, name, columns }
      if (!WORDS_ONLY.test(name)) this.#odd.push(named)
      else byName.set(name, [...(byName.get(name) ?? []), named])
    }
    this.#byName = byName
    return byName
  }
}

function columnsStartingAt(named: NamedTable, after: string): readonly number[] {
  const word = WORD_START.exec(after)?.[0]
  return named.columns.flatMap((name, index) => {
    if (name === word) return [index]
    const odd = name !== '' && !WORDS_ONLY.test(name) && after.startsWith(name)
    return odd && !(isWordAt(name, name.length - 1) && isWordAt(after, name.length)) ? [index] : []
  })
}
