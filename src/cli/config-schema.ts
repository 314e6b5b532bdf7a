import { configJsonSchema } from '../config/config.js'
import { ok } from '../core/result.js'
import type { CommandResult } from './command.js'

/** `runku config schema`: the JSON Schema of `config.yaml`, for editors. */
export function configSchemaCommand(): CommandResult {
  const json = configJsonSchema()
  return ok({ lines: JSON.stringify(json, null, 2).split('\n'), json })
}
