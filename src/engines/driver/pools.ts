import type { Driver } from '../engine.js'
import type { Calls } from './calls.js'
import type { LeasePool } from './lease-pool.js'

/** The connections of one use, as every engine's driver counts and ends them. */
export interface EnginePool<S extends { readonly openedMs: number }> {
  readonly leases: LeasePool<S>
  readonly connections: Driver['connections']
  /** Whoever still uses a connection must have been told to stop. */
  close(): Promise<void>
}

export function connectionsOf<S extends { readonly openedMs: number }>(
  pools: readonly EnginePool<S>[],
): Driver['connections'] {
  const counts = pools.map((pool) => pool.connections)
  return {
    idle: counts.reduce((sum, { idle }) => sum + idle, 0),
    busy: counts.reduce((sum, { busy }) => sum + busy, 0),
  }
}

/** Hands no connection on, stops what is under way, and settles when every connection is closed. */
export async function closeAll<S extends { readonly openedMs: number }>(
  pools: readonly EnginePool<S>[],
  calls: Calls,
): Promise<void> {
  for (const pool of pools) pool.leases.refuse()
  calls.stop()
  await Promise.all(pools.map((pool) => pool.close()))
}
