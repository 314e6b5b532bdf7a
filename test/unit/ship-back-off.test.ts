import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { backOffMs, retryAfterMs } from '../../src/audit/ship/back-off.js'
import { shownUrl, unprotected } from '../../src/audit/ship/deliver.js'
import { ShipHeaders } from '../../src/audit/ship/ship-headers.js'
import {
  SHIP_BACKOFF_MAX_MS,
  SHIP_BACKOFF_MIN_MS,
  SHIP_HEADER_TTL_MS,
  SHIP_RETRY_AFTER_MAX_MS,
} from '../../src/core/limits.js'

const root = mkdtempSync(join(tmpdir(), 'runku-ship-'))
after(() => rmSync(root, { recursive: true }))

describe('pauses', () => {
  test('double from failure to failure up to a bound, and half of each is by chance', () => {
    assert.equal(backOffMs(1, 1), SHIP_BACKOFF_MIN_MS)
    assert.equal(backOffMs(1, 0), SHIP_BACKOFF_MIN_MS / 2)
    assert.equal(backOffMs(3, 1), SHIP_BACKOFF_MIN_MS * 4)
    assert.equal(backOffMs(1_000_000, 1), SHIP_BACKOFF_MAX_MS)
    assert.equal(backOffMs(1_000_000, 0), SHIP_BACKOFF_MAX_MS / 2)
  })

  test('are as long as a Retry-After asks, in seconds or as a date, within a bound', () => {
    const nowMs = Date.UTC(2026, 10, 30, 12, 0, 0)
    assert.equal(retryAfterMs('120', nowMs), 120_000)
    assert.equal(retryAfterMs('0', nowMs), 0)
    assert.equal(retryAfterMs('Mon, 30 Nov 2026 12:00:30 GMT', nowMs), 30_000)
    assert.equal(retryAfterMs('Mon, 30 Nov 2026 11:00:00 GMT', nowMs), 0)
    assert.equal(retryAfterMs('999999999', nowMs), SHIP_RETRY_AFTER_MAX_MS)
    assert.equal(retryAfterMs('Mon, 30 Nov 2099 12:00:00 GMT', nowMs), SHIP_RETRY_AFTER_MAX_MS)
  })

  test('are not asked for by what is neither', () => {
    for (const text of [undefined, '', '-1', '1.5', 'soon', 'Mon, 99 Foo 2026 12:00:00 GMT']) {
      assert.equal(retryAfterMs(text, 0), undefined)
    }
  })
})

describe('headers', () => {
  const file = join(root, 'token')

  test('are read from their file again once a minute, and after they were not taken', () => {
    let nowMs = 0
    const headers = new ShipHeaders(
      [
        { name: 'A', file },
        { name: 'B', value: 'b' },
      ],
      () => nowMs,
    )
    const read = () => {
      const list = headers.list()
      return list.ok ? list.value : list.error
    }
    writeFileSync(file, 'one\r\n')
    assert.deepEqual(read(), [
      ['A', 'one'],
      ['B', 'b'],
    ])
    writeFileSync(file, 'two')
    assert.deepEqual(read()[0], ['A', 'one'])
    headers.forget()
    assert.deepEqual(read()[0], ['A', 'two'])
    writeFileSync(file, 'three')
    nowMs = SHIP_HEADER_TTL_MS - 1
    assert.deepEqual(read()[0], ['A', 'two'])
    nowMs = SHIP_HEADER_TTL_MS
    assert.deepEqual(read()[0], ['A', 'three'])
  })

  test('that cannot be sent are told by name and file, never by value', () => {
    const fault = (content: string | undefined) => {
      const path = content === undefined ? join(root, 'missing') : file
      if (content !== undefined) writeFileSync(file, content)
      const list = new ShipHeaders([{ name: 'Authorization', file: path }], () => 0).list()
      return list.ok ? '' : list.error
    }
    assert.match(
      fault(undefined),
      /^the header Authorization cannot be sent: the file ".*missing" cannot be read \(ENOENT\)$/,
    )
    assert.match(fault('\n'), /is empty$/)
    for (const content of ['secret\ntwo', 'secret\0', 'secret €', `secret${'x'.repeat(20_000)}`]) {
      assert.match(fault(content), /^the header Authorization cannot be sent/)
      assert.doesNotMatch(fault(content), /secret/)
    }
  })
})

describe('an address', () => {
  test('is shown without what may be secret in it', () => {
    assert.equal(shownUrl('https://logs.example.com:8088/in?token=secret'), 'https://logs.example.com:8088/in')
  })

  test('is warned of where entries travel unprotected beyond this machine', () => {
    assert.match(unprotected('http://logs.example.com/in', {}) ?? '', /unencrypted/)
    assert.match(
      unprotected('https://logs.example.com/in', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }) ?? '',
      /NODE_TLS_REJECT_UNAUTHORIZED/,
    )
    for (const url of [
      'http://127.0.0.1:9/in',
      'http://[::1]:9/in',
      'http://localhost/in',
      'https://logs.example.com/in',
    ]) {
      assert.equal(unprotected(url, {}), undefined)
    }
  })
})
