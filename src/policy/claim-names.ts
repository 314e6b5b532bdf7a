import type { PolicyDocument, PolicyFilter, PresetSource } from './policy-document.js'
import type { PolicyPath } from './policy-tree.js'

/** A claim that a policy asks of its callers, and where it says so. */
export interface ClaimUse {
  readonly claim: string
  readonly path: PolicyPath
}

/** Every use of a claim, in the document's order. Only the admin store, and what brings tokens, know which claims there are. */
export function claimsUsed({ tables, roles }: PolicyDocument): readonly ClaimUse[] {
  const ofTables = Object.entries(tables).flatMap(([name, { row_filter, create, update }]) => [
    ...ofFilters(['tables', name, 'row_filter'], row_filter),
    ...ofPresets(['tables', name, 'create', 'preset'], create?.preset),
    ...ofPresets(['tables', name, 'update', 'preset'], update?.preset),
  ])
  const ofRoles = Object.entries(roles).flatMap(([name, { row_filter = {} }]) =>
    Object.entries(row_filter).flatMap(([table, list]) => ofFilters(['roles', name, 'row_filter', table], list)),
  )
  return [...ofTables, ...ofRoles]
}

function ofFilters(path: PolicyPath, list: readonly PolicyFilter[] = []): readonly ClaimUse[] {
  return list.flatMap((filter, index) => {
    if ('values' in filter) return 'claim' in filter.values ? [useOf(filter.values, path, index, 'values')] : []
    const value = 'value' in filter ? filter.value : undefined
    return typeof value === 'object' ? [useOf(value, path, index, 'value')] : []
  })
}

function ofPresets(path: PolicyPath, presets: Readonly<Record<string, PresetSource>> = {}): readonly ClaimUse[] {
  return Object.entries(presets).flatMap(([column, source]) =>
    typeof source === 'object' ? [useOf(source, path, column)] : [],
  )
}

function useOf({ claim }: { readonly claim: string }, path: PolicyPath, ...parts: PolicyPath): ClaimUse {
  return { claim, path: [...path, ...parts, 'claim'] }
}
