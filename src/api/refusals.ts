/** Lists every refusal of an endpoint: those that its record names, and those that follow from the record. */
import { acceptsIdempotencyKey, type Endpoint } from './endpoint.ts'
import { type Facts, type FailureName, refuse, statusOf } from './failures.ts'
import { defaultKeeping, limits, manualTests } from './limits.ts'

/** In the order of their statuses. Source: I-credentials, I-status-bad, A-10, A-12, A-15, A-41. */
export function refusalsOf(record: Endpoint): readonly FailureName[] {
  const { auth, role, refusals = [] } = record
  const names = new Set<FailureName>([...ofShapes(record), ...ofAuth(record), ...refusals])
  if (role) names.add(role === 'builder' ? 'builder_only' : 'admin_only')
  // Endpoints that settle money. Source: A-194.
  if (role === 'admin' && auth === 'session') names.add('second_factor_needed')
  if (record.whenSuspended === 'refused') names.add('suspended')
  if (record.method !== 'GET' && auth !== 'signature') names.add('cross_site').add('lost_race')
  if (acceptsIdempotencyKey(record)) names.add('idempotency_reused').add('idempotency_running')
  if (record.showsSecret) names.add('secret_shown_once')
  if (record.method === 'GET') names.add('unread_answers')
  if (record.list) names.add('page_too_large')
  if (record.grows) names.add('full')
  for (const name of ['rate_limited', 'too_many_behind', 'internal', 'overloaded', 'database_away'] as const)
    names.add(name)
  return [...names].sort((a, b) => statusOf(a) - statusOf(b))
}

function ofShapes({ method, path, query, body, signed }: Endpoint): FailureName[] {
  const names: FailureName[] = []
  if (query || body || signed) names.push('validation_failed')
  // The same rule holds for a GET, but nobody sends a body with it. Source: A-48.
  if (method !== 'GET') names.push('malformed_json', 'wrong_content_type', 'body_too_large', 'unsent_bodies')
  if (path.includes('/:')) names.push('not_found')
  return names
}

function ofAuth({ auth }: Endpoint): FailureName[] {
  if (auth === 'signature') return ['bad_signature']
  if (auth === 'public') return ['banned', 'builder_only']
  if (auth === 'key') return ['key_needed', 'banned', 'builder_only']
  return auth === 'session'
    ? ['not_authenticated', 'session_needed', 'banned']
    : ['not_authenticated', 'banned', 'builder_only']
}

type Parametrised = { [Name in FailureName as Facts<Name> extends [] ? never : Name]: Facts<Name> }

/** Example arguments for the messages of refusals. */
const facts: Parametrised = {
  malformed_json: ['Unexpected end of JSON input'],
  wrong_content_type: ['application/json'],
  body_too_large: [limits.jsonBytes],
  bad_request: ['The Host header is missing'],
  page_too_large: [40, `${limits.page.mebibytes} MiB`],
  too_many_behind: [100],
  task_out_of_turn: ['cancelled', 'delivered'],
  no_revisions_left: [3],
  split_amount: [1200],
  agent_out_of_turn: ['published', 'inactive'],
  test_needed: ['the last pass is older than 24 hours'],
  too_many_keys: [limits.key.perAccount],
  too_many_samples: [limits.agent.samples],
  too_many_tests: [manualTests.perBuilder],
  no_test_free: [30],
  too_many_streams: [limits.streams.atOnce],
  not_enough_money: [1200, 500, 300],
  deposit_limit: ['One deposit is 500.00 at most for your trust tier'],
  payment_decided: ['completed'],
  budget_out_of_turn: ['paused'],
  budget_unusable: ['is paused'],
  over_task_cap: [1000, 1200],
  over_period_cap: ['maxDaily', 'day', 5000, 4000, 1200],
  too_many_deliverables: [defaultKeeping.deliverables],
  files_quota: ['1 GiB', '1020 MiB'],
  texts_quota: [`${defaultKeeping.textMiB} MiB`, 'yours', `${defaultKeeping.textMiB} MiB`, defaultKeeping.deliveryDays],
  too_many_agents: [defaultKeeping.agents],
  body_gone: [defaultKeeping.deliveryDays],
  queue_full: [defaultKeeping.waitingEvents],
  clock_too_far: ['9000-01-01T00:00:00.000Z'],
  not_yours: ['task'],
  wrong_party: ['buyer'],
  not_found: ['task'],
  no_such_path: ['/api/nothing'],
  wrong_method: ['PATCH', 'GET, HEAD, PUT'],
  open_work: ['2 tasks are not finished'],
  duplicate: ['This agent has an authorization already'],
  rate_limited: [42],
  too_many_guesses: [30],
}

/** Returns the message of a refusal with example arguments. */
export function exampleOfRefusal(name: FailureName): string {
  const given = (facts as Partial<Record<FailureName, unknown[]>>)[name] ?? []
  return (refuse as (name: FailureName, ...facts: unknown[]) => Error)(name, ...given).message
}
