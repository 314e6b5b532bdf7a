import {
  type EffectiveRights,
  type ProcedureAccess,
  READ_OPERATIONS,
  type Relation,
  type TableAccess,
  WRITE_OPERATIONS,
} from '../core/access.js'
import { choices, readObject, suggest } from '../core/arguments.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { RESPONSE_CHARS_MAX } from '../core/limits.js'
import { agentColumnName } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column } from '../core/schema-model.js'
import { parameterArguments, procedureResult, visibleColumns } from '../core/tool-grammar.js'
import { shownLabels, typeText, typeWord } from './column-text.js'
import { toolName } from './tool-names.js'
import { callableProcedures, tableTargets } from './tool-target.js'

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
  /** The reading operations that may use the column, where those are not all the table has. */
  readonly usable_in?: readonly string[]
  /** The operations that may set it. */
  readonly writable_in?: readonly string[]
  /** Whether a new row must be given it. */
  readonly required?: true
}

/** One procedure. Lists that would be empty are left out. */
export interface ProcedureOverview {
  readonly tool: string
  readonly comment?: string
  readonly effect?: 'read' | 'write'
  /** `name type`, in order; `optional` where the routine has a default. */
  readonly parameters?: readonly string[]
  /** What comes back, where that is rows with fields, or one value. Beside result sets: what `out` holds. */
  readonly fields?: readonly string[]
  readonly result?: string
}

interface RelationOverview {
  readonly columns: readonly string[]
  readonly references: string
  readonly referenced_columns: readonly string[]
}

export interface SchemaOverview {
  readonly tables: readonly TableOverview[]
  /** Left out where the caller may call none, or asked for one table. */
  readonly procedures?: readonly ProcedureOverview[]
  readonly truncated: boolean
  readonly cut?: readonly { readonly what: string; readonly where: string; readonly next: string }[]
}

/**
 * All tables and procedures the caller may use in short, or the table that `args.table` names in full. An answer longer
 * than `responseCharsMax` characters says less of each, then names fewer of them, and says so in `cut`. An unknown
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
  if (wanted === undefined) {
    const subject: Subject = { tables: rights.tables, procedures: callableProcedures(rights) }
    return ok(fitted(subject, ALL_TABLES, responseCharsMax))
  }
  const access = typeof wanted === 'string' ? rights.byToolBase.get(wanted) : undefined
  if (access !== undefined) return ok(fitted({ tables: [access], procedures: [] }, ONE_TABLE, responseCharsMax))
  return fail(tableUnknown(rights, wanted))
}

function tableUnknown(rights: EffectiveRights, wanted: unknown): GatewayError {
  const names = rights.tables.map((access) => access.toolBase)
  const expected = names.length === 0 ? 'nothing: you may use no table' : choices(names)
  if (typeof wanted !== 'string') return gatewayError('ARGUMENT_TYPE', { field: 'table', expected })
  return gatewayError('ARGUMENT_VALUE', { field: 'table', expected, ...suggest(wanted, names), refused: wanted })
}

/** What an answer is about. */
interface Subject {
  readonly tables: readonly TableAccess[]
  readonly procedures: readonly ProcedureAccess[]
}

interface Form {
  readonly show: (access: TableAccess) => TableOverview
  readonly showProcedure: (procedure: ProcedureAccess) => ProcedureOverview
  /** What the form leaves out, with the way to get it; absent for the form that shows all it is asked for. */
  readonly next?: string
}

/** From most to least told. The first form that fits is used. */
const ALL_TABLES: readonly Form[] = [
  { show: (access) => overviewOf(access, shortColumns(access), true), showProcedure: procedureOverview },
  {
    show: (access) => overviewOf(access, [], false),
    showProcedure: procedureOverview,
    next: 'Columns and relations are left out: call schema_overview with table for one table in full.',
  },
  {
    show: (access) => ({ name: access.toolBase }),
    showProcedure: ({ tool }) => ({ tool }),
    next: 'Only names are given: call schema_overview with table for one table in full.',
  },
]

const ONE_TABLE: readonly Form[] = [
  { show: (access) => overviewOf(access, fullColumns(access), true), showProcedure: procedureOverview },
  {
    show: (access) => overviewOf(access, shortColumns(access), true),
    showProcedure: procedureOverview,
    next: 'Comments, labels and nullability of columns are left out: the table is too wide.',
  },
  {
    show: (access) => overviewOf(access, [], false),
    showProcedure: procedureOverview,
    next: 'Columns and relations are left out: the table is too wide. The schemas of its tools list them.',
  },
]

