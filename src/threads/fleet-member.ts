import type { ConnectorConfig } from '../config/config.js'
import type { ConnectorSupervisor } from './connector-supervisor.js'
import type { Door } from './door.js'

/** A supervisor with the configuration it serves by. Where only the policy or its values change, the supervisor stays. */
export class Service {
  config: ConnectorConfig
  readonly supervisor: ConnectorSupervisor

  /** `supervise` is given what tells the configuration as it is at any time. */
  constructor(config: ConnectorConfig, supervise: (now: () => ConnectorConfig) => ConnectorSupervisor) {
    this.config = config
    this.supervisor = supervise(() => this.config)
  }
}

/** A connector that is configured and has no fault, or had none. */
export interface Member {
  readonly door: Door
  service: Service
  /** With new settings: takes the place of `service` when it is ready. */
  next?: Service
  /** Of a newer configuration that cannot be used. */
  faults: readonly string[]
}

export function supervisorsOf({ service, next }: Member): readonly ConnectorSupervisor[] {
  return next === undefined ? [service.supervisor] : [service.supervisor, next.supervisor]
}
