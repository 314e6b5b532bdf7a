import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { judge, type Verdict } from '../../src/audit/ship/answers.js'
import type { Attempt } from '../../src/audit/ship/deliver.js'
import { SHIP_BACKOFF_MIN_MS } from '../../src/core/limits.js'
import type { ShipFormat } from '../../src/threads/messages.js'

const FORMATS: readonly ShipFormat[] = ['json', 'ndjson', 'splunk_hec', 'elastic_bulk']

function answered(status: number, body: unknown = undefined, retryAfter: string | undefined = undefined): Attempt {
  return { kind: 'answered', status, retryAfter, text: body === undefined ? '' : JSON.stringify(body) }
}

function judged(format: ShipFormat, attempt: Attempt, entries = 3): Verdict {
  const ids = [...Array.from({ length: entries }, (_, i) => `e-${i}`), 'head']
  return judge(format, attempt, { entries, ids }, Date.UTC(2026, 0, 1))
}

function failure(verdict: Verdict): Extract<Verdict, { kind: 'failed' }> {
  assert.equal(verdict.kind, 'failed')
  // Checked by the line above, which the compiler does not follow.
  return verdict as Extract<Verdict, { kind: 'failed' }>
}

describe('an answer', () => {
  test('of success settles the batch', () => {
    for (const status of [200, 201, 202, 204]) {
      for (const format of ['json', 'ndjson', 'splunk_hec'] as const) {
        assert.deepEqual(judged(format, answered(status)), { kind: 'taken' })
      }
    }
  })

  test('that sends elsewhere is a failure that says so, whatever the format', () => {
    for (const format of FORMATS) {
      for (const status of [301, 302, 307, 308]) {
        assert.match(failure(judged(format, answered(status))).reason, new RegExp(`redirect \\(HTTP ${status}\\)`))
      }
    }
  })

  test('that does not take the headers has them read again', () => {
    for (const format of FORMATS) {
      for (const status of [401, 403]) {
        assert.equal(failure(judged(format, answered(status))).unauthorized, true)
      }
      assert.equal(failure(judged(format, answered(400))).unauthorized, false)
    }
  })

  test('of 413 says that the batch is too large', () => {
    for (const format of FORMATS) assert.deepEqual(judged(format, answered(413)), { kind: 'too_large' })
  })

  test('of 429 or 503 asks for a pause', () => {
    for (const format of FORMATS) {
      assert.equal(failure(judged(format, answered(429, undefined, '7'))).pauseMs, 7_000)
      assert.equal(failure(judged(format, answered(503, undefined, '7'))).pauseMs, 7_000)
      assert.equal(failure(judged(format, answered(500))).pauseMs, undefined)
    }
  })

  test('is never repeated in a reason, since it may hold a header', () => {
    const body = { text: 'no such token: secret', code: 4, error: { type: 'secret token', reason: 'secret' } }
    for (const format of FORMATS) {
      for (const status of [200, 400, 401, 403, 500]) {
        const verdict = judged(format, answered(status, body))
        assert.doesNotMatch(JSON.stringify(verdict), /secret/)
      }
    }
  })

  test('that does not come is a failure of any format', () => {
    for (const format of FORMATS) {
      assert.equal(failure(judged(format, { kind: 'unanswered', reason: 'no answer' })).reason, 'no answer')
    }
  })
})

describe('an answer of Splunk', () => {
  test('that names an event refuses that one, and the others are sent again', () => {
    for (const code of [6, 12, 13, 15]) {
      const attempt = answered(400, { text: 'x', code, 'invalid-event-number': 1 })
      assert.deepEqual(judged('splunk_hec', attempt), {
        kind: 'parted',
        refused: [1],
        left: [0, 2],
        refusal: `the destination answers with the code ${code}`,
        pauseMs: 0,
      })
    }
  })

  test('about the index or the token is about all events, whichever it names', () => {
    const attempt = answered(400, { text: 'Incorrect index', code: 7, 'invalid-event-number': 1 })
    assert.match(failure(judged('splunk_hec', attempt)).reason, /code 7/)
  })

  test('with a number that no entry has refuses none, and is not taken for one about the head where no event has it', () => {
    const reason = (place: unknown) =>
      failure(judged('splunk_hec', answered(400, { code: 6, 'invalid-event-number': place }))).reason
    assert.match(reason(3), /refuses the head of the chain/)
    for (const place of [4, 99_999, -1, 0.5]) assert.match(reason(place), /makes no sense/)
    assert.match(reason('1'), /HTTP 400 with the code 6/)
    const headless = { entries: 1, ids: ['e-0'] }
    const attempt = answered(400, { code: 6, 'invalid-event-number': 1 })
    assert.match(failure(judge('splunk_hec', attempt, headless, 0)).reason, /makes no sense/)
  })

  test('of success with a warning about its queues is success, and with another code it is none', () => {
    assert.deepEqual(judged('splunk_hec', answered(200, { text: 'x', code: 24 })), { kind: 'taken' })
    failure(judged('splunk_hec', answered(200, { text: 'x', code: 7 })))
  })
})

