import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { writeHeadLine } from '../../src/audit/chain.js'
import { alterBuffer, openBuffer } from '../support/audit-buffers.js'
import { auditRecord, readBuffer } from '../support/audit-records.js'
import { runRunku } from '../support/runku-process.js'

const root = mkdtempSync(join(tmpdir(), 'runku-genuine-'))
after(() => rmSync(root, { recursive: true }))

const ROW = ['shop', 'public.customers', '5']

/** A buffer of five entries, of which the first three gave the row and the third was changed behind the gateway. */
function tampered(): string {
  const path = join(mkdtempSync(join(root, 'b-')), 'audit.sqlite')
  const outbox = openBuffer(path)
  const gave = { result_keys: [{ table: 'public.customers', keys: ['5'] }] }
  const records = [1, 2, 3, 4, 5].map((n) => auditRecord(`e-${n}`, n <= 3 ? gave : {}))
  assert.ok(outbox.append(records).ok)
  outbox.close()
  alterBuffer(path, `UPDATE entries SET body = replace(body, '"identity":"ana"', '"identity":"bob"') WHERE seq = 3`)
  return path
}

/** The lines of a buffer as a file. */
function fileOf(path: string, lines = readBuffer(path).lines): string {
  const file = `${path}.jsonl`
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
  return file
}

const audit = (...args: readonly string[]) => runRunku('/', ['audit', ...args])

describe('commands that read a trail tell what is not genuine', () => {
  test('tail marks the line, and exits with 5', async () => {
    const { how, out, err } = await audit('tail', '--buffer', tampered())
    assert.equal(how, 5)
    assert.deepEqual(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.startsWith('NOT GENUINE  ')),
      [false, false, true, false, false],
    )
    assert.match(err, /entry 3 is NOT GENUINE\n1 not genuine: "runku audit verify" says/)
  })

  test('export gives every line as it is, names what is not genuine, and exits with 5', async () => {
    const path = tampered()
    const all = await audit('export', '--buffer', path)
    assert.equal(all.how, 5)
    assert.deepEqual(all.out.trimEnd().split('\n').slice(1, -1), readBuffer(path).lines)
    assert.match(all.err, /entry 3 is NOT GENUINE/)
    const csv = await audit('export', '--format', 'csv', '--identity', 'bob', '--buffer', path)
    assert.deepEqual([csv.how, /entry 3 is NOT GENUINE/.test(csv.err)], [5, true])
    const others = await audit('export', '--identity', 'ana', '--buffer', path)
    assert.deepEqual([others.how, others.err], [0, ''])
  })

  test('who and hash show no entry that is not, and say that there are such, from index, buffer and files', async () => {
    const path = tampered()
    const key = `${path}.key`
    for (const source of [
      ['--buffer', path],
      ['--file', fileOf(path), '--key-file', key],
    ]) {
      const { how, out } = await audit('who', ...ROW, ...source, '--json')
      assert.equal(how, 5, out)
      const found: { readonly entries: readonly { readonly seq: number }[]; readonly not_genuine: number } =
        JSON.parse(out)
      assert.deepEqual(
        found.entries.map(({ seq }) => seq),
        [2, 1],
      )
      assert.equal(found.not_genuine, 1)
      const shown = await audit('who', ...ROW, ...source)
      assert.match(shown.out, /NOT GENUINE: 1 /)
      const hashed = await audit('hash', 'shop', 'public.customers', 'country', 'DE', ...source)
      assert.equal(hashed.how, 5)
    }
  })

  test('a buffer whose index cannot be made is read as a whole, and the answer says so', async () => {
    const path = tampered()
    mkdirSync(`${path}.index`)
    chmodSync(`${path}.index`, 0o700)
    writeFileSync(join(`${path}.index`, 'other'), '')
    const { how, out, err } = await audit('who', ...ROW, '--buffer', path)
    assert.equal(how, 5, err)
    assert.match(out, /NOT GENUINE: 1 /)
    assert.match(err, /all entries of the buffer were read instead/)
  })
})

