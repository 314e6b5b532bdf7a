import { createHash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import type { KnownObjects } from '../core/known-objects.js'
import type { SchemaModel } from '../core/schema-model.js'
import type { PolicyDocument } from '../policy/policy-document.js'
import type { ConnectorVars, SnapshotHandle } from '../threads/messages.js'

/** Everything that decides a call, frozen at one moment: the schema as introspected and the policy as applied. */
export interface ConnectorSnapshot {
  readonly schema: SchemaModel
  /** As it was applied. */
  readonly policy: PolicyDocument
  /** What the connector gives for the variables in it. */
  readonly vars: ConnectorVars
  /** What the policy was confirmed to be about; absent in the snapshot that confirms it. */
  readonly known?: KnownObjects
}

/** Encodes once into shared memory; from then on the snapshot travels as a handle that costs nothing to send. */
export function encodeSnapshot(snapshot: ConnectorSnapshot, epoch: number): SnapshotHandle {
  const encoded = serialize(snapshot)
  const bytes = new SharedArrayBuffer(encoded.byteLength)
  new Uint8Array(bytes).set(encoded)
  return { epoch, bytes }
}

/**
 * SHA-256 in hex of what decides a call. `known`: what the policy is confirmed to be about, also in the snapshot that confirms it, which
 * decides like the ones after it.
 */
export function fingerprint({ schema, policy, vars }: ConnectorSnapshot, known: KnownObjects | undefined): string {
  return createHash('sha256')
    .update(serialize([schema, policy, vars, known]))
    .digest('hex')
}

/** The inverse. The bytes were made by `encodeSnapshot` in this process, so their type is known. */
export function decodeSnapshot(handle: SnapshotHandle): ConnectorSnapshot {
  return deserialize(new Uint8Array(handle.bytes).slice()) as ConnectorSnapshot
}
