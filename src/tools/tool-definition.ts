import type { JsonSchema } from './json-schema.js'

/** What a client may assume of a tool before it calls it. No tool reaches beyond the connector's database. */
export interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: false
}

/** One tool as `tools/list` shows it. */
export interface ToolDefinition {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations: Annotations
  readonly _meta: { readonly 'anthropic/maxResultSizeChars': number }
}

function annotations(readOnlyHint: boolean, destructiveHint: boolean, idempotentHint: boolean): Annotations {
  return { readOnlyHint, destructiveHint, idempotentHint, openWorldHint: false }
}

export const READS = annotations(true, false, true)
/** Takes nothing away, but each call adds. */
export const ADDS = annotations(false, false, false)
/** Takes away what was there before; a repeat changes nothing more. */
export const CHANGES = annotations(false, true, true)
/** A procedure that writes may do anything. */
export const DOES_ANYTHING = annotations(false, true, false)
