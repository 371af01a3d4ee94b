/** Makes an example for any shape: known fields by their names, all others by their rules. */
import { type JsonSchema, PARTS } from './json-schema.ts'

/** An id without its prefix. */
const ID = '01993a5c77aa7d109f3e5b1c2d3e4f50'

/** Of 16 random bytes. */
const TEST_ID = 'test_9f3e5b1c2d3e4f5001993a5c77aa7d10'

/** Examples for fields by name. `Shape.field` counts before `field`. */
const known: Readonly<Record<string, unknown>> = {
  action: 'deliver',
  accounts: 12,
  agreedPrice: 1200,
  amount: 1200,
  answer: 'ok',
  average: 4.5,
  averageRatingGiven: 4.5,
  balance: 48_800,
  basePrice: 500,
  callbackUrl: `https://marketplace.example/api/agent/tasks/task_${ID}/callback`,
  categoryIds: ['cat_translation'],
  allowedCategories: ['cat_translation'],
  chargebacks: 0,
  'Category.name': 'Translation',
  'Category.slug': 'translation',
  'Category.description': 'From one language into another.',
  comment: 'Exactly what I asked for.',
  content: 'Liebe Gäste, willkommen im Hafenmuseum.',
  count: 12,
  currency: 'USD',
  currentPassword: 'correct horse battery',
  description: 'Translate the attached leaflet into German. Keep the headings, and the tone friendly and short.',
  disputeReason: 'Half of the leaflet is missing.',
  email: 'ada@example.com',
  'getExchange.id': 'exchange_17',
  'getExchange.url': 'https://my-agent.localhost:4443/webhook',
  'getExchange.status': 200,
  'items.direction': 'webhook',
  'items.method': 'POST',
  'items.id': 'exchange_17',
  'items.url': 'https://my-agent.localhost:4443/webhook',
  'items.status': 200,
  'requestHeaders.name': 'X-Service-Attempt',
  'requestHeaders.value': '1',
  'responseHeaders.name': 'Content-Type',
  'responseHeaders.value': 'text/plain',
  'requestBody.content': '{"event":"task.submitted"}',
  'responseBody.content': 'ok',
  feedback: 'Please shorten the second paragraph.',
  graceHours: 2,
  heldBalance: 1200,
  hiddenReason: null,
  isBuilder: true,
  key: 'svc_Jx2b8rQd0kYw3mTz5vLs7nGh1cFa9pEe',
  keyPrefix: 'svc_Jx2b8rQd',
  maxPerTask: 2_000,
  maxDaily: 10_000,
  maxMonthly: 50_000,
  maxRevisions: 2,
  message: 'How is it going?',
  mimeType: 'application/pdf',
  name: 'Swift Translator',
  'User.name': 'Ada Example',
  'register.name': 'Ada Example',
  'updateMe.name': 'Ada Example',
  'KeyInfo.name': 'production',
  'createKey.name': 'production',
  'File.name': 'leaflet-de.pdf',
  newPassword: 'a much longer password',
  notes: 'The headings are as they were.',
  now: '2026-03-01T09:30:00.000Z',
  offsetMs: 0,
  output: 'Liebe Gäste, willkommen im Hafenmuseum.',
  'Pagination.limit': 20,
  'Pagination.totalPages': 1,
  password: 'correct horse battery',
  rating: 5,
  'builder.name': 'Ada Example',
  'checks.message': 'A webhook URL is saved',
  'checks.name': 'webhook_url',
  'disputeTask.reason': 'Half of the leaflet is missing.',
  'Dispute.reason': 'Half of the leaflet is missing.',
  'Message.content': 'How is it going?',
  'requestor.id': `usr_${ID}`,
  'sendMessage.content': 'How is it going?',
  'TestEvent.callbackUrl': `https://marketplace.example/api/agent/test/${TEST_ID}/callback`,
  'TestEvent.description': 'A test of the webhook. Answer 200, then send one signed callback, for example accept.',
  'TestEvent.requirements': '',
  'TestEvent.requestor': { id: 'test_requestor', type: 'user', trustTier: 'trusted' },
  'TaskSubmittedEvent.status': 'pending',
  'TaskCancelledEvent.status': 'cancelled',
  'TaskRevisionRequestedEvent.status': 'in_progress',
  'TaskApprovedEvent.status': 'completed',
  'TaskDisputedEvent.status': 'delivered',
  'TaskMessageEvent.status': 'in_progress',
  'TaskDeliveredToBuyerEvent.status': 'delivered',
  url: `/api/tasks/task_${ID}/files/file_${ID}`,
  'Agent.rating': { average: 4.5, count: 12 },
  'OwnAgent.rating': { average: 4.5, count: 12 },
  reason: 'Please keep the original headings.',
  requirements: 'German as spoken in Hamburg.',
  revisionCount: 0,
  revisionReason: 'Please keep the original headings.',
  secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  size: 48_213,
  slug: 'swift-translator',
  tagline: 'Leaflets and letters, English to German',
  tags: ['german', 'leaflets'],
  title: 'Translate a leaflet',
  token: 'the token from the mail',
  total: 1,
  turnaroundHours: 24,
  visible: true,
  webhookUrl: 'https://agents.example.com/swift/webhook',
}

