import type { ReportFilter, ReportScope } from './report-query.js'
import type { Shape, ShapeBook } from './shapes.js'

function isReached({ connector }: Shape, { connectors, gateway }: ReportScope): boolean {
  if (connector === undefined) return gateway
  return connectors === undefined || connectors.includes(connector)
}

function fits(shape: Shape, filter: ReportFilter): boolean {
  const { connector, identity, keyId, tool, operation, target, decision, code } = filter
  return (
    (connector === undefined || shape.connector === connector) &&
    (identity === undefined || shape.identity === identity) &&
    (keyId === undefined || shape.keyId === keyId) &&
    (tool === undefined || shape.tool === tool) &&
    (operation === undefined || shape.operation === operation) &&
    (target === undefined || shape.target === target) &&
    (decision === undefined || shape.decision === decision) &&
    (code === undefined || shape.code === code)
  )
}

/** By number of a shape: 1 where it fits and may be seen. */
export function wantedShapes(shapes: ShapeBook, filter: ReportFilter, scope: ReportScope): Uint8Array {
  const wanted = new Uint8Array(shapes.size + 1)
  for (let number = 1; number <= shapes.size; number++) {
    const shape = shapes.shape(number)
    if (shape !== undefined && isReached(shape, scope) && fits(shape, filter)) wanted[number] = 1
  }
  return wanted
}

/** Names the group of a shape; undefined: it is in none. Each has its own groups, which are remembered. */
export type GroupKey = (shape: Shape) => string | undefined

interface KnownGroups {
  /** By number of a shape, its group; −1 where it is in none. */
  readonly groupOf: number[]
  readonly keys: string[]
  readonly numbers: Map<string, number>
}

/** The groups of every shape by one key, made once and carried on as shapes come: a report would spend most of its time on them. */
function groupsBy(shapes: ShapeBook, keyOf: GroupKey): KnownGroups {
  const known: KnownGroups = shapes.derived(keyOf, () => ({ groupOf: [-1], keys: [], numbers: new Map() }))
  const { groupOf, keys, numbers } = known
  for (let number = groupOf.length; number <= shapes.size; number++) {
    const shape = shapes.shape(number)
    const key = shape === undefined ? undefined : keyOf(shape)
    let group = key === undefined ? -1 : numbers.get(key)
    if (key !== undefined && group === undefined) {
      group = keys.length
      keys.push(key)
      numbers.set(key, group)
    }
    groupOf.push(group ?? -1)
  }
  return known
}

export interface ShapeGroups {
  /** By number of a shape, its group; −1 for shapes that are not asked for. */
  readonly groupOf: Int32Array
  /** What `keyOf` said of each group; some may have no shape that is asked for. */
  readonly keys: readonly string[]
}

/** Shapes that fit, in groups. */
export function groupShapes(shapes: ShapeBook, filter: ReportFilter, scope: ReportScope, keyOf: GroupKey): ShapeGroups {
  const wanted = wantedShapes(shapes, filter, scope)
  const { groupOf, keys } = groupsBy(shapes, keyOf)
  return { groupOf: Int32Array.from(wanted, (is, number) => (is === 1 ? (groupOf[number] ?? -1) : -1)), keys }
}
