import { writeFileSync } from 'node:fs'
import { accessText } from '../config/files.js'
import { ok } from '../core/result.js'
import { suggestPolicy } from '../policy/suggest.js'
import { readCatalogs } from './catalogs.js'
import { type CommandResult, refused, type Surroundings, withStore } from './command.js'
import { theConnector } from './policy-diff.js'

export interface SuggestArguments {
  readonly connector: string
  /** Where to write the draft; absent: it is printed. */
  readonly out?: string
}

/** `runku policy suggest <connector> [--out file]`: drafts a policy from the connector's catalog. Nothing is stored. */
export function suggestedPolicy(surroundings: Surroundings, given: SuggestArguments): Promise<CommandResult> {
  return withStore(surroundings, 'reads', async (store, loaded) => {
    const connector = await theConnector(surroundings, store, loaded, given.connector)
    if (!connector.ok) return connector
    const { id, policy, schemas } = connector.value
    const [catalog] = await readCatalogs([connector.value])
    if (catalog?.schema.ok !== true) {
      const reason = catalog?.schema.ok === false ? `: ${catalog.schema.error}` : ''
      return refused(`the catalog of connector "${id}" cannot be read${reason}`)
    }
    const { text } = suggestPolicy(catalog.schema.value, schemas)
    if (given.out === undefined) return ok({ lines: [text.trimEnd()], json: { connector: id, policy, document: text } })
    try {
      writeFileSync(given.out, text, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
      return refused(
        exists ? `${given.out} exists already and is left as it is` : `the file ${given.out} ${accessText(error)}`,
      )
    }
    return ok({
      lines: [`Wrote ${given.out}. Read it, then: runku policy apply ${policy} ${given.out}`],
      json: { connector: id, policy, file: given.out },
    })
  })
}
