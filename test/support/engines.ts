import type { EngineName } from '../../src/core/schema-model.js'
import { MYSQL_TARGETS } from './mariadb.js'
import { EMBEDDED, POSTGRES_TARGETS } from './postgres.js'
import { SQLSERVER_TARGETS } from './sqlserver.js'
import type { EngineTarget } from './test-server.js'

/** Every server there is to test on. */
export const ENGINE_TARGETS: readonly EngineTarget[] = [...POSTGRES_TARGETS, ...MYSQL_TARGETS, ...SQLSERVER_TARGETS]

/** The servers for tests of the whole path: one of PostgreSQL is enough, whose releases the tests of the engine tell apart. */
export const WHOLE_PATH_TARGETS: readonly EngineTarget[] = [EMBEDDED, ...MYSQL_TARGETS, ...SQLSERVER_TARGETS]

/** What a test keeps once for each engine, such as its SQL. */
export type PerEngine<T> = Readonly<Record<EngineName, T>>

export function forEngine<T>(map: PerEngine<T>, engine: EngineName): T {
  return map[engine]
}

/** The first server of each kind: enough where what is tested is not the server. */
export function oneOfEachKind<T extends EngineTarget>(targets: readonly T[]): readonly T[] {
  return targets.filter(({ engine }, i) => targets.findIndex((target) => target.engine === engine) === i)
}
