import { defaultMetricName } from '../../src/core/tool-grammar.js'

/**
 * Calls made from a tool's input schema alone, so that every tool joins the tests by being listed. A tool, a keyword or an
 * argument that is not known here is an error and never a gap: teach it, and all tests learn it.
 */

/** The keywords that input schemas use. */
export interface InputSchema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: InputSchema
  readonly minItems?: number
  readonly properties?: Readonly<Record<string, InputSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
}

/** Values that a column may be compared with, by the column's name. */
export type Samples = ReadonlyMap<string, readonly string[]>

const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'description',
  'enum',
  'minimum',
  'maximum',
  'items',
  'minItems',
  'properties',
  'required',
  'additionalProperties',
])

/** What every tool that may change something takes. */
const RUN_CONTROLS = ['dry_run', 'idempotency_key'] as const

/** Argument names of each operation's frame; what is not among them is a key column. */
const FRAMES: readonly { readonly name: RegExp; readonly controls: readonly string[]; readonly keyed: boolean }[] = [
  { name: /^schema_overview$/, controls: ['table'], keyed: false },
  { name: /^get_.+_by_pk$/, controls: ['columns'], keyed: true },
  { name: /^search_.+$/, controls: ['filters', 'columns', 'order_by', 'limit'], keyed: false },
  { name: /^aggregate_.+$/, controls: ['metrics', 'group_by', 'filters', 'order_by', 'limit'], keyed: false },
  { name: /^create_.+$/, controls: ['values', ...RUN_CONTROLS], keyed: false },
  { name: /^update_.+_by_pk$/, controls: ['values', 'expected', ...RUN_CONTROLS], keyed: true },
  { name: /^soft_delete_.+_by_pk$/, controls: ['expected', ...RUN_CONTROLS], keyed: true },
]
const ITEM_NAMES: ReadonlySet<string> = new Set(['column', 'op', 'value', 'values', 'direction', 'fn', 'as', 'by'])

/** Whether the tool may change something: it is generated, run and compared as such. */
export function mayWrite(tool: Tool): boolean {
  return isRun(tool.inputSchema)
}

function isRun({ properties = {} }: InputSchema): boolean {
  // A procedure that cannot be undone takes no dry_run.
  return Object.hasOwn(properties, 'idempotency_key')
}

/** Objects whose members are columns, whatever those are called. */
function holdsColumns(schema: InputSchema, name: string): boolean {
  return schema.type === 'object' && (name === 'values' || name === 'expected')
}

/** Throws when the tool is of a kind, or takes an argument, that nobody taught the generator. */
export function checkKnown(tool: Tool): void {
  const frame = FRAMES.find(({ name }) => name.test(tool.name))
  // A procedure may have any name that is not one of the others', and any parameters.
  if (frame === undefined && !mayWrite(tool)) throw new Error(`the generator does not know the tool ${tool.name}`)
  for (const [name, schema] of Object.entries(tool.inputSchema.properties ?? {})) {
    if (frame?.controls.includes(name) === true) continue
    const value = schema.type !== 'object'
    const parameter = frame === undefined && value
    const key = frame?.keyed === true && value && tool.inputSchema.required?.includes(name)
    if (!parameter && key !== true) throw new Error(`the generator does not know the argument ${name} of ${tool.name}`)
  }
  checkSchema(tool.inputSchema, tool.name, ITEM_NAMES, true)
}

/** `names`: what the members of objects may be called; undefined: anything. */
function checkSchema(schema: InputSchema, path: string, names: ReadonlySet<string> | undefined, root = false): void {
  for (const keyword of Object.keys(schema)) {
    if (!KEYWORDS.has(keyword)) throw new Error(`the generator does not know the keyword ${keyword} at ${path}`)
  }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (!root && names?.has(name) === false) throw new Error(`the generator does not know ${name} at ${path}`)
    if (names === undefined && member.type === 'object') throw new Error(`the generator does not know ${path}.${name}`)
    checkSchema(member, `${path}.${name}`, root && holdsColumns(member, name) ? undefined : ITEM_NAMES)
  }
  if (schema.items !== undefined) checkSchema(schema.items, `${path}[]`, ITEM_NAMES)
}

/** Uniform in [0, 1), the same sequence for the same seed (mulberry32). */
export type Random = () => number

