import { existsSync, readFileSync } from 'node:fs'

/** The nearest manifest above this file, wherever the compiler put it. */
function manifest(): unknown {
  for (let folder = new URL('.', import.meta.url); ; folder = new URL('..', folder)) {
    const file = new URL('package.json', folder)
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
    if (folder.pathname === '/') throw new Error('the package has no package.json')
  }
}

function read(): string {
  const found = manifest()
  if (typeof found === 'object' && found !== null && 'version' in found) return String(found.version)
  throw new Error('package.json names no version')
}

/** The package's version, as clients and operators are told. */
export const VERSION = read()
