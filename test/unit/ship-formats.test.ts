import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chainKeys, readHeadLine, writeHeadLine } from '../../src/audit/chain.js'
import { batchId, type ShipFacts, type ShipItem, writeBody } from '../../src/audit/ship/formats.js'

const KEYS = chainKeys(Buffer.alloc(32, 7))
const HEAD = writeHeadLine(KEYS, {
  instance: '095b44a44361a001',
  seq: 8,
  hash: 'ab'.repeat(32),
  time: '2026-11-30T17:27:00.123Z',
})
const FACTS: ShipFacts = { id: '095b44a44361a001-7-8', instance: '095b44a44361a001', from: 7, to: 8, head: HEAD }
/** Spaces, escapes and the order of members have to survive as they are. */
const LINES = [
  '{"seq":7,"id":"a-1","reason":"\\u200b \\"x\\"","hash":"00"}',
  '{"seq":8,"id":"a-2","client":"ü€","hash":"01"}',
]
const ITEMS: readonly ShipItem[] = [
  { seq: 7, id: 'a-1', timeMs: Date.UTC(2026, 10, 30, 17, 26, 57, 940), line: LINES[0] ?? '' },
  { seq: 8, id: 'a-2', timeMs: Date.UTC(2026, 10, 30, 17, 26, 58, 5), line: LINES[1] ?? '' },
]

describe('formats', () => {
  test('json is one object of the batch, the head and the entries as they were sealed', () => {
    const body = writeBody('json', FACTS, ITEMS)
    assert.equal(
      body,
      '{"batch":{"id":"095b44a44361a001-7-8","instance":"095b44a44361a001","from_seq":7,"to_seq":8,"entries":2},' +
        `${HEAD.slice(1, -1)},"entries":[${LINES.join(',')}]}`,
    )
    // What a reader has of the head is the line that the chain key made.
    const { head, mac } = JSON.parse(body) as { head: unknown; mac: string }
    assert.notEqual(readHeadLine(KEYS, JSON.stringify({ head, mac })), undefined)
  })

  test('ndjson is the head and each entry on a line of its own', () => {
    assert.equal(writeBody('ndjson', FACTS, ITEMS), `${HEAD}\n${LINES.join('\n')}\n`)
  })

  test('splunk_hec is an event an entry with its time, and one for the head behind them', () => {
    assert.equal(
      writeBody('splunk_hec', FACTS, ITEMS),
      `{"time":1796059617.940,"source":"runku","sourcetype":"runku:audit","event":${LINES[0]}}\n` +
        `{"time":1796059618.005,"source":"runku","sourcetype":"runku:audit","event":${LINES[1]}}\n` +
        `{"time":1796059620.123,"source":"runku","sourcetype":"runku:audit:head","event":${HEAD}}\n`,
    )
  })

  test('elastic_bulk creates a document under the id of each entry, which is its line behind a timestamp', () => {
    assert.equal(
      writeBody('elastic_bulk', FACTS, ITEMS),
      `{"create":{"_id":"a-1"}}\n{"@timestamp":"2026-11-30T17:26:57.940Z",${LINES[0]?.slice(1)}\n` +
        `{"create":{"_id":"a-2"}}\n{"@timestamp":"2026-11-30T17:26:58.005Z",${LINES[1]?.slice(1)}\n` +
        `{"create":{"_id":"095b44a44361a001-7-8-head"}}\n{"@timestamp":"2026-11-30T17:27:00.123Z",${HEAD.slice(1)}\n`,
    )
  })

  test('without a head there are the entries alone', () => {
    const facts = { ...FACTS, head: undefined }
    assert.equal(writeBody('ndjson', facts, ITEMS), `${LINES.join('\n')}\n`)
    assert.equal((JSON.parse(writeBody('json', facts, ITEMS)) as { head?: unknown }).head, undefined)
    assert.equal(writeBody('splunk_hec', facts, ITEMS).trimEnd().split('\n').length, 2)
    assert.equal(writeBody('elastic_bulk', facts, ITEMS).trimEnd().split('\n').length, 4)
  })

  test('what is left of a batch is another request than the whole', () => {
    assert.equal(batchId('i', 1, 9, 0), 'i-1-9')
    assert.equal(batchId('i', 1, 9, 2), 'i-1-9.2')
  })
})
