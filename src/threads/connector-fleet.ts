import { isDeepStrictEqual } from 'node:util'
import type { AdminStore } from '../admin/admin-store.js'
import {
  type ConnectorConfig,
  type ConnectorFault,
  type ConnectorSet,
  connectorSettings,
  faultText,
} from '../config/config.js'
import { DOOR_DEADLINE_MS, INTROSPECTIONS_AT_ONCE } from '../core/limits.js'
import type { ConnectorGauges } from '../observe/metrics.js'
import type { Observe } from '../observe/observation.js'
import { type Connector, disabledConnector } from './connector.js'
import { ConnectorSupervisor } from './connector-supervisor.js'
import { Door } from './door.js'
import { type Member, Service, supervisorsOf } from './fleet-member.js'
import { type ConnectorState, disabledState, gaugesOf, stateOf } from './fleet-report.js'
import { Gate } from './gate.js'
import type { RefreshOutcome, StoredForConnector } from './preparations.js'

/** What became of one connector when a set was applied. */
export interface ConnectorChange {
  readonly id: string
  /** `failed`: what served before goes on, where something did. */
  readonly outcome: 'unchanged' | 'reloaded' | 'added' | 'removed' | 'replaced' | 'failed'
  /** Of the snapshot in force. */
  readonly epoch?: number
  readonly reason?: string
  readonly drift: readonly string[]
}

/**
 * Which connectors to prepare again: all, or those whose policy's newest version has another mark than the one they read last. `hold`, for
 * when nobody knows how long ago that changed: than the one in force, and whatever changed serves no call until it has been prepared.
 */
export type Again = 'all' | { readonly marks: ReadonlyMap<string, string>; readonly hold: boolean }

export interface FleetSurroundings {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  readonly random: () => number
  readonly policies: Pick<AdminStore, 'findPolicy' | 'findKnownObjects' | 'recordKnownObjects'>
}

/**
 * Owns the connectors of a gateway: which there are, who serves each, and what stands at which path. A new set is applied without a call
 * lost, and what did not change is not touched.
 */
export class ConnectorFleet {
  readonly #surroundings: FleetSurroundings
  readonly #gate = new Gate(INTROSPECTIONS_AT_ONCE)
  readonly #members = new Map<string, Member>()
  /** Connectors with a fault and nothing that serves in spite of it. */
  #disabled: readonly ConnectorFault[] = []
  /** What was said of faults, so that it is said once. */
  readonly #told = new Map<string, string>()
  readonly #doors = new Map<string, Connector>()
  /** By path: who stands there until the connector that comes to it was prepared once. */
  readonly #held = new Map<string, Door>()
  readonly #retiring = new Set<ConnectorSupervisor>()
  readonly #epochs = new Map<string, number>()
  #calls = 0

  constructor(surroundings: FleetSurroundings) {
    this.#surroundings = surroundings
  }

  /** What stands at each path; the map is always the same one. */
  get doors(): ReadonlyMap<string, Connector> {
    return this.#doors
  }

