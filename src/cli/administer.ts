import { ALL_RIGHTS } from '../admin/admin-rights.js'
import type { AdminStore } from '../admin/admin-store.js'
import type { AdminOperation, OperationContext } from '../admin/operation.js'
import type { LoadedConfig } from '../config/config.js'
import { checkConnector, connectorUses } from '../config/connector-uses.js'
import { ok } from '../core/result.js'
import { type CommandResult, refused, type Surroundings, withStore } from './command.js'
import { judgePolicy } from './judge-policy.js'

/** Runs one operation on the configured admin store. `show` gives the lines for a person; the data are the operation's own. */
export function administer<O>(
  surroundings: Surroundings,
  operation: AdminOperation<O>,
  input: unknown,
  show: (done: O) => readonly string[],
): Promise<CommandResult> {
  return withStore(surroundings, operation.changes ? 'changes' : 'reads', async (store, loaded) => {
    const done = await operation.run(contextOf(surroundings, store, loaded), input)
    if (done.ok) return ok({ lines: show(done.value), json: done.value })
    const { message, details = [message] } = done.error
    return refused(...details)
  })
}

/** Whoever may open the store's file or database may do everything in it. */
export function contextOf(surroundings: Surroundings, store: AdminStore, loaded: LoadedConfig): OperationContext {
  return {
    store,
    author: { name: surroundings.author },
    rights: ALL_RIGHTS,
    nowMs: surroundings.clock(),
    connectors: async () => connectorUses(loaded, await store.listConnectors(), surroundings.env),
    checkConnector: (document) => checkConnector(loaded.config.file, document, surroundings.env, true),
    judgePolicy: (name, text, offline) => judgePolicy(surroundings, store, loaded, { name, text, offline }),
  }
}
