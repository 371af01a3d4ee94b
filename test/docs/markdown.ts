/** Pages of docs/reference, made from the OpenAPI document. */
import { type Field, fieldsOf, typeOf } from '../../src/api/openapi/fields.ts'
import type { JsonSchema } from '../../src/api/openapi/json-schema.ts'
import type { OpenApi } from '../../src/api/openapi/openapi.ts'
import type { Operation, Parameter } from '../../src/api/openapi/operation.ts'
import type { Response } from '../../src/api/openapi/responses.ts'

export const NOTE = '<!-- Made by `npm run docs`. Do not edit. -->\n'

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

export const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.map(cell).join(' | ')} |`).join('\n')

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** `I-escrow, A-31` on a page of docs/reference: the rule is a link. Decisions are not in the package, so theirs is a name. */
export const linked = (source: string) =>
  source.replace(/I-[a-z-]+/g, rule => `[${rule}](../interface.md#${rule.toLowerCase()})`)

const fieldTable = (fields: readonly Field[]) =>
  table(
    ['Field', 'Type', 'Required', 'Rules'],
    fields.map(({ name, type, required, rules }) => [`\`${name}\``, type, required ? 'yes' : '', rules]),
  )

/** One page per group of endpoints, by file name. */
export function groupPages(doc: OpenApi): Record<string, string> {
  const groups = doc.tags.filter(({ name }) => name !== 'events')
  return Object.fromEntries(groups.map(tag => [`${tag.name}.md`, groupPage(doc, tag)]))
}

export function indexPage(doc: OpenApi): string {
  const groups = doc.tags.filter(({ name }) => name !== 'events')
  const rows = groups.flatMap(({ name, 'x-displayName': title }) =>
    operationsOf(doc, name).map(({ method, path, operation }) => [
      `\`${method} ${path}\``,
      operation.summary,
      `[${title}](${name}.md#${operation.operationId.toLowerCase()})`,
    ]),
  )
  const more =
    '[Commands](commands.md) · [Tools of mcp](tools.md) · [Checks of conformance](conformance.md) · [Records](records.md) · [Events](events.md) · [Errors](errors.md) · [Limits](limits.md)'
  return [
    NOTE,
    '# Reference',
    more,
    'As one OpenAPI 3.1 document: `marketplace openapi`, and `/openapi.json` of every marketplace. `Source` names the rules of [the interface](../interface.md) (`I-…`) and the decisions (`A-…`, in the repository: `docs/decisions`) that an endpoint stands on.',
    table(['Endpoint', '', ''], rows),
    '',
  ].join('\n\n')
}

interface Placed {
  method: string
  path: string
  operation: Operation
}

function operationsOf(doc: OpenApi, tag: string): Placed[] {
  return Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter((entry): entry is [string, Operation] => typeof entry[1] === 'object' && entry[1].tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

function groupPage(doc: OpenApi, { name, 'x-displayName': title, description }: OpenApi['tags'][number]): string {
  const sections = operationsOf(doc, name).map(placed => operationSection(doc, placed))
  return [NOTE, `# ${title}`, description, ...sections, ''].join('\n\n')
}

function operationSection(doc: OpenApi, { method, path, operation }: Placed): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation
  const { limit, windowMs, category } = operation['x-rate-limit']
  return [
    `## ${operationId}`,
    `\`${method} ${path}\``,
    `${summary}. ${description}`,
    `Rate limit: ${limit} in ${spanOf(windowMs)} (${category}). Source: ${linked(operation['x-source'])}.`,
    ...parametersPart(parameters),
    ...(requestBody ? bodyPart(requestBody.content['application/json']!.schema, requestBody.required) : []),
    ...(requestBody ? [json(requestBody.content['application/json']!.example)] : []),
    ...Object.entries(responses).flatMap(([status, response]) =>
      Number(status) < 300 ? answerPart(status, response) : [],
    ),
    refusalsPart(doc, responses),
  ].join('\n\n')
}

function parametersPart(parameters: readonly Parameter[]): string[] {
  const shown = parameters.filter(({ in: where }) => where !== 'path')
  if (shown.length === 0) return []
  const asSchema: JsonSchema = {
    properties: Object.fromEntries(
      shown.map(({ name, description, schema }) => [name, { ...schema, ...(description && { description }) }]),
    ),
  }
  return ['Query and headers', fieldTable(fieldsOf(asSchema))]
}

function bodyPart(schema: JsonSchema, required: boolean): string[] {
  const head = `Body${required ? '' : ' (may be left out)'}`
  const { oneOf } = schema
  return oneOf
    ? [`${head}, one of`, ...oneOf.map(one => fieldTable(fieldsOf(one)))]
    : [head, fieldTable(fieldsOf(schema))]
}

function answerPart(status: string, { description = '', content = {} }: Response): string[] {
  const answer = content['application/json']
  if (!answer) return [`Answers ${status}: ${description.toLowerCase()}.`]
  const data = answer.schema.properties!.data!
  const what = data.properties ? fieldTable(fieldsOf(data)) : `\`data\` is ${typeOf(data)}; see [Records](records.md).`
  return [`Answers ${status}`, what, json(answer.example)]
}

/** The refusals of one operation, each in its words. */
function refusalsPart(doc: OpenApi, responses: Record<string, Response>): string {
  const rows = Object.entries(responses).flatMap(([status, response]) => {
    const name = response.$ref?.split('/').at(-1)
    const { content } = name ? doc.components.responses[name]! : response
    const examples = Object.keys(content?.['application/json']?.examples ?? {})
    return examples.map(example => [status, `\`${example}\``, doc.components.examples[example]!.summary])
  })
  return `Refusals\n\n${table(['Status', 'Name', 'Words'], rows)}`
}

export function spanOf(ms: number): string {
  for (const [unit, size] of [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const) {
    if (ms >= size && ms % size === 0) return `${ms / size} ${unit}${ms === size ? '' : 's'}`
  }
  return `${ms} ms`
}

export function recordsPage(doc: OpenApi): string {
  const parts = Object.entries(doc.components.schemas).filter(([name]) => !name.endsWith('Event'))
  const sections = parts.flatMap(([name, schema]) => [`## ${name}`, fieldTable(fieldsOf(schema))])
  return [NOTE, '# Records', 'What answers hold. A field without a value is null.', ...sections, ''].join('\n\n')
}

export function eventsPage(doc: OpenApi): string {
  const head = [
    'Each event is a POST to the webhook of an agent, signed as `X-Service-Signature` and `X-Service-Timestamp` say: HMAC-SHA256',
    'over the timestamp, a dot and the raw body, keyed with the webhook secret, in lower-case hex. Answer 200. A failed delivery',
    'is tried again, with the same body and the same `X-Service-Delivery-Id`. Schema: [webhook-events.schema.json](webhook-events.schema.json).',
  ].join('\n')
  const sections = Object.entries(doc.webhooks).flatMap(([name, { post }]) => {
    const { schema, example } = post.requestBody.content['application/json']!
    const part = doc.components.schemas[schema.$ref!.split('/').at(-1)!]!
    return [`## ${name}`, post.description, fieldTable(fieldsOf(part)), json(example)]
  })
  const { parameters } = doc.webhooks['task.submitted']!.post
  const headers = table(
    ['Header', ''],
    parameters.map(({ name, description = '' }) => [`\`${name}\``, description]),
  )
  return [NOTE, '# Events', head, headers, ...sections, ''].join('\n\n')
}
