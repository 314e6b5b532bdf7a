import { z } from 'zod'
import { CHOICES_SHOWN_MAX } from '../core/limits.js'
import { nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import { everywhere, reaches } from './admin-rights.js'
import type { ListedPolicy } from './admin-store.js'
import { mapping, shortText, versionNumber } from './input-schemas.js'
import {
  ANYWHERE,
  needOn,
  type OperationContext,
  type OperationRefusal,
  operation,
  type PolicyFindingShown,
} from './operation.js'

/** Policies: whoever reaches a connector reads the one that it uses; who administers every connector that uses it changes it. */

const policy = shortText('the name of a policy')
const document = mapping(
  z.union([z.string(), z.record(z.string(), z.unknown())], {
    error: 'expected a policy: YAML or JSON text, or a mapping',
  }),
  'the keys of a policy',
).describe('YAML or JSON text as an author writes it, or the same as JSON.')
const finding = z.object({
  connector: z.string().optional(),
  severity: z.enum(['error', 'warning']),
  line: z.int().optional(),
  text: z.string(),
})
const shownVersion = {
  policy: z.string(),
  version: z.int(),
  author: z.string(),
  applied_at: z.string().describe('ISO 8601, UTC.'),
}
const READERS = ['admin', 'operator', 'auditor'] as const

function versionJson({ name, version: number, author, appliedAt }: ListedPolicy) {
  return { policy: name, version: number, author, applied_at: new Date(appliedAt).toISOString() }
}

async function usersOf({ connectors }: OperationContext, name: string): Promise<readonly string[]> {
  return (await connectors()).filter((use) => use.policy === name).map((use) => use.id)
}

/** With those that only the files of another instance have: the policy is theirs as well, and they were confirmed when it was loaded. */
async function governedBy(context: OperationContext, name: string): Promise<readonly string[]> {
  const confirmed = await context.store.connectorsConfirmed(name)
  return [...new Set([...(await usersOf(context, name)), ...confirmed])]
}

/** Whoever reaches no connector that uses it is told what is told of one that does not exist. */
async function readable(context: OperationContext, name: string): Promise<Result<readonly string[], OperationRefusal>> {
  const users = await usersOf(context, name)
  const { rights } = context
  if (everywhere(rights, READERS) || users.some((user) => reaches(rights, READERS, user))) return ok(users)
  return fail({ code: 'NOT_FOUND', message: `there is no policy "${name}"` })
}

async function noPolicy({ store, rights }: OperationContext, name: string): Promise<Result<never, OperationRefusal>> {
  const known = everywhere(rights, READERS) ? (await store.listPolicies()).map((one) => one.name) : []
  const near = nearest(name, known)
  return fail({
    code: 'NOT_FOUND',
    message: `there is no policy "${name}".${near === undefined ? '' : ` Did you mean "${near}"?`}`,
  })
}

/** Of falling numbers; many of them by their range. */
function versionsText(versions: readonly number[]): string {
  const [last, first] = [versions[0], versions.at(-1)]
  return versions.length > CHOICES_SHOWN_MAX ? `from ${first} to ${last}` : versions.toReversed().join(', ')
}

function findingsJson(findings: readonly PolicyFindingShown[]) {
  return findings.map((one) => ({ ...one }))
}

/** Checks the document in itself and against the catalogs, then stores it as the newest version. */
async function apply(
  context: OperationContext,
  name: string,
  given: string | Readonly<Record<string, unknown>>,
  offline: boolean,
) {
  const users = await governedBy(context, name)
  const refused = needOn(context.rights, ['admin'], users, 'changing this policy')
  if (refused !== undefined) return refused
  const judged = await context.judgePolicy(name, typeof given === 'string' ? given : JSON.stringify(given), offline)
  if (!judged.ok) return judged
  const { json, known, findings } = judged.value
  const applied = await context.store.changes(context.author).applyPolicy(name, json, known)
  if (!applied.ok) return applied
  return ok({ ...versionJson(applied.value), findings: findingsJson(findings) })
}

export const POLICY_OPERATIONS = {
  'policy.list': operation({
    name: 'policy.list',
    method: 'GET',
    path: '/policies',
    summary: 'The newest version of each policy that the caller may read.',
    input: {},
    output: { policies: z.array(z.object({ ...shownVersion, connectors: z.array(z.string()) })) },
    need: ANYWHERE,
    act: async (context) => {
      const uses = await context.connectors()
      const all = (await context.store.listPolicies()).map((one) => ({
        ...versionJson(one),
        connectors: uses.filter((use) => use.policy === one.name).map((use) => use.id),
      }))
      const { rights } = context
      const whole = everywhere(rights, READERS)
      const shown = all
        .filter(({ connectors }) => whole || connectors.some((id) => reaches(rights, READERS, id)))
        .map((one) => ({ ...one, connectors: one.connectors.filter((id) => reaches(rights, READERS, id)) }))
      return ok({ policies: shown })
    },
  }),
  'policy.show': operation({
    name: 'policy.show',
    method: 'GET',
    path: '/policies/{policy}',
    summary: 'The document of a version, by default of the newest.',
    input: { policy, version: versionNumber.optional() },
    output: { ...shownVersion, document: z.record(z.string(), z.unknown()) },
    need: ANYWHERE,
    target: 'policy',
    act: async (context, input) => {
      const may = await readable(context, input.policy)
      if (!may.ok) return may
      const found = await context.store.findPolicy(input.policy, input.version)
      if (found === undefined) {
        if (input.version === undefined || (await context.store.findPolicy(input.policy)) === undefined)
          return noPolicy(context, input.policy)
        return fail({ code: 'NOT_FOUND', message: `the policy "${input.policy}" has no version ${input.version}` })
      }
      // Written by `JSON.stringify` of a document alone.
      const parsed = JSON.parse(found.document) as Readonly<Record<string, unknown>>
      return ok({ ...versionJson(found), document: parsed })
    },
  }),
  'policy.history': operation({
    name: 'policy.history',
    method: 'GET',
    path: '/policies/{policy}/history',
    summary: 'Every version, the newest first.',
    input: { policy },
    output: { versions: z.array(z.object(shownVersion)) },
    need: ANYWHERE,
    target: 'policy',
    act: async (context, input) => {
      const may = await readable(context, input.policy)
      if (!may.ok) return may
      const versions = await context.store.policyHistory(input.policy)
      return versions.length === 0 ? noPolicy(context, input.policy) : ok({ versions: versions.map(versionJson) })
    },
  }),
  'policy.validate': operation({
    name: 'policy.validate',
    method: 'POST',
    path: '/policies/{policy}/validate',
    summary: 'What applying the document would find. Nothing is stored.',
    input: { policy, document },
    output: { findings: z.array(finding) },
    need: ANYWHERE,
    changes: false,
    target: 'policy',
    act: async (context, input) => {
      const users = await usersOf(context, input.policy)
      const refused = needOn(context.rights, READERS, users, 'checking this policy')
      if (refused !== undefined) return refused
      const text = typeof input.document === 'string' ? input.document : JSON.stringify(input.document)
      const judged = await context.judgePolicy(input.policy, text, false)
      return judged.ok ? ok({ findings: findingsJson(judged.value.findings) }) : judged
    },
  }),
  'policy.apply': operation({
    name: 'policy.apply',
    method: 'PUT',
    path: '/policies/{policy}',
    summary: 'Checks a document against the databases that use it, and stores it as the newest version.',
    input: {
      policy,
      document,
      offline: z
        .boolean({ error: 'expected true or false' })
        .default(false)
        .describe('Against no database: every column stays hidden until the first load confirms it.'),
    },
    output: { ...shownVersion, findings: z.array(finding) },
    need: ANYWHERE,
    target: 'policy',
    act: (context, input) => apply(context, input.policy, input.document, input.offline),
  }),
  'policy.rollback': operation({
    name: 'policy.rollback',
    method: 'POST',
    path: '/policies/{policy}/rollback',
    summary: 'Stores the document of an older version as the newest, checked like every other.',
    input: { policy, to: versionNumber.optional().describe('Default: the version before the newest.') },
    output: { ...shownVersion, findings: z.array(finding), restored: z.int() },
    need: ANYWHERE,
    target: 'policy',
    act: async (context, input) => {
      const may = await readable(context, input.policy)
      if (!may.ok) return may
      // Numbers have gaps where a policy was deleted and made again.
      const [newest, ...before] = (await context.store.policyHistory(input.policy)).map((one) => one.version)
      if (newest === undefined) return noPolicy(context, input.policy)
      const to = input.to ?? before[0]
      if (to === undefined) return fail({ code: 'INVALID', message: 'there is no version before the newest' })
      const older = before.includes(to) ? await context.store.findPolicy(input.policy, to) : undefined
      if (older === undefined) {
        const choices = before.length === 0 ? 'there is none before it' : `the older ones are ${versionsText(before)}`
        return fail({ code: 'INVALID', message: `to: expected an older version; the newest is ${newest}, ${choices}` })
      }
      const applied = await apply(context, input.policy, older.document, false)
      return applied.ok ? ok({ ...applied.value, restored: to }) : applied
    },
  }),
  'policy.delete': operation({
    name: 'policy.delete',
    method: 'DELETE',
    path: '/policies/{policy}',
    summary: 'Deletes every version. Connectors that use it serve nothing from then on.',
    input: { policy },
    output: { policy: z.string() },
    need: ANYWHERE,
    target: 'policy',
    act: async (context, input) => {
      const users = await governedBy(context, input.policy)
      const refused = needOn(context.rights, ['admin'], users, 'deleting this policy')
      if (refused !== undefined) return refused
      const gone = await context.store.changes(context.author).deletePolicy(input.policy)
      return gone.ok ? ok(input) : gone
    },
  }),
} as const
