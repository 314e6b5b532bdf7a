import { openApi } from '../admin/openapi.js'
import { OPERATIONS } from '../admin/operations.js'
import { configJsonSchema } from '../config/config.js'
import { ok } from '../core/result.js'
import type { CommandResult } from './command.js'
import { packageVersion } from './package-root.js'

/** `runku config schema`: the JSON Schema of `config.yaml`, for editors and pipelines. */
export function configSchemaCommand(): CommandResult {
  return printed(configJsonSchema())
}

/** `runku config openapi`: the OpenAPI description of the admin interface. */
export function openApiCommand(): CommandResult {
  return printed(openApi(OPERATIONS, packageVersion()))
}

function printed(document: unknown): CommandResult {
  return ok({ lines: [JSON.stringify(document, undefined, 2)], json: document })
}
