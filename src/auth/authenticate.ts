import { type KeyRecord, type KeyStore, type MaybePromise, StoreFailure } from '../admin/admin-store.js'
import { ANONYMOUS } from '../admin/names.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Observe } from '../observe/observation.js'
import { type ParsedKey, parseKey, secretMatches } from './api-key.js'
import { bearerToken } from './bearer-token.js'
import { FailureLimit } from './failure-limit.js'

export interface AuthenticatorOptions {
  readonly store: KeyStore
  readonly authEnabled: boolean
  /** Roles of every caller while authentication is off. */
  readonly anonymousRoles: readonly string[]
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly observe: Observe
  /**
   * What has to settle before a call may be judged by what is served, after the store could not be read for a while; undefined: nothing.
   * Rejects with `StoreFailure`.
   */
  readonly compared: () => Promise<void> | undefined
}

export interface Authenticator {
  /**
   * Who is calling, judged by the admin store as it is now. `connectorId` decides which bindings count. Errors: AUTH_MISSING
   * without a bearer key; AUTH_INVALID with one text for unknown, wrong, revoked, expired and disabled (the `reason` tells
   * them apart); RATE_LIMITED for an invalid attempt after too many from `clientAddress`; AUTH_UNAVAILABLE when the store
   * cannot be read, which is so for anonymous callers too: nobody knows then by which policy to judge them. A valid key is never limited. A promise only where the store has to be waited for.
   */
  authenticate(
    authorizationHeader: string | undefined,
    connectorId: string,
    clientAddress: string,
  ): MaybePromise<Result<Identity, GatewayError>>
  /** The key by itself, for those who administer: which bindings count is theirs to say. It is needed even where callers need none. */
  identify(
    authorizationHeader: string | undefined,
    clientAddress: string,
  ): MaybePromise<Result<KeyRecord, GatewayError>>
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { store, clock, observe } = options
  const failures = new FailureLimit(clock)
  const anonymous: Identity = {
    id: ANONYMOUS,
    name: ANONYMOUS,
    roles: [...new Set(options.anonymousRoles)].sort(),
    claims: new Map(),
  }
  const identities = new IdentityCache()

  function refuseAttempt(reason: string, clientAddress: string): Result<never, GatewayError> {
    return failures.exceeded(clientAddress)
      ? fail(gatewayError('RATE_LIMITED', { reason: `too many invalid keys from this address: ${reason}` }))
      : fail(gatewayError('AUTH_INVALID', { reason }))
  }

  function judge(
    key: ParsedKey,
    record: KeyRecord | undefined,
    clientAddress: string,
  ): Result<KeyRecord, GatewayError> {
    // The comparison comes first and runs for an unknown id too: nothing about a key shows without its secret.
    if (!secretMatches(key.secret, record?.secretHash) || record === undefined) {
      return refuseAttempt(record === undefined ? 'unknown key' : 'wrong secret', clientAddress)
    }
    const now = clock()
    const fault = recordFault(record, now)
    if (fault !== undefined) return refuseAttempt(fault, clientAddress)
    store.noteKeyUsed(record.keyId, now)
    return ok(record)
  }

  /** `give` makes of the record what the caller wants. */
  function withRecord<T>(
    authorizationHeader: string | undefined,
    clientAddress: string,
    give: (record: KeyRecord) => T,
  ): MaybePromise<Result<T, GatewayError>> {
    const token = bearerToken(authorizationHeader)
    if (!token.ok && token.error.code === 'AUTH_MISSING') return token
    const key = token.ok ? parseKey(token.value) : undefined
    if (key === undefined) return refuseAttempt('malformed key', clientAddress)
    const judged = (record: KeyRecord | undefined): Result<T, GatewayError> => {
      const valid = judge(key, record, clientAddress)
      return valid.ok ? ok(give(valid.value)) : valid
    }
    const failed = (error: unknown) => unavailable(error, observe)
    try {
      const found = store.findKey(key.keyId)
      return found instanceof Promise ? found.then(judged, failed) : judged(found)
    } catch (error) {
      return failed(error)
    }
  }

  /** Behind the look-up, which is what notices that the store was away. */
  function whenCompared(found: Result<Identity, GatewayError>): MaybePromise<Result<Identity, GatewayError>> {
    const compared = found.ok ? options.compared() : undefined
    return compared === undefined
      ? found
      : compared.then(
          () => found,
          (error: unknown) => unavailable(error, observe),
        )
  }

  return {
    authenticate(authorizationHeader, connectorId, clientAddress) {
      if (!options.authEnabled) return whenCompared(ok(anonymous))
      const found = withRecord(authorizationHeader, clientAddress, (record) =>
        identities.identityOf(record, connectorId),
      )
      return found instanceof Promise ? found.then(whenCompared) : whenCompared(found)
    },
    identify(authorizationHeader, clientAddress) {
      return withRecord(authorizationHeader, clientAddress, (record) => record)
    },
  }
}

function unavailable(error: unknown, observe: Observe): Result<never, GatewayError> {
  if (!(error instanceof StoreFailure)) throw error
  observe({ kind: 'auth.store_failed', detail: error.message })
  return fail(gatewayError('AUTH_UNAVAILABLE', { reason: `admin store ${error.kind}` }))
}

function recordFault(record: KeyRecord, nowMs: number): string | undefined {
  if (record.revokedAt !== undefined) return 'revoked key'
  if (record.expiresAt !== undefined && record.expiresAt <= nowMs) return 'expired key'
  return record.disabled ? 'disabled identity' : undefined
}

/** One `Identity` object a record and connector, made once: the record lives exactly as long as what it was read from. */
class IdentityCache {
  readonly #byRecord = new WeakMap<KeyRecord, Map<string, Identity>>()

  identityOf(record: KeyRecord, connectorId: string): Identity {
    let byConnector = this.#byRecord.get(record)
    if (byConnector === undefined) {
      byConnector = new Map()
      this.#byRecord.set(record, byConnector)
    }
    let identity = byConnector.get(connectorId)
    if (identity === undefined) {
      identity = toIdentity(record, connectorId)
      byConnector.set(connectorId, identity)
    }
    return identity
  }
}

function toIdentity(record: KeyRecord, connectorId: string): Identity {
  const holding = record.bindings.filter(({ connector }) => connector === undefined || connector === connectorId)
  return {
    id: record.identityId,
    name: record.identityName,
    keyId: record.keyId,
    roles: [...new Set(holding.map(({ role }) => role))].sort(),
    claims: record.claims,
  }
}