export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function pick<T>(random: Random, items: readonly T[]): T | undefined {
  return items[Math.floor(random() * items.length)]
}

export interface Generation {
  readonly samples: Samples
  /** Names and values that no schema offers: hidden columns, hidden tables, guesses, nonsense. */
  readonly strangers: readonly string[]
  readonly tables: readonly string[]
  readonly random: Random
  /** How likely each place of a call is to hold something wrong. */
  readonly wrong: number
  /** Whether what changes something is undone: always, or never. Absent: now and then. */
  readonly dryRun?: boolean
}

interface Item {
  column?: string
  op?: string
  fn?: string
}

/** One call: mostly valid, now and then wrong in one place or more. */
export function generateArguments(tool: Tool, generation: Generation): unknown {
  return new Walk(generation).value(tool.inputSchema, '', {})
}

class Walk {
  readonly #given: Generation
  /** Names that an aggregate's order may use, collected on the way. */
  readonly #results: string[] = []

  constructor(generation: Generation) {
    this.#given = generation
  }

  value(schema: InputSchema, name: string, item: Item): unknown {
    const { random, wrong, dryRun } = this.#given
    if (name !== '' && random() < wrong) return this.#wrong()
    if (name === 'dry_run' && dryRun !== undefined) return dryRun
    switch (schema.type) {
      case 'object':
        return holdsColumns(schema, name) ? this.#columns(schema, name) : this.#object(schema, name === '')
      case 'array':
        return this.#array(schema, name, item)
      case 'string':
        return this.#string(schema, name, item)
      case 'integer':
      case 'number':
        return this.#number(schema, name)
      case 'boolean':
        return random() < 0.5
      default:
        throw new Error(`the generator does not know the type ${String(schema.type)}`)
    }
  }

