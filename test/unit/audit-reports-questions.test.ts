import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { csvLine } from '../../src/audit/reports/csv.js'
import type { AuditIndex } from '../../src/audit/reports/index-file.js'
import { makeReport } from '../../src/audit/reports/make-report.js'
import { parseQuestion, type ReportName, type ReportScope } from '../../src/audit/reports/report-query.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { auditRecord } from '../support/audit-records.js'
import { must } from '../support/gateway.js'
import { allPages, EVERYTHING, followAll, ReportBuffer, shownReport } from '../support/report-buffers.js'

const NOW_MS = Date.parse('2026-03-02T00:00:00Z')

function faultOf(report: ReportName, query: string): string {
  const question = parseQuestion(report, query, '', NOW_MS)
  if (question.ok) return 'no fault'
  const { field, expected, suggestion } = question.error
  return `${field}: ${expected}${suggestion === undefined ? '' : ` (${suggestion}?)`}`
}

describe('a question', () => {
  test('with an unknown, repeated, empty or badly formed member is refused with what was expected', () => {
    const faults: readonly (readonly [ReportName, string, RegExp])[] = [
      ['calls', 'conector=shop', /^conector: one of from, to, connector, .* \(connector\?\)$/],
      ['calls', 'connector=a&connector=b', /^connector: it once$/],
      ['calls', 'identity=', /^identity: 1 to 512 characters$/],
      ['calls', 'operation=serch', /^operation: one of get, search, .* \(search\?\)$/],
      ['calls', 'decision=denied', /^decision: one of allowed, blocked, errored/],
      ['calls', 'code=TIMEOUTS', /^code: a code .* \(TIMEOUT\?\)$/],
      ['calls', 'limit=0', /^limit: a number from 1 to 1000$/],
      ['calls', 'limit=1001', /^limit: /],
      ['calls', 'limit=1e2', /^limit: /],
      ['calls', 'cursor=abc', /^cursor: "next" of the page before$/],
      ['tools', 'cursor=17', /^cursor: /],
      ['tools', 'cursor=WzEsMl0', /^cursor: /],
      ['summary', 'limit=5', /^limit: one of /],
      ['summary', 'format=xml', /^format: one of json, csv/],
      ['summary', 'interval=hour', /^from: it together with interval$/],
      ['summary', 'interval=hours&from=2026-03-01', /^interval: one of minute, hour, day \(hour\?\)$/],
      ['summary', 'interval=minute&from=2026-02-01', /^interval: at most 1500 intervals/],
      ['summary', 'constructor=1', /^constructor: /],
      ['calls', 'code=toString', /^code: /],
      ['calls', 'from=2026-03-02&to=2026-03-01', /^to: a later moment than from$/],
    ]
    for (const [report, query, fault] of faults) assert.match(faultOf(report, query), fault, query)
    for (const moment of ['yesterday', '2026-3-1', '2026-03-01T10:00', '2026-02-30', '2026-13-01', '1700000000', '']) {
      assert.notEqual(faultOf('calls', `from=${moment}`), 'no fault', moment)
    }
  })

  test('has moments in any zone, with the plus sign escaped or not, and days in UTC', () => {
    const fromOf = (text: string) => must(parseQuestion('calls', `from=${text}`, '', NOW_MS)).fromMs
    const ten = Date.parse('2026-03-01T10:00:00Z')
    assert.equal(fromOf('2026-03-01'), Date.parse('2026-03-01T00:00:00Z'))
    for (const text of [
      '2026-03-01T10:00Z',
      '2026-03-01T10:00:00.000Z',
      '2026-03-01T12:00:00%2B02:00',
      '2026-03-01T12:00:00+02:00',
      '2026-03-01T05:00:00-05:00',
    ]) {
      assert.equal(fromOf(text), ten, text)
    }
    assert.equal(fromOf('2028-02-29'), Date.parse('2028-02-29T00:00:00Z'))
  })

  test('is answered as CSV where the format says so, or the header names it first', () => {
    const formatOf = (query: string, accept: string) => must(parseQuestion('calls', query, accept, NOW_MS)).format
    assert.equal(formatOf('', ''), 'json')
    assert.equal(formatOf('', '*/*'), 'json')
    assert.equal(formatOf('', 'text/csv'), 'csv')
    assert.equal(formatOf('', 'text/csv, application/json;q=0.5'), 'csv')
    assert.equal(formatOf('', 'application/json, text/csv'), 'json')
    assert.equal(formatOf('format=json', 'text/csv'), 'json')
    assert.equal(formatOf('format=csv', 'application/json'), 'csv')
  })
})

