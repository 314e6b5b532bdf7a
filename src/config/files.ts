import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { fail, ok, type Result } from '../core/result.js'

/** Reads a small text file, such as a secret, without the line break at its end. The error never holds its content. */
export function readSmallFile(file: string, bytesMax: number): Result<string, string> {
  const unreadable = readableFault(file)
  if (unreadable !== undefined) return fail(unreadable)
  if (statSync(file).size > bytesMax) return fail(`the file ${file} is larger than ${bytesMax} bytes`)
  const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  return text === '' ? fail(`the file ${file} is empty`) : ok(text)
}

/** Why the file cannot be read, or undefined when it can. */
export function readableFault(file: string): string | undefined {
  try {
    accessSync(file, constants.R_OK)
    const stats = statSync(file)
    if (stats.isDirectory()) return `${file} is a folder, not a file`
    // A device has no end to read to.
    return stats.isCharacterDevice() || stats.isBlockDevice() ? `${file} is a device, not a file` : undefined
  } catch (error) {
    return `the file ${file} ${accessText(error)}`
  }
}

/** Why the gateway cannot keep a file of its own there, as far as what is there already tells; undefined when it may. */
export function placeFault(file: string): string | undefined {
  const there = statSync(file, { throwIfNoEntry: false })
  return there === undefined || there.isFile()
    ? undefined
    : `expected the path of a file, but ${file} is something else`
}

/** The end of the sentence "the file x …" for a failed file operation. */
export function accessText(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause'
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read or written by this user'
  return `cannot be used (${code})`
}

/**
 * Why a secret that is read again and again cannot be used now, or undefined when it can: what can be read once alone, such
 * as a pipe, is no place for one.
 */
export function secretFileFault(file: string, bytesMax: number): string | undefined {
  const unreadable = readableFault(file)
  if (unreadable !== undefined) return unreadable
  if (!statSync(file).isFile()) return `${file} is not a regular file, which could be read for each new connection`
  const text = readSmallFile(file, bytesMax)
  return text.ok ? undefined : text.error
}
