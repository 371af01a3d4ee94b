// engines: embedded; process: shared
/** The cause that the order of webhooks, callbacks and deaths shows: each by a story of its own, and random ones without a wrong "sure". */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type About, inWords, toRecord } from '../../../src/api/diagnosis/record.ts'
import {
  type CallbackFact,
  type DeathFact,
  type Fact,
  findingIn,
  type Story,
  type WebhookFact,
} from '../../../src/api/diagnosis/story.ts'
import { type Cause, causeNames, causes } from '../../../src/api/diagnosis/table.ts'

const TASK = 'task_019b76daa800784c94cf280fabf807bd'

const webhook = (from: number, more: Partial<WebhookFact> = {}): WebhookFact => ({
  ...{ kind: 'webhook', from, to: from + 20, at: from, fault: null, exchangeId: `exchange_${from}`, taskId: TASK },
  ...{
    event: 'task.submitted',
    url: 'https://a.test/',
    status: 200,
    reason: null,
    message: '',
    location: null,
    body: '',
  },
  ...{ deliveryId: 'dlv_1', attempt: 1, mistake: null },
  ...more,
})

const callback = (from: number, action: string, more: Partial<CallbackFact> = {}): CallbackFact => ({
  ...{ kind: 'callback', from, to: from + 10, at: from, fault: null, exchangeId: `exchange_${from}`, taskId: TASK },
  ...{ action, status: 200, refusal: null, message: '', signature: null },
  ...more,
})

const death = (from: number): DeathFact => ({
  kind: 'death',
  from,
  at: from,
  how: 'with exit code 1',
  lastWords: ['Oh'],
})

const refused = (from: number, action: string, refusal: CallbackFact['refusal'], status = 400) =>
  callback(from, action, { status, refusal, message: 'No' })

const unanswered = (from: number, reason: string, ms = 20) => webhook(from, { status: null, reason, to: from + ms })

const told = (facts: readonly Fact[], more: Partial<Story> = {}) =>
  findingIn({ facts, owes: true, now: 100_000, patienceMs: 5_000, ...more })

type Row = readonly [
  cause: Cause | null,
  certainty: 'sure' | 'likely' | null,
  facts: readonly Fact[],
  more?: Partial<Story>,
]

const done = [callback(100, 'accept'), callback(200, 'deliver')]
const over = { owes: false }

