/** The whole interface as one OpenAPI 3.1 document, made from the records. Source: A-45. */
import type { Endpoint } from '../endpoint.ts'
import { type EventName, events, testEvent } from '../events.ts'
import type { FailureName } from '../failures.ts'
import { durations } from '../limits.ts'
import { exampleOfRefusal } from '../refusals.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, toleranceInWords } from '../signature.ts'
import { inSeconds } from '../spans.ts'
import { exampleOf } from './examples.ts'
import { groupOf, groups } from './groups.ts'
import { type JsonSchema, outputSchema, PARTS } from './json-schema.ts'
import { type Operation, operationOf, type Parameter, type RequestBody } from './operation.ts'
import { errorParts, type Response, sharedResponses } from './responses.ts'

interface Webhook extends Omit<Operation, 'x-rate-limit' | 'x-rate-limit-multipart' | 'x-source'> {
  requestBody: RequestBody
}

export interface OpenApi {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string; description?: string }[]
  tags: { name: string; 'x-displayName': string; description: string }[]
  paths: Record<string, { description: string } & Record<string, Operation | string>>
  webhooks: Record<string, { post: Webhook }>
  components: {
    schemas: Record<string, JsonSchema>
    examples: Record<string, { summary: string; value: unknown }>
    responses: Record<string, Response>
    securitySchemes: Record<string, object>
  }
}

export interface Described {
  endpoints: Readonly<Record<string, Endpoint>>
  version: string
  /** The public base URL. */
  baseUrl: string
  mode: 'dev' | 'serve'
}

const intro = `Builders list agents; buyers submit tasks; the price is held in escrow until the buyer approves.

Every answer is \`{ success: true, data }\` or \`{ success: false, error, errors? }\`. Amounts are integer cents. Times are ISO
8601 in UTC. Unknown fields of a body are ignored; PUT takes any part of the fields. Lists take \`page\` and \`limit\`.
A path that is there answers an unknown method with 405 and \`Allow\`. HEAD is answered as GET.`

/** Makes the document of a running marketplace. That of a deployment leaves out what only the simulator has. */
export function openApi(described: Described): OpenApi {
  const steps = openApiInSteps(described)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** A step for each endpoint: all of them take a tenth of a second. */
export function* openApiInSteps({ endpoints, version, baseUrl, mode }: Described): Generator<void, OpenApi, void> {
  const parts: Record<string, JsonSchema> = { ...errorParts }
  const used = new Set<FailureName>()
  const named = Object.entries(endpoints).filter(([, { only }]) => only !== 'dev' || mode === 'dev')
  const paths = yield* pathsOf(named, parts, used)
  const webhooks = webhooksOf(parts)
  const present = new Set([...named.map(([, { path }]) => groupOf(path).name), 'events'])
  return {
    openapi: '3.1.0',
    info: { title: 'Agent Marketplace', version, description: intro, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: baseUrl }],
    tags: [...groups, eventGroup]
      .filter(({ name }) => present.has(name))
      .map(({ name, title, description }) => ({ name, 'x-displayName': title, description })),
    paths,
    webhooks,
    components: {
      schemas: sorted(parts),
      examples: examplesOf(used),
      responses: sharedResponses,
      securitySchemes,
    },
  }
}

/**
 * Returns the payloads of all webhooks as one JSON Schema, with which a receiver can validate a body.
 * @internal Written to docs/reference.
 */
export function eventSchema(): object {
  const parts: Record<string, JsonSchema> = {}
  webhooksOf(parts)
  const text = JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'What the service sends to an agent',
    anyOf: [...Object.keys(events).map(name => ({ $ref: PARTS + partOf(name) })), { $ref: `${PARTS}TestEvent` }],
    $defs: sorted(parts),
  })
  return JSON.parse(text.replaceAll(`"${PARTS}`, '"#/$defs/'))
}

const eventGroup = {
  name: 'events',
  title: 'Events',
  description: `Signed webhooks to the address of an agent. Answer 200 within ${inSeconds(durations.webhookTimeoutMs)}.`,
}

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer svc_…`' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'session',
    description: 'The cookie of a signed-in browser; `__Host-session` behind https',
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: SIGNATURE_HEADER,
    description: 'HMAC-SHA256 over timestamp, a dot and the raw body, keyed with the webhook secret; lower-case hex',
  },
  timestamp: {
    type: 'apiKey',
    in: 'header',
    name: TIMESTAMP_HEADER,
    description: `Unix time in milliseconds, at most ${toleranceInWords} from now`,
  },
}

function* pathsOf(named: [string, Endpoint][], parts: Record<string, JsonSchema>, used: Set<FailureName>) {
  const paths: OpenApi['paths'] = {}
  for (const [name, record] of named) {
    const path = record.path.replaceAll(/:(\w+)/g, '{$1}')
    const methods = named.filter(([, other]) => other.path === record.path).map(([, { method }]) => method)
    paths[path] ??= { description: `Methods: ${methods.join(', ')}. Any other is answered 405.` }
    paths[path][record.method.toLowerCase()] = operationOf(name, record, parts, used)
    yield
  }
  return paths
}

const partOf = (event: string) =>
  `${event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`

function webhooksOf(parts: Record<string, JsonSchema>): OpenApi['webhooks'] {
  const all = Object.entries(events).map(([name, event]) => [name, partOf(name), event] as const)
  const webhooks: OpenApi['webhooks'] = {}
  for (const [name, part, { when, payload }] of [...all, ['test', 'TestEvent', testEvent] as const]) {
    parts[part] = outputSchema(payload, parts)
    webhooks[name] = { post: webhookOf(name as EventName | 'test', part, when, parts) }
  }
  return webhooks
}

const header = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const webhookOf = (name: string, part: string, when: string, parts: Record<string, JsonSchema>): Webhook => ({
  operationId: `on${part.replace(/Event$/, '')}`,
  summary: name,
  description: `${when}.`,
  tags: ['events'],
  security: [{ signature: [], timestamp: [] }],
  parameters: [
    header('X-Service-Delivery-Id', 'The same over all attempts'),
    header('X-Service-Attempt', 'Counts from 1'),
    header('webhook-id', 'Standard Webhooks: the delivery id'),
    header('webhook-timestamp', 'Standard Webhooks: unix time in seconds'),
    header('webhook-signature', 'Standard Webhooks: over id, timestamp and body'),
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: { $ref: PARTS + part }, example: exampleOf({ $ref: PARTS + part }, parts) },
    },
  },
  responses: {
    '200': { description: 'Received. Any 2xx ends the delivery; a connection test takes 200 alone' },
    '401': { description: 'The signature is wrong' },
    '410': { description: 'Gone: this event is not sent again' },
  },
})

function examplesOf(used: ReadonlySet<FailureName>) {
  const examples: OpenApi['components']['examples'] = {}
  for (const name of [...used].sort()) {
    const error = exampleOfRefusal(name)
    const errors =
      name === 'validation_failed' ? { errors: { title: ['must have 5 to 200 characters; this has 2'] } } : {}
    examples[name] = { summary: error, value: { success: false, error, ...errors } }
  }
  return examples
}

const sorted = <T>(map: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
