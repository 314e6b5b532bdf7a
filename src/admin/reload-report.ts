import { z } from 'zod'
import { RELOAD_FAULT_CHARS_MAX, RELOAD_REPORT_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import type { ReloadedConnectorShown, ReloadShown } from './operation.js'

/** What an instance leaves in the store of one reload: what a person is told of it, however many connectors there are. */

export const RELOAD_OUTCOMES = ['applied', 'unchanged', 'kept', 'unavailable', 'disabled', 'removed'] as const

const reportSchema = z.strictObject({
  /** Why nothing was reloaded. */
  faults: z.array(z.string()),
  connectors: z.array(
    z.strictObject({
      id: z.string(),
      outcome: z.enum(RELOAD_OUTCOMES),
      epoch: z.int().optional(),
      /** The first. */
      fault: z.string().optional(),
    }),
  ),
  /** Connectors that found no room here. Those that were not applied come first. */
  omitted: z.int(),
  needs_restart: z.array(z.string()),
})

export type StoredReload = Readonly<z.output<typeof reportSchema>>

/** Faults of a configuration that are kept; whoever mends the first ones sees the others. */
const FAULTS_MAX = 10
const ID_CHARS_MAX = 100

/** Whether what is new is not in force as it was meant. */
export function isTrouble({ outcome }: Pick<ReloadedConnectorShown, 'outcome'>): boolean {
  return outcome === 'kept' || outcome === 'unavailable' || outcome === 'disabled'
}

/** At most `RELOAD_REPORT_CHARS_MAX` characters. */
export function reloadReportText({ faults, connectors, needs_restart }: ReloadShown): string {
  const wanted = [...connectors.filter(isTrouble), ...connectors.filter((one) => !isTrouble(one))].map(storedConnector)
  const said = faults.slice(0, FAULTS_MAX).map((fault) => cleanText(fault, RELOAD_FAULT_CHARS_MAX))
  const kept: StoredReload['connectors'] = []
  const textOf = () =>
    JSON.stringify({ faults: said, connectors: kept, omitted: wanted.length - kept.length, needs_restart })
  // With the number of those that are left out, which has no more digits than this one.
  let chars = textOf().length
  for (const connector of wanted) {
    chars += JSON.stringify(connector).length + 1
    if (chars > RELOAD_REPORT_CHARS_MAX) break
    kept.push(connector)
  }
  return textOf()
}

function storedConnector({ id, outcome, epoch, faults, drift }: ReloadedConnectorShown) {
  // One that serves in part has no fault, and is named all the same.
  const fault = faults[0] ?? drift?.[0]
  return {
    id: cleanText(id, ID_CHARS_MAX),
    outcome,
    ...(epoch === undefined ? {} : { epoch }),
    ...(fault === undefined ? {} : { fault: cleanText(fault, RELOAD_FAULT_CHARS_MAX) }),
  }
}

/** Undefined: nothing that an instance of this program wrote. */
export function readReloadReport(text: string): StoredReload | undefined {
  try {
    return reportSchema.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
