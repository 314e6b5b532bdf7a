import { readFileSync } from 'node:fs'
import { SHIP_HEADER_CHARS_MAX, SHIP_HEADER_TTL_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { ShipperSettings } from '../../threads/messages.js'

export type HeaderList = readonly (readonly [string, string])[]

/** What HTTP lets a header hold, as bytes of Latin-1. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The configured headers. Faults name the header and its file, and never a value. */
export class ShipHeaders {
  readonly #headers: ShipperSettings['headers']
  readonly #nowMs: () => number
  #read: { readonly list: HeaderList; readonly atMs: number } | undefined

  /** `nowMs`: monotonic milliseconds. */
  constructor(headers: ShipperSettings['headers'], nowMs: () => number) {
    this.#headers = headers
    this.#nowMs = nowMs
  }

  /** Files are read again once a minute, and after `forget`. Fails with one sentence. */
  list(): Result<HeaderList, string> {
    if (this.#read !== undefined && this.#nowMs() - this.#read.atMs < SHIP_HEADER_TTL_MS) return ok(this.#read.list)
    const list: (readonly [string, string])[] = []
    for (const header of this.#headers) {
      const value = 'value' in header ? ok(header.value) : readValue(header.file)
      if (!value.ok) return fail(`the header ${header.name} cannot be sent: ${value.error}`)
      if (!HEADER_VALUE.test(value.value)) {
        return fail(`the header ${header.name} cannot be sent: expected one line of characters that HTTP allows`)
      }
      list.push([header.name, value.value])
    }
    this.#read = { list, atMs: this.#nowMs() }
    return ok(list)
  }

  /** The destination did not take them: what the files hold now is read for the next attempt. */
  forget(): void {
    this.#read = undefined
  }
}

function readValue(file: string): Result<string, string> {
  try {
    const text = readFileSync(file, 'utf8').replace(/^[\r\n]+|[\r\n]+$/g, '')
    if (text === '') return fail(`the file "${file}" is empty`)
    if (text.length > SHIP_HEADER_CHARS_MAX) {
      return fail(`the file "${file}" holds more than ${SHIP_HEADER_CHARS_MAX} characters`)
    }
    return ok(text)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return fail(`the file "${file}" cannot be read (${code})`)
  }
}
