import { randomBytes } from 'node:crypto'
import { executeCall } from '../../src/connector/execute-call.js'
import { monotonicMs } from '../../src/core/clock.js'
import type { ClaimValue, Identity } from '../../src/core/identity.js'
import type { SchemaModel } from '../../src/core/schema-model.js'
import type { Param } from '../../src/core/statement.js'
import { createEngine } from '../../src/engines/create-engine.js'
import { Cancellation, type Dialect, type Driver } from '../../src/engines/engine.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy, type PolicyFinding } from '../../src/policy/policy-engine.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { encodeTools } from '../../src/tools/generate-tools.js'
import type { Tool } from './arguments.js'

/**
 * The worker's part of the one path against a real database, with the statements it sends written down. What a call's
 * outcome holds besides times is all that an answer, an audit entry and the operator log are made of.
 */
export interface RecordedPath {
  readonly schema: SchemaModel
  readonly findings: readonly PolicyFinding[]
  /** The caller's `tools/list` members, as bytes in text. */
  list(identity: Identity): string
  tools(identity: Identity): readonly Tool[]
  call(identity: Identity, tool: string, args: unknown): Promise<Seen>
  close(): Promise<void>
}

/** A call as it was answered, entered and sent to the database; without times. */
export interface Seen {
  readonly code: string
  readonly decision: string
  readonly reason: string | undefined
  readonly operation: string
  readonly target: string | undefined
  /** As JSON. */
  readonly plan: string | undefined
  readonly rows: number | undefined
  readonly effect: string
  readonly affected: number | undefined
  /** As JSON: what a repetition of the call under its idempotency key would be answered from. */
  readonly keys: string | undefined
  /** As JSON: which rows the entry says were given or changed. */
  readonly resultKeys: string | undefined
  /** As JSON, each: what was entered before the database was reached. */
  readonly intents: readonly string[]
  /** The members of the reply's result, or the text of its JSON-RPC error. */
  readonly body: string
  readonly statements: readonly { readonly text: string; readonly params: readonly Param[] }[]
}

export interface PathParts {
  readonly settings: ConnectorSettings
  /** YAML. */
  readonly policy: string
  /** Stands between the path and the real dialect, to simulate a faulty one. */
  readonly disguise?: (dialect: Dialect) => Dialect
}

export function identity(
  name: string,
  roles: readonly string[],
  claims: Readonly<Record<string, ClaimValue>> = {},
): Identity {
  return { id: name, name, roles, claims: new Map(Object.entries(claims)) }
}

/** Introspects with the product's own driver, and serves the policy over what it found. */
export async function openPath({ settings, policy, disguise }: PathParts): Promise<RecordedPath> {
  const engine = await createEngine(settings, { observe: () => {}, nowMs: monotonicMs, randomBytes })
  const statements: { readonly text: string; readonly params: readonly Param[] }[] = []
  const driver: Driver = {
    connections: engine.driver.connections,
    introspect: (schemas) => engine.driver.introspect(schemas),
    execute: (statement, options) => {
      const { guard } = statement
      for (const { text, params } of guard === undefined ? [statement] : [guard, statement])
        statements.push({ text, params })
      return engine.driver.execute(statement, options)
    },
    mutate: (mutation, options) => {
      const { guard, lock, write, readBack } = mutation
      const sent = [guard, lock, write, readBack].filter((each) => each !== undefined)
      for (const { text, params } of sent) {
        statements.push({ text, params })
      }
      return engine.driver.mutate(mutation, options)
    },
    call: (call, options) => {
      statements.push({ text: call.statement.text, params: call.statement.params })
      return engine.driver.call(call, options)
    },
    close: () => engine.driver.close(),
  }
  const dialect = disguise === undefined ? engine.dialect : disguise(engine.dialect)
  const schema = await driver.introspect(settings.schemas)
  if (!schema.ok) throw new Error(`no schema: ${JSON.stringify(schema.error)}`)
  const document = parsePolicy(policy)
  if (!document.ok) throw new Error(`no policy: ${JSON.stringify(document.error)}`)
  const { engine: rules, findings } = compilePolicy(document.value, schema.value, { schemas: settings.schemas })
  const list = (who: Identity): string => Buffer.from(encodeTools(rules.rights(who)).body).toString('utf8')
  return {
    schema: schema.value,
    findings,
    list,
    // The list is the gateway's own, and whoever reads it checks the shape of every schema.
    tools: (who) => (JSON.parse(`{${list(who)}}`) as { readonly tools: readonly Tool[] }).tools,
    call: async (who, tool, args) => {
      const first = statements.length
      const intents: string[] = []
      // What crosses the thread is JSON, whatever a test built.
      const sent: unknown = args === undefined ? undefined : JSON.parse(JSON.stringify(args))
      const outcome = await executeCall(
        {
          kind: 'call',
          callId: 1,
          auditId: 'a',
          snapshot: { epoch: 1, bytes: new SharedArrayBuffer(0) },
          identity: who,
          tool,
          args: sent,
          sentAtMs: monotonicMs(),
        },
        {
          policy: rules,
          dialect,
          driver,
          acquireTimeoutMs: settings.pool.acquireTimeoutMs,
          nowMs: monotonicMs,
          observe: () => {},
          sessionContext: false,
          announce: async (intent) => {
            intents.push(JSON.stringify(intent))
            return { kind: 'go' }
          },
        },
        new Cancellation(),
      )
      return {
        code: outcome.code,
        decision: outcome.decision,
        reason: outcome.reason,
        operation: outcome.operation,
        target: outcome.target,
        plan: outcome.plan === undefined ? undefined : JSON.stringify(outcome.plan),
        rows: outcome.rows,
        effect: outcome.effect,
        affected: outcome.affected,
        keys: outcome.keys === undefined ? undefined : JSON.stringify(outcome.keys),
        resultKeys: outcome.resultKeys === undefined ? undefined : JSON.stringify(outcome.resultKeys),
        intents,
        body: Buffer.from(outcome.body).toString('utf8'),
        statements: statements.splice(first),
      }
    },
    close: () => driver.close(),
  }
}
