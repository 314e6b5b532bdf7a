import { setTimeout as pause } from 'node:timers/promises'
import { tamperedText } from '../audit/beside-chain.js'
import { bufferExists } from '../audit/buffer-file.js'
import type { ChainKeys } from '../audit/chain.js'
import { noteRecord } from '../audit/notes.js'
import { Outbox } from '../audit/outbox.js'
import { backOffMs } from '../audit/ship/back-off.js'
import { deliver, shownUrl, unprotected } from '../audit/ship/deliver.js'
import { ShipHeaders } from '../audit/ship/ship-headers.js'
import { ShipReader } from '../audit/ship/ship-reader.js'
import { type KeepShipping, ShipSteps } from '../audit/ship/ship-steps.js'
import { sealBatch } from '../audit/ship/ship-thread.js'
import { auditSettings } from '../config/audit-config.js'
import { unreachable } from '../core/assert.js'
import { monotonicMs } from '../core/clock.js'
import { SHIP_COMMAND_FAILURES_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Observation } from '../observe/observation.js'
import type { AuditSettings, ShipperSettings } from '../threads/messages.js'
import { findTrail, type SourceOptions } from './audit-sources.js'
import { type CommandResult, type Refusal, readConfig, refused, type Surroundings } from './command.js'

interface Place {
  readonly buffer: string
  readonly keys: ChainKeys
  readonly shipper: ShipperSettings
  readonly keeping: AuditSettings['values']
}

/**
 * `runku audit ship --buffer <path>`: takes the buffer's lock, makes entries of the intents that nobody can end any more, notes that it
 * was adopted, and ships what is left. What the destination does not take now stays where it is.
 */
export async function shipBuffer(
  surroundings: Surroundings,
  source: SourceOptions & { readonly buffer: string },
): Promise<CommandResult> {
  const found = findPlace(surroundings, source)
  if (!found.ok) return found
  const place = found.value
  const { clock: nowMs, randomBytes } = surroundings
  const opened = Outbox.open({
    path: place.buffer,
    durability: 'full',
    retainMs: Number.MAX_SAFE_INTEGER,
    onFull: 'block',
    keys: place.keys,
    keeping: place.keeping,
    intentsAreLost: true,
    ships: true,
    nowMs,
    newInstance: () => Buffer.from(randomBytes(8)).toString('hex'),
  })
  if (!opened.ok) return refused(opened.error)
  const outbox = opened.value
  try {
    const noted = noteAdoption(outbox, surroundings)
    return noted.ok ? await shipAll(outbox, place, nowMs) : refused(noted.error)
  } finally {
    outbox.close()
  }
}

function findPlace(
  surroundings: Surroundings,
  source: SourceOptions & { readonly buffer: string },
): Result<Place, Refusal> {
  const loaded = readConfig(surroundings)
  if (!loaded.ok) return loaded
  const { shipper, values: keeping } = auditSettings(loaded.value.config.audit)
  if (shipper === undefined) return refused('the configuration has no audit.shipper: it says where entries are to go')
  // Opening what is not there would make a new buffer.
  if (!bufferExists(source.buffer)) return refused(`there is no buffer at "${source.buffer}"`)
  const trail = findTrail(surroundings, source)
  return trail.ok ? ok({ buffer: source.buffer, keys: trail.value.keys, shipper, keeping }) : trail
}

/** In the chain of the buffer itself, before anything is sent: who came for its entries, and when. */
function noteAdoption(outbox: Outbox, { author, clock, randomBytes }: Surroundings): Result<void, string> {
  const position = outbox.shipBook().state().position
  const toSeq = outbox.head.seq
  if (position >= toSeq) return ok(undefined)
  const id = `adopted-${Buffer.from(randomBytes(12)).toString('hex')}`
  const detail = { author, from_seq: position + 1, to_seq: toSeq }
  const kept = outbox.append([noteRecord({ id, timeMs: clock(), tool: 'adopted', detail })])
  return kept.ok ? ok(undefined) : kept
}

interface Tally {
  delivered: number
  refused: number
}

async function shipAll(outbox: Outbox, { buffer, keys, shipper }: Place, nowMs: () => number): Promise<CommandResult> {
  const book = outbox.shipBook()
  const { instance } = book
  const tally: Tally = { delivered: 0, refused: 0 }
  const keep: KeepShipping = async (change, batch) => {
    const sealed = sealBatch(batch, { keys, instance, nowMs })
    const kept = book.change({ ...change, batch: sealed })
    return kept.ok ? ok(sealed) : fail(kept.error)
  }
  const observe = (observation: Observation): void => {
    if (observation.kind === 'audit.ship_refused') tally.refused += observation.entries
  }
  const reader = new ShipReader(buffer)
  const headers = new ShipHeaders(shipper.headers, monotonicMs)
  const state = book.state()
  const steps = new ShipSteps({ settings: shipper, instance, state, reader, headers, deliver, keep, nowMs, observe })
  try {
    const failure = await takeSteps(steps, tally)
    return failure === undefined
      ? done(outbox, shipper.url, tally)
      : refused(
          `${shownUrl(shipper.url)}: ${failure}`,
          `${tally.delivered} entries were delivered, those from ${steps.position + 1} on are left: run it again`,
        )
  } finally {
    reader.close()
  }
}

/** Until nothing is left, or so many attempts in a row have failed: then why the last one did. */
async function takeSteps(steps: ShipSteps, tally: Tally): Promise<string | undefined> {
  const never = new AbortController().signal
  for (let failures = 0; ; ) {
    const step = await steps.step(false, never)
    switch (step.kind) {
      case 'idle':
        return undefined
      case 'moved':
        failures = 0
        tally.delivered += step.entries
        if (step.pauseMs > 0) await pause(step.pauseMs)
        break
      case 'failed':
        failures = step.progress ? 1 : failures + 1
        if (failures >= SHIP_COMMAND_FAILURES_MAX) return step.reason
        await pause(Math.max(backOffMs(failures, Math.random()), step.pauseMs ?? 0))
        break
      default:
        return unreachable(step)
    }
  }
}

function done(outbox: Outbox, url: string, { delivered, refused: left }: Tally): CommandResult {
  const { instance, tampered } = outbox
  const risk = unprotected(url, process.env)
  return ok({
    lines: [
      `Delivered ${delivered} entries of instance ${instance} to ${shownUrl(url)}.`,
      ...(left === 0
        ? []
        : [`The destination refused ${left} others one by one. They stay in the buffer: run it again.`]),
      ...(risk === undefined ? [] : [`Warning: ${risk}.`]),
      ...tampered.map((found) => `Warning: beside the audit chain ${tamperedText(found)}.`),
    ],
    json: { instance, delivered, refused: left, tampered },
  })
}
