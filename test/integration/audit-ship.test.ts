import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { isHeadLine, readHeadLine } from '../../src/audit/chain.js'
import { readTrailFile } from '../../src/audit/verify/read-lines.js'
import type { Observation } from '../../src/observe/observation.js'
import { AuditMailbox } from '../../src/threads/audit-mailbox.js'
import type { ShipFormat, ShipperSettings } from '../../src/threads/messages.js'
import type { AppenderOrder, AppenderReport } from '../support/audit-appender.js'
import { auditRecord, bufferAt, readBuffer, trailSettings, until } from '../support/audit-records.js'
import { type Answering, answer, drop, hang, inTurn, type Receiver, startReceiver } from '../support/ship-receiver.js'

const root = mkdtempSync(join(tmpdir(), 'runku-ship-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

function newFolder(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return folder
}

const OK = answer(200, '{}')

function shipperTo(url: string, settings: Partial<ShipperSettings> = {}): ShipperSettings {
  return {
    url,
    headers: [],
    format: 'ndjson',
    gzip: true,
    batchMax: 10,
    intervalMs: 50,
    timeoutMs: 1_000,
    ...settings,
  }
}

/** A trail of this process that ships. */
class Trail {
  readonly path: string
  readonly observations: Observation[]
  readonly mailbox: AuditMailbox

  private constructor(path: string, observations: Observation[], mailbox: AuditMailbox) {
    this.path = path
    this.observations = observations
    this.mailbox = mailbox
  }

  static async start(shipper: ShipperSettings, path = join(newFolder(), 'audit.db')): Promise<Trail> {
    const observations: Observation[] = []
    const started = await AuditMailbox.start(trailSettings({ buffer: bufferAt(path), shipper }), {
      observe: (observation) => observations.push(observation),
      nowMs: () => performance.now(),
    })
    assert.ok(started.ok, started.ok ? '' : started.error)
    return new Trail(path, observations, started.value)
  }

  /** Appends records of these ids, and settles when all are durable. */
  async append(...ids: readonly string[]): Promise<void> {
    const kept = ids.map((id) => new Promise<boolean>((resolve) => this.mailbox.append(auditRecord(id), resolve)))
    for (const durable of await Promise.all(kept)) assert.equal(durable, true)
  }

  seen(kind: Observation['kind']): readonly Observation[] {
    return this.observations.filter((observation) => observation.kind === kind)
  }

  get position(): number | undefined {
    const stored = this.#get<string>("SELECT value FROM meta WHERE key = 'position.shipper'")[0]
    return stored === undefined ? undefined : Number(stored.split(':')[0])
  }

  get undelivered(): readonly number[] {
    return this.#get<number>('SELECT seq FROM undelivered ORDER BY seq')
  }

  #get<T>(sql: string): readonly T[] {
    const db = new Database(this.path, { readonly: true })
    try {
      return db.prepare<[], T>(sql).pluck().all()
    } finally {
      db.close()
    }
  }

  async delivered(seq: number): Promise<void> {
    await until(`delivered up to ${seq}`, () => this.position === seq)
  }
}

function named(count: number, prefix = 'e'): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}-${i}`)
}

/** Entry lines of an ndjson body. */
function linesOf(body: string): readonly string[] {
  return body.split('\n').filter((line) => line.startsWith('{"seq":'))
}

/** Ships some entries to what answers so, with the trail still running when `then` looks at it. */
async function shipping(
  answering: Answering,
  settings: Partial<ShipperSettings>,
  then: (trail: Trail, receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = await startReceiver(answering)
  const trail = await Trail.start(shipperTo(receiver.url, settings))
  try {
    await then(trail, receiver)
  } finally {
    await trail.mailbox.stop()
    await receiver.close()
  }
}

describe('delivery', () => {
  test('entries arrive in order, once, as they were sealed, behind a head that the chain key made', async () => {
    await shipping(OK, {}, async (trail, receiver) => {
      await trail.append(...named(35))
      await trail.delivered(35)
      const content = readBuffer(trail.path)
      assert.deepEqual(
        receiver.requests.flatMap(({ body }) => linesOf(body)),
        content.lines,
      )
      for (const { body, headers } of receiver.requests) {
        assert.match(body, /^\{"head":/)
        assert.equal(headers['content-encoding'], 'gzip')
        assert.equal(headers['content-type'], 'application/x-ndjson')
      }
      const ids = receiver.requests.map(({ headers }) => headers['idempotency-key'])
      assert.equal(new Set(ids).size, ids.length)
    })
  })

  test('fewer entries than a batch wait for the interval and no longer', async () => {
    await shipping(OK, { batchMax: 1_000, intervalMs: 100 }, async (trail, receiver) => {
      await trail.append('a', 'b', 'c')
      await trail.delivered(3)
      assert.equal(receiver.requests.length, 1)
    })
  })

  test('entries are delivered once across restarts, and those from before there was a shipper too', async () => {
    const receiver = await startReceiver(OK)
    const path = join(newFolder(), 'audit.db')
    const plain = await AuditMailbox.start(trailSettings({ buffer: bufferAt(path) }), {
      observe: () => {},
      nowMs: () => performance.now(),
    })
    assert.ok(plain.ok)
    await new Promise((resolve) => plain.value.append(auditRecord('before'), resolve))
    await plain.value.stop()
    for (const round of [1, 2]) {
      const trail = await Trail.start(shipperTo(receiver.url), path)
      await trail.append(...named(12, `round-${round}`))
      await trail.mailbox.stop()
    }
    await receiver.close()
    assert.deepEqual(
      receiver.requests.flatMap(({ body }) => linesOf(body)),
      readBuffer(path).lines,
    )
  })

  test('what is left when the gateway stops is pushed once more, whatever the interval', async () => {
    const receiver = await startReceiver(OK)
    const trail = await Trail.start(shipperTo(receiver.url, { batchMax: 1_000, intervalMs: 3_600_000 }))
    await trail.append('a', 'b')
    await trail.mailbox.stop()
    assert.equal(trail.position, 2)
    await receiver.close()
  })
})

describe('a destination that fails', () => {
  test('is tried again with the same bytes and the same id, is told of once, and once when it is back', async () => {
    await shipping(inTurn(answer(500), answer(503), OK), {}, async (trail, receiver) => {
      await trail.append('a', 'b')
      await trail.delivered(2)
      const [first, second, third] = receiver.requests
      assert.equal(receiver.requests.length, 3)
      assert.equal(second?.body, first?.body)
      assert.equal(third?.body, first?.body)
      assert.equal(third?.headers['idempotency-key'], first?.headers['idempotency-key'])
      await until('recovery', () => trail.seen('audit.sink_recovered').length === 1)
      assert.deepEqual(trail.seen('audit.sink_failing'), [
        { kind: 'audit.sink_failing', sink: 'shipper', detail: `${receiver.url}: it answers HTTP 500` },
      ])
    })
  })

  test('is left alone for as long as its Retry-After says', async () => {
    let firstMs = 0
    let secondMs = 0
    const busy: Answering = (...given) => {
      firstMs = performance.now()
      answer(429, '', { 'retry-after': '2' })(...given)
    }
    const back: Answering = (...given) => {
      secondMs ||= performance.now()
      OK(...given)
    }
    await shipping(inTurn(busy, back), {}, async (trail) => {
      await trail.append('a')
      await trail.delivered(1)
      assert.ok(secondMs - firstMs >= 1_990, `it came back after ${secondMs - firstMs} ms`)
    })
  })

  for (const [what, answering] of [
    ['drops the connection after it took a batch', drop],
    ['never answers', hang],
    ['redirects', answer(302, '', { location: 'http://127.0.0.1:1/' })],
  ] as const) {
    test(`and ${what} loses nothing, and calls do not notice`, async () => {
      await shipping(inTurn(answering, OK), { timeoutMs: 200 }, async (trail, receiver) => {
        await trail.append('a', 'b')
        await until('a failure', () => trail.seen('audit.sink_failing').length === 1)
        await trail.append('c')
        await trail.delivered(3)
        assert.equal(receiver.requests[1]?.body, receiver.requests[0]?.body)
        assert.deepEqual(
          receiver.requests.slice(1).flatMap(({ body }) => linesOf(body)),
          readBuffer(trail.path).lines,
        )
      })
    })
  }

  test('and is down for the whole run keeps its entries in the buffer, does not hold the end, and has them afterwards', async () => {
    const receiver = await startReceiver(OK)
    const { url, port } = receiver
    await receiver.close()
    const trail = await Trail.start(shipperTo(url))
    await trail.append(...named(25))
    await until('a failure', () => trail.seen('audit.sink_failing').length === 1)
    await trail.mailbox.stop()
    const back = await startReceiver(OK, port)
    const again = await Trail.start(shipperTo(url), trail.path)
    await again.delivered(25)
    await again.mailbox.stop()
    await back.close()
    assert.deepEqual(
      back.requests.flatMap(({ body }) => linesOf(body)),
      readBuffer(trail.path).lines,
    )
  })

  test('and hangs while the gateway stops is given up', async () => {
    const receiver = await startReceiver(hang)
    const trail = await Trail.start(shipperTo(receiver.url, { timeoutMs: 120_000 }))
    await trail.append('a')
    await until('a request', () => receiver.requests.length === 1)
    await trail.mailbox.stop()
    assert.equal(trail.position, undefined)
    await receiver.close()
  })
})

describe('headers', () => {
  test('from a file are read again after a refusal, and no value is told', async () => {
    const file = join(newFolder(), 'token')
    writeFileSync(file, 'Bearer secret-one\n')
    const guarded: Answering = (response, request, number) =>
      answer(request.headers.authorization === 'Bearer secret-two' ? 200 : 401, String(request.headers.authorization))(
        response,
        request,
        number,
      )
    await shipping(guarded, { headers: [{ name: 'Authorization', file }] }, async (trail) => {
      await trail.append('a')
      await until('a refusal', () => trail.seen('audit.sink_failing').length === 1)
      writeFileSync(file, 'Bearer secret-two\n')
      await trail.delivered(1)
      assert.doesNotMatch(JSON.stringify(trail.observations), /secret/)
    })
  })
})

describe('batches that are too large', () => {
  test('are halved until they are taken, in order and without a gap', async () => {
    const small: Answering = (...given) => answer(linesOf(given[1].body).length > 3 ? 413 : 200)(...given)
    await shipping(small, { batchMax: 16 }, async (trail, receiver) => {
      await trail.append(...named(16))
      await trail.delivered(16)
      const taken = receiver.requests.filter(({ body }) => linesOf(body).length <= 3)
      assert.deepEqual(
        taken.flatMap(({ body }) => linesOf(body)),
        readBuffer(trail.path).lines,
      )
      const ids = receiver.requests.map(({ headers }) => headers['idempotency-key'])
      assert.equal(new Set(ids).size, ids.length)
    })
  })

  test('an entry that is too large alone is remembered, told of, and does not hold the others', async () => {
    const picky: Answering = (...given) => answer(given[1].body.includes('"id":"huge"') ? 413 : 200)(...given)
    await shipping(picky, {}, async (trail) => {
      await trail.append('a', 'b', 'huge', 'c', 'd')
      await trail.delivered(5)
      assert.deepEqual(trail.undelivered, [3])
      assert.equal(trail.seen('audit.ship_refused').length, 1)
    })
  })

  test('entries that are refused one after the other are told of at once, and then in one sum', async () => {
    const receiver = await startReceiver(answer(413))
    const trail = await Trail.start(shipperTo(receiver.url))
    await trail.append(...named(12))
    await trail.delivered(12)
    assert.equal(trail.seen('audit.ship_refused').length, 1)
    await trail.mailbox.stop()
    await receiver.close()
    const detail = 'the destination answers that it is too large (HTTP 413)'
    assert.deepEqual(trail.seen('audit.ship_refused'), [
      { kind: 'audit.ship_refused', entries: 1, firstSeq: 1, detail },
      { kind: 'audit.ship_refused', entries: 11, firstSeq: 2, detail },
    ])
    assert.equal(trail.undelivered.length, 12)
  })
})

/** Elasticsearch's bulk answers, with documents by their id. `status` is asked for each document that is new. */
class Elastic {
  readonly documents = new Map<string, string>()
  readonly answering: Answering
  loses = false

  constructor(status: (id: string) => number = () => 201) {
    this.answering = (...given) => {
      const lines = given[1].body.split('\n')
      const items: unknown[] = []
      for (let i = 0; i + 1 < lines.length; i += 2) {
        // The receiver of a test is sent what the shipper writes.
        const { create } = JSON.parse(lines[i] ?? '') as { create: { _id: string } }
        const code = this.documents.has(create._id) ? 409 : status(create._id)
        if (code === 201) this.documents.set(create._id, lines[i + 1] ?? '')
        items.push({
          create: { _id: create._id, status: code, ...(code === 201 ? {} : { error: { type: `type_${code}` } }) },
        })
      }
      if (this.loses) drop(...given)
      else answer(200, JSON.stringify({ took: 1, errors: true, items }))(...given)
    }
  }

  get ids(): readonly string[] {
    return [...this.documents.keys()].filter((id) => !id.endsWith('-head'))
  }
}

describe('destinations that answer for each entry', () => {
  test('of a bulk request the refused entries are remembered, the busy ones sent again alone, the rest is done', async () => {
    let busy = 1
    const elastic = new Elastic((id) => (id === 'bad' ? 400 : id === 'busy' && busy-- > 0 ? 429 : 201))
    await shipping(elastic.answering, { format: 'elastic_bulk' }, async (trail, receiver) => {
      await trail.append('a', 'bad', 'busy', 'b')
      await trail.delivered(4)
      await until('all that is wanted', () => elastic.ids.length === 3)
      assert.deepEqual(elastic.ids, ['a', 'b', 'busy'])
      assert.deepEqual(trail.seen('audit.sink_failing'), [])
      assert.deepEqual(trail.undelivered, [2])
      assert.match(
        receiver.requests[1]?.body ?? '',
        /^\{"create":\{"_id":"busy"\}\}\n.*\n\{"create":\{"_id":"[^"]*-head"\}\}\n.*\n$/,
      )
      assert.deepEqual(trail.seen('audit.ship_refused'), [
        { kind: 'audit.ship_refused', entries: 1, firstSeq: 2, detail: 'the destination answers type_400 (400)' },
      ])
    })
  })

  test('answers about other documents deliver nothing, and are told as what they are', async () => {
    const other: Answering = (...given) => {
      const items = given[1].body.split('\n').flatMap((line) => (line.startsWith('{"create"') ? [line] : []))
      const answers = items.map(() => ({ create: { _id: 'another', status: 201 } }))
      answer(200, JSON.stringify({ errors: false, items: answers }))(...given)
    }
    const elastic = new Elastic()
    await shipping(inTurn(other, elastic.answering), { format: 'elastic_bulk' }, async (trail) => {
      await trail.append('a', 'b')
      await trail.delivered(2)
      assert.deepEqual(elastic.ids, ['a', 'b'])
      assert.match(JSON.stringify(trail.seen('audit.sink_failing')), /makes no sense: it tells of other documents/)
    })
  })

  test('a document holds the sealed line behind its timestamp', async () => {
    const elastic = new Elastic()
    await shipping(elastic.answering, { format: 'elastic_bulk' }, async (trail) => {
      await trail.append('a', 'b')
      await trail.delivered(2)
      const lines = elastic.ids.map((id) => elastic.documents.get(id)?.replace(/^\{"@timestamp":"[^"]*",/, '{'))
      assert.deepEqual(lines, readBuffer(trail.path).lines)
    })
  })

  test('what was refused for good is sent again at the next start, and forgotten once it is taken', async () => {
    let strict = true
    const elastic = new Elastic((id) => (strict && id === 'bad' ? 400 : 201))
    const receiver = await startReceiver(elastic.answering)
    const settings = shipperTo(receiver.url, { format: 'elastic_bulk' })
    const first = await Trail.start(settings)
    await first.append('a', 'bad', 'b')
    await first.delivered(3)
    await first.mailbox.stop()
    assert.deepEqual(first.undelivered, [2])
    const second = await Trail.start(settings, first.path)
    await until('a second refusal', () => receiver.requests.length > 1 && second.undelivered.length === 1)
    await second.mailbox.stop()
    assert.deepEqual(second.seen('audit.ship_refused'), [])
    strict = false
    const third = await Trail.start(settings, first.path)
    await until('taken', () => third.undelivered.length === 0)
    await until('told', () => third.seen('audit.ship_accepted').length === 1)
    await third.mailbox.stop()
    await receiver.close()
    assert.deepEqual([...elastic.ids].sort(), ['a', 'b', 'bad'])
  })

  test('of a Splunk batch the refused event is remembered and the others are sent again', async () => {
    const splunk: Answering = (...given) => {
      const place = given[1].body.split('\n').findIndex((line) => line.includes('"id":"bad"'))
      if (place === -1) return answer(200, '{"text":"Success","code":0}')(...given)
      answer(400, JSON.stringify({ text: 'Invalid data format', code: 6, 'invalid-event-number': place }))(...given)
    }
    await shipping(splunk, { format: 'splunk_hec' }, async (trail, receiver) => {
      await trail.append('a', 'b', 'bad', 'c')
      await trail.delivered(4)
      assert.deepEqual(trail.undelivered, [3])
      const taken = receiver.requests.filter(({ body }) => !body.includes('"id":"bad"'))
      assert.deepEqual(
        taken.flatMap(({ body }) => [...body.matchAll(/"id":"([^"]*)"/g)].map((match) => match[1])),
        ['a', 'b', 'c'],
      )
    })
  })
})

describe('what a destination keeps', () => {
  for (const format of ['json', 'ndjson', 'splunk_hec', 'elastic_bulk'] as const satisfies readonly ShipFormat[]) {
    test(`holds each entry as it was sealed, and heads that the chain key made (${format})`, async () => {
      const answering = format === 'elastic_bulk' ? new Elastic().answering : OK
      await shipping(answering, { format, batchMax: 4 }, async (trail, receiver) => {
        await trail.append(...named(10))
        await trail.delivered(10)
        const file = join(newFolder(), 'kept')
        writeFileSync(file, receiver.requests.map(({ body }) => `${body.trimEnd()}\n`).join(''))
        const found: string[] = []
        const read = await readTrailFile(file, (line) => found.push(line))
        assert.ok(read.ok)
        const { lines, keys } = readBuffer(trail.path)
        assert.deepEqual(
          found.filter((line) => line.startsWith('{"seq":')),
          lines,
        )
        const heads = found.filter(isHeadLine).map((line) => readHeadLine(keys, line)?.seq)
        assert.equal(heads.length, receiver.requests.length)
        assert.equal(heads.at(-1), 10)
        assert.ok(!heads.includes(undefined))
      })
    })
  }
})

const APPENDER = fileURLToPath(new URL('../support/audit-appender.js', import.meta.url))

interface Gateway {
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
}

/** A process that appends some entries and ships them, until it is killed or, with `ends`, has appended all. */
function runGateway(order: AppenderOrder, ends = false): Gateway {
  const child = fork(APPENDER, [JSON.stringify(order)], { execArgv: [] })
  const exited = once(child, 'exit')
  // The appender sends nothing else.
  child.on('message', (message) => {
    const report = message as AppenderReport
    if (report.kind === 'answered_all' && ends) child.send('stop')
  })
  return { child, exited }
}

/** Keeps what it is sent once for each id of a batch, and loses the answer of every second request that it takes. */
class Forgetful {
  readonly bodies = new Map<string, string>()
  readonly differing: string[] = []
  readonly answering: Answering = (...given) => {
    const { headers, body } = given[1]
    const id = String(headers['idempotency-key'])
    const known = this.bodies.get(id)
    if (known !== undefined && known !== body) this.differing.push(id)
    this.bodies.set(id, body)
    if (given[2] % 2 === 0) drop(...given)
    else answer(200, '{"text":"Success","code":0}')(...given)
  }
}

describe('a receiver that loses acknowledgements, over a kill of the gateway', () => {
  for (const format of ['ndjson', 'json', 'splunk_hec'] as const satisfies readonly ShipFormat[]) {
    test(`and tells batches by their id has each entry once (${format})`, async () => {
      const forgetful = new Forgetful()
      const receiver = await startReceiver(forgetful.answering)
      const path = join(newFolder(), 'audit.db')
      const settings = trailSettings({
        buffer: bufferAt(path),
        shipper: shipperTo(receiver.url, { format, batchMax: 50 }),
      })
      for (const round of [1, 2]) {
        const gateway = runGateway({ settings, concurrency: 8, count: 150 })
        await until(`requests of round ${round}`, () => forgetful.bodies.size >= round * 2)
        gateway.child.kill('SIGKILL')
        await gateway.exited
      }
      const last = runGateway({ settings, concurrency: 1, count: 5 }, true)
      await last.exited
      const { length } = readBuffer(path).lines
      // What the last push did not reach within its time is delivered by the next start.
      const rest = await Trail.start(settings.shipper ?? shipperTo(receiver.url), path)
      await rest.delivered(length)
      await rest.mailbox.stop()
      await receiver.close()
      assert.deepEqual(forgetful.differing, [])
      const seqs = [...forgetful.bodies.values()].flatMap((body) =>
        [...body.matchAll(/\{"seq":(\d+),"id"/g)].map((match) => Number(match[1])),
      )
      assert.deepEqual(
        seqs.sort((a, b) => a - b),
        Array.from({ length }, (_, i) => i + 1),
      )
    })
  }

  test('and tells documents by their id has each entry once', async () => {
    const elastic = new Elastic()
    let requests = 0
    const receiver = await startReceiver((...given) => {
      elastic.loses = requests++ % 2 === 0
      elastic.answering(...given)
    })
    const path = join(newFolder(), 'audit.db')
    const settings = trailSettings({
      buffer: bufferAt(path),
      shipper: shipperTo(receiver.url, { format: 'elastic_bulk', batchMax: 50 }),
    })
    const gateway = runGateway({ settings, concurrency: 8, count: 200 })
    await until('requests', () => requests >= 4)
    gateway.child.kill('SIGKILL')
    await gateway.exited
    const { ids } = readBuffer(path)
    const rest = await Trail.start(settings.shipper ?? shipperTo(receiver.url), path)
    await rest.delivered(ids.size)
    await rest.mailbox.stop()
    await receiver.close()
    assert.deepEqual([...elastic.ids].sort(), [...ids].sort())
  })
})
