import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Programs for tests: the one on this machine, else Debian's package unpacked into a cache folder of the repository. */
export interface UnpackedPackage {
  /** Laid out like the root of the file system. */
  readonly root: string
  /** Shared libraries that the system does not have. */
  readonly libraries: readonly string[]
}

const execute = promisify(execFile)
const DOWNLOAD_TIMEOUT_MS = 60_000
const UPDATE_TIMEOUT_MS = 120_000

/** The first of these programs that this machine has, where servers are installed too. */
export function installedProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}

/**
 * The package, and the libraries it asks for that are not installed, unpacked into `.cache/<name>` and not installed. Rejects
 * with what failed and how to do without.
 */
export async function unpackedPackage(name: string): Promise<UnpackedPackage> {
  const root = join(rootFolder(), '.cache', name)
  try {
    if (!existsSync(root)) await unpack(name, root)
    return { root, libraries: await librariesIn(join(root, 'usr', 'lib')) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `There is no ${name} for the tests: install it (apt-get install ${name}), or let this machine reach its Debian registry, from which the tests unpack it without installing it. Unpacking it failed: ${why}`,
    )
  }
}

/** The folder of the repository, however deep the compiled tests lie in it. */
function rootFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

/** Into a folder of its own first, so that another test process never finds a half. */
async function unpack(name: string, root: string): Promise<void> {
  await mkdir(dirname(root), { recursive: true })
  const folder = await mkdtemp(`${root}-`)
  try {
    const own = await download(folder, name)
    const { stdout } = await execute('dpkg-deb', ['--field', own, 'Depends'])
    const needed = stdout.split(',').map((entry) => entry.trim().split(/[\s:|(]/)[0] ?? '')
    for (const library of needed.filter((entry) => entry.startsWith('lib'))) {
      if (!(await isInstalled(library))) await download(folder, library)
    }
    for (const file of await readdir(folder)) {
      if (!file.endsWith('.deb')) continue
      await execute('dpkg-deb', ['--extract', join(folder, file), folder])
      await rm(join(folder, file))
    }
    await rename(folder, root)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    if (!existsSync(root)) throw error
  }
}

/** The path of the downloaded package. Lists of packages that are missing or old are fetched, which installs nothing. */
async function download(folder: string, name: string): Promise<string> {
  const once = () => execute('apt-get', ['download', '-q', name], { cwd: folder, timeout: DOWNLOAD_TIMEOUT_MS })
  try {
    await once()
  } catch (failure) {
    try {
      await execute('apt-get', ['update', '-q'], { timeout: UPDATE_TIMEOUT_MS })
    } catch {
      throw failure
    }
    await once()
  }
  const file = (await readdir(folder)).find((entry) => entry.startsWith(`${name}_`))
  if (file === undefined) throw new Error(`apt-get gave no package ${name}`)
  return join(folder, file)
}

async function isInstalled(name: string): Promise<boolean> {
  try {
    const { stdout } = await execute('dpkg-query', ['--status', name])
    return stdout.includes('Status: install ok installed')
  } catch {
    return false
  }
}

async function librariesIn(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return []
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => /\.so(\.|$)/.test(name)).map((name) => join(folder, name))
}