/** An answer as one of the forms shows it. */
interface Shown {
  readonly tables: readonly TableOverview[]
  readonly procedures: readonly ProcedureOverview[]
}

function fitted({ tables, procedures }: Subject, forms: readonly Form[], charsMax: number): SchemaOverview {
  let shown: Shown = { tables: [], procedures: [] }
  let next: string | undefined
  for (const form of forms) {
    shown = { tables: tables.map(form.show), procedures: procedures.map(form.showProcedure) }
    next = form.next
    const overview = withCut(shown, next)
    if (JSON.stringify(overview).length <= charsMax) return overview
  }
  return withCut(firstThatFit(shown, charsMax), `More exist than fit. ${next ?? ''}`.trim())
}

/** At least one table, and no more than fit beside the words about the cut. */
function firstThatFit({ tables, procedures }: Shown, charsMax: number): Shown {
  let room = charsMax - 320
  const fits = (item: object): boolean => {
    room -= JSON.stringify(item).length + 1
    return room >= 0
  }
  const [first, ...others] = tables
  if (first === undefined) return { tables, procedures: leading(procedures, fits) }
  fits(first)
  const kept = [first, ...leading(others, fits)]
  return { tables: kept, procedures: kept.length < tables.length ? [] : leading(procedures, fits) }
}

/** The items before the first that does not hold. */
function leading<T>(items: readonly T[], holds: (item: T) => boolean): readonly T[] {
  const end = items.findIndex((item) => !holds(item))
  return end < 0 ? items : items.slice(0, end)
}

function withCut({ tables, procedures }: Shown, next: string | undefined): SchemaOverview {
  const all = { tables, ...listed('procedures', procedures) }
  if (next === undefined) return { ...all, truncated: false }
  return { ...all, truncated: true, cut: [{ what: 'chars', where: 'tables', next }] }
}

function procedureOverview(procedure: ProcedureAccess): ProcedureOverview {
  const { tool, comment, effect, fields = [], setColumns, routine } = procedure
  const shape = procedureResult(procedure)
  const scalar = routine.result.kind === 'scalar' ? routine.result : undefined
  return {
    tool,
    ...(comment === undefined ? {} : { comment }),
    effect,
    ...listed(
      'parameters',
      parameterArguments(procedure).map(
        ({ argument, parameter }) =>
          `${argument} ${typeText(parameter.type)}${parameter.hasDefault ? ' optional' : ''}`,
      ),
    ),
    ...(shape === 'rows' || shape === 'sets'
      ? listed(
          'fields',
          fields.map(({ agentName, type }) => `${agentName} ${typeWord(type)}`),
        )
      : {}),
    ...(scalar === undefined ? {} : { result: `${scalar.set ? 'rows of ' : ''}${typeWord(scalar.type)}` }),
    ...(setColumns === undefined ? {} : { result: `results with ${setColumns.map(agentColumnName).join(', ')}` }),
  }
}

function overviewOf(
  access: TableAccess,
  columns: readonly (string | ColumnOverview)[],
  withRelations: boolean,
): TableOverview {
  const tools = tableTargets(access).map(({ operation }) => toolName(operation, access.toolBase))
  return {
    name: access.toolBase,
    ...(access.comment === undefined ? {} : { comment: access.comment }),
    tools,
    ...listed(
      'key',
      keyOf(access).map((column) => column.agentName),
    ),
    ...listed('columns', columns),
    ...(withRelations ? listed('relations', access.relations.map(relationOverview)) : {}),
  }
}

/** The key that the caller's tools take: a caller may change rows that it cannot get. */
function keyOf(access: TableAccess): readonly Column[] {
  if (access.key.length > 0) return access.key
  return access.writes.update?.key ?? access.writes.soft_delete?.key ?? []
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
  const reads = READ_OPERATIONS.filter((operation) => access.operations.has(operation))
  const usable = reads.filter((operation) => access.columns[operation].has(column.agentName))
  const writable = WRITE_OPERATIONS.filter(
    (operation) => access.operations.has(operation) && access.writes[operation]?.columns.has(column.agentName) === true,
  )
  const required = writable.includes('create') && access.writes.create?.required.has(column.agentName) === true
  return {
    name: column.agentName,
    type: labels === undefined ? typeText(column.type) : typeWord(column.type),
    nullable: column.nullable,
    ...(column.comment === undefined ? {} : { comment: column.comment }),
    ...(labels === undefined ? {} : { labels }),
    ...(usable.length === reads.length ? {} : { usable_in: usable }),
    ...listed('writable_in', writable),
    ...(required ? { required } : {}),
  }
}
