import type { AuditRecord } from '../core/audit-entry.js'
import { PENDING_CHANGES_MAX, PENDING_CLAIM_STALE_MS } from '../core/limits.js'
import type { PendingAudit, PendingChange } from './admin-store.js'

export interface PendingChangesSurroundings {
  readonly store: PendingAudit
  /** Names this gateway among those that share the store. */
  readonly instance: string
  /** Whether the trail takes entries now. */
  readonly available: () => boolean
  /** Gives the trail an entry. One with an id that it has already is no second entry. */
  readonly append: (record: AuditRecord, onDurable: (durable: boolean) => void) => void
  /** Told when the store fails. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Takes changes of the admin store into this instance's trail. A change's row goes once its entry is durable, so that it is
 * never lost; its id is the entry's, so that one taken twice by this instance is one entry.
 */
export class PendingChanges {
  readonly #surroundings: PendingChangesSurroundings
  #running: Promise<void> | undefined

  constructor(surroundings: PendingChangesSurroundings) {
    this.#surroundings = surroundings
  }

  /** Takes what there is. One that is under way is waited for: it may have looked before the last change. */
  async take(): Promise<void> {
    await this.#running
    this.#running ??= this.#take().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #take(): Promise<void> {
    const { store, instance, available, onFailed } = this.#surroundings
    try {
      while (available()) {
        const changes = await store.claimPending(instance, PENDING_CHANGES_MAX, PENDING_CLAIM_STALE_MS)
        if (changes.length === 0) return
        const kept = await Promise.all(changes.map((change) => this.#keep(change)))
        const ids = changes.filter((_, i) => kept[i] === true).map(({ id }) => id)
        await store.settlePending(ids)
        // What could not be kept is claimed again when it is stale.
        if (ids.length < changes.length || changes.length < PENDING_CHANGES_MAX) return
      }
    } catch (error) {
      onFailed(error)
    }
  }

  #keep(change: PendingChange): Promise<boolean> {
    return new Promise((resolve) => this.#surroundings.append(entryOf(change), resolve))
  }
}

/** The entry of a change: when it was made and by whom, whichever instance keeps it. */
export function entryOf({ id, time, author, action, target, detail }: PendingChange): AuditRecord {
  return {
    id: `change-${id}`,
    time: new Date(time).toISOString(),
    identity: author.name,
    ...(author.keyId === undefined ? {} : { key_id: author.keyId }),
    ...(author.address === undefined ? {} : { address: author.address }),
    tool: action,
    operation: 'admin',
    target,
    ...(Object.keys(detail).length === 0 ? {} : { detail }),
    decision: 'allowed',
    code: 'OK',
    effect: 'committed',
    duration_ms: { total: 0 },
  }
}
