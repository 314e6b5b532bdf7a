import { type GatewayError, gatewayError } from '../core/errors.js'
import { ECHO_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import type { ParsedMessage } from './json-rpc.js'

/** The revisions served, oldest first. All of them begin with `initialize`. */
export const SERVED_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export type ServedVersion = (typeof SERVED_VERSIONS)[number]

const NEWEST: ServedVersion = '2025-11-25'
/** What a request without the header speaks, and the one revision with batches. */
const WITHOUT_HEADER: ServedVersion = '2025-03-26'
/** A request that names its revision here belongs to the era without `initialize`. */
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'

function isServed(version: string): version is ServedVersion {
  return (SERVED_VERSIONS as readonly string[]).includes(version)
}

/** The revision that `initialize` answers: the requested one where it is served, else the newest. */
export function negotiateVersion(requested: string | undefined): ServedVersion {
  return requested !== undefined && isServed(requested) ? requested : NEWEST
}

/**
 * The answer is a plain 400 without the code −32022: a client that speaks both eras takes that code for a modern server
 * and anything else for one to `initialize` with.
 */
function notServed(field: string, requested: string): GatewayError {
  return gatewayError('PROTOCOL_VERSION', {
    field,
    expected: `one of ${SERVED_VERSIONS.join(', ')}, agreed on with "initialize"`,
    reason: `requested ${cleanText(requested, ECHO_CHARS_MAX)}`,
  })
}

/** Judges the `MCP-Protocol-Version` header; an absent one is fine. PROTOCOL_VERSION names what is served. */
export function checkVersionHeader(header: string | undefined): GatewayError | undefined {
  return header === undefined || isServed(header) ? undefined : notServed('MCP-Protocol-Version', header)
}

/** Whether a request with this header may carry several messages. */
export function takesBatches(header: string | undefined): boolean {
  return (header ?? WITHOUT_HEADER) === '2025-03-26'
}

/** Refuses a message that claims a revision in its `_meta`: those that do are not served, whatever the header says. */
export function checkClaimedVersion(message: ParsedMessage): GatewayError | undefined {
  if (message.kind !== 'request' && message.kind !== 'notification') return undefined
  const meta = message.params?.['_meta']
  if (typeof meta !== 'object' || meta === null || !Object.hasOwn(meta, VERSION_KEY)) return undefined
  const claimed: unknown = Reflect.get(meta, VERSION_KEY)
  return notServed(`params._meta["${VERSION_KEY}"]`, typeof claimed === 'string' ? claimed : typeof claimed)
}