  #wrong(): unknown {
    const { random, strangers } = this.#given
    const stranger = pick(random, strangers) ?? 'nothing'
    return pick<unknown>(random, [
      stranger,
      stranger,
      stranger,
      [stranger],
      { [stranger]: stranger },
      7,
      true,
      null,
      [],
    ])
  }

  #object(schema: InputSchema, root: boolean): unknown {
    const { random, wrong, strangers } = this.#given
    const item: Item = {}
    const members: [string, unknown][] = []
    for (const [name, member] of this.#ordered(schema)) {
      if (!this.#wanted(schema, name, item, root)) continue
      const value = this.value(member, name, item)
      if ((name === 'column' || name === 'op' || name === 'fn') && typeof value === 'string') item[name] = value
      members.push([name, value])
    }
    this.#remember(members)
    if (random() < wrong) members.push([pick(random, strangers) ?? 'extra', 1])
    return Object.fromEntries(members)
  }

  /** Values for columns: some of them to be written, few of them to be expected, since all of those have to hold. */
  #columns(schema: InputSchema, name: string): unknown {
    const { random, wrong, strangers } = this.#given
    const chosen = Object.entries(schema.properties ?? {}).filter(([column]) => {
      if (schema.required?.includes(column) === true) return random() >= wrong / 2
      return random() < (name === 'values' ? 0.35 : 0.12)
    })
    const one = pick(random, Object.entries(schema.properties ?? {}))
    if (chosen.length === 0 && one !== undefined && random() < 0.9) chosen.push(one)
    const members = chosen.map(([column, member]): [string, unknown] => {
      const nullable = /or null/.test(member.description ?? '')
      return [column, nullable && random() < 0.1 ? null : this.value(member, column, {})]
    })
    if (random() < wrong) members.push([pick(random, strangers) ?? 'extra', 1])
    return Object.fromEntries(members)
  }

  /** The column first: what else fits depends on it. */
  #ordered(schema: InputSchema): readonly [string, InputSchema][] {
    const entries = Object.entries(schema.properties ?? {})
    return [...entries.filter(([name]) => name === 'column'), ...entries.filter(([name]) => name !== 'column')]
  }

  #wanted(schema: InputSchema, name: string, item: Item, root: boolean): boolean {
    const { random, wrong, dryRun } = this.#given
    const required = schema.required?.includes(name) === true
    if (root && name === 'dry_run' && dryRun !== undefined) return true
    if (random() < wrong / 2) return !required
    if (required) return true
    if (name === 'value') return item.op !== undefined && !['in', 'is_null', 'not_null'].includes(item.op)
    if (name === 'values') return item.op === 'in'
    if (name === 'column') return random() < 0.8
    return random() < (root ? 0.45 : 0.6)
  }

  #remember(members: readonly [string, unknown][]): void {
    const given = new Map(members)
    const fn = given.get('fn')
    if (typeof fn === 'string') {
      const column = given.get('column')
      const as = given.get('as')
      this.#results.push(
        typeof as === 'string' ? as : defaultMetricName('count', undefined).replace('count', fn),
        typeof column === 'string' ? `${fn}_${column}` : fn,
      )
    }
  }

  #array(schema: InputSchema, name: string, item: Item): unknown {
    const { random } = this.#given
    const { items } = schema
    if (items === undefined) throw new Error(`an array without items at ${name}`)
    const length = Math.max(schema.minItems ?? 0, Math.floor(random() * 3.4))
    const values: unknown[] = []
    const seen = new Set<string>()
    for (let i = 0; i < length; i++) {
      const value = this.value(items, `${name}[]`, item)
      const key = JSON.stringify(value)
      // Most lists refuse a repetition; a few are sent all the same.
      if (seen.has(key) && random() < 0.9) continue
      seen.add(key)
      values.push(value)
    }
    if (name === 'group_by') this.#results.push(...values.filter((value) => typeof value === 'string'))
    return values
  }

  #string(schema: InputSchema, name: string, item: Item): string {
    const { random, samples, tables, strangers } = this.#given
    if (schema.enum !== undefined) return this.#word(schema.enum, name, item)
    switch (name) {
      case 'value':
      case 'values[]':
        return this.#sample(item)
      case 'as':
        return pick(random, ['n', 'total', 'm1', pick(random, strangers) ?? 'x']) ?? 'n'
      case 'by':
        return pick(random, this.#results) ?? 'count'
      case 'table':
        return pick(random, tables) ?? 'nothing'
      case 'idempotency_key':
        return pick(random, ['key 1', 'key 2', `key ${Math.floor(random() * 1e6)}`]) ?? 'key'
      default:
        return pick(random, samples.get(name.replace(/(\[\])+$/, '')) ?? []) ?? pick(random, strangers) ?? 'x'
    }
  }

  #sample(item: Item): string {
    const { random, samples, strangers } = this.#given
    const own = samples.get(item.column ?? '') ?? []
    const value = (random() < 0.9 ? pick(random, own) : pick(random, strangers)) ?? pick(random, strangers) ?? 'x'
    if (item.op !== 'ilike' || random() < 0.3) return value
    return pick(random, [`${value.slice(0, 2)}%`, `%${value.slice(-2)}`, '%', `_${value.slice(1)}`]) ?? value
  }

  /** Words whose meaning hangs on the column are mostly chosen to fit it. */
  #word(words: readonly string[], name: string, item: Item): string {
    const { random, samples } = this.#given
    const own = samples.get(item.column ?? '') ?? []
    const numeric = own.length > 0 && own.every((value) => /^-?\d+(\.\d+)?$/.test(value))
    const fits = (word: string): boolean => {
      if (name === 'fn') {
        if (item.column === undefined) return word === 'count'
        return numeric || !['sum', 'avg'].includes(word)
      }
      return name !== 'op' || word !== 'ilike' || !numeric
    }
    const fitting = random() < 0.9 ? words.filter(fits) : words
    return pick(random, fitting) ?? words[0] ?? ''
  }

  #number(schema: InputSchema, name: string): number {
    const { random, samples } = this.#given
    if (name === 'limit') {
      const max = schema.maximum ?? 10
      return random() < 0.7 ? 1 + Math.floor(random() * Math.min(max, 7)) : 1 + Math.floor(random() * max)
    }
    const own = (samples.get(name) ?? []).map(Number).filter(Number.isFinite)
    return pick(random, own) ?? Math.floor(random() * 50)
  }
}

/** One place of a call where something can be put, in a call that is otherwise the least the schema asks for. */
export interface Position {
  /** `filters[].column`; `{}` ends the place of an argument that the schema does not have. */
  readonly path: string
  /** The arguments with `value` in that place. A place for names takes strings alone. */
  readonly put: (value: unknown) => unknown
  readonly takes: 'value' | 'name'
  readonly schema: InputSchema
}

