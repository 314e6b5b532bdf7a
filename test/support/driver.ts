import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { GatewayError } from '../../src/core/errors.js'
import type { ValidatedCall, ValidatedMutation } from '../../src/core/plan.js'
import { ok, type Result } from '../../src/core/result.js'
import type { EngineName, Routine, SchemaModel, Table } from '../../src/core/schema-model.js'
import type { Param } from '../../src/core/statement.js'
import { type LoadedEngine, loadEngine } from '../../src/engines/create-engine.js'
import {
  type CallExecution,
  Cancellation,
  type Driver,
  type ExecuteOptions,
  type Execution,
  type Rows,
  type WriteExecution,
} from '../../src/engines/engine.js'
import type { Observation } from '../../src/observe/observation.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { statement } from './postgres.js'

export interface Read {
  readonly rows: Rows
  readonly queueMs: number
  readonly dbMs: number
}

export type RowsOfCall = Omit<CallExecution, 'outcome'> & { readonly outcome: Result<Rows, GatewayError> }

export interface TestDriver {
  readonly driver: Driver
  readonly observed: readonly Observation[]
  /** Runs SQL; limits not given are generous. */
  run(text: string, params?: readonly Param[], options?: Partial<ExecuteOptions>): Promise<Result<Read, GatewayError>>
  /** The same with its times, however it ended. */
  timed(text: string, params?: readonly Param[], options?: Partial<ExecuteOptions>): Promise<Execution>
  /** The first cell of the first row; a failure is thrown. */
  cell(text: string, options?: Partial<ExecuteOptions>): Promise<string | null>
  /** Mutations and calls, as the policy would have let them through. */
  mutate(mutation: ValidatedMutation, options?: Partial<ExecuteOptions>): Promise<WriteExecution>
  /** The rows of the statement's columns. */
  call(call: ValidatedCall, options?: Partial<ExecuteOptions>): Promise<RowsOfCall>
  /** The same with the result sets that only the call describes. */
  callSets(call: ValidatedCall, options?: Partial<ExecuteOptions>): Promise<CallExecution>
  /** The model of the schemas that the settings name. */
  schema(): Promise<SchemaModel>
}

/** Settings of a connector on this machine whose other parts do not matter. */
export function settingsOf(
  { port }: { readonly port: number },
  mode: ConnectorSettings['pool']['mode'] = 'session',
): ConnectorSettings {
  return {
    id: 'any',
    engine: 'postgres',
    connection: { host: '127.0.0.1', port, user: 'u', database: 'd', tls: 'disable' },
    schemas: ['public'],
    threadsMin: 0,
    threadsMax: 1,
    sessionContext: false,
    pool: { mode, max: 1, acquireTimeoutMs: 1_000, idleTimeoutMs: 1_000, lifetimeMaxMs: 1_000 },
  }
}

/** Loaded once for every test of a file, so that a test has its driver at once. */
const LOADED: Readonly<Record<EngineName, LoadedEngine>> = {
  postgres: await loadEngine('postgres'),
  mysql: await loadEngine('mysql'),
  sqlserver: await loadEngine('sqlserver'),
}

/** A driver that is closed when the test ends. */
export function testDriver(t: TestContext, settings: ConnectorSettings): TestDriver {
  const observed: Observation[] = []
  const { dialect, createDriver } = LOADED[settings.engine]
  const driver = createDriver(settings, {
    observe: (observation) => observed.push(observation),
    nowMs: () => performance.now(),
    randomBytes,
  })
  t.after(() => driver.close())
  const limits = (options: Partial<ExecuteOptions> = {}): ExecuteOptions => ({
    timeoutMs: 20_000,
    acquireTimeoutMs: 20_000,
    bytesMax: 10_000_000,
    cancellation: new Cancellation(),
    ...options,
  })
  const timed: TestDriver['timed'] = (text, params = [], options = {}) =>
    driver.execute(statement(text, params), limits(options))
  const run: TestDriver['run'] = async (text, params, options) => {
    const { outcome: result, queueMs, dbMs } = await timed(text, params, options)
    return result.ok ? ok({ rows: result.value, queueMs, dbMs }) : result
  }
  const cell: TestDriver['cell'] = async (text, options) => {
    const result = await run(text, [], options)
    if (!result.ok) throw new Error(JSON.stringify(result.error))
    return result.value.rows[0]?.[0] ?? null
  }
  const callSets: TestDriver['callSets'] = (call, options) => driver.call(dialect.compileCall(call), limits(options))
  return {
    driver,
    observed,
    run,
    timed,
    cell,
    mutate: (mutation, options) => driver.mutate(dialect.compileMutation(mutation), limits(options)),
    call: async (call, options) => {
      const execution = await callSets(call, options)
      const { outcome: end } = execution
      return { ...execution, outcome: end.ok ? ok(end.value.rows) : end }
    },
    callSets,
    schema: async () => {
      const model = await driver.introspect(settings.schemas)
      if (!model.ok) throw new Error(JSON.stringify(model.error))
      return model.value
    },
  }
}

export function tableNamed(schema: SchemaModel, name: string): Table {
  const table = schema.tables.find(({ ref }) => ref.name === name)
  if (table === undefined) throw new Error(`no table ${name}`)
  return table
}

/** By name, and by signature where several have it. */
export function routineNamed(schema: SchemaModel, name: string, signature?: string): Routine {
  const routine = schema.routines.find(
    (candidate) => candidate.ref.name === name && (signature === undefined || candidate.signature === signature),
  )
  if (routine === undefined) throw new Error(`no routine ${name}`)
  return routine
}

/** The code of a failure and what the operator is told; a success has the code OK. */
export function outcome(result: Result<unknown, GatewayError>): { readonly code: string; readonly reason: string } {
  if (result.ok) return { code: 'OK', reason: '' }
  const { code, reason = '', detail = reason } = result.error
  return { code, reason: detail }
}
