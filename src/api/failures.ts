/** Every way in which a request can be refused: its status and its message. Verbs throw only `refuse('name', …)`. */
import type { Finding } from './diagnosis/record.ts'
import { durations } from './limits.ts'
import { inHours, inSeconds } from './spans.ts'

type Words = string | ((...facts: never[]) => string)

/** When to come back, in seconds; as told: as its first fact says. */
type Wait = number | 'as told'
/** Whoever is refused with 429 or 503 is told when to come back. */
type Row =
  | readonly [status: 400 | 401 | 403 | 404 | 405 | 409 | 500, Words]
  | readonly [status: 429 | 500 | 503, Words, Wait]

const SOON = 5

export const money = (cents: number) => (cents / 100).toFixed(2)

const table = {
  // 400: the request itself
  validation_failed: [400, 'Validation failed'],
  malformed_json: [400, (why: string) => `The body is not valid JSON: ${why}`],
  wrong_content_type: [400, (wanted: string) => `Send this body as ${wanted}`],
  body_too_large: [400, (bytes: number) => `The body is larger than ${bytes} bytes`],
  bad_request: [400, (why: string) => why],
  page_too_large: [
    400,
    (fits: number, most: string) => `This page has more than ${most} of text; ask for smaller ones, with limit=${fits}`,
  ],
  // 400: not in this state
  task_out_of_turn: [400, (verb: string, state: string) => `A task that is ${state} can't be ${verb}`],
  task_in_dispute: [400, 'The task has an open dispute: nothing but its resolution can change it'],
  no_revisions_left: [400, (max: number) => `All ${max} revisions of this task are used`],
  dispute_too_late: [
    400,
    `A completed task can be disputed for ${inHours(durations.disputeWindowMs)} after its completion; they are over`,
  ],
  already_disputed: [400, 'This task was disputed before; there is one dispute a task'],
  nothing_to_resolve: [400, 'This task has no open dispute'],
  split_amount: [400, (price: number) => `A split refunds from 1 to ${price - 1} cents`],
  agent_out_of_turn: [400, (verb: string, state: string) => `An agent that is ${state} can't be ${verb}`],
  agent_not_available: [400, 'The agent takes no tasks now'],
  test_needed: [400, (why: string) => `Run the connection test first: ${why}`],
  too_many_keys: [400, (max: number) => `An account has ${max} API keys at most; delete one first`],
  too_many_samples: [400, (max: number) => `An agent has ${max} samples at most; delete one first`],
  not_enough_money: [
    400,
    (need: number, spendable: number, clearing: number) =>
      `The wallet holds ${money(spendable)} to spend and ${money(clearing)} that is still clearing; ${money(need)} is needed`,
  ],
  budget_out_of_turn: [400, (state: string) => `This budget authorization is ${state} already`],
  budget_unusable: [400, (why: string) => `The budget authorization ${why}`],
  over_task_cap: [
    400,
    (cap: number, price: number) =>
      `The budget authorization allows ${money(cap)} a task (maxPerTask); this one costs ${money(price)}`,
  ],
  over_period_cap: [
    400,
    (name: string, period: string, cap: number, spent: number, price: number) =>
      `The budget authorization allows ${money(cap)} a ${period} of UTC (${name}); ${money(spent)} is spent, this task costs ${money(price)}`,
  ],
  own_agent_hired: [400, "An agent can't hire its own builder's agents with someone else's money"],
  deposit_limit: [400, (why: string) => why],
  not_connected: [400, 'Connect a payout account before you withdraw'],
  payouts_pending: [400, 'Your payout account waits for an administrator, who has to connect it before you withdraw'],
  payment_decided: [400, (status: string) => `This payment is ${status} already`],
  token_invalid: [400, 'This token is unknown, used or too old; ask for a new one'],
  totp_not_begun: [400, 'This account has no second factor; begin with POST /api/auth/totp'],
  no_local_agent: [
    409,
    'dev neither runs this agent nor forwards to it: start dev with --run, or with --forward-to and the URL of the agent',
  ],
  conformance_running: [409, 'A run is under way: let it end, or stop it'],
  faults_full: [409, 'As many faults wait as may; take them back, or let some be met'],
  clock_backwards: [400, 'The clock only goes forward'],
  clock_too_far: [
    400,
    (last: string) => `The clock goes no further than ${last}: it never goes back, and what it dates would stay`,
  ],
  too_many_deliverables: [400, (count: number) => `A task has at most ${count} deliverables, and this one has them`],
  files_quota: [
    400,
    (quota: string, kept: string) =>
      `The files of one account take at most ${quota}, and yours take ${kept}: deliver text, or a link to where the files are`,
  ],
  texts_quota: [
    400,
    (quota: string, whose: string, kept: string, days: number) =>
      `What one account writes, and the webhooks that hold it, take at most ${quota}, and ${whose} take ${kept}: delete samples, wait until webhooks are ${days} days old, or ask the operator for more`,
  ],
  not_banned: [
    409,
    'Only what a banned account has written is purged: ban it first (PUT /api/admin/users/{id} with banned: true)',
  ],
  one_key_given: [
    409,
    'This marketplace is given one key, so there is none to rotate to: start every instance with MARKETPLACE_SECRET_KEY=old,new, then every one with new,old, and ask again',
  ],
  key_rotates: [409, 'The key is being rotated by another request: ask again when that has ended'],
  too_many_agents: [400, (max: number) => `A builder has ${max} agents at most; delete one first`],
  body_gone: [
    400,
    (days: number) =>
      `What was sent is kept for ${days} days after the end of a delivery and is gone, so it can't be sent again`,
  ],
  // 401
  not_authenticated: [401, 'Sign in, or send an API key as Authorization: Bearer svc_…'],
  key_needed: [401, 'This endpoint takes an API key only: Authorization: Bearer svc_…'],
  wrong_login: [401, 'The email or the password is wrong'],
  wrong_password: [401, 'The current password is wrong'],
  wrong_code: [401, 'The code is wrong, used already or too old; take the next one that your authenticator shows'],
  bad_signature: [401, 'The signature is missing, wrong or too old'],
  // 403
  session_needed: [403, 'This needs a signed-in session; API keys are not accepted here'],
  builder_only: [403, 'This needs the builder role (isBuilder)'],
  admin_only: [403, 'This needs an administrator'],
  not_yours: [403, (what: string) => `This ${what} belongs to someone else`],
  second_factor_needed: [
    403,
    'Administrators settle money with a second factor here: turn it on with POST /api/auth/totp first',
  ],
  wrong_party: [403, (who: string) => `Only the ${who} of this task may do that`],
  hirer_only: [403, 'Only the builder of the authorized agent hires with this budget authorization'],
  payer_suspended: [403, 'The account that pays for this budget authorization is suspended or banned'],
  suspended: [403, 'This account is suspended: it can finish open work, not start anything new'],
  banned: [403, 'This account is banned'],
  cross_site: [403, 'A request with a session must come from the marketplace itself'],
  foreign_form: [403, 'This form was not sent by a page of this marketplace; open the page and send it from there'],
  not_near: [403, 'Only a program on this machine and the pages of this simulator may do this'],
  host_not_local: [403, 'The local simulator answers under loopback names only'],
  // 404, 405
  not_found: [404, (what: string) => `No such ${what}`],
  no_such_path: [404, (path: string) => `Nothing is at ${path}`],
  wrong_method: [405, (method: string, allowed: string) => `${method} is not possible here; ${allowed} is`],
  // 409
  email_taken: [409, 'An account with this email exists'],
  totp_enabled: [409, 'This account has a second factor; remove it first with DELETE /api/auth/totp'],
  already_reviewed: [409, 'This task has its review'],
  test_running: [409, 'A connection test of this agent is running; wait for its end'],
  test_over: [
    409,
    `The signature is right, but this test is over: run it again and send the callback within ${inSeconds(durations.testCallbackMs)}`,
  ],
  too_many_tests: [
    409,
    (count: number) =>
      `Connection tests of your agents are running, as many as a builder may have at this moment (${count}); wait for the end of one`,
  ],
  lost_race: [409, 'Someone else changed this at the same moment; look again'],
  queue_full: [
    409,
    (count: number) =>
      `${count} events of this task wait for its agent, which does not answer, so it can't be sent more; wait, or end the task`,
  ],
  open_work: [409, (what: string) => `There is open work: ${what}`],
  idempotency_reused: [409, 'This Idempotency-Key was used with another request'],
  idempotency_running: [409, 'The first request with this Idempotency-Key is still running'],
  secret_shown_once: [
    409,
    'The first request with this Idempotency-Key succeeded: what it made exists, and its secret is shown once',
  ],
  category_in_use: [409, 'Agents or budget authorizations stand in this category; move them first'],
  duplicate: [409, (what: string) => what],
  // 429, 500
  unread_answers: [429, 'Answers to you wait to be read: read them before you ask for more', SOON],
  unsent_bodies: [429, 'Large requests of yours are still on their way: end them before you send more', SOON],
  too_many_behind: [
    429,
    (most: number) =>
      `${most} requests of this connection wait for their turn; read their answers before you send more`,
    SOON,
  ],
  too_many_streams: [
    429,
    (most: number) => `${most} streams are open with this session, key or account; close one of them`,
    SOON,
  ],
  no_test_free: [
    429,
    (seconds: number) => `As many connection tests run as may at once; try again in ${seconds} s`,
    'as told',
  ],
  rate_limited: [429, (seconds: number) => `Too many requests; try again in ${seconds} s`, 'as told'],
  too_many_guesses: [
    429,
    (seconds: number) =>
      `Too many wrong passwords or codes for this account; try again in ${seconds} s. What gets in sooner: an address it has signed in from, the code of its second factor sent along, a new password set by a session or by mail`,
    'as told',
  ],
  internal: [500, 'Something went wrong on our side'],
  full: [
    500,
    'The marketplace is full: what is open can be finished, nothing new is accepted. To its operator: move to Postgres with npx agent-marketplace db copy',
  ],
  overloaded: [500, 'Too much is asked of the marketplace at this moment; try again in some seconds', SOON],
  database_away: [
    503,
    'The database of the marketplace is away or takes no writes; nothing was done, try again in some seconds',
    SOON,
  ],
} as const satisfies Record<string, Row>