describe('an answer of Elasticsearch', () => {
  const items = (...statuses: readonly number[]) => ({
    took: 1,
    errors: statuses.some((status) => status > 201),
    items: statuses.map((status, place) => ({
      create: {
        _id: place === statuses.length - 1 ? 'head' : `e-${place}`,
        status,
        ...(status > 201 ? { error: { type: `type_${status}`, reason: 'private' } } : {}),
      },
    })),
  })

  test('counts a document that is there already as delivered', () => {
    assert.deepEqual(judged('elastic_bulk', answered(200, items(201, 409, 201, 409))), { kind: 'taken' })
  })

  test('parts what is refused from what has to wait', () => {
    assert.deepEqual(judged('elastic_bulk', answered(200, items(201, 400, 429, 201))), {
      kind: 'parted',
      refused: [1],
      left: [2],
      refusal: 'the destination answers type_400 (400)',
      pauseMs: 0,
    })
  })

  test('has what is left wait for as long as it asks, and for a while where it took the smaller part', () => {
    const pauses = [
      judged('elastic_bulk', answered(200, items(201, 201, 429, 201))),
      judged('elastic_bulk', answered(200, items(201, 201, 429, 201), '7')),
      judged('elastic_bulk', answered(200, items(201, 429, 429, 201))),
    ].map((verdict) => (verdict.kind === 'parted' ? verdict.pauseMs : verdict))
    assert.deepEqual(pauses, [0, 7_000, SHIP_BACKOFF_MIN_MS])
    assert.equal(failure(judged('elastic_bulk', answered(200, items(429, 429, 429, 429), '7'))).pauseMs, 7_000)
  })

  test('that has only the head wait was not in vain where an entry is new', () => {
    assert.equal(failure(judged('elastic_bulk', answered(200, items(409, 201, 409, 429)))).progress, true)
    assert.equal(failure(judged('elastic_bulk', answered(200, items(409, 409, 409, 429)))).progress, false)
    assert.equal(failure(judged('elastic_bulk', answered(200, items(429, 503, 429, 201)))).progress, false)
  })

  test('about more, fewer or other documents than were sent, or in another order, confirms nothing', () => {
    const created = (...ids: readonly string[]) => ({ items: ids.map((_id) => ({ create: { _id, status: 201 } })) })
    assert.match(failure(judged('elastic_bulk', answered(200, items(201, 201, 201)))).reason, /3 documents where 4/)
    assert.match(failure(judged('elastic_bulk', answered(200, items(201, 201, 201, 201, 201)))).reason, /5 .* where 4/)
    for (const ids of [
      ['x', 'x', 'x', 'x'],
      ['e-1', 'e-0', 'e-2', 'head'],
      ['e-0', 'e-1', 'e-2', 'e-2'],
    ]) {
      const { reason } = failure(judged('elastic_bulk', answered(200, created(...ids))))
      assert.match(reason, /makes no sense: it tells of other documents/)
    }
    const silent = { items: [1, 2, 3, 4].map(() => ({ create: { status: 201 } })) }
    assert.deepEqual(judged('elastic_bulk', answered(200, silent)), { kind: 'taken' })
  })

  test('refuses no entry for what is wrong with the index, the rights or the cluster', () => {
    for (const status of [401, 403, 404, 429, 500, 503]) {
      const verdict = judged('elastic_bulk', answered(200, items(status, status, status, status)))
      assert.match(failure(verdict).reason, new RegExp(`type_${status}`))
    }
  })

  test('about a head that has to wait has everything sent again, and one about a head that is refused does not', () => {
    failure(judged('elastic_bulk', answered(200, items(201, 201, 201, 503))))
    const refused = judged('elastic_bulk', answered(200, items(201, 201, 201, 400)))
    assert.equal(refused.kind, 'parted')
    assert.deepEqual(refused.kind === 'parted' ? [refused.refused, refused.left] : [], [[3], []])
  })

  test('that does not tell of each document confirms nothing', () => {
    for (const body of [undefined, {}, { items: 1 }, { errors: false, items: [{ index: {} }] }]) {
      assert.match(failure(judged('elastic_bulk', answered(200, body))).reason, /_bulk/)
    }
    const tooLong: Attempt = { kind: 'answered', status: 200, retryAfter: undefined, text: undefined }
    failure(judged('elastic_bulk', tooLong))
  })
})
