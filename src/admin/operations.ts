import type { AdminOperation } from './operation.js'
import { ACCESS_OPERATIONS } from './operations-access.js'
import { CONNECTOR_OPERATIONS } from './operations-connectors.js'
import { POLICY_OPERATIONS } from './operations-policies.js'

/** Every administrative operation. The command line and the HTTP surface offer the same ones. */
export const OPERATIONS: readonly AdminOperation[] = [
  ...Object.values(ACCESS_OPERATIONS),
  ...Object.values(CONNECTOR_OPERATIONS),
  ...Object.values(POLICY_OPERATIONS),
]
