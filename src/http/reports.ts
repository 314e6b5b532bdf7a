import { type AdminRights, everywhere, type ReservedRole, reaches } from '../admin/admin-rights.js'
import {
  parseQuestion,
  type QuestionFault,
  REPORTS,
  type ReportName,
  type ReportQuery,
  type ReportQuestion,
  type ReportScope,
} from '../audit/reports/report-query.js'
import { fail, ok, type Result } from '../core/result.js'
import type { MadeReportMessage } from '../threads/messages.js'
import { type Administrator, AdminVisits, type Visit, type VisitSurroundings } from './admin-visits.js'
import type { Exchange } from './http-server.js'

export interface ReportsApiSurroundings extends VisitSurroundings {
  /** Where reports are made; undefined where no buffer is kept. */
  readonly desk: { ask(query: ReportQuery): Promise<Result<MadeReportMessage, string>> } | undefined
  /** Unix milliseconds. */
  readonly wallMs: () => number
}

export const REPORTS_PATH = '/reports'

/** Whoever holds one of these on a connector reads that connector's reports. */
const READERS: readonly ReservedRole[] = ['admin', 'operator', 'auditor']
/** What belongs to no connector: administration of everything, and the gateway's own acts. */
const GATEWAY_READERS: readonly ReservedRole[] = ['admin', 'auditor']

/** Whose entries somebody may read; undefined: nobody's. */
export function reportScope(rights: AdminRights): ReportScope | undefined {
  const gateway = everywhere(rights, GATEWAY_READERS)
  if (everywhere(rights, READERS)) return { gateway }
  const connectors = [...new Set(READERS.flatMap((role) => [...rights[role].connectors]))].sort()
  return connectors.length === 0 ? undefined : { connectors, gateway }
}

function sentenceOf({ field, expected, suggestion }: QuestionFault): string {
  const meant = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
  return `${field}: expected ${expected}.${meant}`
}

function reportOf(path: string): ReportName | undefined {
  const name = path.slice(REPORTS_PATH.length + 1).replace(/\/$/, '')
  return REPORTS.find((report) => report === name)
}

/** The narrowest scope that the question needs, or a refusal where it names a connector that is out of reach. */
function scopeOf(rights: AdminRights, { filter }: ReportQuestion): Result<ReportScope, string> {
  const scope = reportScope(rights)
  if (scope === undefined) return fail('this needs one of the roles admin, operator and auditor')
  const { connector } = filter
  if (connector === undefined || reaches(rights, READERS, connector)) return ok(scope)
  return fail(`this needs one of the roles admin, operator and auditor on the connector "${connector}"`)
}

/** `/reports/…`: who did what, for who may know, with an entry for every look. */
export class ReportsApi {
  readonly #surroundings: ReportsApiSurroundings
  readonly #visits: AdminVisits

  constructor(surroundings: ReportsApiSurroundings) {
    this.#surroundings = surroundings
    this.#visits = new AdminVisits(surroundings)
  }

  /** Whether the path is one of these. */
  takes(path: string): boolean {
    return path === REPORTS_PATH || path.startsWith(`${REPORTS_PATH}/`)
  }

  serve(exchange: Exchange): void {
    const visit = this.#visits.begin(exchange)
    if (visit === undefined) return
    this.#visits.watch(visit, {}, this.#run(visit))
  }

  async #run(visit: Visit): Promise<void> {
    const who = await this.#visits.identify(visit)
    if (who === undefined) return
    const { method, path } = visit.exchange.head
    const report = reportOf(path)
    if (report === undefined) {
      const said = { message: `Reports are at ${REPORTS.map((name) => `${REPORTS_PATH}/${name}`).join(', ')}.` }
      return this.#visits.refuse(visit, { who }, { code: 'PROTOCOL_PATH' }, said)
    }
    if (method !== 'GET' && method !== 'HEAD') return this.#visits.refuseVerb(visit, { who }, ['GET', 'HEAD'])
    await this.#report(visit, who, report)
  }

  async #report(visit: Visit, who: Administrator, report: ReportName): Promise<void> {
    const { desk, wallMs } = this.#surroundings
    const { head } = visit.exchange
    const operation = `reports.${report}`
    // Who may not ask learns nothing of what would have been wrong with the question.
    if (reportScope(who.rights) === undefined) {
      const message = 'this needs one of the roles admin, operator and auditor'
      return this.#visits.refuse(visit, { who, operation }, { code: 'AUTH_FORBIDDEN' }, { message })
    }
    const question = parseQuestion(report, head.query, head.headers.get('accept') ?? '', wallMs())
    if (!question.ok) {
      const message = sentenceOf(question.error)
      return this.#visits.refuse(visit, { who, operation }, { code: 'ADMIN_INVALID' }, { message, details: [message] })
    }
    const subject = { who, operation, target: question.value.filter.connector }
    const scope = scopeOf(who.rights, question.value)
    if (!scope.ok) return this.#visits.refuse(visit, subject, { code: 'AUTH_FORBIDDEN' }, { message: scope.error })
    if (desk === undefined) {
      const message = 'Reports are made of the audit buffer: configure audit.buffer.'
      return this.#visits.refuse(visit, subject, { code: 'ADMIN_NOT_FOUND' }, { message })
    }
    const made = await desk.ask({ ...question.value, scope: scope.value })
    if (!made.ok) return this.#visits.refuse(visit, subject, { code: 'REPORTS_UNAVAILABLE', reason: made.error })
    const { contentType, facts, body } = made.value
    const headers = facts.map(([name, value]) => [`x-runku-${name}`, value] as const)
    this.#visits.answer(visit, subject, contentType, body, headers)
  }
}
