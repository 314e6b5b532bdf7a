import { cleanText } from '../core/names.js'
import { type Column, qualifiedName, type Table } from '../core/schema-model.js'
import { readsUnknown } from './lineage.js'
import type { PolicyDocument, PolicyFilter, PolicyLiteral, RolePolicy } from './policy-document.js'
import type { DraftedTable, PolicyDraft } from './suggest.js'
import type { TableLook } from './suggest-tables.js'

const LINE_CHARS_MAX = 110
const COMMENT_CHARS_MAX = 400
const PLAIN = /^[A-Za-z_][A-Za-z0-9_.-]*$/
/** Words that YAML of some version takes for something else than text. */
const NOT_TEXT = /^(?:true|false|yes|no|on|off|y|n|null|now)$/i

/** A draft as YAML, with what a reader is to judge beside what it is about. */
export function suggestionText(draft: PolicyDraft, document: PolicyDocument): string {
  const kept = draft.tables.filter(({ exposure }) => exposure !== 'left_out')
  const left = draft.tables.filter(({ exposure }) => exposure === 'left_out')
  const sections = [
    HEAD,
    ['version: 1'],
    kept.length === 0 ? ['tables: {}'] : ['tables:', ...kept.flatMap((table) => tableLines(table, draft))],
    left.length === 0 ? [] : ['# Left out:', ...left.flatMap(leftLines)],
    routineLines(draft),
    roleLines(document),
  ]
  const filled = sections.filter((lines) => lines.length > 0)
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

const HEAD = [
  '# A draft made from the catalog alone: names and types tell what columns seem to hold, and that can be wrong. Read it before you',
  '# apply it. What is not named here does not exist for any caller.',
  '#   secret, sensitive  masked for everybody: passwords, keys, identity and card numbers, birth dates, salaries',
  '#   personal           names, addresses, phone numbers: masked for reader and analyst, shown to support',
  '# Nothing is written and no procedure is called until you take away the comment sign.',
]

function tableLines({ look, exposure }: DraftedTable, { support, hidden }: PolicyDraft): readonly string[] {
  const read = exposure === 'support' ? readsHidden(look.table, hidden) : []
  const notes = [
    ...lookNotes(look),
    ...(read.length === 0 ? [] : [`for support alone, since it reads ${read.map(plainName).join(', ')}`]),
  ].flatMap((text) => comment('    ', text))
  const settings = [
    ...(look.toolName === undefined ? [] : [`    tool_name: ${scalar(look.toolName)}`]),
    ...maskLines(look),
    ...keyLines(look),
    ...rowLines(look),
    ...(support.has(look.name) ? writeLines(look) : []),
  ]
  return [`  ${scalar(look.name)}:`, ...notes, ...settings]
}

function lookNotes({ table, joins, personal }: TableLook): readonly string[] {
  const kind = table.kind === 'table' ? [] : [table.kind.replaceAll('_', ' ')]
  const joined = joins === undefined ? [] : [`joins ${joins.map(plainName).join(' and ')}`]
  const ofPeople = personal.length === 0 ? [] : [`personal: ${personal.map(plainName).join(', ')}`]
  const notes = [...kind, ...joined, ...ofPeople]
  return notes.length === 0 ? [] : [notes.join('; ')]
}

function maskLines({ secret, sensitive, table }: TableLook): readonly string[] {
  const masked = [...secret, ...sensitive]
  if (masked.length === 0) return []
  const kinds = [...(secret.length === 0 ? [] : ['secret']), ...(sensitive.length === 0 ? [] : ['sensitive'])].join(
    ', ',
  )
  const keyed = table.primaryKey.filter((name) => masked.includes(name))
  const lost =
    keyed.length === 0
      ? []
      : comment(
          '    ',
          `${keyed.map(plainName).join(', ')} is part of the key: while it is masked, no row can be asked for by it`,
        )
  return [...list('    mask: ', masked, `  # ${kinds}`), ...lost]
}

function keyLines({ key, table }: TableLook): readonly string[] {
  if (key !== undefined) {
    const note = key.sure ? '  # a unique key' : '  # a guess: see that it tells rows apart'
    return list('    key: ', key.columns, note)
  }
  if (table.primaryKey.length > 0) return []
  return ['    # key: []  # none was found; without one there is no get_…_by_pk']
}

function rowLines({ tenant, deleted }: TableLook): readonly string[] {
  const own = deleted?.present === undefined ? [] : [filterText(deleted.present)]
  const ofTenant = tenant === undefined ? [] : [`{ column: ${scalar(tenant)}, op: eq, value: { claim: tenant } }`]
  return [
    ...(own.length === 0 ? [] : [`    row_filter: [ ${own.join(', ')} ]  # rows that are not marked as deleted`]),
    ...(ofTenant.length === 0
      ? []
      : [`    # row_filter: [ ${[...ofTenant, ...own].join(', ')} ]  # where each caller has a claim "tenant"`]),
    ...(deleted !== undefined && own.length === 0
      ? comment(
          '    ',
          `${plainName(deleted.mark.column)} seems to mark deleted rows, and may be NULL: decide what NULL means`,
        )
      : []),
  ]
}

/** Proposals of changes, for whoever helps people. */
function writeLines({ table, secret, sensitive, tenant, deleted }: TableLook): readonly string[] {
  const writable = (table.kind === 'table' || table.kind === 'partitioned_table') && table.notTransactional !== true
  if (!writable || table.primaryKey.length === 0) return []
  const notSet = new Set<string>([...secret, ...sensitive, ...(tenant === undefined ? [] : [tenant])])
  if (deleted !== undefined) notSet.add(deleted.mark.column)
  const settable = table.columns.filter(
    (column) =>
      column.generated === 'no' && column.type.readOnly !== true && !notSet.has(column.name) && !isStamp(column),
  )
  const updated = settable.filter(({ name }) => !table.primaryKey.includes(name)).map(({ name }) => scalar(name))
  const created = settable.filter(({ name, hasDefault }) => !table.primaryKey.includes(name) || !hasDefault)
  const preset = tenant === undefined ? '' : `, preset: { ${scalar(tenant)}: { claim: tenant } }`
  return [
    ...(created.length === 0
      ? []
      : proposal(`create: { columns: [${created.map(({ name }) => scalar(name)).join(', ')}]${preset} }`)),
    ...(updated.length === 0 ? [] : proposal(`update: { columns: [${updated.join(', ')}] }`)),
    ...(deleted === undefined
      ? []
      : [`    # soft_delete: { column: ${scalar(deleted.mark.column)}, value: ${literal(deleted.mark.value)} }`]),
  ]
}

/** Written by the database or by triggers, hardly ever by people. */
function isStamp({ type, hasDefault }: Column): boolean {
  return type.logical === 'timestamp' && hasDefault
}

function leftLines({ look, reasons }: DraftedTable): readonly string[] {
  return [`#   ${plainName(look.name)}`, ...reasons.flatMap((reason) => comment('', `    ${reason}`))]
}

function routineLines({ routines, hidden }: PolicyDraft): readonly string[] {
  if (routines.length === 0) return []
  const counts = new Map<string, number>()
  for (const { ref } of routines) counts.set(qualifiedName(ref), (counts.get(qualifiedName(ref)) ?? 0) + 1)
  const lines = routines.flatMap((routine) => {
    const name = qualifiedName(routine.ref)
    const whole = (counts.get(name) ?? 0) > 1 ? `${name}(${routine.signature})` : name
    const read = readsHidden(routine, hidden)
    const unknown = readsUnknown(routine)
    const notes = [
      ...(read.length === 0 ? [] : [`may read ${read.map(plainName).join(', ')}`]),
      ...(unknown === undefined ? [] : [unknown]),
    ]
    const line = `#   ${scalar(whole)}: { effect: ${routine.declaredReadOnly ? 'read' : 'write'} }`
    if (notes.length === 0) return [line]
    const noted = `${line}  # ${notes.join('; ')}`
    // Remarks of their own are still remarks once the comment signs are gone.
    return noted.length <= LINE_CHARS_MAX ? [noted] : [...notes.flatMap((note) => comment('#   ', note)), line]
  })
  return [
    '# Functions and procedures that the login may run. What one gives is what its author decided: masks and row filters do not reach',
    '# into it. Declare `effect` yourself, list what may be seen as `result_columns`, and grant it with `call`.',
    '# procedures:',
    ...lines,
  ]
}

/** What it reads of what a mask hides from somebody. */
function readsHidden({ reads = [] }: Pick<Table, 'reads'>, hidden: PolicyDraft['hidden']): readonly string[] {
  return reads.flatMap(({ table, columns }) => {
    const name = qualifiedName(table)
    const of = hidden.get(name) ?? new Set<string>()
    const touched = columns === 'all' ? [...of] : columns.filter((column) => of.has(column))
    return touched.map((column) => `${name}.${column}`)
  })
}

const ROLE_NOTES: Readonly<Record<string, string>> = {
  reader: 'reads rows, without what is personal',
  analyst: 'counts and sums, and reads no rows; with "min_group_size: 5" no group of fewer rows is shown',
  support: 'helps people, and so sees who they are',
}

function roleLines({ roles }: PolicyDocument): readonly string[] {
  let masked = false
  const lines = Object.entries(roles).flatMap(([name, role]) => {
    const members = [...grantLines('read', role.read), ...grantLines('aggregate', role.aggregate)]
    const mask =
      role.mask === undefined ? [] : masked ? ['    mask: *personal'] : ['    mask: &personal', ...maskOf(role)]
    masked ||= role.mask !== undefined
    const empty = members.length === 0 && mask.length === 0
    return [...comment('  ', `${ROLE_NOTES[name] ?? ''}`), `  ${name}:${empty ? ' {}' : ''}`, ...members, ...mask]
  })
  return ['# Bind them to identities: runku role create, runku binding add.', 'roles:', ...lines]
}

function grantLines(grant: string, tables: readonly string[] | undefined): readonly string[] {
  if (tables === undefined) return []
  return tables.length === 1 && tables[0] === '*' ? [`    ${grant}: ['*']`] : list(`    ${grant}: `, tables, '')
}

function maskOf(role: RolePolicy): readonly string[] {
  return Object.entries(role.mask ?? {}).flatMap(([table, columns]) => list(`      ${scalar(table)}: `, columns, ''))
}

/** On one line where it fits, else an item a line. */
function list(before: string, names: readonly string[], note: string): readonly string[] {
  const line = `${before}[${names.map(scalar).join(', ')}]${note}`
  if (line.length <= LINE_CHARS_MAX) return [line]
  const indent = ' '.repeat(before.length - before.trimStart().length + 2)
  return [`${before.trimEnd()}${note}`, ...names.map((name) => `${indent}- ${scalar(name)}`)]
}

function filterText(filter: PolicyFilter): string {
  if ('parent' in filter) return `{ parent: [${filter.parent.map(scalar).join(', ')}] }`
  const value = 'value' in filter && typeof filter.value !== 'object' ? `, value: ${literal(filter.value)}` : ''
  return `{ column: ${scalar(filter.column)}, op: ${filter.op}${value} }`
}

function literal(value: PolicyLiteral): string {
  return String(value)
}

function scalar(text: string): string {
  return PLAIN.test(text) && !NOT_TEXT.test(text) ? text : JSON.stringify(text)
}

/** A name in a comment: whatever it holds, the comment stays on its line. */
function plainName(name: string): string {
  return cleanText(name, COMMENT_CHARS_MAX)
}

/** Comment lines of a bearable width. */
function comment(indent: string, text: string): readonly string[] {
  const lead = /^ */.exec(text)?.[0] ?? ''
  const words = cleanText(text, COMMENT_CHARS_MAX).split(' ')
  return wrapped(words, LINE_CHARS_MAX - indent.length - lead.length - 2).map((line) => `${indent}# ${lead}${line}`)
}

/** A setting that is commented out. Its further lines stand deeper, so that it is YAML once the comment signs are gone. */
function proposal(text: string): readonly string[] {
  const lines = wrapped(text.split(' '), LINE_CHARS_MAX - 8)
  return lines.map((line, index) => `    # ${index === 0 ? '' : '  '}${line}`)
}

function wrapped(words: readonly string[], charsMax: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > charsMax && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
