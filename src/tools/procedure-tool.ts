import type { ProcedureAccess } from '../core/access.js'
import { agentColumnName } from '../core/names.js'
import { procedureResult } from '../core/tool-grammar.js'
import { typeWord } from './column-text.js'
import { procedureOutput } from './output-schema.js'
import { DOES_ANYTHING, READS, type ToolDefinition } from './tool-definition.js'
import { callInput } from './write-schema.js'

/** The tool of one procedure or function. */
export function procedureTool(procedure: ProcedureAccess): ToolDefinition {
  const { tool, effect, limits } = procedure
  return {
    name: tool,
    title: `Call ${tool}`,
    description: describe(procedure),
    inputSchema: callInput(procedure),
    outputSchema: procedureOutput(procedure),
    annotations: effect === 'read' ? READS : DOES_ANYTHING,
    _meta: { 'anthropic/maxResultSizeChars': limits.responseCharsMax },
  }
}

function describe(procedure: ProcedureAccess): string {
  const { routine, effect, comment, fields = [], setColumns, limits } = procedure
  const kind = `A ${routine.kind} of the database that ${effect === 'read' ? 'only reads' : 'may change data'}.`
  const parts = [comment === undefined ? kind : `${kind} ${comment}`]
  const { result } = routine
  if ('set' in result && result.set) parts.push(`At most ${limits.rowCap} rows a call.`)
  if (setColumns !== undefined) parts.push(setsText(setColumns, limits.rowCap))
  if (fields.length > 0) {
    const heading = procedureResult(procedure) === 'sets' ? 'out holds:' : 'Fields:'
    parts.push(heading, fields.map(({ agentName, type }) => `${agentName} ${typeWord(type)}`).join('\n'))
  }
  return parts.join('\n')
}

function setsText(columns: readonly string[], rowCap: number): string {
  const names = columns.map(agentColumnName).join(', ')
  return `It may give several results: rows holds the first, more_results the others, at most ${rowCap} rows each. Of each these columns are given, where it has them: ${names}.`
}
