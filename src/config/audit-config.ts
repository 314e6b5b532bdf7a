import { resolve } from 'node:path'
import type { z } from 'zod'
import type { AuditFileSettings, AuditSettings, BufferSettings, ShipperSettings } from '../threads/messages.js'
import type { audit } from './audit-schema.js'
import { placeFault } from './files.js'
import { Secret } from './secret.js'

type AuditInput = z.output<typeof audit>
type ShipperInput = NonNullable<AuditInput['shipper']>

/** `audit` of the configuration, with absolute paths. Header values are secrets until the audit thread is started. */
export interface AuditConfig {
  readonly stdout: boolean
  readonly buffer?: BufferSettings
  readonly file?: AuditFileSettings
  readonly shipper?: Omit<ShipperSettings, 'headers'> & {
    readonly headers: readonly (
      | { readonly name: string; readonly value: Secret }
      | { readonly name: string; readonly file: string }
    )[]
  }
  readonly onFailure: AuditSettings['onFailure']
  readonly values: AuditSettings['values']
  readonly chainKeyFile?: string
}

const HOUR_MS = 3_600_000

function bufferOf(
  { path, durability, retain_hours, bytes_max, on_full }: NonNullable<AuditInput['buffer']>,
  folder: string,
) {
  return {
    path: resolve(folder, path),
    durability,
    retainMs: retain_hours * HOUR_MS,
    ...(bytes_max === undefined ? {} : { bytesMax: bytes_max }),
    onFull: on_full,
  }
}

function shipperOf(input: ShipperInput, folder: string): NonNullable<AuditConfig['shipper']> {
  const headers = Object.entries(input.headers).map(([name, value]) =>
    typeof value === 'string' ? { name, value: new Secret(value) } : { name, file: resolve(folder, value.file) },
  )
  const { url, format, gzip, batch_max: batchMax, interval_ms: intervalMs, timeout_ms: timeoutMs } = input
  return { url, headers, format, gzip, batchMax, intervalMs, timeoutMs }
}

/** Paths are relative to the folder of the configuration. */
export function resolveAudit(input: AuditInput, folder: string): AuditConfig {
  const { stdout, buffer, file, shipper, on_failure, values, chain_key_file } = input
  const keyFile = chain_key_file ?? (buffer === undefined ? undefined : `${buffer.path}.key`)
  return {
    stdout,
    ...(buffer === undefined ? {} : { buffer: bufferOf(buffer, folder) }),
    ...(file === undefined
      ? {}
      : { file: { path: resolve(folder, file.path), bytesMax: file.bytes_max, filesMax: file.files_max } }),
    ...(shipper === undefined ? {} : { shipper: shipperOf(shipper, folder) }),
    onFailure: on_failure,
    values: { filters: values.filters, writes: values.writes, resultKeys: values.result_keys },
    ...(keyFile === undefined ? {} : { chainKeyFile: resolve(folder, keyFile) }),
  }
}

/** What the audit worker needs. The one place where header values are revealed. */
export function auditSettings({ shipper, ...rest }: AuditConfig): AuditSettings {
  if (shipper === undefined) return rest
  const headers = shipper.headers.map((header) =>
    'value' in header ? { name: header.name, value: header.value.reveal() } : header,
  )
  return { ...rest, shipper: { ...shipper, headers } }
}

/** Rules that hold between keys of `audit`: the place, and what was expected. `storeFile` is absent where the store is no file. */
export function auditComplaints(
  input: AuditInput,
  folder: string,
  storeFile: string | undefined,
): readonly { readonly path: readonly string[]; readonly message: string }[] {
  const { stdout, buffer, file, shipper } = input
  const out: { path: readonly string[]; message: string }[] = []
  if (!stdout && buffer === undefined && file === undefined) {
    out.push({
      path: ['audit', 'stdout'],
      message: 'without stdout expected audit.buffer or audit.file: entries must go somewhere',
    })
  }
  if (shipper !== undefined && buffer === undefined) {
    out.push({
      path: ['audit', 'shipper'],
      message: 'expected audit.buffer beside it: what is shipped is read from there',
    })
  }
  const taken = new Map<string, string>()
  if (storeFile !== undefined) taken.set(resolve(folder, storeFile), 'admin_store.path')
  for (const [key, path] of [
    ['buffer', buffer?.path],
    ['file', file?.path],
    ['chain_key_file', input.chain_key_file],
  ] as const) {
    if (path === undefined) continue
    const other = taken.get(resolve(folder, path))
    const where = key === 'chain_key_file' ? ['audit', key] : ['audit', key, 'path']
    const misplaced = placeFault(resolve(folder, path))
    if (misplaced !== undefined) out.push({ path: where, message: misplaced })
    if (other !== undefined) out.push({ path: where, message: `expected another file than ${other}` })
    taken.set(resolve(folder, path), where.join('.'))
  }
  return out
}
