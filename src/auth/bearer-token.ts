import { type GatewayError, gatewayError } from '../core/errors.js'
import { fail, ok, type Result } from '../core/result.js'

/** The token of an Authorization header: AUTH_MISSING without one, AUTH_INVALID when it is not one well-formed token. */
export function bearerToken(authorization: string | undefined): Result<string, GatewayError> {
  const parts = /^(\S+)(?: +(.*))?$/.exec((authorization ?? '').trim())
  if (parts?.[1]?.toLowerCase() !== 'bearer') {
    const reason = authorization === undefined ? 'no Authorization header' : 'the scheme is not Bearer'
    return fail(gatewayError('AUTH_MISSING', { reason }))
  }
  const token = parts[2] ?? ''
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(token)) return ok(token)
  return fail(gatewayError('AUTH_INVALID', { reason: 'the token is malformed' }))
}
