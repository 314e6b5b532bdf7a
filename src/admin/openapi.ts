import { z } from 'zod'
import type { AdminOperation } from './operation.js'

const REFUSAL = {
  type: 'object',
  required: ['code', 'error'],
  properties: {
    code: { type: 'string', description: 'A constant, such as ADMIN_NOT_FOUND.' },
    error: { type: 'string', description: 'One sentence for a person.' },
    details: { type: 'array', items: { type: 'string' } },
  },
} as const

const STATUSES = {
  400: 'The request does not fit; `details` has a line for each fault.',
  401: 'A key is missing or not valid.',
  403: 'The identity lacks the role that this needs.',
  404: 'There is no such thing.',
  409: 'It exists already.',
  413: 'The body is too large.',
  415: 'The body is not declared as JSON.',
  429: 'Too many attempts with keys that are not valid.',
  503: 'The admin store or the audit trail cannot be used now.',
} as const

/** The OpenAPI 3.1 description of the admin interface, made from the operations themselves. */
export function openApi(operations: readonly AdminOperation[], version: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const one of operations) {
    const path = `/admin/api${one.path}`
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: described(one) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Runku admin interface', version },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key of an identity with a reserved role.' },
      },
      schemas: { Refusal: REFUSAL },
    },
  }
}

function described(one: AdminOperation): unknown {
  const { name, method, summary, input, output } = one
  const members: [string, z.ZodType][] = Object.entries(input.shape)
  const inPath = pathMembers(one.path)
  const query = method === 'GET' || method === 'DELETE' ? members.filter(([member]) => !inPath.includes(member)) : []
  const body = method === 'GET' || method === 'DELETE' ? [] : members.filter(([member]) => !inPath.includes(member))
  const parameter =
    (where: 'path' | 'query') =>
    ([member, schema]: readonly [string, z.ZodType]) => ({
      name: member,
      in: where,
      required: where === 'path',
      schema: z.toJSONSchema(schema, { io: 'input' }),
    })
  const parameters = [
    ...members.filter(([member]) => inPath.includes(member)).map(parameter('path')),
    ...query.map(parameter('query')),
  ]
  return {
    operationId: name,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body.length === 0 ? {} : { requestBody: json(z.strictObject(Object.fromEntries(body)), 'input') }),
    responses: {
      200: { description: 'Done.', ...json(output, 'output') },
      ...Object.fromEntries(
        Object.entries(STATUSES).map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } },
        ]),
      ),
    },
  }
}

function json(schema: z.ZodType, io: 'input' | 'output') {
  return { content: { 'application/json': { schema: z.toJSONSchema(schema, { io }) } } }
}

/** The names in braces of a path, in order. */
export function pathMembers(path: string): readonly string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '')
}
