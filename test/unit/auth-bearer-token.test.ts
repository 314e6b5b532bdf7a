import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bearerToken } from '../../src/auth/bearer-token.js'

describe('bearer token', () => {
  const refusal = (value?: string) => {
    const token = bearerToken(value)
    return token.ok ? token.value : token.error.code
  }

  test('the scheme may be written in any case, with one token after it', () => {
    for (const value of ['Bearer rk_a_b', 'bearer rk_a_b', 'BEARER  rk_a_b', ' Bearer rk_a_b ']) {
      assert.equal(refusal(value), 'rk_a_b', value)
    }
    assert.equal(refusal('Bearer a.b-c~d+e/f=='), 'a.b-c~d+e/f==')
  })

  test('no header or another scheme is a missing key, a malformed token an invalid one', () => {
    for (const value of [undefined, '', 'Basic dXNlcjpwYXNz', 'rk_a_b', 'Bearerrk_a_b'])
      assert.equal(refusal(value), 'AUTH_MISSING', value)
    for (const value of [
      'Bearer',
      'Bearer ',
      'Bearer a b',
      'Bearer a, Bearer b',
      'Bearer "a"',
      'Bearer ä',
      'Bearer =',
    ]) {
      assert.equal(refusal(value), 'AUTH_INVALID', value)
    }
  })

  test('the reason never holds the token', () => {
    const token = bearerToken('Bearer secret secret')
    assert.ok(!token.ok)
    assert.doesNotMatch(JSON.stringify(token.error), /secret/)
  })
})
