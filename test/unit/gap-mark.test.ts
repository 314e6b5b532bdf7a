import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { GapMark } from '../../src/threads/gap-mark.js'

const root = mkdtempSync(join(tmpdir(), 'runku-gap-'))
after(() => rmSync(root, { recursive: true }))

const gap = (calls: number) => ({ fromMs: 1, toMs: 2, calls, lost: 0, waiting: calls, reason: 'full' })

test('the last note of a gap stands, also where one before it is being written', async () => {
  for (let n = 0; n < 200; n++) {
    const path = join(root, `${n}.gap`)
    const opened = GapMark.open(path)
    assert.ok(opened)
    opened.mark.put(gap(1))
    opened.mark.put(gap(2))
    await opened.mark.end(gap(3))
    assert.match(readFileSync(path, 'utf8'), /^\{[^}]*"calls":3[,}]/)
    assert.equal(GapMark.open(path)?.left?.calls, 3)
  }
})
