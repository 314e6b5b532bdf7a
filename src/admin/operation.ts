import { z } from 'zod'
import { withoutSecrets } from '../auth/api-key.js'
import { unreachable } from '../core/assert.js'
import { ECHO_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import { fail, type Result } from '../core/result.js'
import { type AdminRights, everywhere, mayEnter, type ReservedRole, reaches } from './admin-rights.js'
import type { AdminStore, ChangeAuthor, StoreRefusal } from './admin-store.js'

/** Why an operation was not done. `FORBIDDEN`: who asks may not; every other code is for who may. */
export interface OperationRefusal {
  readonly code: StoreRefusal['code'] | 'FORBIDDEN'
  readonly message: string
  /** One line each, where there is more than the message. */
  readonly details?: readonly string[]
}

/** One connector as every source has it, and what the serving instance says of it. */
export interface ConnectorUse {
  readonly id: string
  /** Absent where another connector has its id or path, or its file cannot be read. */
  readonly path?: string
  readonly policy: string
  readonly source: 'file' | 'folder' | 'store'
  /** Where it is configured, such as `config.yaml:12`. */
  readonly origin: string
  /** Sentences; a connector with a fault in its configuration does not serve by it. */
  readonly faults: readonly string[]
  /** Absent where nobody serves. */
  readonly state?: ConnectorStateShown
}

export interface ConnectorStateShown {
  readonly mode: string
  readonly epoch?: number
  readonly drift: readonly string[]
  readonly warnings: readonly string[]
  readonly last_error?: string
}

/** What a reload came to on the instance that was asked. */
export interface ReloadShown {
  /** Not so: it takes longer than anybody is kept waiting, and goes on. Nothing else is known then. */
  readonly finished: boolean
  /** Why nothing was reloaded: the configuration or the admin store cannot be read. */
  readonly faults: readonly string[]
  readonly connectors: readonly ReloadedConnectorShown[]
  /** Keys of the configuration that take effect with the next start alone. */
  readonly needs_restart: readonly string[]
}

export interface ReloadedConnectorShown {
  readonly id: string
  /** `kept`: what was new could not be used, and the snapshot before serves. `unavailable`: nor does that. */
  readonly outcome: 'applied' | 'unchanged' | 'kept' | 'unavailable' | 'disabled' | 'removed'
  /** Of the snapshot in force. */
  readonly epoch?: number
  /** Why it was not applied. */
  readonly faults: readonly string[]
  readonly drift: readonly string[]
}

/** One thing that a policy and a catalog disagree on, or that the document says wrong. */
export interface PolicyFindingShown {
  readonly connector?: string
  readonly severity: 'error' | 'warning'
  /** Of the document, from 1. */
  readonly line?: number
  readonly text: string
}

/** A document that may be stored. */
export interface JudgedPolicy {
  /** As the store keeps it. */
  readonly json: string
  /** By connector, what it is about there. */
  readonly known: ReadonlyMap<string, string>
  /** Warnings; an error would have refused it. */
  readonly findings: readonly PolicyFindingShown[]
}

/** What surrounds an operation, whoever asked for it and however. */
export interface OperationContext {
  readonly store: AdminStore
  readonly author: ChangeAuthor
  readonly rights: AdminRights
  /** Unix milliseconds. */
  readonly nowMs: number
  /** Every configured connector, of files and of the store, as of now. */
  readonly connectors: () => Promise<readonly ConnectorUse[]>
  /** Checks what would stand under `connectors:`; faults as sentences. Gives the document as it is to be stored. */
  readonly checkConnector: (
    document: unknown,
  ) => Result<{ readonly id: string; readonly json: string }, readonly string[]>
  /** Meets YAML or JSON text with the catalog of every connector that uses the policy; `offline`: with none. INVALID with what is wrong. */
  readonly judgePolicy: (
    policy: string,
    text: string,
    offline: boolean,
  ) => Promise<Result<JudgedPolicy, OperationRefusal>>
  /** Reloads this instance and waits for what comes of it, at most `RELOAD_ANSWER_MAX_MS`. Absent where nobody serves. */
  readonly reload?: () => Promise<ReloadShown>
}

/**
 * Who may: one of the roles on every connector; on each connector that the operation touches; or on any, where the operation
 * itself shows no more than what they reach.
 */
export type Need =
  | { readonly kind: 'everywhere'; readonly roles: readonly ReservedRole[] }
  | { readonly kind: 'anywhere' }

export const ADMIN_ONLY: Need = { kind: 'everywhere', roles: ['admin'] }
export const ADMIN_OR_AUDITOR: Need = { kind: 'everywhere', roles: ['admin', 'auditor'] }
export const ADMIN_OR_OPERATOR: Need = { kind: 'everywhere', roles: ['admin', 'operator'] }
export const ANYWHERE: Need = { kind: 'anywhere' }

type Shape = Readonly<Record<string, z.ZodType>>

/** One administrative operation, as the command line and the HTTP surface both offer it. */
export interface AdminOperation<O = unknown> {
  /** Such as `key.revoke`: what entries call it. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/admin/api`, with `{name}` for members of the input that stand in the path. */
  readonly path: string
  readonly summary: string
  /** Every member of the input: those of the path, of the query (GET and DELETE), or of the JSON body. */
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly need: Need
  /** Whether it changes something: such a change has its entry through the store. */
  readonly changes: boolean
  /** What it is about, for the entry; never a whole key. */
  readonly target: (input: unknown) => string | undefined
  /** Checks the input, then who asks, then does it. */
  run(context: OperationContext, input: unknown): Promise<Result<O, OperationRefusal>>
}

interface OperationParts<I extends Shape, O extends Shape> {
  readonly name: string
  readonly method: AdminOperation['method']
  readonly path: string
  readonly summary: string
  readonly input: I
  readonly output: O
  readonly need: Need
  /** Default: whatever is no GET changes something. */
  readonly changes?: boolean
  readonly target?: keyof I & string
  readonly act: (
    context: OperationContext,
    input: z.output<z.ZodObject<I>>,
  ) => Promise<Result<z.input<z.ZodObject<O>>, OperationRefusal>>
}

export function operation<const I extends Shape, const O extends Shape>(
  parts: OperationParts<I, O>,
): AdminOperation<z.input<z.ZodObject<O>>> {
  const input = z.strictObject(parts.input)
  const { name, method, path, summary, need, target, act } = parts
  return {
    name,
    method,
    path,
    summary,
    input,
    output: z.object(parts.output),
    need,
    changes: parts.changes ?? method !== 'GET',
    target: (given) => {
      if (target === undefined || typeof given !== 'object' || given === null) return undefined
      const value: unknown = Object.hasOwn(given, target) ? Reflect.get(given, target) : undefined
      return typeof value === 'string' ? withoutSecrets(value) : undefined
    },
    run: async (context, given) => {
      // Who may not ask learns nothing of what would have been wrong with the question.
      if (!allows(need, context.rights)) return forbidden(needText(need))
      const checked = input.safeParse(given)
      if (!checked.success) return fail(inputRefusal(checked.error))
      return act(context, checked.data)
    },
  }
}

function allows(need: Need, rights: AdminRights): boolean {
  switch (need.kind) {
    case 'everywhere':
      return everywhere(rights, need.roles)
    case 'anywhere':
      return mayEnter(rights)
    default:
      return unreachable(need)
  }
}

function needText(need: Need): string {
  return need.kind === 'anywhere'
    ? 'this needs one of the roles admin, operator and auditor'
    : `this needs the role ${need.roles.join(' or ')} on every connector`
}

export function forbidden(message: string): Result<never, OperationRefusal> {
  return fail({ code: 'FORBIDDEN', message })
}

/** Refuses unless one of the roles holds on each of these connectors, or on every one where there are none. */
export function needOn(
  rights: AdminRights,
  roles: readonly ReservedRole[],
  connectors: readonly string[],
  what: string,
): Result<never, OperationRefusal> | undefined {
  if (everywhere(rights, roles)) return undefined
  if (connectors.length > 0 && connectors.every((id) => reaches(rights, roles, id))) return undefined
  return forbidden(`${what} needs the role ${roles.join(' or ')} on every connector, or on each that uses it`)
}

function inputRefusal(error: z.ZodError): OperationRefusal {
  const details = error.issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') return `${issue.keys.map(echoed).join(', ')}: not a member of this request`
    const at = issue.path.map(echoed).join('.')
    return at === '' ? issue.message : `${at}: ${issue.message}`
  })
  return { code: 'INVALID', message: details[0] ?? 'the request does not fit', details }
}

/** A name that the caller chose, in a sentence. */
function echoed(step: PropertyKey): string {
  return cleanText(String(step), ECHO_CHARS_MAX)
}
