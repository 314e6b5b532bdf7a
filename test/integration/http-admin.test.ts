import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { z } from 'zod'
import { ALL_RIGHTS } from '../../src/admin/admin-rights.js'
import { ADMIN_ONLY, type AdminOperation, type OperationContext, operation } from '../../src/admin/operation.js'
import type { AdminRequest } from '../../src/call.js'
import { ok } from '../../src/core/result.js'
import { AdminApi } from '../../src/http/admin-api.js'
import { createFrontDoor } from '../../src/http/front-door.js'
import { must } from '../support/gateway.js'
import { HttpHarness, implementations, post, SIDE_BY_SIDE, withResolver } from '../support/http-harness.js'
import { eventually } from '../support/test-server.js'

const NOBODY = { id: 'id_1', name: 'root', roles: [], claims: new Map() }
const JSON_TYPE = 'Content-Type: application/json\r\n'

for (const { name, make } of implementations) {
  describe(`administrative requests on one connection of the ${name} server`, SIDE_BY_SIDE, () => {
    const harness = new HttpHarness(make)
    after(() => harness.close())

    /** An interface with one operation, which writes down what it did and may be made to wait. */
    async function started(wait: () => Promise<void> = async () => {}) {
      const did: string[] = []
      const entries: AdminRequest[] = []
      const note: AdminOperation = operation({
        name: 'note.put',
        method: 'PUT',
        path: '/notes/{note}',
        summary: 'Notes something.',
        input: { note: z.string() },
        output: { note: z.string() },
        need: ADMIN_ONLY,
        target: 'note',
        act: async (_context, input) => {
          did.push(`begin ${input.note}`)
          await wait()
          did.push(`end ${input.note}`)
          entries.push({ address: '', operation: 'note.put', target: input.note, code: 'OK', startedAtMs: 0 })
          return ok(input)
        },
      })
      const api = new AdminApi({
        frontDoor: must(
          createFrontDoor({
            listen: { host: '127.0.0.1', port: 1 },
            tls: false,
            allowedHosts: ['x'],
            allowedOrigins: [],
            trustedProxies: [],
          }),
        ),
        operations: [note],
        authenticate: async () => ok({ identity: NOBODY, author: { name: 'root' }, rights: ALL_RIGHTS }),
        // The operation above asks for nothing of it.
        contextOf: () => ({ rights: ALL_RIGHTS }) as OperationContext,
        auditable: () => true,
        enter: (entry, done) => {
          entries.push(entry)
          done(true)
        },
        openApi: () => ({}),
        nowMs: () => 0,
        failed: (thrown) => assert.fail(String(thrown)),
      })
      const { open } = await harness.start((exchange) => api.serve(exchange))
      const shown = () => entries.map(({ code, target }) => `${code} ${target ?? '-'}`)
      return { open, did, shown }
    }

    const put = (note: string, extra = '') =>
      post(`/admin/api/notes/${note}`, '{}', JSON_TYPE + extra).replace('POST', 'PUT')

    test('requests that wait for each other’s answers are all done', async () => {
      const { open, did, shown } = await started()
      const connection = open()
      for (const note of ['a', 'b', 'c']) {
        assert.equal((await connection.write(put(note)).response()).body, `{"note":"${note}"}`)
      }
      assert.deepEqual(did, ['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c'])
      assert.deepEqual(shown(), ['OK a', 'OK b', 'OK c'])
    })

    if (name === 'node') {
      test('requests that arrive together are answered in order', async () => {
        const { open, shown } = await started()
        const connection = open().write(put('a') + put('b'))
        assert.deepEqual(
          [(await connection.response()).body, (await connection.response()).body],
          ['{"note":"a"}', '{"note":"b"}'],
        )
        assert.deepEqual(shown(), ['OK a', 'OK b'])
      })
    } else {
      test('of requests that arrive together nothing is done: the connection closes, and the first has an entry', async () => {
        const { open, did, shown } = await started()
        assert.equal(
          await open()
            .write(put('a') + put('b'))
            .closed(),
          '',
        )
        await eventually('the entry is there', () => shown().length > 0)
        assert.deepEqual(did, [])
        assert.deepEqual(shown(), ['CANCELLED a'])
      })

      test('a request behind one that is being done closes the connection; the first is done whole and has its entry', async () => {
        const gate = withResolver()
        const { open, did, shown } = await started(() => gate.promise)
        const connection = open().write(put('a'))
        await eventually('it has begun', () => did.length === 1)
        assert.equal(await connection.write(put('b')).closed(), '')
        gate.resolve()
        await eventually('the entry is there', () => shown().length > 0)
        assert.deepEqual(did, ['begin a', 'end a'])
        assert.deepEqual(shown(), ['OK a'])
      })
    }

    test('a request that is the last of its connection is answered before that closes', async () => {
      const { open, shown } = await started()
      const text = await open().write(put('a', 'Connection: close\r\n')).closed()
      assert.match(text, /^HTTP\/1\.1 200 [\s\S]*\{"note":"a"\}$/)
      assert.deepEqual(shown(), ['OK a'])
    })
  })
}