  /** Those that serve, by id. */
  get supervisors(): ReadonlyMap<string, ConnectorSupervisor> {
    return new Map([...this.#members].map(([id, { service }]) => [id, service.supervisor]))
  }

  get gauges(): readonly ConnectorGauges[] {
    return gaugesOf([...this.#members.values()], this.#retiring)
  }

  /** What there is to say of every configured connector, disabled ones too. */
  report(): readonly ConnectorState[] {
    const members = [...this.#members.values()]
    return [...members.map(stateOf), ...this.#disabled.map(disabledState)]
  }

  /** Those that serve, with the configuration that each serves by. */
  get services(): readonly Service[] {
    return [...this.#members.values()].map(({ service }) => service)
  }

  /**
   * Makes the set the one that is served. What stands at which path is so when this returns; the promise settles when every connector that
   * was touched, or had to be prepared again, has been, well or not. It tells of those alone.
   */
  apply(set: ConnectorSet, again: Again): Promise<readonly ConnectorChange[]> {
    const changes: Promise<ConnectorChange>[] = []
    const kept = this.#keptInSpite(set)
    const configured = new Set([...set.connectors.map(({ id }) => id), ...kept.keys()])
    const leaving = [...this.#members].filter(([id]) => !configured.has(id)).map(([, member]) => member)
    const holds = new Map<Connector, Promise<unknown>[]>()
    for (const config of set.connectors) {
      const change = this.#applyOne(config, again, holds)
      if (change !== undefined) changes.push(change)
    }
    for (const [id, fault] of kept) {
      const change = this.#keep(id, fault, again)
      if (change !== undefined) changes.push(change)
    }
    for (const member of leaving) changes.push(this.#dismiss(member, holds.get(member.door) ?? [], mustHold(again)))
    this.#disable(set, kept)
    this.#layDoors()
    return Promise.all(changes)
  }

  /** Takes no more calls, lets those in flight end within the deadline, and ends every thread. */
  async stop(deadlineMs: number): Promise<void> {
    const serving = [...this.#members.values()].flatMap(supervisorsOf)
    await Promise.all([...serving, ...this.#retiring].map((supervisor) => supervisor.stop(deadlineMs)))
  }

  /** Members whose new configuration has a fault, and that nothing without one takes the place of. */
  #keptInSpite(set: ConnectorSet): ReadonlyMap<string, ConnectorFault> {
    const ids = new Set(set.connectors.map(({ id }) => id))
    const paths = new Set(set.connectors.map(({ path }) => path))
    const kept = new Map<string, ConnectorFault>()
    for (const fault of set.faults) {
      const member = this.#members.get(fault.id) ?? this.#unread(fault)
      if (member === undefined) continue
      const { id, path } = member.service.config
      if (!ids.has(id) && !paths.has(path) && !kept.has(id)) kept.set(id, fault)
    }
    return kept
  }

  /** Whose file cannot be read that far is known by the file. */
  #unread({ unread, origin }: ConnectorFault): Member | undefined {
    if (unread === undefined) return undefined
    return [...this.#members.values()].find(({ service }) => isDeepStrictEqual(service.config.origin, origin))
  }

  #applyOne(
    config: ConnectorConfig,
    again: Again,
    holds: Map<Connector, Promise<unknown>[]>,
  ): Promise<ConnectorChange> | undefined {
    const member = this.#members.get(config.id)
    const hold = mustHold(again)
    if (member === undefined) return this.#add(config, holds, hold)
    member.faults = []
    const settings = connectorSettings(config)
    if (isDeepStrictEqual(settings, member.service.supervisor.settings)) {
      this.#drop(member)
      return this.#settleIn(member.service, config, again)
    }
    const { next } = member
    if (next !== undefined && isDeepStrictEqual(settings, next.supervisor.settings)) {
      next.config = config
      if (hold) {
        next.supervisor.hold()
        this.#promote(member, next)
      }
      return this.#awaitReplacement(member, next, next.supervisor.refresh())
    }
    this.#drop(member)
    return this.#replace(member, config, hold)
  }

  /** The same settings: what the policy is and what it is given may be others. */
  #settleIn(service: Service, config: ConnectorConfig, again: Again): Promise<ConnectorChange> | undefined {
    const { policy, vars } = service.config
    const same = policy === config.policy && isDeepStrictEqual(vars, config.vars)
    service.config = config
    return same && !isStale(service, again) ? undefined : prepareAgain(service, again)
  }

  #keep(id: string, { faults }: ConnectorFault, again: Again): Promise<ConnectorChange> | undefined {
    const member = this.#members.get(id)
    if (member === undefined) return undefined
    const reasons = faults.map(faultText)
    const news = !isDeepStrictEqual(reasons, member.faults)
    member.faults = reasons
    if (news) this.#surroundings.observe({ kind: 'connector.kept', connector: id, faults: reasons })
    // The policy still counts for what goes on serving.
    const prepared = isStale(member.service, again) ? prepareAgain(member.service, again) : undefined
    if (prepared === undefined && !news) return undefined
    return Promise.resolve(prepared).then(() => failedChange(member.service, reasons.join('; ')))
  }

  async #add(
    config: ConnectorConfig,
    holds: Map<Connector, Promise<unknown>[]>,
    hold: boolean,
  ): Promise<ConnectorChange> {
    const service = this.#supervise(config, hold)
    const { supervisor } = service
    this.#members.set(config.id, { door: new Door(supervisor), service, faults: [] })
    const settled = supervisor.whenSettled()
    const there = this.#doors.get(config.path)
    if (there instanceof Door && !hold) {
      // Whoever stands at its path goes on until it was prepared once: nobody is turned away meanwhile.
      this.#held.set(config.path, there)
      const released = settled.then(() => {
        if (this.#held.get(config.path) === there) this.#held.delete(config.path)
        this.#layDoors()
      })
      holds.set(there, [...(holds.get(there) ?? []), released])
    }
    return changeOf(service, await settled, 'added')
  }

  #replace(member: Member, config: ConnectorConfig, hold: boolean): Promise<ConnectorChange> {
    const next = this.#supervise(config, hold, member)
    member.next = next
    // Nothing serves that the new one could be a danger to, or nothing that serves may go on.
    if (hold || member.service.supervisor.epoch === undefined) this.#promote(member, next)
    return this.#awaitReplacement(member, next, next.supervisor.whenSettled())
  }

  async #awaitReplacement(member: Member, next: Service, prepared: Promise<RefreshOutcome>): Promise<ConnectorChange> {
    const outcome = await prepared
    if (outcome.kind !== 'failed') return changeOf(next, outcome, 'replaced')
    // The one that goes on serving must judge by the policy as it is now.
    if (member.service !== next) await member.service.supervisor.refresh()
    return failedChange(member.service, outcome.reason)
  }

  /** In one step: from here on every call goes to the new one, and the old one ends its own. */
  #promote(member: Member, next: Service): void {
    if (member.next !== next) return
    const { supervisor: old } = member.service
    delete member.next
    member.service = next
    const { supervisor, config } = next
    if ((supervisor.epoch ?? 0) <= (old.epoch ?? 0)) supervisor.renumber()
    member.door.lead(supervisor)
    this.#layDoors()
    void this.#retire(old).then(() => member.door.forget(old))
    if (supervisor.epoch === undefined) return
    this.#surroundings.observe({ kind: 'connector.replaced', connector: config.id, epoch: supervisor.epoch })
  }

  /** What was to take a member's place is not wanted any more. */
  #drop(member: Member): void {
    const { next } = member
    if (next === undefined) return
    delete member.next
    void this.#retire(next.supervisor)
  }

  /** Requests that came while it stood at its path still call, unless nobody knows how long ago it was to go; then it ends. */
  async #dismiss(member: Member, holds: readonly Promise<unknown>[], atOnce: boolean): Promise<ConnectorChange> {
    const { id } = member.service.config
    this.#drop(member)
    this.#members.delete(id)
    const { supervisor } = member.service
    if (atOnce) member.door.lead(disabledConnector(id, 'the connector was removed'))
    this.#retiring.add(supervisor)
    this.#surroundings.observe({ kind: 'connector.removed', connector: id })
    const released = Promise.all(holds)
    void released.then(() => member.door.whenEmpty(DOOR_DEADLINE_MS)).then(() => this.#retire(supervisor))
    await released
    return { id, outcome: 'removed', drift: [] }
  }

  async #retire(supervisor: ConnectorSupervisor): Promise<void> {
    this.#retiring.add(supervisor)
    await supervisor.retire()
    this.#retiring.delete(supervisor)
  }

  #disable(set: ConnectorSet, kept: ReadonlyMap<string, ConnectorFault>): void {
    const serving = new Set(kept.values())
    this.#disabled = set.faults.filter((fault) => !serving.has(fault))
    const before = new Map(this.#told)
    this.#told.clear()
    for (const { id, origin, faults } of this.#disabled) {
      const texts = faults.map(faultText)
      const key = JSON.stringify([id, origin.kind])
      this.#told.set(key, JSON.stringify(texts))
      if (before.get(key) === this.#told.get(key)) continue
      this.#surroundings.observe({ kind: 'connector.disabled', connector: id, faults: texts })
    }
  }

  /** All of it at once: no request finds a path between two states. */
  #layDoors(): void {
    this.#doors.clear()
    for (const { id, path } of this.#disabled) if (path !== undefined) this.#doors.set(path, disabledConnector(id))
    for (const { door, service } of this.#members.values()) this.#doors.set(service.config.path, door)
    for (const [path, door] of this.#held) this.#doors.set(path, door)
  }

  #supervise(config: ConnectorConfig, held: boolean, replaced?: Member): Service {
    const { observe, nowMs, random, policies } = this.#surroundings
    const { id } = config
    const service = new Service(config, (now) => {
      return new ConnectorSupervisor(connectorSettings(config), {
        observe,
        nowMs,
        random,
        gate: this.#gate,
        held,
        readPolicy: () => readPolicy(policies, now()),
        confirm: ({ name, version }, known) => policies.recordKnownObjects(name, version, id, known),
        nextEpoch: () => {
          const epoch = (this.#epochs.get(id) ?? 0) + 1
          this.#epochs.set(id, epoch)
          return epoch
        },
        nextCallId: () => {
          this.#calls += 1
          return this.#calls
        },
        ...(replaced === undefined
          ? {}
          : {
              callers: () => replaced.service.supervisor.callers,
              onReady: () => this.#promote(replaced, service),
            }),
      })
    })
    return service
  }
}

async function readPolicy(
  policies: FleetSurroundings['policies'],
  { id, policy, vars }: ConnectorConfig,
): Promise<StoredForConnector | undefined> {
  const stored = await policies.findPolicy(policy)
  if (stored === undefined) return undefined
  const { document, version } = stored
  const known = await policies.findKnownObjects(policy, version, id)
  const mark = policyMark(policy, stored)
  return { name: policy, document, version, mark, vars, ...(known === undefined ? {} : { known }) }
}

/** What tells one version of one policy from every other that was ever stored. */
export function policyMark(name: string, stored: { readonly version: number; readonly appliedAt: number }): string {
  return JSON.stringify([name, stored.version, stored.appliedAt])
}

function mustHold(again: Again): boolean {
  return again !== 'all' && again.hold
}

function isStale({ config, supervisor }: Service, again: Again): boolean {
  if (again === 'all') return true
  return again.marks.get(config.policy) !== (again.hold ? supervisor.servedMark : supervisor.policyMark)
}

async function prepareAgain(service: Service, again: Again): Promise<ConnectorChange> {
  if (mustHold(again)) service.supervisor.hold()
  const outcome = await service.supervisor.refresh()
  return changeOf(service, outcome, outcome.kind === 'unchanged' ? 'unchanged' : 'reloaded')
}

function changeOf(service: Service, outcome: RefreshOutcome, well: ConnectorChange['outcome']): ConnectorChange {
  if (outcome.kind === 'failed') return failedChange(service, outcome.reason)
  const { epoch, drift } = outcome
  return { id: service.config.id, outcome: well, epoch, drift }
}

function failedChange({ config, supervisor }: Service, reason: string): ConnectorChange {
  const { epoch, report } = supervisor
  const drift = report?.drift ?? []
  return { id: config.id, outcome: 'failed', reason, drift, ...(epoch === undefined ? {} : { epoch }) }
}
