// engines: embedded; process: shared
/** What personas decide: pure, lawful in every state, and in the time that their character has. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Party, type TaskTrigger, taskEdge, taskStates } from '../../../src/api/flow.ts'
import { limits, rates } from '../../../src/api/limits.ts'
import type { TaskRecord } from '../../../src/api/records.ts'
import type { Draw, Persona, Plan, Step } from '../../../src/sim/buyers/persona.ts'
import { personas } from '../../../src/sim/buyers/personas.ts'
import { seededChance } from '../../../src/world/chance.ts'
import { sameAsKept } from '../../support/golden.ts'
import { inParagraphs, linesOf } from '../golden/legible.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const at = (ms: number) => new Date(START + ms).toISOString()

/** Each moment is a minute after the one before. */
function taskIn(status: TaskRecord['status'], more: Partial<TaskRecord> = {}): TaskRecord {
  const moments = ['createdAt', 'submittedAt', 'acceptedAt', 'deliveredAt', 'completedAt'] as const
  const times = Object.fromEntries(moments.map((name, n) => [name, at(n * MINUTE)]))
  const counts = { agreedPrice: 500, revisionCount: 0, maxRevisions: null, dispute: null }
  return { ...times, ...counts, status, updatedAt: at(2 * MINUTE), ...more } as TaskRecord
}

const open = {
  dispute: { status: 'open', reason: 'Half of it', openedAt: at(5 * MINUTE) } as TaskRecord['dispute'],
}

const drawOf =
  (seed: number): Draw =>
  of =>
    seededChance(`${seed} ${of}`).fraction()

const named = (name: string): Persona => personas.find(persona => persona.name === name)!
const stepOf = (plan: Plan) => (typeof plan === 'string' ? plan : plan.step.does)
const timeOf = (plan: Plan) => (typeof plan === 'string' ? Number.NaN : plan.at - START)
/** The plans of many seeds. */
const plansOf = (name: string, task: TaskRecord) =>
  Array.from({ length: 300 }, (_, seed) => named(name).plan(task, drawOf(seed)))

const triggers: Readonly<
  Record<Exclude<Step['does'], 'hire' | 'rest'>, (step: Step) => [trigger: TaskTrigger, by: Party]>
> = {
  approve: () => ['approve', 'buyer'],
  revise: () => ['request_revision', 'buyer'],
  cancel: () => ['cancel', 'buyer'],
  dispute: () => ['dispute', 'buyer'],
  resolve: step => [`resolve_${(step as { outcome: 'refund' }).outcome}`, 'admin'],
}

const situations = taskStates.flatMap(status => [null, open.dispute].map(dispute => ({ status, dispute })))

test('every plan is a step that its state allows, or none, and the same when it is made again', () => {
  for (const persona of personas) {
    for (const { status, dispute } of situations) {
      const task = taskIn(status, { dispute })
      for (let seed = 0; seed < 50; seed++) {
        const plan = persona.plan(task, drawOf(seed))
        assert.equal(persona.plan(task, drawOf(seed)), plan)
        if (typeof plan === 'string') continue
        const { step } = plan
        assert.ok(plan.at >= START, `${persona.name} ${status}`)
        if (step.does === 'rest' || step.does === 'hire') continue
        const [trigger, by] = triggers[step.does](step)
        if (!dispute || ['in_progress', 'delivered', 'completed'].includes(status))
          assert.ok(taskEdge(status, trigger, by), `${persona.name}: ${trigger} of what is ${status}`)
      }
    }
  }
})

test('every brief fits the limits of a task', () => {
  for (const persona of personas) {
    for (let seed = 0; seed < 20; seed++) {
      const { title, description } = persona.brief(drawOf(seed))
      // Its number is added to the title.
      assert.ok(title.length >= limits.task.title[0] && title.length <= limits.task.title[1] - 20)
      assert.ok(description.length >= limits.task.description[0])
    }
  }
})

test('names are words of their own, and each says what it does', () => {
  assert.equal(
    personas.map(({ name }) => name),
    [
      'easy',
      'picky',
      'ghost',
      'fickle',
      'quarrelsome',
      'slow',
      'never-pleased',
      'regretful',
      'bargainer',
      'verbose',
      'risky',
      'talkative',
      'agent-buyer',
      'flooder',
      'suspended',
      'banned',
      'too-late',
    ],
  )
  for (const { name, does } of personas) assert.match(`${name} ${does}`, /^[a-z-]+ [a-z].{10,}[^.]$/)
})

