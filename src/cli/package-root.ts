import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The package's own folder: the nearest one above the running program that holds its package.json. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('the program runs outside of its package')
    folder = parent
  }
  return folder
}

export function packageVersion(): string {
  const described: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))
  const version = typeof described === 'object' && described !== null && 'version' in described ? described.version : ''
  return String(version)
}