const rows: readonly Row[] = [
  [null, null, [webhook(0), ...done], over],
  [null, null, [webhook(0), callback(100, 'accept')], { now: 1_000 }],
  [null, null, [], over],
  ['redirect', 'sure', [webhook(0, { status: 301, location: 'https://b.test/' })]],
  ['agent_failed', 'sure', [webhook(0, { status: 500 })]],
  ['refused_by_agent', 'likely', [webhook(0, { status: 401 })]],
  ['no_prefix', 'sure', [webhook(0, { status: 401, mistake: { cause: 'no_prefix', certainty: 'sure', text: 'x' } })]],
  ['nobody_listens', 'sure', [unanswered(0, 'refused')]],
  ['too_slow', 'likely', [unanswered(0, 'timeout', 30_000)]],
  ['cut_off', 'likely', [unanswered(0, 'reset')]],
  ['died_before_answer', 'sure', [unanswered(0, 'reset'), death(25)]],
  ['cut_off', 'likely', [death(-9_000), unanswered(0, 'reset')]],
  // the time-out, too, and the callback of the second attempt
  ['work_before_answer', 'sure', [unanswered(0, 'timeout', 30_000), callback(2_000, 'accept')]],
  [
    'work_before_answer',
    'sure',
    [unanswered(0, 'timeout', 30_000), ...done, webhook(31_000), refused(31_100, 'accept', 'task_out_of_turn')],
    over,
  ],
  [
    'work_before_answer',
    'likely',
    [webhook(0, { to: 3_000 }), callback(2_000, 'accept'), callback(4_000, 'deliver')],
    over,
  ],
  // a callback that overtakes the answer by little proves nothing
  [null, null, [webhook(0, { to: 300 }), callback(50, 'accept'), callback(400, 'deliver')], over],
  ['slow_answer', 'likely', [webhook(0, { to: 6_000 }), callback(6_100, 'accept'), callback(6_200, 'deliver')], over],
  ['silent', 'likely', [webhook(0)]],
  [null, null, [webhook(0)], { now: 3_000 }],
  [null, null, [webhook(0)], over],
  ['silent', 'likely', [webhook(0), callback(100, 'accept')]],
  ['died_at_work', 'sure', [webhook(0), callback(100, 'accept'), death(500)], { now: 1_000 }],
  [null, null, [webhook(0), ...done, death(500)], over],
  ['armed_fault', 'sure', [webhook(0, { status: 200, fault: 'answer-lost' })]],
  [
    'armed_fault',
    'sure',
    [webhook(0), callback(100, 'accept', { status: 401, fault: 'changed-byte', refusal: 'bad_signature' })],
  ],
  [
    'armed_fault',
    'sure',
    [webhook(0), callback(100, 'accept', { fault: 'response-lost' }), refused(300, 'accept', 'task_out_of_turn')],
  ],
  ['armed_fault', 'sure', [webhook(0)], { now: 1_000, met: [{ name: 'unavailable', on: 'accept' }] }],
  ['doubled_callback', 'sure', [webhook(0), ...done, refused(300, 'deliver', 'task_out_of_turn')], over],
  ['not_accepted', 'likely', [webhook(0), refused(300, 'deliver', 'task_out_of_turn')]],
  [
    'too_late',
    'sure',
    [
      webhook(0),
      callback(9, 'accept'),
      webhook(500, { event: 'task.cancelled' }),
      refused(600, 'deliver', 'task_out_of_turn'),
    ],
    over,
  ],
  ['bad_callback', 'sure', [webhook(0), refused(300, 'deliver', 'validation_failed')]],
  ['wrong_callback_path', 'sure', [webhook(0), refused(300, 'callback', 'no_such_path', 404)]],
  ['not_allowed', 'sure', [webhook(0), refused(300, 'accept', 'not_yours', 403)]],
  [
    'seconds',
    'sure',
    [
      webhook(0),
      callback(9, 'accept', {
        ...{ status: 401, refusal: 'bad_signature' },
        signature: { cause: 'seconds', certainty: 'sure', text: 'It is in seconds.' },
      }),
    ],
  ],
  // mended meanwhile
  [null, null, [webhook(0), refused(50, 'deliver', 'validation_failed'), ...done], over],
  [
    null,
    null,
    [webhook(0, { status: 500 }), webhook(1_000), callback(1_100, 'accept'), callback(1_200, 'deliver')],
    over,
  ],
]

test('each story has its cause, and is told as sure or as likely', () => {
  for (const [at, [cause, certainty, facts, more]] of rows.entries()) {
    const found = told(facts, more)
    assert.equal([found?.cause ?? null, found?.certainty ?? null], [cause, certainty], `row ${at}`)
    if (found && facts.length > 0) assert.ok(found.evidence?.taskId === TASK, `row ${at} has its evidence`)
  }
})

test('a refused callback leaves work undone whose webhook was taken: that is to be sent once more', () => {
  const about: About = { isDev: true, agent: 'my-agent' }
  const commandsOf = (facts: readonly Fact[]) => toRecord(told(facts)!, about).commands
  const wrong = refused(300, 'deliver', 'validation_failed')
  const resend = 'deliveries resend dlv_1'
  assert.equal(commandsOf([webhook(0), callback(100, 'accept'), wrong]), ['test-connection my-agent', resend])
  assert.ok(commandsOf([webhook(0), refused(300, 'deliver', 'task_out_of_turn')]).includes(resend))
  const none: readonly Fact[][] = [
    // It comes again by itself.
    [unanswered(0, 'timeout', 30_000), wrong],
    [webhook(0, { event: 'task.message' }), refused(300, 'message', 'validation_failed')],
    [webhook(0), ...done, refused(300, 'deliver', 'task_out_of_turn')],
    [webhook(0, { taskId: 'test_1' }), { ...wrong, taskId: 'test_1' }],
  ]
  for (const facts of none) assert.not.ok(commandsOf(facts).includes(resend), JSON.stringify(facts))
})

