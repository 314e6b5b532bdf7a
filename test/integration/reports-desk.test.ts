import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { afterEach, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { ReportQuery } from '../../src/audit/reports/report-query.js'
import type { ReportsWorkerStart } from '../../src/audit/reports/reports-actor.js'
import { REPORTS_WAITING_MAX } from '../../src/core/limits.js'
import type { Observation } from '../../src/observe/observation.js'
import { ReportsDesk, type ReportsDeskDeps, spawnReportsWorker } from '../../src/threads/reports-desk.js'
import { auditRecord, until } from '../support/audit-records.js'
import { must } from '../support/gateway.js'
import { followAll, ReportBuffer, shownReport } from '../support/report-buffers.js'

const CALLS: ReportQuery = { report: 'calls', format: 'json', filter: {}, limit: 10, scope: { gateway: true } }

/** A thread that takes everything and answers nothing. */
function spawnSilent(_start: ReportsWorkerStart): Worker {
  return new Worker('setInterval(() => {}, 1000)', { eval: true })
}

describe('the reports thread', () => {
  let buffer: ReportBuffer
  let desk: ReportsDesk | undefined
  let observations: Observation[] = []

  function open(deps: Partial<ReportsDeskDeps> = {}): ReportsDesk {
    buffer = new ReportBuffer()
    const chainKeyFile = `${buffer.path}.key`
    writeFileSync(chainKeyFile, `${'09'.repeat(32)}\n`, { mode: 0o600 })
    observations = []
    desk = new ReportsDesk(
      { buffer: buffer.path, chainKeyFile },
      { observe: (observation) => observations.push(observation), ...deps },
    )
    return desk
  }

  async function seqs(from: ReportsDesk): Promise<readonly number[]> {
    const { body } = must(await from.ask(CALLS))
    const { entries } = JSON.parse(Buffer.from(body).toString()) as { readonly entries: readonly { seq: number }[] }
    return entries.map(({ seq }) => seq)
  }

  afterEach(async () => {
    await desk?.stop()
    buffer.remove()
  })

  test('answers with every entry that was there when it was asked', async () => {
    const asked = open()
    for (let n = 1; n <= 5; n++) {
      buffer.append([auditRecord(`e${n}`)])
      assert.equal((await seqs(asked))[0], n)
    }
  })

  test('reads entries as they come, without being asked', async () => {
    const asked = open()
    buffer.append(Array.from({ length: 3_000 }, (_, n) => auditRecord(`e${n}`)))
    const index = buffer.index()
    await until('the index covers all', () => must(index.view(({ coverage }) => coverage.toSeq)) === 3_000)
    index.close()
    await asked.stop()
    assert.equal((await asked.ask(CALLS)).ok, false)
  })

  test('and a command that reads the same buffer at the same time count each entry once between them', async () => {
    const asked = open()
    const index = buffer.index()
    const answers: Promise<unknown>[] = []
    for (let round = 0; round < 30; round++) {
      buffer.append(
        Array.from({ length: 400 }, (_, n) => auditRecord(`e${n}`, { identity: `agent-${(round + n) % 9}` })),
      )
      answers.push(asked.ask(CALLS))
      must(index.follow(0, () => 1))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(answers)
    followAll(index)
    const totals = (query: string) => shownReport(index, 'summary', query)['totals']
    assert.equal(Reflect.get(Object(totals('')), 'entries'), 12_000)
    const ofOne = buffer.entries().filter(({ identity }) => identity === 'agent-4').length
    assert.equal(Reflect.get(Object(totals('identity=agent-4')), 'entries'), ofOne)
    const { body } = must(await asked.ask({ ...CALLS, report: 'summary' }))
    assert.deepEqual(Reflect.get(JSON.parse(Buffer.from(body).toString()), 'totals'), totals(''))
    index.close()
  })

  test('lets every other thread go first', async () => {
    const asked = open()
    buffer.append([auditRecord('e')])
    await seqs(asked)
    if (process.platform !== 'linux') return
    // The 19th field of a thread's line is its niceness; what stands in brackets may hold spaces.
    const niceness = readdirSync('/proc/self/task').map((thread) => {
      const line = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
      return line.slice(line.lastIndexOf(')') + 2).split(' ')[16]
    })
    assert.ok(niceness.includes('10'), niceness.join(' '))
  })

  test('that dies takes no question along for good, and is started again', async () => {
    const workers: Worker[] = []
    const asked = open({
      spawn: (start) => {
        const worker = spawnReportsWorker(start)
        workers.push(worker)
        return worker
      },
    })
    buffer.append([auditRecord('e')])
    assert.deepEqual(await seqs(asked), [1])
    const waiting = asked.ask(CALLS)
    void workers[0]?.terminate()
    const lost = await waiting
    // It may have been answered just before; nothing waits for ever.
    if (!lost.ok) assert.match(lost.error, /^the reports thread ended$/)
    await until('it runs again', () => workers.length === 2)
    assert.deepEqual(await seqs(asked), [1])
    assert.equal(observations.filter(({ kind }) => kind === 'reports.worker_exited').length, 1)
  })

  test('that answers nothing is ended, and holds nobody up', async () => {
    let spawned = 0
    const asked = open({
      timeoutMs: 50,
      spawn: (start) => {
        spawned += 1
        return spawned === 1 ? spawnSilent(start) : spawnReportsWorker(start)
      },
    })
    const answers = await Promise.all(Array.from({ length: REPORTS_WAITING_MAX + 1 }, () => asked.ask(CALLS)))
    const errors = answers.map((answer) => (answer.ok ? '' : answer.error))
    assert.ok(errors.includes('too many reports are waiting'))
    assert.ok(errors.includes('the report took too long'))
    assert.ok(!errors.includes(''))
    await until('another one runs', () => spawned === 2)
  })

  test('says once that the buffer cannot be read, and once that it can again', async () => {
    const asked = open()
    buffer.append([auditRecord('e')])
    assert.deepEqual(await seqs(asked), [1])
    renameSync(buffer.path, `${buffer.path}.away`)
    for (let n = 0; n < 3; n++) {
      const answer = await asked.ask(CALLS)
      assert.match(answer.ok ? '' : answer.error, /there is no such file/)
    }
    renameSync(`${buffer.path}.away`, buffer.path)
    assert.deepEqual(await seqs(asked), [1])
    const kinds = observations.map(({ kind }) => kind)
    assert.deepEqual(kinds, ['reports.unavailable', 'reports.available'])
  })
})
