import type { LoginFacts } from '../core/schema-model.js'
import type { PolicyDocument } from '../policy/policy-document.js'

/** More of a server's connections than this, and one gateway starves everything else. */
const CONNECTIONS_SHARE = 0.5

type Grants = Pick<PolicyDocument, 'tables' | 'procedures' | 'roles'>

/** Tables that some role may change, and whether one may call a routine that changes something. */
function writesOf({ tables, procedures, roles }: Grants): {
  readonly tables: readonly string[]
  readonly calls: boolean
} {
  const written = new Set<string>()
  let calls = false
  for (const role of Object.values(roles)) {
    for (const operation of ['create', 'update', 'soft_delete'] as const) {
      for (const name of role[operation] ?? []) {
        const named =
          name === '*' ? Object.keys(tables).filter((table) => tables[table]?.[operation] !== undefined) : [name]
        for (const table of named) written.add(table)
      }
    }
    const called = role.call ?? []
    const callable = called.includes('*') ? Object.keys(procedures) : called
    calls ||= callable.some((name) => procedures[name]?.effect === 'write')
  }
  return { tables: [...written], calls }
}

/** Whether the list of tables that the login can write is whole, so that one missing in it cannot be written. */
function writesKnown({ writes, writesCount }: LoginFacts): boolean {
  return writes.length === writesCount
}

function writeWarning(login: LoginFacts, { tables, calls }: ReturnType<typeof writesOf>): string | undefined {
  if (tables.length === 0 && !calls) {
    return login.writesCount === 0
      ? undefined
      : `the database login can write ${login.writesCount} table(s), such as ${login.writes[0]}, although the policy only reads`
  }
  if (!writesKnown(login)) return undefined
  const writable = new Set(login.writes)
  const closed = tables.filter((table) => !writable.has(table))
  if (closed.length === 0) return undefined
  return `the policy changes ${closed.length} table(s) that the database login cannot write, such as ${closed[0]}; grant it INSERT and UPDATE there`
}

/**
 * Sentences for the operator about a login that can do more, or less, than the policy will ever ask of it, and about pools
 * that the server has no room for. `connections`: threads times connections a thread, of this connector in this process;
 * where the policy writes, as many again, since calls that write have connections of their own.
 */
export function loginWarnings(login: LoginFacts, connections: number, policy: Grants): readonly string[] {
  const warnings: string[] = []
  const writes = writesOf(policy)
  const writing = writes.tables.length > 0 || writes.calls
  const most = writing ? connections * 2 : connections
  if (login.connectionsMax !== undefined && most > login.connectionsMax * CONNECTIONS_SHARE) {
    warnings.push(
      `this connector may open ${most} connections (threads × pool.max${writing ? ', twice since it also writes' : ''}), and the server takes ${login.connectionsMax} from everybody`,
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
  const write = writeWarning(login, writes)
  return write === undefined ? warnings : [...warnings, write]
}
