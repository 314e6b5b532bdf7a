import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ERRORS, publicText } from '../../src/core/errors.js'
import {
  checkClaimedVersion,
  checkVersionHeader,
  negotiateVersion,
  SERVED_VERSIONS,
  takesBatches,
} from '../../src/mcp/era.js'
import { type ParsedMessage, parseBody } from '../../src/mcp/json-rpc.js'

function message(params: unknown, method = 'tools/list'): ParsedMessage {
  const parsed = parseBody(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })))
  const first = parsed.ok ? parsed.value.messages[0] : undefined
  assert.ok(first !== undefined)
  return first
}

describe('protocol versions', () => {
  test('initialize answers a served version with itself and anything else with the newest', () => {
    assert.deepEqual(SERVED_VERSIONS, ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
    for (const version of SERVED_VERSIONS) assert.equal(negotiateVersion(version), version)
    for (const version of [undefined, '', '2024-10-07', '2026-07-28', '9999-12-31', '__proto__']) {
      assert.equal(negotiateVersion(version), '2025-11-25')
    }
  })

  test('a request may leave the header out or name a served version', () => {
    for (const version of [undefined, ...SERVED_VERSIONS]) assert.equal(checkVersionHeader(version), undefined)
  })

  test('any other header is a 400 that lists what is served, and not the code by which modern servers are known', () => {
    for (const version of ['', '2026-07-28', '2025-06-18, 2025-06-18', ' 2025-06-18', 'latest']) {
      const error = checkVersionHeader(version)
      assert.ok(error !== undefined)
      assert.equal(error.code, 'PROTOCOL_VERSION')
      for (const served of SERVED_VERSIONS) assert.ok(publicText(error).includes(served))
    }
    assert.deepEqual(ERRORS.PROTOCOL_VERSION.reply, { kind: 'rpc', rpcCode: -32600, status: 400 })
  })

  test('the refused version reaches the operator cleaned and capped, and the caller not at all', () => {
    const error = checkVersionHeader(`\u001b[31m${'x'.repeat(10_000)}`)
    assert.ok(error !== undefined)
    assert.doesNotMatch(publicText(error), /xxx/)
    assert.ok((error.reason ?? '').length < 100)
    assert.doesNotMatch(error.reason ?? '', /\u001b/)
  })

  test('batches belong to 2025-03-26 alone, which is also what a request without the header speaks', () => {
    assert.equal(takesBatches(undefined), true)
    assert.deepEqual(SERVED_VERSIONS.filter(takesBatches), ['2025-03-26'])
  })

  test('a message that claims a version in its _meta is refused, whatever the claim', () => {
    const key = 'io.modelcontextprotocol/protocolVersion'
    for (const claimed of ['2026-07-28', '2025-11-25', 5, null, {}]) {
      assert.equal(
        checkClaimedVersion(message({ _meta: { [key]: claimed } }, 'server/discover'))?.code,
        'PROTOCOL_VERSION',
      )
    }
  })

  test('a _meta without the claim, or none, is fine', () => {
    for (const params of [
      undefined,
      {},
      { _meta: {} },
      { _meta: null },
      { _meta: 'x' },
      { _meta: { progressToken: 1 } },
    ]) {
      assert.equal(checkClaimedVersion(message(params)), undefined)
    }
    assert.equal(checkClaimedVersion({ kind: 'response' }), undefined)
  })
})
