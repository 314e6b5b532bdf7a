import type { TestContext } from 'node:test'
import type { GatewayError } from '../../src/core/errors.js'
import { ok, type Result } from '../../src/core/result.js'
import type { Param } from '../../src/core/statement.js'
import { Cancellation, type Driver, type ExecuteOptions, type Execution, type Rows } from '../../src/engines/engine.js'
import { createPostgresDriver } from '../../src/engines/postgres/driver.js'
import type { Observation } from '../../src/observe/observation.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { statement } from './postgres.js'

export interface Read {
  readonly rows: Rows
  readonly queueMs: number
  readonly dbMs: number
}

export interface TestDriver {
  readonly driver: Driver
  readonly observed: readonly Observation[]
  /** Runs SQL; limits not given are generous. */
  run(text: string, params?: readonly Param[], options?: Partial<ExecuteOptions>): Promise<Result<Read, GatewayError>>
  /** The same with its times, however it ended. */
  timed(text: string, params?: readonly Param[], options?: Partial<ExecuteOptions>): Promise<Execution>
  /** The first cell of the first row; a failure is thrown. */
  cell(text: string): Promise<string | null>
}

/** A driver that is closed when the test ends. */
export function testDriver(t: TestContext, settings: ConnectorSettings): TestDriver {
  const observed: Observation[] = []
  const driver = createPostgresDriver(settings, {
    observe: (observation) => observed.push(observation),
    nowMs: () => performance.now(),
  })
  t.after(() => driver.close())
  const timed: TestDriver['timed'] = (text, params = [], options = {}) =>
    driver.execute(statement(text, params), {
      timeoutMs: 20_000,
      acquireTimeoutMs: 20_000,
      bytesMax: 10_000_000,
      cancellation: new Cancellation(),
      ...options,
    })
  const run: TestDriver['run'] = async (text, params, options) => {
    const { outcome: result, queueMs, dbMs } = await timed(text, params, options)
    return result.ok ? ok({ rows: result.value, queueMs, dbMs }) : result
  }
  const cell = async (text: string): Promise<string | null> => {
    const result = await run(text)
    if (!result.ok) throw new Error(JSON.stringify(result.error))
    return result.value.rows[0]?.[0] ?? null
  }
  return { driver, observed, run, timed, cell }
}

/** The code of a failure and what the operator is told; a success has the code OK. */
export function outcome(result: Result<unknown, GatewayError>): { readonly code: string; readonly reason: string } {
  if (result.ok) return { code: 'OK', reason: '' }
  const { code, reason = '', detail = reason } = result.error
  return { code, reason: detail }
}