/** Sentences and commands of every cause, as an agent in dev and in a deployment gets them. */
test('each cause says what to do in whole sentences, and its commands are whole', () => {
  const about: About[] = [
    {
      isDev: true,
      agent: 'my-agent',
      forwarded: 'https://my-agent.localhost:1/hook',
      baseUrl: 'http://localhost:4000',
    },
    { isDev: false, agent: 'my-agent' },
  ]
  const evidence = { taskId: TASK, deliveryId: 'dlv_1' }
  for (const cause of causeNames) {
    for (const one of about) {
      const finding = {
        cause,
        certainty: 'sure',
        text: 'It is so.',
        evidence,
        location: 'https://b.test/hook?a=1',
      } as const
      const record = toRecord(finding, one)
      assert.match(inWords(record), /^It is so\. [A-Z4].*[.?!:][^.]*$/, cause)
      for (const command of record.commands) assert.not.match(command, /[{}]|\s\s|\s$/, `${cause}: ${command}`)
    }
    const { next = [] } = causes[cause]
    if (next.length > 0)
      assert.ok(toRecord({ cause, certainty: 'sure', text: 'x', evidence }, about[1]!).commands.length >= 0)
  }
  const silent = (baseUrl: string) =>
    toRecord({ cause: 'no_callback', certainty: 'sure', text: 'x' }, { isDev: true, agent: 'a', baseUrl }).commands
  const fromContainer = 'dev --port 4001 --public-url http://host.docker.internal:4001'
  assert.equal(silent('http://127.0.0.1:4001'), ['test-connection a', fromContainer])
  assert.equal(silent('https://market.example'), ['test-connection a'])
  const hostile = toRecord(
    { cause: 'redirect', certainty: 'sure', text: 'x', location: "https://b.test/';rm -rf /" },
    { isDev: false, agent: 'a' },
  )
  assert.equal(hostile.commands, ['test-connection a'], 'what a shell would take apart is no part of a command')
  const quoted = toRecord(
    { cause: 'redirect', certainty: 'sure', text: 'x', location: 'https://b.test/?a=1&b=2' },
    { isDev: false, agent: 'a' },
  )
  assert.match(quoted.commands[0]!, "--webhook-url 'https://b.test/?a=1&b=2'")
})

/** What really happened, as the agents of the world below are made. */
type Truth = Cause | 'fine' | 'slow network'