/**
 * Every place there is, lists and objects themselves included. `prefer`: the column that calls use where they need one.
 * What can be undone is: such calls are dry runs, except where something is put in the place that says so.
 */
export function positionsOf(tool: Tool, samples: Samples, prefer?: string): readonly Position[] {
  checkKnown(tool)
  const positions: Position[] = []
  visit(tool.inputSchema, '', (value) => value)
  return positions

  function visit(schema: InputSchema, path: string, put: (value: unknown) => unknown): void {
    positions.push({ path: path === '' ? '$' : path, put, takes: 'value', schema })
    if (schema.type === 'array' && schema.items !== undefined) {
      visit(schema.items, `${path}[]`, (value) => put([value]))
    }
    if (schema.type !== 'object') return
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const rest = leastObject(schema, samples, prefer, name)
      visit(member, path === '' ? name : `${path}.${name}`, (value) => put(withMember(rest, name, value)))
    }
    const whole = leastObject(schema, samples, prefer, undefined)
    positions.push({
      path: `${path}{}`,
      put: (name) => put(withMember(whole, String(name), 1)),
      takes: 'name',
      schema,
    })
  }
}

function withMember(rest: readonly [string, unknown][], name: string, value: unknown): unknown {
  return Object.fromEntries([...rest.filter(([other]) => other !== name), [name, value]])
}

/** The required members, and beside an operand the operator that takes it. */
function leastObject(
  schema: InputSchema,
  samples: Samples,
  prefer: string | undefined,
  about: string | undefined,
): readonly [string, unknown][] {
  const properties = Object.entries(schema.properties ?? {})
  const filter = schema.properties?.['op'] !== undefined
  const run = isRun(schema)
  return properties.flatMap(([name, member]): [string, unknown][] => {
    if (name === 'value' && filter && (about === 'column' || about === 'op' || about === undefined)) {
      return [[name, samples.get(prefer ?? '')?.[0] ?? 'x']]
    }
    if (run && name === 'dry_run') return [[name, true]]
    if (schema.required?.includes(name) !== true) return []
    if (name === 'op' && filter) return [[name, about === 'values' ? 'in' : (member.enum?.[0] ?? 'eq')]]
    return [[name, leastValue(name, member, samples, prefer)]]
  })
}

function leastValue(name: string, schema: InputSchema, samples: Samples, prefer: string | undefined): unknown {
  switch (schema.type) {
    case 'object': {
      const members = leastObject(schema, samples, prefer, undefined)
      const names = Object.keys(schema.properties ?? {})
      const one = prefer !== undefined && names.includes(prefer) ? prefer : names[0]
      const only = one === undefined ? undefined : schema.properties?.[one]
      // An update needs a column, whichever.
      if (members.length > 0 || one === undefined || only === undefined) return Object.fromEntries(members)
      return Object.fromEntries([[one, leastValue(one, only, samples, prefer)]])
    }
    case 'array':
      return schema.items === undefined ? [] : [leastValue(`${name}[]`, schema.items, samples, prefer)]
    case 'string': {
      if (schema.enum === undefined) return samples.get(name)?.[0] ?? 'x'
      return prefer !== undefined && schema.enum.includes(prefer) ? prefer : schema.enum[0]
    }
    case 'integer':
    case 'number':
      return Number(samples.get(name)?.[0] ?? 1)
    case 'boolean':
      return true
    default:
      throw new Error(`the generator does not know the type ${String(schema.type)}`)
  }
}

/** Values of each column out of what search tools return, for calls that find something. */
export function samplesOf(bodies: readonly string[]): Map<string, string[]> {
  const samples = new Map<string, string[]>()
  for (const body of bodies) {
    // The bodies are results of the gateway's own making.
    const { structuredContent } = JSON.parse(`{${body}}`) as {
      readonly structuredContent?: { readonly rows?: readonly Readonly<Record<string, unknown>>[] }
    }
    for (const [name, cell] of (structuredContent?.rows ?? []).flatMap((row) => Object.entries(row))) {
      const known = samples.get(name) ?? []
      for (const value of Array.isArray(cell) ? cell : [cell]) {
        if (value === null) continue
        const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
        if (!known.includes(text)) known.push(text)
      }
      samples.set(name, known)
    }
  }
  return samples
}
