import type { AdminStore } from './admin/admin-store.js'
import type { JudgedPolicy, OperationContext, PolicyFindingShown } from './admin/operation.js'
import { warnOfNames } from './admin/policy-names.js'
import type { ConnectorConfig } from './config/config.js'
import { JUDGEMENTS_AT_ONCE } from './core/limits.js'
import { nearest } from './core/names.js'
import { fail, ok } from './core/result.js'
import { parsePolicyText, policyFaultText } from './policy/policy-document.js'
import type { Judgement } from './threads/judgements.js'

/** A connector that serves, as far as judging a policy goes. */
export interface Judge {
  readonly config: Pick<ConnectorConfig, 'id' | 'policy' | 'vars'>
  judge(text: string, vars: ConnectorConfig['vars']): Promise<Judgement>
}

/** Who has which roles and claims, as far as a policy can be compared with it. */
export interface KnownNames {
  readonly store: Pick<AdminStore, 'listIdentities' | 'listRoles'>
  readonly anonymousRoles: readonly string[]
}

/**
 * Lets the connectors that use a policy say what a document would be to them, a few at a time. `names`: whom the document names is compared
 * with who there is, for those who may know; undefined for all others.
 */
export function policyJudge(
  serving: () => readonly Judge[],
  names: KnownNames | undefined,
): OperationContext['judgePolicy'] {
  return async (policy, text, offline) => {
    const parsed = parsePolicyText(text)
    if (!parsed.ok) {
      const details = parsed.error.map(policyFaultText)
      return fail({ code: 'INVALID', message: details[0] ?? 'this is no policy', details })
    }
    const json = JSON.stringify(parsed.value.document)
    const { document, tree } = parsed.value
    const named = names === undefined ? [] : await warnOfNames(names.store, document, tree, names.anonymousRoles)
    if (offline) return ok({ json, known: new Map(), findings: named })
    const all = serving()
    const users = all.filter(({ config }) => config.policy === policy)
    if (users.length === 0) {
      const near = nearest(
        policy,
        all.map(({ config }) => config.policy),
      )
      const hint = near === undefined ? '' : ` Did you mean "${near}"?`
      const message = `no connector uses a policy "${policy}", so there is no database to check it against; "offline" applies it all the same.${hint}`
      return fail({ code: 'INVALID', message })
    }
    const judgements = await fewAtOnce(users, async (user) => ({
      id: user.config.id,
      judgement: await user.judge(text, user.config.vars),
    }))
    return verdict(json, judgements, named)
  }
}

function verdict(
  json: string,
  judgements: readonly { readonly id: string; readonly judgement: Judgement }[],
  named: readonly PolicyFindingShown[],
): Awaited<ReturnType<OperationContext['judgePolicy']>> {
  const unreachable: string[] = []
  const findings: PolicyFindingShown[] = [...named]
  const known = new Map<string, string>()
  for (const { id, judgement } of judgements) {
    if (!judgement.ok) {
      unreachable.push(
        `the catalog of connector "${id}" cannot be read: ${judgement.reason}; "offline" applies without it`,
      )
      continue
    }
    known.set(id, judgement.known)
    for (const finding of judgement.findings) findings.push({ connector: id, ...finding })
  }
  const errors = findings.filter(({ severity }) => severity === 'error').map(findingText)
  const details = [...unreachable, ...errors]
  if (details.length > 0) return fail({ code: 'INVALID', message: details[0] ?? '', details })
  const judged: JudgedPolicy = { json, known, findings }
  return ok(judged)
}

function findingText({ connector, line, text }: PolicyFindingShown): string {
  return `line ${line ?? 1}: on connector "${connector ?? ''}": ${text}`
}

async function fewAtOnce<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const next = items.entries()
  const work = async () => {
    for (const [i, item] of next) results[i] = await act(item)
  }
  await Promise.all(Array.from({ length: Math.min(JUDGEMENTS_AT_ONCE, items.length) }, work))
  return results
}
