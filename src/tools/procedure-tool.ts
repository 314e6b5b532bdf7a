import type { ProcedureAccess } from '../core/access.js'
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

function describe({ routine, effect, comment, fields, limits }: ProcedureAccess): string {
  const kind = `A ${routine.kind} of the database that ${effect === 'read' ? 'only reads' : 'may change data'}.`
  const parts = [comment === undefined ? kind : `${kind} ${comment}`]
  const { result } = routine
  if ('set' in result && result.set) parts.push(`At most ${limits.rowCap} rows a call.`)
  if (fields !== undefined && fields.length > 0) {
    parts.push('Fields:', fields.map(({ agentName, type }) => `${agentName} ${typeWord(type)}`).join('\n'))
  }
  return parts.join('\n')
}