test('easy approves half a minute after the delivery at most, with 4 or 5', () => {
  const plans = plansOf('easy', taskIn('delivered'))
  assert.equal([...new Set(plans.map(stepOf))], ['approve'])
  const ratings = plans.map(plan => (typeof plan !== 'string' && plan.step.does === 'approve' ? plan.step.rating : 0))
  assert.equal([...new Set(ratings)].sort(), [4, 5])
  for (const time of plans.map(timeOf)) assert.ok(time >= 3 * MINUTE + 5_000 && time < 3 * MINUTE + 30_000, `${time}`)
})

test('picky asks for one revision, but not where none is allowed', () => {
  const first = (more: Partial<TaskRecord>) => [...new Set(plansOf('picky', taskIn('delivered', more)).map(stepOf))]
  assert.equal(first({}), ['revise'])
  assert.equal(first({ maxRevisions: 1 }), ['revise'])
  assert.equal(first({ maxRevisions: 0 }), ['approve'])
  assert.equal(first({ revisionCount: 1, maxRevisions: 3 }), ['approve'])
})

test('ghost never does anything with what it has submitted', () => {
  for (const status of ['pending', 'in_progress', 'delivered'] as const) {
    assert.equal([...new Set(plansOf('ghost', taskIn(status)).map(stepOf))], ['waits'])
  }
})

test('fickle cancels within 50 ms, and takes what was delivered all the same', () => {
  const times = plansOf('fickle', taskIn('pending')).map(plan => timeOf(plan) - MINUTE)
  assert.ok(Math.min(...times) >= 0 && Math.max(...times) < 50)
  assert.is(stepOf(plansOf('fickle', taskIn('delivered'))[0]!), 'approve')
})

test('quarrelsome disputes, and the administrator decides each way', () => {
  assert.equal([...new Set(plansOf('quarrelsome', taskIn('delivered')).map(stepOf))], ['dispute'])
  const decided = plansOf('quarrelsome', taskIn('delivered', open))
  const outcomes = decided.map(plan =>
    typeof plan !== 'string' && plan.step.does === 'resolve' ? plan.step.outcome : '',
  )
  for (const outcome of ['refund', 'release', 'split']) {
    const share = outcomes.filter(one => one === outcome).length / outcomes.length
    assert.ok(share > 0.25 && share < 0.42, `${outcome}: ${share}`)
  }
})

test('what the law refuses is tried where it must be refused, and by those that want it alone', () => {
  const tried = (name: string, task: TaskRecord) => {
    const plan = named(name).plan(task, drawOf(1))
    assert.ok(typeof plan !== 'string')
    return [...(plan.tries ?? []).map(({ step, refusal }) => `${step.does} ${refusal}`), plan.step.does].join(', ')
  }
  const late = taskIn('completed')
  assert.is(tried('too-late', late), 'dispute dispute_too_late, revise task_out_of_turn, rest')
  assert.is(timeOf(named('too-late').plan(late, drawOf(1))), 4 * MINUTE + 48 * HOUR + MINUTE)
  assert.is(named('too-late').plan(taskIn('completed', open), drawOf(1)) === 'ended', false)
  assert.is(tried('suspended', taskIn('delivered')), 'hire suspended, approve')
  assert.is(tried('banned', taskIn('delivered')), 'approve banned, resolve')
  const sent = (revisionCount: number, maxRevisions: number | null) =>
    tried('never-pleased', taskIn('delivered', { revisionCount, maxRevisions }))
  assert.equal(
    [sent(0, 3), sent(2, 3), sent(3, 3), sent(1, 1), sent(3, null), sent(3, 5)],
    [
      'revise',
      'revise',
      'revise no_revisions_left, dispute',
      'revise no_revisions_left, dispute',
      'dispute',
      'dispute',
    ],
  )
  const quiet = personas.filter(({ name }) => !['too-late', 'suspended', 'banned', 'never-pleased'].includes(name))
  for (const { name } of quiet)
    for (const status of taskStates)
      for (const plan of plansOf(name, taskIn(status))) assert.ok(typeof plan === 'string' || !plan.tries, name)
})