const prefixes: Readonly<Record<string, string>> = {
  task: 'task',
  agent: 'agt',
  ownAgent: 'agt',
  buyerAgent: 'agt',
  message: 'msg',
  notification: 'ntf',
  sample: 'smp',
  review: 'rev',
  deliverable: 'dlb',
  delivery: 'dlv',
  deliveryDetails: 'dlv',
  key: 'key',
  keyInfo: 'key',
  transaction: 'trf',
  payment: 'trf',
  file: 'file',
  category: 'cat',
  budgetAuthorization: 'bud',
}

/** Returns a value that matches the schema. `shape`: the name of the operation or the record. */
export function exampleOf(schema: JsonSchema, parts: Readonly<Record<string, JsonSchema>>, shape = ''): unknown {
  return make(schema, { parts, shape, field: '' })
}

interface Spot {
  readonly parts: Readonly<Record<string, JsonSchema>>
  readonly shape: string
  readonly field: string
}

function make(schema: JsonSchema, spot: Spot): unknown {
  if (schema.const !== undefined) return schema.const
  const words = known[`${spot.shape}.${spot.field}`] ?? known[spot.field]
  if (words !== undefined && isPlain(schema, words)) return words
  if (schema.$ref) {
    const name = schema.$ref.slice(PARTS.length)
    // The id of a deleted thing has the prefix of the operation's kind.
    const shape = name === 'Deleted' ? spot.shape : name
    return make(spot.parts[name] ?? {}, { ...spot, shape, field: '' })
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.some(({ type }) => type === 'null') ? null : make(choices[0]!, spot)
  if (schema.enum) return schema.default ?? schema.enum[0]
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.includes('null') ? 'null' : schema.type?.[0]
  return type === undefined ? {} : (byType[type] ?? byType.null!)(schema, spot)
}

const typeOf = (value: unknown) =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value === 'number' ? 'number' : typeof value

/** Whether the known example matches the schema, because the name of a field does not determine its type. */
function isPlain(schema: JsonSchema, words: unknown): boolean {
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(words))) return false
  if (schema.enum) return schema.enum.includes(words)
  if (schema.anyOf) return schema.anyOf.some(choice => isPlain(choice, words))
  const types = [schema.type].flat().map(type => (type === 'integer' ? 'number' : type))
  return types.includes(typeOf(words))
}

const byType: Readonly<Record<string, (schema: JsonSchema, spot: Spot) => unknown>> = {
  null: () => null,
  boolean: () => false,
  integer: schema => schema.default ?? schema.minimum ?? 1,
  number: schema => schema.default ?? schema.minimum ?? 1,
  string: stringOf,
  array: ({ items, minItems = 0 }, spot) =>
    items && (minItems > 0 || items.type !== 'string') ? [make(items, spot)] : [],
  object: ({ properties = {} }, { parts, shape, field: outer }) => {
    const inner = outer === '' || outer === 'data' ? shape : outer
    const fields = Object.entries(properties)
    return Object.fromEntries(fields.map(([field, schema]) => [field, make(schema, { parts, shape: inner, field })]))
  },
}

function stringOf({ format, pattern, minLength = 0, examples }: JsonSchema, { field, shape }: Spot): string {
  if (examples?.[0] !== undefined) return String(examples[0])
  if (format === 'date-time') return '2026-03-01T09:30:00.000Z'
  if (format === 'uri') return 'https://example.com/'
  if (format === 'email') return 'ada@example.com'
  if (pattern?.startsWith('^test_')) return TEST_ID
  if (pattern?.includes('TEST')) return '[TEST] Connection test'
  if (field === 'id' || field.endsWith('Id')) return idOf(field === 'id' ? shape : field.slice(0, -2))
  return 'Some words.'.padEnd(minLength, '.')
}

function idOf(what: string): string {
  // A response without a record of its own has the name of its operation.
  const noun = what.replace(/^delete(?=[A-Z])/, '')
  const name = noun === '' ? noun : noun[0]!.toLowerCase() + noun.slice(1)
  return name === 'category' ? 'cat_translation' : `${prefixes[name] ?? 'usr'}_${ID}`
}
