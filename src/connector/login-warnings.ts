import type { LoginFacts } from '../core/schema-model.js'

/** More of a server's connections than this, and one gateway starves everything else. */
const CONNECTIONS_SHARE = 0.5

/**
 * Sentences for the operator about a login that can do more than the policy will ever ask of it, and about pools that the
 * server has no room for. `connections`: threads times connections a thread, of this connector in this process.
 */
export function loginWarnings(login: LoginFacts, connections: number): readonly string[] {
  const warnings: string[] = []
  if (login.connectionsMax !== undefined && connections > login.connectionsMax * CONNECTIONS_SHARE) {
    warnings.push(
      `this connector may open ${connections} connections (threads × pool.max), and the server takes ${login.connectionsMax} from everybody`,
    )
  }
  if (login.superuser) {
    warnings.push('the database login is a superuser; use one that holds only what the policy grants')
    return warnings
  }
  if (login.ownsCount > 0) {
    warnings.push(
      `the database login owns ${login.ownsCount} table(s), such as ${login.owns[0]}; use one that owns none`,
    )
  }
  if (login.writesCount > 0) {
    warnings.push(
      `the database login can write ${login.writesCount} table(s), such as ${login.writes[0]}, although the policy only reads`,
    )
  }
  return warnings
}
