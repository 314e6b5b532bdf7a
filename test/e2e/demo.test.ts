import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { eventually } from '../support/postgres.js'
import { processesWith, type RunkuProcess, startRunku } from '../support/runku-process.js'
import { callSdk, connectSdk, rowsOf } from '../support/sdk.js'

interface Printed {
  readonly endpoint: string
  readonly admin: string
  readonly keys: { readonly analyst: string; readonly support: string }
}

/** Everything the demo makes lies in this temporary folder, where nothing else makes anything. */
const temporary = mkdtempSync(join(tmpdir(), 'runku-demo-test-'))
// When the tests run as root, the database's user must be able to work in it, as in any temporary folder.
chmodSync(temporary, 0o1777)
after(() => rmSync(temporary, { recursive: true, force: true }))

function startDemo(...args: readonly string[]): RunkuProcess {
  return startRunku(temporary, ['demo', ...args], { TMPDIR: temporary })
}

/** The server's processes name the folder of their cluster, and so does its watchdog. */
async function nothingIsLeft(): Promise<void> {
  assert.deepEqual(readdirSync(temporary), [])
  await eventually('no process is left', () => processesWith(temporary).length === 0)
}

describe('the demo', () => {
  test('prints an endpoint and two keys that see different tools and rows, and leaves nothing behind', async () => {
    const demo = startDemo('--json', '--port', '0')
    await eventually('it printed', () => demo.out().includes('\n') || demo.child.exitCode !== null)
    const { endpoint, admin, keys }: Printed = JSON.parse(demo.out())
    const analyst = await connectSdk(endpoint, keys.analyst)
    const support = await connectSdk(endpoint, keys.support)
    const names = async (client: typeof analyst) => (await client.listTools()).tools.map(({ name }) => name)
    const [wide, narrow] = [await names(analyst), await names(support)]
    assert.ok(wide.includes('search_products') && !narrow.includes('search_products'))
    assert.ok(!wide.join().includes('margins') && narrow.includes('search_orders'))
    const all = rowsOf(await callSdk(analyst, 'aggregate_orders', { metrics: [{ fn: 'count' }], group_by: ['region'] }))
    const own = rowsOf(await callSdk(support, 'aggregate_orders', { metrics: [{ fn: 'count' }], group_by: ['region'] }))
    assert.deepEqual([all.row_count, own.row_count, own.rows[0]?.['region']], [3, 1, 'eu'])
    const [customer] = rowsOf(await callSdk(support, 'search_customers', { limit: 1 })).rows
    assert.ok(customer !== undefined && 'email' in customer && !('password_hash' in customer))
    assert.ok(!('email' in (rowsOf(await callSdk(analyst, 'search_customers', { limit: 1 })).rows[0] ?? {})))
    assert.equal((await fetch(`${admin}/readyz`)).status, 200)
    await analyst.close()
    await support.close()
    assert.ok(processesWith(temporary).length > 0, 'the database runs in the folder')
    // Twice, as some programs pass on what the terminal has sent already.
    demo.child.kill('SIGINT')
    demo.child.kill('SIGTERM')
    const { how, err } = await demo.ended
    assert.deepEqual([how, err], [0, ''])
    await nothingIsLeft()
  })

  test('the text it prints names a call that works as printed', async () => {
    const taken = createServer()
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => {
        const address = taken.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    await new Promise((resolve) => taken.close(resolve))
    const demo = startDemo('--port', String(port))
    await eventually('it printed', () => demo.out().includes('leaves nothing behind') || demo.child.exitCode !== null)
    const curls = [...demo.out().matchAll(/curl -s (\S+) -H '([^']+)' -H '([^']+)' -d '([^']+)'/g)]
    assert.equal(curls.length, 2)
    for (const [, url = '', ...rest] of curls) {
      assert.ok(url.includes(`:${port}/`))
      const [first = '', second = '', body = ''] = rest
      const headers = [first, second].map((header) => header.split(': ') as [string, string])
      const response = await fetch(url, { method: 'POST', headers, body })
      assert.equal(response.status, 200)
      assert.match(await response.text(), /"result":\{"(tools|content)"/)
    }
    demo.child.kill('SIGTERM')
    assert.equal((await demo.ended).how, 0)
    await nothingIsLeft()
  })

  test('an interrupt at any stage of the start leaves nothing behind', async () => {
    const stages: readonly (readonly [string, () => boolean])[] = [
      ['the folder is made', () => readdirSync(temporary).some((name) => name.startsWith('runku-demo-'))],
      ['the database is made', () => readdirSync(temporary).some((name) => name.startsWith('runku-postgres-'))],
      ['the database runs', () => processesWith(join(temporary, 'runku-postgres-')).length > 1],
    ]
    for (const [stage, reached] of stages) {
      const demo = startDemo('--json', '--port', '0')
      await eventually(stage, () => reached() || demo.child.exitCode !== null)
      demo.child.kill('SIGINT')
      const { how, err } = await demo.ended
      assert.deepEqual([how, err], [0, ''], stage)
      await nothingIsLeft()
    }
  })

  test('who insists on an end during the start gets it at once, and nothing is left behind', async () => {
    const demo = startDemo('--json', '--port', '0')
    let ended = false
    demo.ended.then(() => {
      ended = true
    })
    await eventually('the folder is made', () => readdirSync(temporary).some((name) => name.startsWith('runku-demo-')))
    await eventually('it ends', () => {
      demo.child.kill('SIGINT')
      return ended
    })
    const { how } = await demo.ended
    // The handler is gone when the process has all but ended, and then the signal itself ends it.
    assert.ok([130, 0, 'SIGINT'].includes(how), String(how))
    await eventually('the watchdog has taken the database away', () => readdirSync(temporary).length === 0)
    await nothingIsLeft()
  })
})