describe('a file of the trail', () => {
  test('that was cut off, is damaged, not there or a folder is refused in words that say so', async () => {
    const path = tampered()
    const packed = gzipSync(readFileSync(fileOf(path)))
    const refused = async (name: string, bytes?: Uint8Array) => {
      const file = join(root, name)
      if (bytes !== undefined) writeFileSync(file, bytes)
      const { how, err } = await audit('verify', file, '--key-file', `${path}.key`)
      assert.equal(how, 1)
      return err
    }
    assert.match(await refused('cut.gz', packed.subarray(0, packed.length - 20)), /cut\.gz" is cut off: .*gzip -dc/)
    const damaged = Buffer.from(packed)
    damaged.fill(0xff, 40, 80)
    assert.match(await refused('damaged.gz', damaged), /damaged\.gz" is damaged/)
    assert.match(await refused('none.jsonl'), /none\.jsonl" is not there/)
    mkdirSync(join(root, 'folder'))
    assert.match(await refused('folder'), /folder" is a folder/)
    assert.match(await refused('empty.jsonl', Buffer.alloc(0)), /there are no entries in what was given/)
  })

  test('that is a later part of a trail is whole from where it begins, and not complete', async () => {
    const path = join(mkdtempSync(join(root, 'b-')), 'audit.sqlite')
    const outbox = openBuffer(path)
    assert.ok(outbox.append([1, 2, 3, 4].map((n) => auditRecord(`e-${n}`))).ok)
    outbox.close()
    const exported = (await audit('export', '--buffer', path)).out.trimEnd().split('\n')
    const key = `${path}.key`
    const whole = fileOf(path, exported)
    const complete = await audit('verify', whole, '--complete', '--key-file', key)
    assert.deepEqual([complete.how, complete.out.trimEnd().split('\n').at(-1)], [0, 'The trail is whole.'])

    const later = join(mkdtempSync(join(root, 'b-')), 'audit.sqlite')
    const next = openBuffer(later)
    assert.ok(next.append([1, 2, 3, 4].map((n) => auditRecord(`e-${n}`))).ok)
    const second = JSON.parse(readBuffer(later).lines[1] ?? '') as { readonly hash: string; readonly time: string }
    const head = writeHeadLine(readBuffer(later).keys, { instance: 'i1', seq: 2, hash: second.hash, time: second.time })
    next.close()
    const file = fileOf(later, [head, ...readBuffer(later).lines.slice(2)])
    const from3 = await audit('verify', file, '--key-file', `${later}.key`)
    assert.equal(from3.how, 0, from3.out)
    assert.match(from3.out, /The trail is whole from entry 3 of i1 on/)
    const demanded = await audit('verify', file, '--complete', '--key-file', `${later}.key`)
    assert.equal(demanded.how, 5)
    assert.match(demanded.out, /NOT complete: what comes before entry 3 of i1/)
  })

  test('whose lines a collector put in another order passes where that is allowed, and not with one missing', async () => {
    const path = join(mkdtempSync(join(root, 'b-')), 'audit.sqlite')
    const outbox = openBuffer(path)
    assert.ok(outbox.append([1, 2, 3, 4].map((n) => auditRecord(`e-${n}`))).ok)
    outbox.close()
    const [one = '', two = '', three = '', four = ''] = readBuffer(path).lines
    const verified = async (lines: readonly string[], ...more: readonly string[]) => {
      const { how, out } = await audit('verify', fileOf(path, lines), '--key-file', `${path}.key`, ...more)
      return [how, /not in its place/.test(out), /entry 2 is missing/.test(out)]
    }
    assert.deepEqual(await verified([one, four, two, three]), [5, true, false])
    assert.deepEqual(await verified([one, four, two, three], '--any-order'), [0, false, false])
    assert.deepEqual(await verified([four, one, three], '--any-order'), [5, false, true])
  })
})
