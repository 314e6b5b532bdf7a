import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { confirmed } from '../../src/cli/confirm.js'

/** A terminal at which this is typed; nothing more comes after it where `ends`. */
function terminal(typed: string, ends = false) {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const output = Object.assign(new PassThrough(), { isTTY: true })
  input.write(typed)
  if (ends) input.end()
  return { input, output }
}

async function outcome(given: ReturnType<typeof terminal>): Promise<string> {
  const asked = await confirmed('ends the world', false, given)
  return asked.ok ? 'done' : asked.error.lines.join('\n')
}

describe('a question before what cannot be undone', () => {
  test('only yes goes on', async () => {
    for (const typed of ['yes\n', ' YES \n', 'Yes\r\n']) assert.equal(await outcome(terminal(typed)), 'done', typed)
    for (const typed of ['\n', 'y\n', 'no\n', 'yes please\n', 'yesyes\n']) {
      assert.equal(await outcome(terminal(typed)), 'nothing was done', typed)
    }
  })

  test('whoever leaves instead of answering has refused', async () => {
    for (const typed of ['', 'ye', '\u0003']) {
      assert.equal(await outcome(terminal(typed, true)), 'nothing was done', JSON.stringify(typed))
    }
    const interrupted = terminal('\u0003')
    Object.assign(interrupted.input, { setRawMode: () => interrupted.input })
    assert.equal(await outcome(interrupted), 'nothing was done')
  })

  test('where nobody can be asked it is refused, and nothing is asked', async () => {
    for (const part of ['input', 'output'] as const) {
      const given = terminal('yes\n')
      Object.assign(given[part], { isTTY: false })
      assert.equal(await outcome(given), 'this ends the world; say --yes if that is meant')
      assert.equal(given.output.read(), null)
    }
    const asked = await confirmed('ends the world', true, terminal(''))
    assert.ok(asked.ok)
  })
})
