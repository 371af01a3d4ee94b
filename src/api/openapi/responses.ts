/** Makes the OpenAPI responses of an endpoint: its data inside the envelope, its refusals by status. Source: I-envelope. */
import type { Endpoint } from '../endpoint.ts'
import { type FailureName, statusOf } from '../failures.ts'
import { refusalsOf } from '../refusals.ts'
import { exampleOf } from './examples.ts'
import { type JsonSchema, outputSchema, PARTS } from './json-schema.ts'

export interface Content {
  schema: JsonSchema
  example?: unknown
  examples?: Record<string, { $ref: string }>
}

export interface Response {
  description?: string
  headers?: Record<string, { description: string; schema: JsonSchema }>
  content?: Record<string, Content>
  $ref?: string
}

/** Parts that every document has. */
export const errorParts: Readonly<Record<string, JsonSchema>> = {
  Error: {
    type: 'object',
    properties: {
      success: { const: false },
      error: { type: 'string' },
      errors: {
        description: 'Field name to messages, when the validation failed',
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string' } },
      },
    },
    required: ['success', 'error'],
  },
  Pagination: {
    type: 'object',
    properties: {
      page: { type: 'integer', minimum: 1 },
      limit: { type: 'integer', minimum: 1 },
      total: { type: 'integer', minimum: 0 },
      totalPages: { type: 'integer', minimum: 0 },
      hasMore: { type: 'boolean' },
    },
    required: ['page', 'limit', 'total', 'totalPages', 'hasMore'],
  },
}

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is not valid, or out of turn',
  401: 'Not authenticated',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
}

const refused = (names: readonly FailureName[]): Content => ({
  schema: { $ref: `${PARTS}Error` },
  examples: Object.fromEntries(names.map(name => [name, { $ref: `#/components/examples/${name}` }])),
})

const json = (content: Content) => ({ 'application/json': content })
const headerOf = (description: string, schema: JsonSchema) => ({ description, schema })

/** Responses that are the same for every endpoint. */
export const sharedResponses: Record<string, Response> = {
  RateLimited: {
    description: 'Too many requests from this address, too many large ones on their way, or too many in a row',
    headers: {
      'Retry-After': headerOf('Seconds until the window is over', { type: 'integer' }),
      'RateLimit-Policy': headerOf('The limit and its window', { type: 'string' }),
      RateLimit: headerOf('What is left of it', { type: 'string' }),
    },
    content: json(refused(['rate_limited', 'unsent_bodies', 'too_many_behind'])),
  },
  InternalError: {
    description: 'Something went wrong on our side, or too much is asked at this moment',
    headers: { 'Retry-After': headerOf('Seconds, where another try makes sense', { type: 'integer' }) },
    content: json(refused(['internal', 'overloaded'])),
  },
  DatabaseAway: {
    description: 'The database is away or takes no writes; nothing was done',
    headers: { 'Retry-After': headerOf('Seconds', { type: 'integer' }) },
    content: json(refused(['database_away'])),
  },
}

const shared: Partial<Record<FailureName, string>> = {
  rate_limited: 'RateLimited',
  unsent_bodies: 'RateLimited',
  too_many_behind: 'RateLimited',
  internal: 'InternalError',
  overloaded: 'InternalError',
  database_away: 'DatabaseAway',
}

/** Returns the responses by status. `used` receives the refusals that the document needs examples of. */
export function responsesOf(
  name: string,
  record: Endpoint,
  parts: Record<string, JsonSchema>,
  used: Set<FailureName>,
): Record<string, Response> {
  const responses: Record<string, Response> = { [record.status ?? 200]: success(name, record, parts) }
  if (record.created) {
    const { list: _, ...single } = record
    responses[201] = success(name, { ...single, reply: record.created, status: 201 }, parts)
  }
  const refusals = refusalsOf(record)
  for (const refusal of refusals) used.add(refusal)
  for (const status of new Set(refusals.map(statusOf))) {
    const names = refusals.filter(refusal => statusOf(refusal) === status)
    const [same, ...others] = new Set(names.map(refusal => shared[refusal]))
    responses[status] =
      same && others.length === 0 ? { $ref: `#/components/responses/${same}` } : refusedWith(status, names)
  }
  return responses
}

const refusedWith = (status: number, names: readonly FailureName[]): Response => ({
  description: `${meanings[status] ?? 'Refused'}: ${names.join(', ')}`,
  content: json(refused(names)),
})

function success(name: string, record: Endpoint, parts: Record<string, JsonSchema>): Response {
  if (record.download) return attachment
  if (record.stream) return eventStream(outputSchema(record.reply, parts))
  const schema = envelopeOf(dataOf(record, parts))
  return {
    description: record.status === 201 ? 'Created' : 'Success',
    ...(record.sets && { headers: { 'Set-Cookie': headerOf('The session, or its end', { type: 'string' }) } }),
    content: json({ schema, example: exampleOf(schema, parts, name) }),
  }
}

const attachment: Response = {
  description: 'The bytes of the file',
  headers: { 'Content-Disposition': headerOf('attachment, with its name', { type: 'string' }) },
  content: { '*/*': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } } },
}

const eventStream = (schema: JsonSchema): Response => ({
  description: 'Server-sent events',
  content: { 'text/event-stream': { schema } },
})

const envelopeOf = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { success: { const: true }, data },
  required: ['success', 'data'],
})

function dataOf({ reply, list }: Endpoint, parts: Record<string, JsonSchema>): JsonSchema {
  const schema = outputSchema(reply, parts)
  if (list === undefined) return schema
  return {
    type: 'object',
    properties: { [list]: { type: 'array', items: schema }, pagination: { $ref: `${PARTS}Pagination` } },
    required: [list, 'pagination'],
  }
}
