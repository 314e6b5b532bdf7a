import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { fail, ok, type Result } from '../core/result.js'

export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

function readPem(what: string, file: string): Result<Buffer, string> {
  try {
    return ok(readFileSync(file))
  } catch (error) {
    // A system error carries its code; anything else is a bug and is thrown on.
    if (error instanceof Error && 'code' in error) {
      return fail(`The TLS ${what} file ${file} cannot be read (${String(error.code)}).`)
    }
    throw error
  }
}

/** Reads both files and makes sure that they are a usable pair; otherwise one sentence for the operator. */
export function readTlsFiles(files: TlsFiles): Result<{ readonly cert: Buffer; readonly key: Buffer }, string> {
  const cert = readPem('certificate', files.certFile)
  if (!cert.ok) return cert
  const key = readPem('key', files.keyFile)
  if (!key.ok) return key
  try {
    createSecureContext({ cert: cert.value, key: key.value, minVersion: 'TLSv1.2' })
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return fail(`The TLS files ${files.certFile} and ${files.keyFile} are not a usable certificate and key: ${detail}.`)
  }
  return ok({ cert: cert.value, key: key.value })
}
