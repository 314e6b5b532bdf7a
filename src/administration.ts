import { type AdminRights, adminRights, everywhere, mayEnter, reaches } from './admin/admin-rights.js'
import type { AdminStore, KeyRecord } from './admin/admin-store.js'
import { openApi } from './admin/openapi.js'
import type { ConnectorUse, OperationContext } from './admin/operation.js'
import { OPERATIONS } from './admin/operations.js'
import type { Authenticator } from './auth/authenticate.js'
import type { CallPath } from './call.js'
import type { Config } from './config/config.js'
import { checkConnector } from './config/connector-uses.js'
import type { Environment } from './config/source.js'
import { monotonicMs } from './core/clock.js'
import { RELOAD_ANSWER_MAX_MS } from './core/limits.js'
import { ok } from './core/result.js'
import { AdminApi } from './http/admin-api.js'
import type { Administrator, VisitSurroundings } from './http/admin-visits.js'
import type { FrontDoor } from './http/front-door.js'
import { ReportsApi } from './http/reports.js'
import type { KnownNames } from './judge-policy.js'
import type { Observe } from './observe/observation.js'
import { awaitReload } from './reload-answer.js'
import type { ReloadReport } from './reloads.js'
import type { ConnectorState } from './threads/fleet-report.js'
import type { ReportsDesk } from './threads/reports-desk.js'
import { VERSION } from './version.js'

export interface AdministrationParts {
  readonly config: Config
  readonly env: Environment
  readonly store: AdminStore
  readonly authenticator: Authenticator
  readonly path: CallPath
  readonly auditable: () => boolean
  /** Absent where no buffer is kept. */
  readonly reports?: ReportsDesk
  /** What there is to say of every configured connector. */
  readonly report: () => readonly ConnectorState[]
  readonly reload: () => Promise<ReloadReport>
  /** `names`: as for `policyJudge`. */
  readonly judge: (names: KnownNames | undefined) => OperationContext['judgePolicy']
  readonly frontDoor: FrontDoor
  readonly observe: Observe
}

export interface Administration {
  readonly api: AdminApi
  readonly reports: ReportsApi
  /** States of the connectors that whoever sends this header reaches; undefined for everybody else. */
  detail(authorization: string | undefined, address: string): Promise<unknown>
}

const READERS = ['admin', 'operator', 'auditor'] as const

/** Administration of a running gateway over HTTP: the operations, met with its store, its connectors and its trail. */
export function administration(parts: AdministrationParts): Administration {
  const { config, env, store, authenticator, path, report, reload, judge, frontDoor, observe } = parts
  const { anonymousRoles } = config.auth
  const contextOf = ({ author, rights }: Administrator): OperationContext => ({
    store,
    author,
    rights,
    nowMs: Date.now(),
    connectors: async () => report().map(useOf),
    checkConnector: (document) => checkConnector(config.file, document, env, false),
    judgePolicy: judge(everywhere(rights, ['admin', 'auditor']) ? { store, anonymousRoles } : undefined),
    reload: () => awaitReload(reload(), report, RELOAD_ANSWER_MAX_MS),
  })
  const visits: VisitSurroundings = {
    frontDoor,
    authenticate: async (authorization, address) => {
      const found = await authenticator.identify(authorization, address)
      return found.ok ? ok(administratorOf(found.value, address)) : found
    },
    auditable: parts.auditable,
    enter: (request, done) => path.administered(request, done),
    nowMs: monotonicMs,
    failed: (thrown) => observe({ kind: 'admin.failed', detail: thrownText(thrown) }),
  }
  return {
    api: new AdminApi({
      ...visits,
      operations: OPERATIONS,
      contextOf,
      openApi: () => openApi(OPERATIONS, VERSION),
    }),
    reports: new ReportsApi({ ...visits, desk: parts.reports, wallMs: Date.now }),
    detail: async (authorization, address) => {
      const found = await authenticator.identify(authorization, address)
      const rights = found.ok ? adminRights(found.value.bindings) : undefined
      return rights === undefined || !mayEnter(rights) ? undefined : reachedStates(report(), rights)
    },
  }
}

function reachedStates(states: readonly ConnectorState[], rights: AdminRights): readonly ConnectorState[] {
  return states.filter(({ id }) => reaches(rights, READERS, id))
}

function administratorOf(record: KeyRecord, address: string): Administrator {
  const { identityId, identityName, keyId, bindings, claims } = record
  const roles = [...new Set(bindings.map(({ role }) => role))].sort()
  return {
    identity: { id: identityId, name: identityName, keyId, roles, claims },
    author: { name: identityName, keyId, address },
    rights: adminRights(bindings),
  }
}

function useOf(state: ConnectorState): ConnectorUse {
  const { id, path, policy, source, origin, faults, mode, epoch, drift, warnings, lastError } = state
  return {
    id,
    ...(path === undefined ? {} : { path }),
    policy,
    source,
    origin,
    faults,
    state: {
      mode,
      ...(epoch === undefined ? {} : { epoch }),
      drift,
      warnings,
      ...(lastError === undefined ? {} : { last_error: lastError }),
    },
  }
}

function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
