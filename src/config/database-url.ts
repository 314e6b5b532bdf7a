import { nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'

/** What addresses of databases have in common, whatever the engine. */

/** `strict`: TLS before the protocol, which only some engines speak; verified as well. */
export type TlsMode = 'disable' | 'require' | 'verify' | 'strict'

export interface DatabaseAddress {
  /** A host name, an IP address without brackets, or the path of a local socket as the engine takes it. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password?: string
  readonly database: string
  readonly tls?: TlsMode
  readonly tlsCaFile?: string
}

/** How the addresses of one engine are written. */
export interface UrlGrammar {
  /** The first is the one that messages name. */
  readonly schemes: readonly [string, ...string[]]
  /** Where the address names none. */
  readonly port: number
  readonly tls: {
    readonly parameter: string
    /** By the parameter's values. */
    readonly modes: ReadonlyMap<string, TlsMode>
    /** Such as `disable, require or verify-full`. */
    readonly expected: string
    /** A parameter that takes `true` where the certificate is not to be verified, for engines that say it by one of its own. */
    readonly trustParameter?: string
  }
  /** The parameter that names a file of certificate authorities. */
  readonly caParameter: string
  /** Names that other programs take in an address. Only these may be repeated in a message: see `unknownParameter`. */
  readonly foreignParameters: ReadonlySet<string>
}

const HOST = /^(?:[A-Za-z0-9_.-]{1,253}|[0-9a-fA-F:.]{2,45}|\/[^\0]*)$/

/** Reads an address. The error is a sentence that never repeats a part of the address that could be secret. */
export function parseDatabaseUrl(text: string, grammar: UrlGrammar): Result<DatabaseAddress, string> {
  const { schemes } = grammar
  if (!schemes.some((scheme) => text.startsWith(`${scheme}://`))) {
    return fail(`expected an address that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`)
  }
  if (/[\s\p{Cc}]/u.test(text)) return fail('the address holds white space: percent-encode it')
  if (!URL.canParse(text)) {
    return fail(
      `not a valid address: expected ${schemes[0]}://user:password@host:port/database, special characters percent-encoded`,
    )
  }
  const url = new URL(text)
  if (url.hash !== '') return fail('the address holds a "#": write it as %23')
  const parts = decodeAll([url.hostname.replace(/^\[|\]$/g, ''), url.username, url.password, url.pathname.slice(1)])
  if (parts === undefined) return fail('a "%" in the address does not begin an escape: write it as %25')
  const [host = '', user = '', password = '', database = ''] = parts
  if (!HOST.test(host)) return fail('the address names no usable host')
  if (user === '') return fail('the address names no user')
  if (database === '' || url.pathname.slice(1).includes('/')) return fail('expected one database name after the host')
  const parameters = readParameters(url.searchParams, grammar)
  if (!parameters.ok) return parameters
  return ok({
    host,
    port: url.port === '' ? grammar.port : Number(url.port),
    user,
    ...(password === '' ? {} : { password }),
    database,
    ...parameters.value,
  })
}

function decodeAll(parts: readonly string[]): readonly string[] | undefined {
  try {
    return parts.map((part) => decodeURIComponent(part))
  } catch {
    return undefined
  }
}

function parametersOf({ tls, caParameter }: UrlGrammar): readonly string[] {
  return [tls.parameter, ...(tls.trustParameter === undefined ? [] : [tls.trustParameter]), caParameter]
}

function readParameters(
  parameters: URLSearchParams,
  grammar: UrlGrammar,
): Result<Pick<DatabaseAddress, 'tls' | 'tlsCaFile'>, string> {
  const seen = new Map<string, string>()
  const known = parametersOf(grammar)
  for (const [name, value] of parameters) {
    if (!known.includes(name)) return fail(unknownParameter(name, grammar))
    if (seen.has(name)) return fail(`the parameter ${name} of the address repeats`)
    seen.set(name, value)
  }
  const tls = readTls(seen, grammar)
  if (!tls.ok) return tls
  const tlsCaFile = seen.get(grammar.caParameter)
  return ok({
    ...(tls.value === undefined ? {} : { tls: tls.value }),
    ...(tlsCaFile === undefined ? {} : { tlsCaFile }),
  })
}

function readTls(seen: ReadonlyMap<string, string>, { tls }: UrlGrammar): Result<TlsMode | undefined, string> {
  const word = seen.get(tls.parameter)
  const mode = word === undefined ? undefined : tls.modes.get(word)
  if (word !== undefined && mode === undefined) {
    return fail(`${tls.parameter} of the address: expected ${tls.expected}`)
  }
  const trust = tls.trustParameter === undefined ? undefined : seen.get(tls.trustParameter)
  if (trust === undefined || trust === 'false') return ok(mode)
  if (trust !== 'true') return fail(`${tls.trustParameter} of the address: expected true or false`)
  if (mode !== undefined && mode !== 'verify') {
    return fail(`${tls.trustParameter} of the address: a certificate is trusted with ${tls.parameter}=true only`)
  }
  return ok('require')
}

/** A password with a bare "?" spills into the parameters, so a name is repeated only when it is a well-known one. */
function unknownParameter(name: string, grammar: UrlGrammar): string {
  const known = parametersOf(grammar)
  const near = nearest(name, known)
  const listed = `${known.slice(0, -1).join(', ')} or ${known.at(-1)}`
  const hint = near === undefined ? `expected ${listed}` : `did you mean "${near}"?`
  return grammar.foreignParameters.has(name)
    ? `the parameter ${name} of the address is not taken: ${hint}`
    : `the address has an unknown parameter: ${hint} A "?" in a password is written as %3F`
}
