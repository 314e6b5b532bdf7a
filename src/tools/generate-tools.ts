import type { EffectiveRights, ReadOperation, TableAccess, TableOperation, WriteOperation } from '../core/access.js'
import { RESPONSE_CHARS_MAX } from '../core/limits.js'
import type { Column } from '../core/schema-model.js'
import type { ReadTarget, WriteTarget } from '../core/tool-grammar.js'
import { columnList } from './column-text.js'
import { aggregateInput, getInput, overviewInput, searchInput } from './input-schema.js'
import type { JsonSchema } from './json-schema.js'
import { CUT, mutationOutput, rowOutput, rowsOutput } from './output-schema.js'
import { procedureTool } from './procedure-tool.js'
import { ADDS, CHANGES, READS, type ToolDefinition } from './tool-definition.js'
import { SCHEMA_OVERVIEW, toolName } from './tool-names.js'
import { callableProcedures, tableTargets } from './tool-target.js'
import { createInput, softDeleteInput, updateInput } from './write-schema.js'

export type { ToolDefinition } from './tool-definition.js'

/**
 * The caller's tools, in an order that depends on its own tables and procedures alone. Only names, types and comments that
 * `rights` show the caller are read, so nothing hidden can change a byte of the list.
 */
export function generateTools(rights: EffectiveRights): readonly ToolDefinition[] {
  return [overviewTool(), ...rights.tables.flatMap(tableTools), ...callableProcedures(rights).map(procedureTool)]
}

/** The list as it goes into a reply: `"tools":[…]`, UTF-8, without braces. */
export function encodeTools(rights: EffectiveRights): { readonly body: Uint8Array; readonly tools: number } {
  const tools = generateTools(rights)
  return { body: Buffer.from(`"tools":${JSON.stringify(tools)}`), tools: tools.length }
}

/** Which tool of a table describes its columns in full; its others name their types, so that each can be used alone. */
const FULLEST: readonly TableOperation[] = ['search', 'get', 'aggregate', 'create', 'update']

function tableTools(access: TableAccess): readonly ToolDefinition[] {
  const targets = tableTargets(access)
  const primary = FULLEST.find((operation) => targets.some((target) => target.operation === operation))
  return targets.map((target) => {
    const full = target.operation === primary
    return 'write' in target ? writeTool(target, full) : readTool(target, full)
  })
}

const TITLES: Readonly<Record<TableOperation, (toolBase: string) => string>> = {
  get: (toolBase) => `Get one row of ${toolBase}`,
  search: (toolBase) => `Search ${toolBase}`,
  aggregate: (toolBase) => `Aggregate ${toolBase}`,
  create: (toolBase) => `Create a row of ${toolBase}`,
  update: (toolBase) => `Update one row of ${toolBase}`,
  soft_delete: (toolBase) => `Mark one row of ${toolBase} as deleted`,
}

const USAGE: Readonly<Record<TableOperation, (access: TableAccess) => string>> = {
  get: ({ toolBase }) => `One row of ${toolBase} by its key.`,
  search: ({ toolBase, limits }) => `Rows of ${toolBase} that match, at most ${limits.rowCap} a call.`,
  aggregate: ({ toolBase, limits }) =>
    `Counts, sums and extremes over ${toolBase}, also by group, at most ${limits.rowCap} groups a call.`,
  create: ({ toolBase }) => `Adds one row to ${toolBase} and returns it as written.`,
  update: ({ toolBase }) => `Changes columns of one row of ${toolBase} by its key and returns it as written.`,
  soft_delete: ({ toolBase }) => `Marks one row of ${toolBase} as deleted by its key. The row itself is kept.`,
}

function usage(access: TableAccess, operation: TableOperation, full: boolean): string {
  const text = USAGE[operation](access)
  return full && access.comment !== undefined ? `${text} ${access.comment}` : text
}

const READ_INPUTS: Readonly<Record<ReadOperation, (access: TableAccess) => JsonSchema>> = {
  get: getInput,
  search: searchInput,
  aggregate: aggregateInput,
}

function readTool({ access, operation }: ReadTarget, full: boolean): ToolDefinition {
  const columns = access.columns[operation]
  return {
    name: toolName(operation, access.toolBase),
    title: TITLES[operation](access.toolBase),
    description: describe(access, operation, columns, full),
    inputSchema: READ_INPUTS[operation](access),
    // The names of an aggregate's results are the caller's to choose, so its rows have no fixed properties.
    outputSchema: rowsOutput(operation === 'aggregate' ? { type: 'object' } : rowOutput(columns.values())),
    annotations: READS,
    _meta: { 'anthropic/maxResultSizeChars': access.limits.responseCharsMax },
  }
}

function describe(
  access: TableAccess,
  operation: ReadOperation,
  columns: ReadonlyMap<string, Column>,
  full: boolean,
): string {
  const parts = [usage(access, operation, full)]
  if (columns.size > 0) parts.push('Columns:', columnList(columns.values(), full))
  return parts.join('\n')
}

const WRITE_INPUTS: Readonly<Record<WriteOperation, (target: WriteTarget, full: boolean) => JsonSchema>> = {
  create: ({ write }, full) => createInput(write, full),
  update: ({ write }, full) => updateInput(write, full),
  soft_delete: ({ write }) => softDeleteInput(write),
}

/** Its columns need no list: each is a property of the schema. */
function writeTool(target: WriteTarget, full: boolean): ToolDefinition {
  const { access, operation, write } = target
  return {
    name: toolName(operation, access.toolBase),
    title: TITLES[operation](access.toolBase),
    description: usage(access, operation, full),
    inputSchema: WRITE_INPUTS[operation](target, full),
    outputSchema: mutationOutput(rowOutput(write.returning)),
    annotations: operation === 'create' ? ADDS : CHANGES,
    _meta: { 'anthropic/maxResultSizeChars': access.limits.responseCharsMax },
  }
}

function overviewTool(): ToolDefinition {
  return {
    name: SCHEMA_OVERVIEW,
    title: 'Schema overview',
    description: 'The tables you may use, with their tools, columns, keys and relations, and procedures. Start here.',
    inputSchema: overviewInput(),
    outputSchema: {
      type: 'object',
      properties: {
        tables: { type: 'array', items: { type: 'object' } },
        procedures: { type: 'array', items: { type: 'object' } },
        truncated: { type: 'boolean' },
        cut: CUT,
      },
      required: ['tables', 'truncated'],
    },
    annotations: READS,
    _meta: { 'anthropic/maxResultSizeChars': RESPONSE_CHARS_MAX },
  }
}
