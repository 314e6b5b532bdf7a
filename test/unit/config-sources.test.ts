import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { allConnectors, faultText, loadConfig, originText } from '../../src/config/config.js'

const folder = mkdtempSync(join(tmpdir(), 'runku-sources-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'config.yaml')
const directory = join(folder, 'connectors.d')
mkdirSync(directory)

const URL = 'postgres://reader:hunter2@127.0.0.1/shop'

/** Connectors of each source, as texts of their documents; those of the store by id. */
interface Written {
  readonly file?: string
  readonly folder?: Readonly<Record<string, string>>
  readonly store?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

function written({ file: text = 'connectors: []\n', folder: files = {}, store = {}, env = {} }: Written) {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  writeFileSync(file, `connectors_dir: connectors.d\n${text}`)
  const loaded = loadConfig({ file, env })
  assert.ok(loaded.ok, loaded.ok ? '' : loaded.error.map(faultText).join('\n'))
  const stored = Object.entries(store).map(([id, document]) => ({ id, document, author: 'test', changedAt: 0 }))
  const set = allConnectors(loaded.value, stored, env)
  const short = (line: string) => line.replaceAll(`${folder}/`, '')
  return {
    set,
    served: set.connectors.map(({ id, origin }) => `${id} ${short(originText(origin))}`),
    faults: set.faults.flatMap(({ faults }) => faults.map((fault) => short(faultText(fault)))),
  }
}

const inFile = (id: string, more = '') => `  - id: ${id}\n    type: postgres\n    url: ${URL}\n${more}`
const alone = (id: string, more: object = {}) => JSON.stringify({ id, type: 'postgres', url: URL, ...more })

describe('connectors of several sources', () => {
  test('come in the order file, folder, store; hidden and foreign files are none', () => {
    const { served, faults } = written({
      file: `connectors:\n${inFile('a')}`,
      folder: { 'z.yml': alone('b'), 'y.yaml': alone('c'), '.x.yaml': '{', 'readme.md': '{', 'w.json': '{' },
      store: { d: alone('d') },
    })
    assert.deepEqual(served, ['a config.yaml:3', 'c connectors.d/y.yaml', 'b connectors.d/z.yml', 'd the admin store'])
    assert.deepEqual(faults, [])
  })

  test('of two with one id or one path the later is disabled, and is told where the other is', () => {
    const { served, faults, set } = written({
      file: `connectors:\n${inFile('a')}${inFile('a')}${inFile('b', '    path: /mcp/c\n')}`,
      folder: { 'a.yaml': alone('a'), 'c.yaml': alone('c') },
      store: { a: alone('a'), e: alone('e', { path: '/mcp/c' }), f: alone('f') },
    })
    assert.deepEqual(served, ['a config.yaml:3', 'b config.yaml:9', 'f the admin store'])
    assert.deepEqual(faults, [
      'config.yaml:6:5: connectors[1].id: another connector has this id: config.yaml:3',
      'connectors.d/a.yaml:1:2: id: another connector has this id: config.yaml:3',
      'connectors.d/c.yaml: path: another connector has this path: config.yaml:9',
      'connector "a" of the admin store: id: another connector has this id: config.yaml:3',
      'connector "e" of the admin store: path: another connector has this path: config.yaml:9',
    ])
    assert.ok(
      set.faults.every(({ path }) => path === undefined),
      'none has a place of its own',
    )
  })

  test('a faulty one keeps its place, and one whose file cannot be read takes none', () => {
    const { served, set } = written({
      file: `connectors:\n  - id: a\n    type: postgres\n`,
      folder: { 'b.yaml': 'id: [', 'n.yaml': 'type: postgres\n' },
      store: { a: alone('a'), b: alone('b') },
    })
    assert.deepEqual(served, ['b the admin store'])
    assert.deepEqual(
      set.faults.map(({ id, path, unread }) => [id, path, unread]),
      [
        ['a', '/mcp/a', undefined],
        ['b', undefined, true],
        ['n', undefined, true],
        ['a', undefined, undefined],
      ],
    )
  })

  test('faults of a file of the folder name file, line and the nearest key; those of the store have no line', () => {
    const { faults } = written({
      folder: {
        'a.yaml': `id: a\ntype: postgres\nurl: ${URL}\npolcy: x\n`,
        'b.yaml': '- id: b\n',
        'c.yaml': 'id: [\n',
      },
      store: {
        d: alone('other'),
        e: '{"id":',
        f: JSON.stringify({ id: 'f', type: 'postgres', url: `\${RUNKU_NOWHERE}` }),
        g: alone('g', { polcy: 'x' }),
      },
    })
    assert.deepEqual(faults.slice(0, 2), [
      'connectors.d/a.yaml:4:1: polcy: unknown key. Did you mean "policy"?',
      'connectors.d/b.yaml: expected the keys of one connector, such as id, type and url',
    ])
    assert.match(faults[2] ?? '', /^connectors\.d\/c\.yaml:\d+:\d+: not valid YAML/)
    assert.deepEqual(faults[3], 'connector "d" of the admin store: id: expected d, the id under which it is stored')
    assert.match(faults[4] ?? '', /^connector "e" of the admin store: not valid YAML/)
    assert.deepEqual(faults.slice(5), [
      'connector "f" of the admin store: url: the environment variable RUNKU_NOWHERE is not set',
      'connector "g" of the admin store: polcy: unknown key. Did you mean "policy"?',
    ])
    assert.doesNotMatch(faults.join(), /hunter2/)
  })

  test('variables and files are read for all of them, relative to the folder of the configuration', () => {
    writeFileSync(join(folder, 'shop.url'), `${URL}\n`)
    const document = { id: 'a', type: 'postgres', url_file: 'shop.url', policy: `\${NAME}` }
    const { set } = written({
      folder: { 'a.yaml': JSON.stringify(document) },
      store: { b: JSON.stringify({ ...document, id: 'b' }) },
      env: { NAME: 'crm' },
    })
    assert.deepEqual(
      set.connectors.map(({ policy, connection }) => [policy, connection.database]),
      [
        ['crm', 'shop'],
        ['crm', 'shop'],
      ],
    )
  })

  test('a folder that is none ends the start', () => {
    for (const [path, expected] of [
      ['nowhere', /connectors_dir: the folder .*nowhere does not exist/],
      ['config.yaml', /connectors_dir: the folder .*config\.yaml is no folder/],
    ] as const) {
      writeFileSync(file, `connectors_dir: ${path}\n`)
      const loaded = loadConfig({ file, env: {} })
      assert.ok(!loaded.ok)
      assert.match(loaded.error.map(faultText).join(), expected)
    }
  })
})

describe('values of a connector', () => {
  const vars = (text: string) => written({ file: `connectors:\n${inFile('a', `    vars: ${text}\n`)}` })

  test('are texts, numbers and truth values by name, variables filled in', () => {
    const text = `{ region: eu, limit: 5, rate: 1.5, open: true, from_env: "\${NAME}" }`
    const { set } = written({ file: `connectors:\n${inFile('a', `    vars: ${text}\n`)}`, env: { NAME: '7' } })
    assert.deepEqual({ ...set.connectors[0]?.vars }, { region: 'eu', limit: 5, rate: 1.5, open: true, from_env: '7' })
    assert.deepEqual({ ...vars('').set.connectors[0]?.vars }, {})
  })

  test('of another kind or under another name are refused', () => {
    for (const [text, expected] of [
      ['{ Region: eu }', /vars\.Region: expected a name such as region/],
      ['{ 1a: eu }', /vars\.1a: expected a name/],
      [`{ ${'a'.repeat(65)}: 1 }`, /expected a name/],
      ['{ a: null }', /vars\.a: expected text of at most/],
      ['{ a: [1] }', /vars\.a: expected text of at most/],
      ['{ a: 9007199254740993 }', /vars\.a: expected a number that is kept exactly: put it in quotes/],
      ['[a]', /vars: expected values by name/],
      [`{ a: ${'x'.repeat(5_000)} }`, /vars\.a: expected text of at most 4096 characters/],
    ] as const) {
      const { served, faults } = vars(text)
      assert.deepEqual(served, [], text)
      assert.match(faults.join('\n'), expected)
    }
  })
})