/** Numbers in [0, 1) from a seed. */
function chances(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A random life with one true cause, and all that may go with it: other deaths, slow answers, repeated webhooks. */
function life(chance: () => number): { truth: Truth; story: Story } {
  const pick = <T>(items: readonly T[]) => items[Math.floor(chance() * items.length)]!
  const truth = pick<Truth>([
    ...(['fine', 'slow network', 'redirect', 'agent_failed', 'nobody_listens', 'too_slow', 'cut_off'] as const),
    ...(['work_before_answer', 'died_before_answer', 'died_at_work', 'silent', 'armed_fault'] as const),
    ...(['doubled_callback', 'too_late', 'wrong_callback_path', 'bad_callback', 'slow_answer'] as const),
  ])
  const t = Math.floor(chance() * 1_000)
  const work = t + 20 + Math.floor(chance() * 400)
  const facts: Fact[] = []
  // An earlier death, and earlier webhooks that were mended, are nobody's cause.
  if (chance() < 0.2) facts.push(death(t - 5_000))
  if (chance() < 0.2) facts.push(webhook(t - 3_000, { status: pick([500, 503, 404]) }))
  const taken = webhook(t, { to: t + Math.floor(chance() * 400) })
  const accepted = callback(Math.max(work, taken.to), 'accept')
  const delivered = callback(accepted.to + 50, 'deliver')
  let owes = false
  let now = delivered.to + 100
  let met: Story['met'] = []
  switch (truth) {
    case 'fine':
      facts.push(taken, accepted, delivered)
      break
    case 'slow network':
      // The answer is on its way while the callback comes, as connections have no order.
      facts.push(
        webhook(t, { to: work + 10 + Math.floor(chance() * 480) }),
        callback(work, 'accept'),
        callback(work + 500, 'deliver'),
      )
      break
    case 'redirect':
      facts.push(webhook(t, { status: pick([301, 302, 307, 308]) }))
      break
    case 'agent_failed':
      facts.push(webhook(t, { status: pick([500, 500, 501 + 4]) }))
      break
    case 'nobody_listens':
      facts.push(unanswered(t, 'refused'))
      break
    case 'too_slow':
      facts.push(unanswered(t, 'timeout', 30_000))
      break
    case 'cut_off':
      facts.push(unanswered(t, 'reset'))
      break
    case 'work_before_answer': {
      const isLost = chance() < 0.5
      facts.push(
        isLost ? unanswered(t, 'timeout', 30_000) : webhook(t, { to: t + 5_000 }),
        callback(t + 1_000, 'accept'),
      )
      if (chance() < 0.5) facts.push(callback(t + 2_000, 'deliver'))
      break
    }
    case 'died_before_answer':
      facts.push(unanswered(t, 'reset'), death(t + 20 + Math.floor(chance() * 500)))
      break
    case 'died_at_work':
      facts.push(taken, death(taken.to + 50 + Math.floor(chance() * 500)))
      owes = true
      break
    case 'silent':
      facts.push(taken)
      owes = true
      now = taken.to + 1_000 + Math.floor(chance() * 60_000)
      break
    case 'armed_fault':
      if (chance() < 0.5) facts.push(webhook(t, { fault: 'answer-lost' }))
      else {
        facts.push(taken)
        owes = true
        met = [{ name: 'unavailable', on: 'accept' }]
      }
      break
    case 'doubled_callback':
      facts.push(taken, accepted, delivered, refused(delivered.to + 10, 'deliver', 'task_out_of_turn'))
      break
    case 'too_late':
      facts.push(taken, accepted, webhook(accepted.to + 5, { event: 'task.cancelled' }))
      facts.push(refused(accepted.to + 50, 'deliver', 'task_out_of_turn'))
      break
    case 'wrong_callback_path':
      facts.push(taken, refused(accepted.from, 'callback', 'no_such_path', 404))
      break
    case 'bad_callback':
      facts.push(taken, accepted, refused(delivered.from, 'deliver', 'validation_failed'))
      break
    case 'slow_answer':
      facts.push(webhook(t, { to: t + 7_000 }), callback(t + 7_100, 'accept'), callback(t + 7_200, 'deliver'))
      break
  }
  facts.sort((a, b) => a.from - b.from)
  return { truth, story: { facts, owes, now, patienceMs: 5_000, met } }
}

const RANDOM_LIVES = 10_000

test('of ten thousand random lives none is told a wrong cause as sure', () => {
  const chance = chances(7)
  const seen = new Map<string, number>()
  for (let i = 0; i < RANDOM_LIVES; i++) {
    const { truth, story } = life(chance)
    const found = findingIn(story)
    seen.set(`${truth} → ${found?.cause ?? 'nothing'}`, (seen.get(`${truth} → ${found?.cause ?? 'nothing'}`) ?? 0) + 1)
    if (found?.certainty === 'sure') assert.is(found.cause, truth, JSON.stringify(story))
    else assert.ok(found === null || found.cause === truth || truth === 'too_slow', `${truth}: ${found?.cause}`)
    if (truth === 'fine' || truth === 'slow network') assert.is(found, null, JSON.stringify(story))
  }
  for (const truth of ['work_before_answer', 'died_at_work', 'silent', 'armed_fault', 'too_late'])
    assert.ok((seen.get(`${truth} → ${truth}`) ?? 0) > 100, [...seen].join('\n'))
})

test.run()
