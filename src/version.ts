import { readFileSync } from 'node:fs'

function read(): string {
  // Compiled, this file lies two folders below the package.
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const manifest: unknown = JSON.parse(text)
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version)
  throw new Error('package.json names no version')
}

/** The package's version, as clients and operators are told. */
export const VERSION = read()
