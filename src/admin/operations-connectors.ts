import { z } from 'zod'
import { nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import { everywhere, reaches } from './admin-rights.js'
import type { StoredConnector } from './admin-store.js'
import { mapping, shortText } from './input-schemas.js'
import {
  ADMIN_ONLY,
  ADMIN_OR_OPERATOR,
  ANYWHERE,
  type ConnectorUse,
  type OperationContext,
  type OperationRefusal,
  operation,
} from './operation.js'

/** Connectors, wherever they are configured; those of the store can be changed. */

const id = shortText('the id of a connector')
const ROLES = ['admin', 'operator', 'auditor'] as const

const shownState = z.object({
  mode: z.string().describe('starting, ready, unavailable, draining, stopped or disabled.'),
  epoch: z.int().optional(),
  drift: z.array(z.string()).describe('Where policy and catalog disagree; one sentence each.'),
  warnings: z.array(z.string()),
  last_error: z.string().optional(),
})
const shownUse = {
  id: z.string(),
  path: z.string().optional(),
  policy: z.string(),
  source: z.enum(['file', 'folder', 'store']),
  origin: z.string().describe('Where it is configured, such as config.yaml:12.'),
  faults: z.array(z.string()).describe('What is wrong with its configuration.'),
  state: shownState.optional(),
}

const shownReload = z
  .object({
    finished: z.boolean().describe('false: it takes longer than a request may wait, and goes on.'),
    faults: z.array(z.string()).describe('Why nothing was reloaded; one sentence each.'),
    connectors: z.array(
      z.object({
        id: z.string(),
        outcome: z
          .enum(['applied', 'unchanged', 'kept', 'unavailable', 'disabled', 'removed'])
          .describe('kept: the snapshot before serves, since what is new cannot be used; unavailable: nor does that.'),
        epoch: z.int().optional(),
        faults: z.array(z.string()).describe('Why it was not applied.'),
        drift: z.array(z.string()),
      }),
    ),
    needs_restart: z.array(z.string()).describe('Keys that take effect with the next start alone.'),
  })
  .describe('What it came to on the instance that was asked.')

/** Never shows what opens the database. */
const SECRET = '***'
const SECRET_KEYS: ReadonlySet<string> = new Set(['password'])

/** The document with its secrets blotted out: those of an address too. */
export function redactedConnector(document: string): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(document)
  if (typeof parsed !== 'object' || parsed === null) return {}
  return Object.fromEntries(
    Object.entries(parsed).map(([key, value]: [string, unknown]) => {
      if (SECRET_KEYS.has(key)) return [key, SECRET]
      return [key, key === 'url' && typeof value === 'string' ? redactedUrl(value) : value]
    }),
  )
}

/** What stands between the user's name and the last `@` before the host; parameters may hold a password as well. */
function redactedUrl(url: string): string {
  const [address = '', query] = url.split('?', 2)
  const shown = address.replace(/^([a-z]+:\/\/[^:@/]*):.*@/s, `$1:${SECRET}@`)
  if (query === undefined) return shown
  const parameters = query
    .split('&')
    .map((part) => (/^[^=]*pass/i.test(part) ? `${part.split('=', 1)[0]}=${SECRET}` : part))
  return `${shown}?${parameters.join('&')}`
}

function useJson({ id: name, path, policy, source, origin, faults, state }: ConnectorUse) {
  return {
    id: name,
    ...(path === undefined ? {} : { path }),
    policy,
    source,
    origin,
    faults: [...faults],
    ...(state === undefined ? {} : { state: { ...state, drift: [...state.drift], warnings: [...state.warnings] } }),
  }
}

function noConnector(name: string, known: readonly string[], where: string): Result<never, OperationRefusal> {
  const near = nearest(name, known)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  return fail({ code: 'NOT_FOUND', message: `there is no connector "${name}"${where}.${hint}` })
}

async function stored({ store }: OperationContext, name: string): Promise<Result<StoredConnector, OperationRefusal>> {
  const all = await store.listConnectors()
  const found = all.find((one) => one.id === name)
  if (found !== undefined) return ok(found)
  return noConnector(
    name,
    all.map((one) => one.id),
    ' in the admin store; those of files are changed in their files',
  )
}

