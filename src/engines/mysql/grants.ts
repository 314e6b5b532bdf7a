/**
 * What the login may do, as `SHOW GRANTS` tells it: the only account of it that both servers give to every login, with the
 * roles that are active and, in MariaDB, what everyone may do. `information_schema` leaves the rights of roles out.
 */

/** One line, taken apart. A right on some columns counts as one on their table, and is told apart from one on all of it. */
export interface Grant {
  /** MySQL can take away in one schema what was given for all of them. */
  readonly taken: boolean
  readonly privileges: ReadonlySet<string>
  /** Those of `privileges` that are on some columns alone. */
  readonly byColumn: ReadonlySet<string>
  readonly on: 'table' | 'function' | 'procedure'
  /** Absent: all of them. On a whole schema it is a pattern of LIKE, with `\` to escape. */
  readonly schema?: string
  readonly object?: string
}

/** What a right is asked for: a schema's object. */
export interface GrantTarget {
  readonly on: Grant['on']
  readonly schema: string
  readonly object: string
}

/** Names in either quotes or none, and what stands between them. */
const TOKEN = /\s*(`(?:[^`]|``)*`|"(?:[^"]|"")*"|[(),.]|[^\s`"(),.]+)/gy

const KINDS: ReadonlyMap<string, Grant['on']> = new Map([
  ['TABLE', 'table'],
  ['FUNCTION', 'function'],
  ['PROCEDURE', 'procedure'],
])

/** Undefined for what is no right on an object: a role that was granted, a proxy, the default role. */
export function parseGrant(line: string): Grant | undefined {
  const tokens = tokensOf(line)
  const [verb] = tokens
  const given = tokens.indexOf('ON')
  if ((verb !== 'GRANT' && verb !== 'REVOKE') || given === -1) return undefined
  const kind = KINDS.get(tokens[given + 1] ?? '')
  const from = kind === undefined || tokens[given + 2] === '.' ? given + 1 : given + 2
  const [schema, dot, object, end] = tokens.slice(from, from + 4)
  if (schema === undefined || object === undefined || dot !== '.' || end !== (verb === 'GRANT' ? 'TO' : 'FROM')) {
    return undefined
  }
  return {
    taken: verb === 'REVOKE',
    ...privilegesOf(tokens.slice(1, given)),
    on: kind ?? 'table',
    ...(schema === '*' ? {} : { schema: unquoted(schema) }),
    ...(object === '*' ? {} : { object: unquoted(object) }),
  }
}

/** Whether the login holds the right on the whole server: nothing else is a superuser's. */
export function holdsEverywhere(grants: readonly Grant[], privilege: string): boolean {
  return grants.some((grant) => !grant.taken && grant.schema === undefined && includes(grant, privilege))
}

/** `foldCase`: the server compares the names of schemas and tables without regard to case. */
export function holds(grants: readonly Grant[], privilege: string, target: GrantTarget, foldCase: boolean): boolean {
  const fitting = grants.filter((grant) => includes(grant, privilege) && covers(grant, target, foldCase))
  const takenBack = fitting.some((grant) => grant.taken)
  return fitting.some((grant) => !grant.taken && !(takenBack && grant.schema === undefined))
}

/** Whether the login holds the right on columns of the table one by one, and not on the table. */
export function holdsByColumn(
  grants: readonly Grant[],
  privilege: string,
  target: GrantTarget,
  foldCase: boolean,
): boolean {
  const whole = grants.filter(({ byColumn }) => !byColumn.has(privilege))
  return holds(grants, privilege, target, foldCase) && !holds(whole, privilege, target, foldCase)
}

function includes({ privileges }: Grant, privilege: string): boolean {
  return privileges.has(privilege) || privileges.has('ALL PRIVILEGES')
}

function covers(grant: Grant, target: GrantTarget, foldCase: boolean): boolean {
  if (grant.schema === undefined) return true
  const fold = (name: string): string => (foldCase ? name.toLowerCase() : name)
  if (grant.object === undefined) return isLike(fold(target.schema), fold(grant.schema))
  if (grant.on !== target.on || fold(grant.schema) !== fold(target.schema)) return false
  // Routines are granted in lower case, however they are spelt.
  const object = grant.on === 'table' ? fold : (name: string) => name.toLowerCase()
  return object(grant.object) === object(target.object)
}

function tokensOf(line: string): readonly string[] {
  return [...line.matchAll(TOKEN)].map(([, token = '']) => token)
}

/** Words up to a comma, without the columns in parentheses behind them. */
function privilegesOf(tokens: readonly string[]): Pick<Grant, 'privileges' | 'byColumn'> {
  const privileges = new Set<string>()
  const byColumn = new Set<string>()
  let words: string[] = []
  let inColumns = false
  for (const token of [...tokens, ',']) {
    if (token === '(') byColumn.add(words.join(' '))
    if (token === '(' || token === ')') inColumns = token === '('
    else if (inColumns) continue
    else if (token !== ',') words.push(token)
    else {
      privileges.add(words.join(' '))
      words = []
    }
  }
  return { privileges, byColumn }
}

function unquoted(token: string): string {
  const [quote = ''] = token
  return quote === '`' || quote === '"' ? token.slice(1, -1).replaceAll(quote + quote, quote) : token
}

/** LIKE as the servers match the schemas of a right. */
function isLike(text: string, pattern: string): boolean {
  const expression = pattern.replaceAll(/\\(.)|[%_]|[^%_\\]+|\\/gs, (part, escaped?: string) => {
    if (part === '%') return '.*'
    if (part === '_') return '.'
    return (escaped ?? part).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${expression}$`, 'su').test(text)
}
