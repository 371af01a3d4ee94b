/** A share of requests that are wrong in one way: by somebody else, about something else, or in what they say. */
import type { Endpoint } from '../../src/api/endpoint.ts'
import type { Request } from './pair.ts'
import type { Plan, Scene } from './plan.ts'
import type { Random } from './random-values.ts'

/** Changes the plan: another person, another thing, another body. */
export function invalidPlan(scene: Scene, record: Endpoint, plan: Plan): Plan {
  const { model, random } = scene
  const stranger = random.pick(model.people)
  const body =
    isObject(plan.body) && random.often(0.6) ? () => ({ body: invalidBody(random, plan.body as object) }) : null
  const change = random.weighted<() => Partial<Plan>>([
    [() => ({ by: stranger }), 3],
    [() => ({ by: null }), 1],
    [() => ({ via: plan.via === 'session' ? 'key' : 'session' }), 1.5],
    [() => (plan.at ? { at: invalidAt(scene, plan.at) } : {}), 2],
    [() => ({ query: { ...plan.query, ...invalidQuery(random) } }), record.method === 'GET' ? 3 : 0.3],
    [body ?? (() => ({})), 5],
    [() => (record.body ? { body: random.oddity() } : {}), 0.5],
    [() => (plan.signed ? { signed: invalidSignature(scene, plan.signed) } : {}), plan.signed ? 4 : 0.1],
  ])()
  return { ...plan, ...change }
}

/** Changes the request as it goes out: what no plan could mean. */
export function invalidRequest(random: Random, request: Request): Request {
  const without = (name: string) => request.headers.filter(([given]) => given !== name)
  const change = random.weighted<() => Partial<Request>>([
    [() => ({ headers: [...without('authorization'), ['authorization', `Bearer svc_${'0'.repeat(48)}`]] }), 2],
    [() => ({ headers: [...without('authorization'), ['authorization', 'Basic YTpi']] }), 1],
    [() => ({ headers: [...without('cookie'), ['cookie', `session=${'x'.repeat(43)}`]] }), 1],
    [() => ({ headers: [...request.headers, ['sec-fetch-site', 'cross-site']] }), 1],
    [
      () => ({
        headers: [...request.headers, ['origin', random.pick(['http://127.0.0.1:4000', 'https://example.com'])]],
      }),
      1,
    ],
    [
      () => ({
        headers: [...without('content-type'), ['content-type', random.pick(['text/plain', 'application/JSON'])]],
      }),
      1,
    ],
    [() => ({ method: random.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']) }), 2],
    [() => ({ target: `${request.target.split('?')[0]}/${random.pick(['x', '%C3%A4', '%', '..', ''])}` }), 1],
    [() => (typeof request.body === 'string' ? { body: invalidText(random, request.body) } : {}), 2],
    [() => ({ headers: [...request.headers, ['idempotency-key', random.pick(['', 'ä', 'x'.repeat(256)])]] }), 1],
  ])()
  return { ...request, ...change }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function invalidBody(random: Random, body: object): object {
  const fields = Object.entries(body)
  if (fields.length === 0) return { [random.word()]: random.oddity() }
  const [name] = random.pick(fields)
  if (random.often(0.25)) return Object.fromEntries(fields.filter(([given]) => given !== name))
  return { ...body, [name]: random.oddity(), ...(random.often(0.2) && { [random.pick(fields)[0]]: random.oddity() }) }
}

function invalidAt({ model, random }: Scene, at: NonNullable<Plan['at']>): Record<string, string> {
  const [name] = random.pick(Object.entries(at))
  const other = random.recent(model.all(random.pick(['task', 'agt', 'usr', 'bud', 'trf', 'ntf'])))
  const value = random.pick([
    other?.id ?? 'none',
    'none',
    `task_${'0'.repeat(32)}`,
    '%',
    "'",
    '_',
    'Ä',
    'a\0',
    'x'.repeat(300),
  ])
  return { ...at, [name]: value }
}

const invalidQuery = (random: Random) => ({
  [random.pick(['page', 'limit', 'sort', 'status', 'role', 'type', 'q', 'category', 'disputed'])]: random.pick([
    ...['', '0', '-1', '1.5', '101', '1e3', '999999999999', 'NULL', "'", 'a\0b', 'no_such', 'Ä'],
  ]),
})

function invalidText(random: Random, text: string): string {
  return random.pick([
    '',
    text.slice(0, -1),
    `${text}}`,
    `[${text}]`,
    text.replace('{', '{"__proto__":{"isAdmin":true},'),
    text.replace('{', '{"a":"\\u0000",'),
    '{"a":'.repeat(40),
    'null',
  ])
}

function invalidSignature({ model, random }: Scene, { secret, ageMs }: NonNullable<Plan['signed']>) {
  const other = random.pick([...model.secrets.values()]) ?? 'none'
  return random.pick([
    { secret: other, ageMs },
    { secret: `${secret} `, ageMs },
    { secret, ageMs: 300_000 },
    { secret, ageMs: 300_001 },
    { secret, ageMs: -300_001 },
  ])
}