export const CONNECTOR_OPERATIONS = {
  'connector.list': operation({
    name: 'connector.list',
    method: 'GET',
    path: '/connectors',
    summary: 'The connectors that the caller reaches, with their state on this instance.',
    input: {},
    output: { connectors: z.array(z.object(shownUse)) },
    need: ANYWHERE,
    act: async (context) => {
      const all = await context.connectors()
      return ok({ connectors: all.filter((use) => reaches(context.rights, ROLES, use.id)).map(useJson) })
    },
  }),
  'connector.show': operation({
    name: 'connector.show',
    method: 'GET',
    path: '/connectors/{id}',
    summary: 'One connector; of one in the store also its document, without secrets.',
    input: { id },
    output: {
      ...shownUse,
      document: z.record(z.string(), z.unknown()).optional(),
      author: z.string().optional(),
      changed_at: z.string().optional(),
    },
    need: ANYWHERE,
    target: 'id',
    act: async (context, input) => {
      const { rights } = context
      // Who does not reach it is told what is told of one that does not exist.
      const visible = (await context.connectors()).filter((use) => reaches(rights, ROLES, use.id))
      const use = visible.find((one) => one.id === input.id)
      if (use === undefined)
        return noConnector(
          input.id,
          visible.map((one) => one.id),
          '',
        )
      const inStore = (await context.store.listConnectors()).find((one) => one.id === input.id)
      if (inStore === undefined || use.source !== 'store' || !everywhere(rights, ['admin'])) return ok(useJson(use))
      const changedAt = new Date(inStore.changedAt).toISOString()
      return ok({
        ...useJson(use),
        document: redactedConnector(inStore.document),
        author: inStore.author,
        changed_at: changedAt,
      })
    },
  }),
  'connector.put': operation({
    name: 'connector.put',
    method: 'PUT',
    path: '/connectors/{id}',
    summary: 'Adds a connector to the admin store, or changes it. Every instance serves it soon after.',
    input: {
      id,
      document: mapping(
        z.record(z.string(), z.unknown(), { error: 'expected a mapping of keys such as type, url and policy' }),
        'keys such as type, url and policy',
      ).describe('What would stand under `connectors:` in config.yaml; a secret is better a variable or a file.'),
      create: z.boolean({ error: 'expected true or false' }).default(false).describe('Refuse when it exists.'),
    },
    output: { id: z.string(), author: z.string(), changed_at: z.string() },
    need: ADMIN_ONLY,
    target: 'id',
    act: async (context, input) => {
      const document = { ...input.document, id: input.document['id'] ?? input.id }
      if (document.id !== input.id) {
        return fail({ code: 'INVALID', message: `document.id: expected ${input.id}; "rename" gives it another id` })
      }
      const checked = context.checkConnector(document)
      if (!checked.ok) {
        return fail({
          code: 'INVALID',
          message: checked.error[0] ?? 'the document does not fit',
          details: checked.error,
        })
      }
      const use = (await context.connectors()).find((one) => one.id === input.id)
      if (use !== undefined && use.source !== 'store') {
        return fail({ code: 'EXISTS', message: `the connector "${input.id}" is configured in a file; change it there` })
      }
      if (input.create && use !== undefined) {
        return fail({ code: 'EXISTS', message: `the connector "${input.id}" exists already` })
      }
      const put = await context.store.changes(context.author).putConnector(input.id, checked.value.json)
      if (!put.ok) return put
      return ok({ id: input.id, author: put.value.author, changed_at: new Date(put.value.changedAt).toISOString() })
    },
  }),
  'connector.rename': operation({
    name: 'connector.rename',
    method: 'POST',
    path: '/connectors/{id}/rename',
    summary: 'Gives a connector of the store another id; bindings and confirmations go along.',
    input: { id, new_id: id },
    output: { id: z.string() },
    need: ADMIN_ONLY,
    target: 'id',
    act: async (context, input) => {
      const found = await stored(context, input.id)
      if (!found.ok) return found
      if ((await context.connectors()).some((one) => one.id === input.new_id)) {
        return fail({ code: 'EXISTS', message: `the connector "${input.new_id}" exists already` })
      }
      const renamed = await context.store.changes(context.author).renameConnector(input.id, input.new_id)
      return renamed.ok ? ok({ id: input.new_id }) : renamed
    },
  }),
  'connector.delete': operation({
    name: 'connector.delete',
    method: 'DELETE',
    path: '/connectors/{id}',
    summary: 'Removes a connector of the store. Calls in flight end; its path answers as an unknown one.',
    input: { id },
    output: { id: z.string() },
    need: ADMIN_ONLY,
    target: 'id',
    act: async (context, input) => {
      const found = await stored(context, input.id)
      if (!found.ok) return found
      const gone = await context.store.changes(context.author).deleteConnector(input.id)
      return gone.ok ? ok(input) : gone
    },
  }),
  'reload.request': operation({
    name: 'reload.request',
    method: 'POST',
    path: '/reload',
    summary:
      'Asks every instance to read its configuration and every catalog again, and answers when the one that is asked has: a call that it admits afterwards is judged by what it read.',
    input: {
      wait: z
        .boolean({ error: 'expected true, or false to ask and not to wait' })
        .optional()
        .describe('Whether to wait for this instance; it is so when this is left out.'),
    },
    output: {
      requested: z.boolean(),
      request: z.int().describe('The number of this request in the admin store.'),
      report: shownReload.optional(),
    },
    need: ADMIN_OR_OPERATOR,
    act: async (context, { wait = true }) => {
      const request = await context.store.changes(context.author).requestReload()
      if (!wait || context.reload === undefined) return ok({ requested: true, request })
      return ok({ requested: true, request, report: await context.reload() })
    },
  }),
} as const
