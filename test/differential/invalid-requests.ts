/** A share of requests that are wrong in one way: by somebody else, about something else, or in what they say. */
import type { Endpoint } from '../../src/api/endpoint.ts'
import type { Request } from './pair.ts'
import type { Plan, Scene } from './plan.ts'
import type { Dice } from './random-values.ts'

/** Changes the plan: another person, another thing, another body. */
export function spoiltPlan(scene: Scene, record: Endpoint, plan: Plan): Plan {
  const { model, dice } = scene
  const stranger = dice.pick(model.people)
  const body = isObject(plan.body) && dice.often(0.6) ? () => ({ body: spoiltBody(dice, plan.body as object) }) : null
  const change = dice.weighted<() => Partial<Plan>>([
    [() => ({ by: stranger }), 3],
    [() => ({ by: null }), 1],
    [() => ({ via: plan.via === 'session' ? 'key' : 'session' }), 1.5],
    [() => (plan.at ? { at: spoiltAt(scene, plan.at) } : {}), 2],
    [() => ({ query: { ...plan.query, ...spoiltQuery(dice) } }), record.method === 'GET' ? 3 : 0.3],
    [body ?? (() => ({})), 5],
    [() => (record.body ? { body: dice.oddity() } : {}), 0.5],
    [() => (plan.signed ? { signed: spoiltSignature(scene, plan.signed) } : {}), plan.signed ? 4 : 0.1],
  ])()
  return { ...plan, ...change }
}

/** Changes the request as it goes out: what no plan could mean. */
export function spoiltRequest(dice: Dice, request: Request): Request {
  const without = (name: string) => request.headers.filter(([given]) => given !== name)
  const change = dice.weighted<() => Partial<Request>>([
    [() => ({ headers: [...without('authorization'), ['authorization', `Bearer svc_${'0'.repeat(48)}`]] }), 2],
    [() => ({ headers: [...without('authorization'), ['authorization', 'Basic YTpi']] }), 1],
    [() => ({ headers: [...without('cookie'), ['cookie', `session=${'x'.repeat(43)}`]] }), 1],
    [() => ({ headers: [...request.headers, ['sec-fetch-site', 'cross-site']] }), 1],
    [
      () => ({
        headers: [...request.headers, ['origin', dice.pick(['http://127.0.0.1:4000', 'https://example.com'])]],
      }),
      1,
    ],
    [
      () => ({
        headers: [...without('content-type'), ['content-type', dice.pick(['text/plain', 'application/JSON'])]],
      }),
      1,
    ],
    [() => ({ method: dice.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']) }), 2],
    [() => ({ target: `${request.target.split('?')[0]}/${dice.pick(['x', '%C3%A4', '%', '..', ''])}` }), 1],
    [() => (typeof request.body === 'string' ? { body: spoiltText(dice, request.body) } : {}), 2],
    [() => ({ headers: [...request.headers, ['idempotency-key', dice.pick(['', 'ä', 'x'.repeat(256)])]] }), 1],
  ])()
  return { ...request, ...change }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function spoiltBody(dice: Dice, body: object): object {
  const fields = Object.entries(body)
  if (fields.length === 0) return { [dice.word()]: dice.oddity() }
  const [name] = dice.pick(fields)
  if (dice.often(0.25)) return Object.fromEntries(fields.filter(([given]) => given !== name))
  return { ...body, [name]: dice.oddity(), ...(dice.often(0.2) && { [dice.pick(fields)[0]]: dice.oddity() }) }
}

function spoiltAt({ model, dice }: Scene, at: NonNullable<Plan['at']>): Record<string, string> {
  const [name] = dice.pick(Object.entries(at))
  const other = dice.recent(model.all(dice.pick(['task', 'agt', 'usr', 'bud', 'trf', 'ntf'])))
  const value = dice.pick([
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

const spoiltQuery = (dice: Dice) => ({
  [dice.pick(['page', 'limit', 'sort', 'status', 'role', 'type', 'q', 'category', 'disputed'])]: dice.pick([
    ...['', '0', '-1', '1.5', '101', '1e3', '999999999999', 'NULL', "'", 'a\0b', 'no_such', 'Ä'],
  ]),
})

function spoiltText(dice: Dice, text: string): string {
  return dice.pick([
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

function spoiltSignature({ model, dice }: Scene, { secret, ageMs }: NonNullable<Plan['signed']>) {
  const other = dice.pick([...model.secrets.values()]) ?? 'none'
  return dice.pick([
    { secret: other, ageMs },
    { secret: `${secret} `, ageMs },
    { secret, ageMs: 300_000 },
    { secret, ageMs: 300_001 },
    { secret, ageMs: -300_001 },
  ])
}