describe('a report', () => {
  let buffer: ReportBuffer
  let index: AuditIndex

  function entry(n: number, overrides: Partial<AuditRecord>): AuditRecord {
    return auditRecord(`e${n}`, { time: new Date(NOW_MS + n * 60_000).toISOString(), ...overrides })
  }

  before(() => {
    buffer = new ReportBuffer()
    buffer.append([
      entry(0, { connector: 'shop', identity: 'ana' }),
      entry(1, { connector: 'crm', identity: 'bo', decision: 'blocked', code: 'ARGUMENT_COLUMN', rows: 0 }),
      {
        id: 'x',
        time: new Date(NOW_MS).toISOString(),
        identity: 'root',
        operation: 'admin',
        tool: 'key.revoke',
        decision: 'allowed',
        code: 'OK',
        effect: 'none',
        duration_ms: { total: 1 },
      },
      entry(3, { connector: 'shop', identity: '=HYPERLINK("x")', client: '@cmd, "quoted"\u0009' }),
      entry(130, { connector: 'shop', identity: 'ana', decision: 'errored', code: 'TIMEOUT' }),
    ])
    index = buffer.index()
    followAll(index)
  })

  after(() => {
    index.close()
    buffer.remove()
  })

  function csv(report: ReportName, query: string, scope = EVERYTHING) {
    const question = must(parseQuestion(report, `${query}&format=csv`, '', NOW_MS))
    return must(makeReport(index, { ...question, scope }))
  }

  test('shows nobody more than their connectors, on any page, in any report, whatever is asked for', () => {
    const scope: ReportScope = { connectors: ['crm'], gateway: false }
    for (const report of ['calls', 'denials', 'identities', 'tools'] as const) {
      for (const query of ['', 'limit=1', 'identity=ana', 'connector=shop', 'operation=admin']) {
        const text = JSON.stringify(shownReport(index, report, query, scope))
        assert.doesNotMatch(text, /shop|ana"|root|HYPERLINK/, `${report}?${query}`)
      }
    }
    const { totals, connectors, codes } = shownReport(index, 'summary', '', scope)
    assert.deepEqual(connectors, ['crm'])
    assert.equal((totals as { readonly calls: number }).calls, 1)
    assert.deepEqual(codes, [{ decision: 'blocked', code: 'ARGUMENT_COLUMN', entries: 1, calls: 1 }])
    // What belongs to no connector is for those alone who may see it.
    const connectorsOnly = shownReport(index, 'identities', '', { gateway: false })
    assert.doesNotMatch(JSON.stringify(connectorsOnly), /root/)
    assert.match(JSON.stringify(shownReport(index, 'identities', '')), /root/)
  })

  test('names the instance and the entries that it covers', () => {
    const { instance, from_seq, to_seq, behind, from, to } = shownReport(
      index,
      'calls',
      'from=2026-03-02&to=2026-03-03',
    )
    assert.deepEqual([instance, from_seq, to_seq, behind], ['aaaaaaaaaaaaaaaa', 1, 5, 0])
    assert.deepEqual([from, to], ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'])
    const { facts, contentType } = csv('calls', 'limit=2')
    assert.deepEqual(Object.fromEntries(facts), {
      instance: 'aaaaaaaaaaaaaaaa',
      'from-seq': '1',
      'to-seq': '5',
      behind: '0',
      next: '4',
    })
    assert.match(contentType, /^text\/csv/)
  })

  test('as CSV quotes what must be quoted, and starts no formula', () => {
    const [heading = '', ...lines] = csv('calls', '').text.split('\r\n')
    assert.match(heading, /^seq,id,time,instance,connector,/)
    assert.equal(lines.length, 6)
    const risky = lines.find((line) => line.startsWith('4,')) ?? ''
    assert.ok(risky.includes(`,"'=HYPERLINK(""x"")",`), risky)
    assert.ok(risky.includes(`,"'@cmd, ""quoted""\\t",`), risky)
    assert.ok(risky.includes('"{""columns"":'), risky)
    const width = heading.split(',').length
    assert.equal(lines.find((line) => line.startsWith('3,'))?.split(',').length, width)
    assert.match(csv('denials', '').text, /^connector,identity,tool,operation,decision,code,entries,calls,/)
    assert.match(csv('summary', '').text, /^connector,operation,entries,calls,.*p50_ms,p95_ms,p99_ms\r\n/)
  })

  test('tells intervals apart, each with its own latencies', () => {
    const { intervals } = shownReport(index, 'summary', 'from=2026-03-02&to=2026-03-03&interval=hour')
    assert.deepEqual(
      (intervals as readonly Readonly<Record<string, unknown>>[]).map(({ from, entries, p99_ms }) => [
        from,
        entries,
        p99_ms,
      ]),
      [
        ['2026-03-02T00:00:00.000Z', 4, 2.5],
        ['2026-03-02T02:00:00.000Z', 1, 2.5],
      ],
    )
    const { text } = csv('summary', 'from=2026-03-02&to=2026-03-03&interval=day')
    assert.match(text, /^from,entries,.*\r\n2026-03-02T00:00:00.000Z,5,/)
  })

  test('has pages also where names are as long as names get', () => {
    const long = new ReportBuffer()
    const followed = long.index()
    const name = (n: number) => `${String(n)}${'é'.repeat(250)}`
    long.append(
      Array.from({ length: 5 }, (_, n) =>
        auditRecord(`a${n}`, {
          identity: name(n),
          tool: name(n),
          target: name(n),
          decision: 'blocked',
          code: 'TIMEOUT',
        }),
      ),
    )
    followAll(followed)
    assert.equal(allPages(followed, 'denials', 'limit=1', 'denials').length, 5)
    followed.close()
    long.remove()
  })

  test('has each group once over its pages while entries are appended, counted as of the first page', () => {
    const busy = new ReportBuffer()
    const followed = busy.index()
    const agents = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => auditRecord(`a${from + n}`, { identity: `agent-${(from + n) % 61}` }))
    busy.append(agents(0, 1_000))
    followAll(followed)
    const expected = allPages(followed, 'identities', '', 'identities')
    const seen: unknown[] = []
    let next: string | undefined
    do {
      const page = shownReport(followed, 'identities', `limit=7${next === undefined ? '' : `&cursor=${next}`}`)
      assert.equal(page.to_seq, 1_000)
      seen.push(...(page['identities'] as readonly unknown[]))
      next = page.next
      busy.append(agents(7 * seen.length, 7 * seen.length + 50))
      followAll(followed)
    } while (next !== undefined)
    assert.deepEqual(seen, expected)
    followed.close()
    busy.remove()
  })
})

test('a table for spreadsheets acts on no terminal, whatever callers wrote', () => {
  const nasty = 'a\u001b]0;x\u0007\u001b[31m\u009b\u202e\u2028\r\nb'
  assert.equal(csvLine([nasty, '=1', 3]), "a\\u001b]0;x\\u0007\\u001b[31m\\u009b\\u202e\\u2028\\r\\nb,'=1,3\r\n")
})
