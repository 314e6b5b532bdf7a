import type { EffectiveRights, ReadOperation, TableAccess } from '../core/access.js'
import { RESPONSE_CHARS_MAX } from '../core/limits.js'
import type { Column } from '../core/schema-model.js'
import { columnList } from './column-text.js'
import { aggregateInput, getInput, overviewInput, searchInput } from './input-schema.js'
import { type JsonSchema, outputSchema } from './json-schema.js'
import { SCHEMA_OVERVIEW, toolName } from './tool-names.js'
import { hasTool } from './tool-target.js'

/** One tool as `tools/list` shows it. */
export interface ToolDefinition {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations: typeof READ_ANNOTATIONS
  readonly _meta: { readonly 'anthropic/maxResultSizeChars': number }
}

const READ_ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const

/**
 * The caller's tools, in an order that depends on its own tables alone. Only names, types and comments that `rights` show
 * the caller are read, so nothing hidden can change a byte of the list.
 */
export function generateTools(rights: EffectiveRights): readonly ToolDefinition[] {
  return [overviewTool(), ...rights.tables.flatMap(tableTools)]
}

/** The list as it goes into a reply: `"tools":[…]`, UTF-8, without braces. */
export function encodeTools(rights: EffectiveRights): { readonly body: Uint8Array; readonly tools: number } {
  const tools = generateTools(rights)
  return { body: Buffer.from(`"tools":${JSON.stringify(tools)}`), tools: tools.length }
}

function tableTools(access: TableAccess): readonly ToolDefinition[] {
  // Columns are described in full once a table; its other tools name their types, so that each can be used alone.
  const primary = (['search', 'get', 'aggregate'] as const).find((operation) => hasTool(access, operation))
  return (['get', 'search', 'aggregate'] as const)
    .filter((operation) => hasTool(access, operation))
    .map((operation) => tableTool(access, operation, operation === primary))
}

const TITLES: Readonly<Record<ReadOperation, (toolBase: string) => string>> = {
  get: (toolBase) => `Get one row of ${toolBase}`,
  search: (toolBase) => `Search ${toolBase}`,
  aggregate: (toolBase) => `Aggregate ${toolBase}`,
}

const USAGE: Readonly<Record<ReadOperation, (access: TableAccess) => string>> = {
  get: ({ toolBase }) => `One row of ${toolBase} by its key.`,
  search: ({ toolBase, limits }) => `Rows of ${toolBase} that match, at most ${limits.rowCap} a call.`,
  aggregate: ({ toolBase, limits }) =>
    `Counts, sums and extremes over ${toolBase}, also by group, at most ${limits.rowCap} groups a call.`,
}

const INPUTS: Readonly<Record<ReadOperation, (access: TableAccess) => JsonSchema>> = {
  get: getInput,
  search: searchInput,
  aggregate: aggregateInput,
}

function tableTool(access: TableAccess, operation: ReadOperation, full: boolean): ToolDefinition {
  const columns = access.columns[operation]
  return {
    name: toolName(operation, access.toolBase),
    title: TITLES[operation](access.toolBase),
    description: describe(access, operation, full),
    inputSchema: INPUTS[operation](access),
    // The names of an aggregate's results are the caller's to choose, so its rows have no fixed properties.
    outputSchema: rowsOutput(operation === 'aggregate' ? { type: 'object' } : rowOutput(columns.values())),
    annotations: READ_ANNOTATIONS,
    _meta: { 'anthropic/maxResultSizeChars': access.limits.responseCharsMax },
  }
}

function describe(access: TableAccess, operation: ReadOperation, full: boolean): string {
  const usage = USAGE[operation](access)
  const columns = access.columns[operation]
  const parts = full && access.comment !== undefined ? [`${usage} ${access.comment}`] : [usage]
  if (columns.size > 0) parts.push('Columns:', columnList(columns.values(), full))
  return parts.join('\n')
}

function rowOutput(columns: Iterable<Column>): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(Array.from(columns, (column) => [column.agentName, outputSchema(column)])),
  }
}

const CUT: JsonSchema = { type: 'array', items: { type: 'object' } }

function rowsOutput(row: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      rows: { type: 'array', items: row },
      row_count: { type: 'integer' },
      truncated: { type: 'boolean' },
      cut: CUT,
    },
    required: ['rows', 'row_count', 'truncated'],
  }
}

function overviewTool(): ToolDefinition {
  return {
    name: SCHEMA_OVERVIEW,
    title: 'Schema overview',
    description: 'The tables you may use, with their tools, columns, keys and relations. Start here.',
    inputSchema: overviewInput(),
    outputSchema: {
      type: 'object',
      properties: {
        tables: { type: 'array', items: { type: 'object' } },
        truncated: { type: 'boolean' },
        cut: CUT,
      },
      required: ['tables', 'truncated'],
    },
    annotations: READ_ANNOTATIONS,
    _meta: { 'anthropic/maxResultSizeChars': RESPONSE_CHARS_MAX },
  }
}
