import { type ChainHead, type ChainKeys, readLink } from '../../src/audit/chain.js'
import { TrailCheck, type TrailFault } from '../../src/audit/verify/trail-check.js'

/** A fault with the number of the line in place of where it was read. */
export type ChainFault = { readonly kind: TrailFault['kind'] } & Readonly<Record<string, number | string>>

export interface ChainReport {
  readonly lines: number
  readonly faults: readonly ChainFault[]
}

function plain(fault: TrailFault): ChainFault {
  const place = 'place' in fault ? fault.place : undefined
  const { kind, ...members } = fault
  const numbers = Object.entries(members).filter(([name]) => name !== 'place')
  return { kind, ...Object.fromEntries(numbers), ...(place === undefined ? {} : { position: place.position }) }
}

/** Checks one instance's entries, each of which must be there once, from the first on; with a head also the end. */
export function verifyChain(lines: readonly string[], keys: ChainKeys, head?: ChainHead): ChainReport {
  const check = new TrailCheck(keys)
  const links = lines.flatMap((line) => readLink(keys, line).link ?? [])
  const instance = links[0]?.instance ?? ''
  const source = check.source({ name: 'lines', repeats: false }, instance)
  for (const line of lines) source.visit(line)
  if (head !== undefined) check.head(instance, head, { source: 'head', position: 0 })
  return { lines: lines.length, faults: check.finish().flatMap(({ faults }) => faults.map(plain)) }
}
