import type { SdkTool } from './sdk.js'

export type Args = Record<string, unknown>

/** The part of an input schema that calls are made from. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly enum?: readonly string[]
  readonly maximum?: number
  readonly required?: readonly string[]
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function filtersOf(filter: Shape, sample: Readonly<Record<string, unknown>>): readonly Args[] {
  const columns = filter.properties?.['column']?.enum ?? []
  const ops = filter.properties?.['op']?.enum ?? []
  return columns.flatMap((column) =>
    ops.map((op): Args => {
      const value = asText(sample[column] ?? '')
      if (op === 'in') return { filters: [{ column, op, values: [value] }] }
      return { filters: [op === 'is_null' || op === 'not_null' ? { column, op } : { column, op, value }] }
    }),
  )
}

function metricsOf(metric: Shape): readonly Args[] {
  const fns = metric.properties?.['fn']?.enum ?? []
  const columns = metric.properties?.['column']?.enum ?? []
  return fns.flatMap((fn) =>
    fn === 'count' ? [{ metrics: [{ fn }] }] : columns.map((column) => ({ metrics: [{ fn, column }] })),
  )
}

/**
 * Calls of one tool made from its own input schema, one for each choice that it offers: every column alone, every column
 * with every operator and a value that a row of the table has (`sample`), every order, limit, metric and group. Some are
 * refused for a reason that a schema cannot say, such as a sum over text.
 */
export function generatedCalls(tool: SdkTool, sample: Readonly<Record<string, unknown>>): readonly Args[] {
  // A tool's schema is JSON Schema of the kind that the gateway writes; what is missing makes fewer calls.
  const shape = tool.inputSchema as Shape
  const properties = shape.properties ?? {}
  const base: Args = {}
  for (const name of shape.required ?? []) base[name] = name === 'metrics' ? [{ fn: 'count' }] : sample[name]
  const { columns, filters, order_by: order, limit, metrics, group_by: groups } = properties
  const variants: Args[] = [{}]
  for (const column of columns?.items?.enum ?? []) variants.push({ columns: [column] })
  if (filters?.items !== undefined) variants.push(...filtersOf(filters.items, sample))
  for (const column of order?.items?.properties?.['column']?.enum ?? []) {
    for (const direction of ['asc', 'desc']) variants.push({ order_by: [{ column, direction }], limit: 3 })
  }
  if (limit?.maximum !== undefined) variants.push({ limit: 1 }, { limit: limit.maximum })
  if (metrics?.items !== undefined) variants.push(...metricsOf(metrics.items))
  for (const group of groups?.items?.enum ?? []) variants.push({ group_by: [group], limit: 3 })
  return variants.map((variant) => ({ ...base, ...variant }))
}