test('talkative asks three different things, two more with its one revision, and says thanks twice', () => {
  for (let seed = 0; seed < 50; seed++) {
    const questions = named('talkative').asks(drawOf(seed))
    assert.is(new Set(questions).size, 3)
  }
  const plans = (more: object) => plansOf('talkative', taskIn('delivered', more))
  for (const plan of plans({})) assert.ok(typeof plan !== 'string' && new Set(plan.says).size === 2, stepOf(plan))
  assert.equal([...new Set(plans({}).map(stepOf))], ['revise'])
  for (const more of [{ revisionCount: 1 }, { maxRevisions: 0 }])
    for (const plan of plans(more)) assert.ok(typeof plan !== 'string' && plan.says?.join() === 'Thank you!,Thank you!')
})

test('half of the agents that buy ask for a cent too much; one flood is one more than an hour lets pass', () => {
  const asked = Array.from({ length: 300 }, (_, seed) => named('agent-buyer').overspends!(drawOf(seed)))
  const share = asked.filter(Boolean).length / asked.length
  assert.ok(share > 0.4 && share < 0.6, String(share))
  assert.is(named('flooder').atOnce, rates.task_submission.limit + 1)
})

test('all but the ghost lose patience: with an agent that does not accept, and with one that does not deliver', () => {
  for (const name of ['easy', 'picky', 'quarrelsome']) {
    const pending = named(name).plan(taskIn('pending'), drawOf(1))
    assert.equal([stepOf(pending), timeOf(pending)], ['cancel', MINUTE + HOUR])
    const working = named(name).plan(taskIn('in_progress'), drawOf(1))
    assert.equal([stepOf(working), timeOf(working)], ['dispute', 2 * MINUTE + 24 * HOUR])
  }
})

/** What may be before a buyer, and when that began. */
const scenes: Readonly<Record<string, [task: TaskRecord, since: number]>> = {
  'not submitted': [taskIn('draft'), 0],
  pending: [taskIn('pending'), MINUTE],
  accepted: [taskIn('in_progress'), 2 * MINUTE],
  delivered: [taskIn('delivered'), 3 * MINUTE],
  'delivered once more': [taskIn('delivered', { revisionCount: 1, maxRevisions: 3 }), 3 * MINUTE],
  'delivered for good': [taskIn('delivered', { maxRevisions: 0 }), 3 * MINUTE],
  approved: [taskIn('completed'), 4 * MINUTE],
  'settled without a delivery': [taskIn('completed', { deliveredAt: null }), 4 * MINUTE],
  disputed: [taskIn('delivered', open), 5 * MINUTE],
  cancelled: [taskIn('cancelled'), 0],
}

function told(plan: Plan, since: number): string {
  if (typeof plan === 'string') return plan
  const { step, at, ...others } = plan
  return `after ${(at - START - since) / 1_000} s ${JSON.stringify({ ...step, ...others })}`
}

/** Its traits, and what it does at its least and at its most patient. */
function sheetOf({ name: _, does: __, plan, brief, asks, offer, overspends, ...traits }: Persona): string[] {
  const least: Draw = () => 0
  const most: Draw = () => 0.999999
  const briefs = [0, 0.25, 0.5, 0.75].map((share, n) => [`brief ${n + 1}`, brief(() => share)])
  const plans = Object.entries(scenes).flatMap(([scene, [task, since]]) =>
    Object.entries({ least, most }).map(([how, draw]) => [`${scene}, at ${how}`, told(plan(task, draw), since)]),
  )
  const more = { 'offers for 500': offer(500), asks: [asks(least), asks(most)], isAgent: overspends !== null }
  return linesOf({ ...traits, ...more, ...Object.fromEntries([...briefs, ...plans]) })
}

test('each character is what it was, and differs from one that is easy in what it says alone', () => {
  const usual = sheetOf(personas[0]!)
  const sheets = personas.map((one, at) => {
    const lines = at === 0 ? usual : sheetOf(one).filter(line => !usual.includes(line))
    return [`${one.name}: ${one.does}`, ...lines].join('\n')
  })
  sameAsKept('test/sim/golden/characters.txt', inParagraphs(sheets))
})

test.run()
