import { type EffectiveRights, READ_OPERATIONS, type Relation, type TableAccess } from '../core/access.js'
import { choices, readObject, suggest } from '../core/arguments.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { RESPONSE_CHARS_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column } from '../core/schema-model.js'
import { visibleColumns } from '../core/tool-grammar.js'
import { shownLabels, typeText, typeWord } from './column-text.js'
import { toolName } from './tool-names.js'
import { hasTool } from './tool-target.js'

/** One table of the overview. Lists that would be empty are left out. */
export interface TableOverview {
  readonly name: string
  readonly comment?: string
  readonly tools?: readonly string[]
  readonly key?: readonly string[]
  /** In short `name type`; of one table in full an object a column. */
  readonly columns?: readonly (string | ColumnOverview)[]
  readonly relations?: readonly RelationOverview[]
}

interface ColumnOverview {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly comment?: string
  readonly labels?: readonly string[]
  /** The operations that may use the column, where those are not all the table has. */
  readonly usable_in?: readonly string[]
}

interface RelationOverview {
  readonly columns: readonly string[]
  readonly references: string
  readonly referenced_columns: readonly string[]
}

export interface SchemaOverview {
  readonly tables: readonly TableOverview[]
  readonly truncated: boolean
  readonly cut?: readonly { readonly what: string; readonly where: string; readonly next: string }[]
}

/**
 * All tables the caller may use in short, or the one that `args.table` names in full. An answer longer than
 * `responseCharsMax` characters says less of each table, then names fewer of them, and says so in `cut`. An unknown
 * table is ARGUMENT_VALUE with the nearest of the caller's own.
 */
export function schemaOverview(
  rights: EffectiveRights,
  args: unknown,
  responseCharsMax: number = RESPONSE_CHARS_MAX,
): Result<SchemaOverview, GatewayError> {
  const entries = readObject(args === undefined ? {} : args, '', ['table'])
  if (!entries.ok) return entries
  const wanted = entries.value.get('table')
  if (wanted === undefined) return ok(fitted(rights.tables, ALL_TABLES, responseCharsMax))
  const access = typeof wanted === 'string' ? rights.byToolBase.get(wanted) : undefined
  if (access !== undefined) return ok(fitted([access], ONE_TABLE, responseCharsMax))
  return fail(tableUnknown(rights, wanted))
}

function tableUnknown(rights: EffectiveRights, wanted: unknown): GatewayError {
  const names = rights.tables.map((access) => access.toolBase)
  const expected = names.length === 0 ? 'nothing: you may use no table' : choices(names)
  if (typeof wanted !== 'string') return gatewayError('ARGUMENT_TYPE', { field: 'table', expected })
  return gatewayError('ARGUMENT_VALUE', { field: 'table', expected, ...suggest(wanted, names), refused: wanted })
}

interface Form {
  readonly show: (access: TableAccess) => TableOverview
  /** What the form leaves out, with the way to get it; absent for the form that shows all it is asked for. */
  readonly next?: string
}

/** From most to least told. The first form that fits is used. */
const ALL_TABLES: readonly Form[] = [
  { show: (access) => overviewOf(access, shortColumns(access), true) },
  {
    show: (access) => overviewOf(access, [], false),
    next: 'Columns and relations are left out: call schema_overview with table for one table in full.',
  },
  {
    show: (access) => ({ name: access.toolBase }),
    next: 'Only names are given: call schema_overview with table for one table in full.',
  },
]

const ONE_TABLE: readonly Form[] = [
  { show: (access) => overviewOf(access, fullColumns(access), true) },
  {
    show: (access) => overviewOf(access, shortColumns(access), true),
    next: 'Comments, labels and nullability of columns are left out: the table is too wide.',
  },
  {
    show: (access) => overviewOf(access, [], false),
    next: 'Columns and relations are left out: the table is too wide. The schemas of its tools list them.',
  },
]

function fitted(tables: readonly TableAccess[], forms: readonly Form[], charsMax: number): SchemaOverview {
  let shown: readonly TableOverview[] = []
  let next: string | undefined
  for (const form of forms) {
    shown = tables.map(form.show)
    next = form.next
    const overview = withCut(shown, next)
    if (JSON.stringify(overview).length <= charsMax) return overview
  }
  return withCut(firstThatFit(shown, charsMax), `More tables exist than fit. ${next ?? ''}`.trim())
}

/** At least one table, and no more than fit beside the words about the cut. */
function firstThatFit(shown: readonly TableOverview[], charsMax: number): readonly TableOverview[] {
  let room = charsMax - 300
  const kept = shown.findIndex((table) => {
    room -= JSON.stringify(table).length + 1
    return room < 0
  })
  return kept < 0 ? shown : shown.slice(0, Math.max(1, kept))
}

function withCut(tables: readonly TableOverview[], next: string | undefined): SchemaOverview {
  if (next === undefined) return { tables, truncated: false }
  return { tables, truncated: true, cut: [{ what: 'chars', where: 'tables', next }] }
}

function overviewOf(
  access: TableAccess,
  columns: readonly (string | ColumnOverview)[],
  withRelations: boolean,
): TableOverview {
  const tools = READ_OPERATIONS.filter((operation) => hasTool(access, operation))
  return {
    name: access.toolBase,
    ...(access.comment === undefined ? {} : { comment: access.comment }),
    tools: tools.map((operation) => toolName(operation, access.toolBase)),
    ...listed(
      'key',
      access.key.map((column) => column.agentName),
    ),
    ...listed('columns', columns),
    ...(withRelations ? listed('relations', access.relations.map(relationOverview)) : {}),
  }
}

function listed<N extends string, T>(name: N, list: readonly T[]): { readonly [K in N]?: readonly T[] } {
  // The computed name of a generic parameter widens to an index signature; the value is what the type says.
  return list.length === 0 ? {} : ({ [name]: list } as { readonly [K in N]: readonly T[] })
}

function relationOverview(relation: Relation): RelationOverview {
  return {
    columns: relation.columns,
    references: relation.references,
    referenced_columns: relation.referencedColumns,
  }
}

function shortColumns(access: TableAccess): readonly string[] {
  return visibleColumns(access).map((column) => `${column.agentName} ${typeWord(column.type)}`)
}

function fullColumns(access: TableAccess): readonly ColumnOverview[] {
  return visibleColumns(access).map((column) => fullColumn(access, column))
}

function fullColumn(access: TableAccess, column: Column): ColumnOverview {
  const labels = shownLabels(column.type)
  const usable = READ_OPERATIONS.filter(
    (operation) => access.operations.has(operation) && access.columns[operation].has(column.agentName),
  )
  return {
    name: column.agentName,
    type: labels === undefined ? typeText(column.type) : typeWord(column.type),
    nullable: column.nullable,
    ...(column.comment === undefined ? {} : { comment: column.comment }),
    ...(labels === undefined ? {} : { labels }),
    ...(usable.length === access.operations.size ? {} : { usable_in: usable }),
  }
}