export type FailureName = keyof typeof table
/** The arguments of a refusal's message. */
export type Facts<N extends FailureName> = (typeof table)[N][1] extends (...facts: infer F) => string ? F : []

/** Field name → what is wrong with it. */
export type FieldErrors = Record<string, string[]>

export class Refusal extends Error {
  readonly code: FailureName
  readonly status: number
  readonly errors: FieldErrors | undefined
  /** Response headers of this refusal, such as `Allow` and `Retry-After`. */
  headers: Record<string, string> = {}
  /** What helps the caller, in a simulator. It is in the response beside the envelope. */
  hint: string | undefined
  /** What is wrong with the signature, in a simulator. */
  finding: Finding | undefined

  constructor(code: FailureName, status: number, message: string, errors?: FieldErrors) {
    const { stackTraceLimit } = Error
    // Finding the frames would be a tenth of what a refused request costs, and nobody needs them.
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.status = status
    this.errors = errors
  }
}

export function refuse<N extends FailureName>(name: N, ...facts: Facts<N>): Refusal {
  const [status, words, wait] = table[name] as readonly [number, string | ((...facts: unknown[]) => string), Wait?]
  const refusal = new Refusal(name, status, typeof words === 'string' ? words : words(...facts))
  if (wait !== undefined) refusal.headers = { 'retry-after': String(wait === 'as told' ? facts[0] : wait) }
  return refusal
}

/** Makes the refusal of a failed validation, with the message and the map of fields of I-validation. */
export const invalid = (errors: FieldErrors) =>
  new Refusal('validation_failed', 400, table.validation_failed[1], errors)

/** @internal The reference lists every refusal. */
export const failureNames = Object.keys(table) as FailureName[]

export const statusOf = (name: FailureName): number => table[name][0]
