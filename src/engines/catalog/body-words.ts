import type { Body, DirectRead, Readable } from './reads.js'

/** What a body may read and call, told by its words. */

/** A function or procedure that a body may call by its name; several may have the same. */
export interface Callable {
  readonly key: string
  readonly name: string
}

const WORD = /[\p{L}_][\p{L}\p{N}_$#@]*/gu
/** Every quoted name, whatever the engine's quotes; the text of a literal counts too, since it may be run. */
const QUOTED = /"([^"]+)"|`([^`]+)`|\[([^\]]+)\]/g
/** A star that stands for columns, a table as a command, and functions that take a row as one value. */
const WHOLE_ROWS =
  /\bselect\s+(?:(?:distinct|all|top\s*\(?\s*\d+\s*\)?)\s+)?\*|[.,]\s*\*|\breturning\s+\*|\b(?:row_)?to_jsonb?\s*\(|\bfor\s+(?:json|xml)\b/i
const NAME = '(?:"[^"]+"|`[^`]+`|\\[[^\\]]+\\]|[\\p{L}_][\\p{L}\\p{N}_$#@]*)'
const CALLED = new RegExp(`(${NAME})\\s*\\(`, 'gu')
/** At the start of a statement, so that a remark about a call is none. */
const INVOKED = new RegExp(
  `(?<=(?:^|[;\\n]|\\b(?:begin|then|else|loop|as))\\s*)\\b(?:call|exec|execute)\\s+(?!(?:as|immediate)\\b)(?:@\\w+\\s*=\\s*)?((?:${NAME}\\s*\\.\\s*)*${NAME})`,
  'giu',
)
const LAST_NAME = new RegExp(`${NAME}$`, 'u')
/** What follows a table where it has no other name. */
const NO_ALIAS =
  '(?!(?:where|on|using|set|values|group|order|having|limit|join|inner|left|right|full|cross|natural|union|except|intersect|for|with|as|returning|select|then|loop|end|and|or|into|from|offset|fetch|window|if|do)\\b)'

/**
 * A table whose name stands in a body is read, with those of its columns whose names do, and all where it takes whole rows. It may
 * name too much, since a word can be about something else; text that is put together at run time can hide a name, which `dynamic`
 * tells.
 */
export class BodyWords {
  readonly #tables = new Map<string, Readable[]>()
  readonly #routines = new Map<string, string[]>()
  readonly #dynamic: RegExp

  constructor(readable: readonly Readable[], routines: readonly Callable[], dynamic: RegExp) {
    for (const each of readable) add(this.#tables, each.name, each)
    for (const { key, name } of routines) add(this.#routines, name, key)
    this.#dynamic = dynamic
  }

  body(text: string): Body {
    const called = this.calls(text)
    return { reads: this.#reads(text), calls: called.known, unsure: called.unknown || this.#dynamic.test(text) }
  }

  /** By key, those that it may call; `unknown`: it runs a procedure that is none of them. */
  calls(text: string): { readonly known: readonly string[]; readonly unknown: boolean } {
    const named = [...text.matchAll(CALLED)].flatMap(([, name = '']) => this.#routines.get(plain(name)) ?? [])
    const invoked = [...text.matchAll(INVOKED)].map(([, name = '']) => {
      return this.#routines.get(plain(LAST_NAME.exec(name)?.[0] ?? name))
    })
    return {
      known: [...new Set([...named, ...invoked.flatMap((keys) => keys ?? [])])],
      unknown: invoked.includes(undefined),
    }
  }

  #reads(text: string): readonly DirectRead[] {
    const words = new Set<string>()
    for (const [word] of text.matchAll(WORD)) words.add(word.toLowerCase())
    for (const [name] of text.matchAll(QUOTED)) words.add(plain(name))
    const whole = WHOLE_ROWS.test(text)
    return [...words].flatMap((word) =>
      (this.#tables.get(word) ?? []).map(({ schema, name, columns }) => ({
        schema,
        name,
        columns:
          whole || takesRow(text, word)
            ? ('all' as const)
            : columns.filter((column) => words.has(column.toLowerCase())),
      })),
    )
  }
}

/** Whether a table, or another name of it, stands where a value does, or gives its columns names of their own. */
function takesRow(text: string, table: string): boolean {
  const name = `["\`[]?${escaped(table)}["\`\\]]?`
  const alias = `(?:as\\s+)?${NO_ALIAS}["\`[]?([\\p{L}_][\\p{L}\\p{N}_$]*)["\`\\]]?`
  if (new RegExp(`\\btable\\s+(?:only\\s+)?(?:${NAME}\\s*\\.\\s*)?${name}(?!\\w)`, 'iu').test(text)) return true
  if (new RegExp(`(?<![\\p{L}\\p{N}_])${name}\\s+${alias}\\s*\\(`, 'iu').test(text)) return true
  const aliases = [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}_])${name}\\s+${alias}`, 'giu'))]
  const names = new Set([table, ...aliases.flatMap(([, other]) => other ?? [])])
  return [...names].some((each) => {
    const value = `["]?${escaped(each)}["]?`
    const before = '(?:\\bselect\\s|\\bselect\\s+distinct\\s|\\breturn\\s|\\breturning\\s|[(,=])'
    return new RegExp(`${before}\\s*${value}\\s*(?:[),;]|::|\\bfrom\\b|\\bas\\b|\\binto\\b|$)`, 'iu').test(text)
  })
}

function add<T>(map: Map<string, T[]>, name: string, value: T): void {
  const same = map.get(name.toLowerCase())
  if (same === undefined) map.set(name.toLowerCase(), [value])
  else same.push(value)
}

function plain(name: string): string {
  return name.replace(/^["`[]|["`\]]$/g, '').toLowerCase()
}

function escaped(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
