import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The checkout, seen from the compiled test in `dist/test/unit` or another build folder of the same depth. */
function checkout(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

const ROOT = checkout()
const IMPORT = /^\s*(import|export)\s+(type\s+)?(?:[\s\S]*?\sfrom\s+)?'([^']+)'|import\('([^']+)'\)/gm

interface Import {
  readonly from: string
  /** A file of the checkout without its ending, or a package. */
  readonly to: string
  readonly typeOnly: boolean
  /** Loaded when the code comes to it, and not with the file. */
  readonly dynamic: boolean
}

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(IMPORT)].map((match) => {
    const target = match[3] ?? match[4] ?? ''
    const to = target.startsWith('.') ? normalize(join(dirname(file), target)).replace(/\.js$/, '') : target
    return { from: file, to, typeOnly: match[2] !== undefined, dynamic: match[4] !== undefined }
  })
}

const files = ['src', 'workers'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
)
const imports = files.flatMap(importsOf)
const ours = (to: string) => to.startsWith('src/') || to.startsWith('workers/')
const within = (folders: readonly string[]) => (file: string) => folders.some((folder) => file.startsWith(folder))

/** Every file that running `entry` can load, following imports that remain at run time: all of them, or those it begins with. */
function reachable(entry: string, which: 'all' | 'static' = 'all'): ReadonlySet<string> {
  const seen = new Set<string>()
  const next = [entry]
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const edge of imports) {
      if (which === 'static' && edge.dynamic) continue
      if (edge.from === `${file}.ts` && !edge.typeOnly && ours(edge.to)) next.push(edge.to)
    }
  }
  return seen
}

/** A package that speaks a database's protocol, or a part of one. */
function isDriver(to: string): boolean {
  return /^(pg|mysql2|mssql|tedious)(\/|$)/.test(to)
}

function assertNone(rule: string, broken: readonly Import[]): void {
  const lines = broken.map(({ from, to }) => `${from} imports ${to}`)
  assert.deepEqual(lines, [], rule)
}

describe('import rules', () => {
  test('core imports nothing outside of core', () => {
    assertNone(
      'core',
      imports.filter(({ from, to }) => from.startsWith('src/core/') && !to.startsWith('src/core/')),
    )
  })

  test('plan, policy and tools import only core and themselves', () => {
    const pure = ['src/plan/', 'src/policy/', 'src/tools/']
    const allowed = within(['src/core/', ...pure])
    assertNone(
      'pure stages',
      imports.filter(({ from, to }) => within(pure)(from) && ours(to) && !allowed(to)),
    )
  })

  test('a dialect is pure: only driver.ts and introspector.ts reach a database driver', () => {
    const allowed =
      /^src\/engines\/[a-z]+\/(driver|introspector|connection|pool|cancel|[a-z-]*connection[a-z-]*)\.ts$|^src\/demo\/|^src\/admin\/postgres-[a-z-]+\.ts$/
    assertNone(
      'drivers',
      imports.filter(({ from, to, typeOnly }) => isDriver(to) && !typeOnly && !allowed.test(from)),
    )
  })

  test('a connector thread begins without any database driver, and comes to those of every engine', () => {
    const loading = (which: 'all' | 'static') => {
      const files = reachable('workers/connector.worker', which)
      const taken = imports.filter(
        ({ from, to, typeOnly }) => isDriver(to) && !typeOnly && files.has(from.replace(/\.ts$/, '')),
      )
      return [...new Set(taken.map(({ to }) => to.split('/')[0]))].sort()
    }
    assert.deepEqual(loading('static'), [])
    assert.deepEqual(loading('all'), ['mysql2', 'pg', 'tedious'])
  })

  test('a connector thread begins without what checks policies, and reads YAML for a text that is to be judged alone', () => {
    const packagesOf = (entry: string, which: 'all' | 'static') => {
      const files = reachable(entry, which)
      const taken = imports.filter(
        ({ from, to, typeOnly }) => /^(zod|yaml)$/.test(to) && !typeOnly && files.has(from.replace(/\.ts$/, '')),
      )
      return [...new Set(taken.map(({ to }) => to))].sort()
    }
    assert.deepEqual(packagesOf('workers/connector.worker', 'static'), [])
    assert.deepEqual(packagesOf('src/policy/policy-json', 'all'), ['zod'])
    assert.deepEqual(packagesOf('workers/connector.worker', 'all'), ['yaml', 'zod'])
  })

  test('the front thread begins without any database driver, and comes to the one of an admin store on PostgreSQL alone', () => {
    const loading = (which: 'all' | 'static') => {
      const loaded = reachable('src/gateway', which)
      const taken = imports.filter(
        ({ from, to, typeOnly }) => isDriver(to) && !typeOnly && loaded.has(from.replace(/\.ts$/, '')),
      )
      return [...new Set(taken.map(({ from }) => from))]
    }
    assert.deepEqual(loading('static'), [])
    assert.ok(loading('all').length > 0)
    for (const file of loading('all')) assert.match(file, /^src\/admin\/postgres-/)
  })

  test('engines do not import each other', () => {
    const engineOf = (file: string) => /^src\/engines\/(postgres|mysql|sqlserver)\//.exec(file)?.[1]
    const crossing = imports.filter(({ from, to }) => {
      const [a, b] = [engineOf(from), engineOf(to)]
      return a !== undefined && b !== undefined && a !== b
    })
    assertNone('engines', crossing)
  })

  test('only the HTTP folder knows uWebSockets.js, and only the thread folder knows Piscina', () => {
    const uws = imports.filter(({ from, to }) => to === 'uWebSockets.js' && from !== 'src/http/uws-server.ts')
    const piscina = imports.filter(({ from, to }) => to === 'piscina' && !from.startsWith('src/threads/'))
    assertNone('native packages', [...uws, ...piscina])
  })

  test('the front thread never loads engines or plans', () => {
    const loaded = [...reachable('src/gateway')].filter(within(['src/engines/', 'src/plan/']))
    assert.deepEqual(loaded, [])
  })

  test('a connector thread never loads HTTP, MCP, authentication or the admin store', () => {
    const forbidden = within(['src/http/', 'src/mcp/', 'src/auth/', 'src/admin/'])
    assert.deepEqual([...reachable('workers/connector.worker')].filter(forbidden), [])
  })

  test('nothing imports the workers', () => {
    assertNone(
      'workers',
      imports.filter(({ to }) => to.startsWith('workers/')),
    )
  })

  test('every package that is imported is a declared dependency', () => {
    const declared: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    assert.ok(typeof declared === 'object' && declared !== null && 'dependencies' in declared)
    const names = new Set(Object.keys(declared.dependencies ?? {}))
    const packages = imports.filter(({ to }) => !ours(to) && !to.startsWith('node:'))
    assertNone(
      'dependencies',
      packages.filter(
        ({ to }) =>
          !names.has(
            to
              .split('/')
              .slice(0, to.startsWith('@') ? 2 : 1)
              .join('/'),
          ),
      ),
    )
  })
})
