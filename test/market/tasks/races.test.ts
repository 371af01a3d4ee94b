// engines: embedded, postgres; process: shared; lengths: short, long
/**
 * Twenty requests at the same moment: one wins, and all of it could have happened one after the other. On Postgres they
 * go to three instances in turn. Source: I-status-bad, A-31–A-33.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import type { TaskRecord } from '../../../src/api/records.ts'
import { seededChance } from '../../../src/world/chance.ts'
import { amount } from '../../support/length.ts'
import { bodies, openFixture, pathOf } from '../../support/task-fixture.ts'
import { price, rightful, type Situation, shown, stepOf, steps, type Trigger } from '../../support/task-rules.ts'
import { checkExchange, exchange, requestBytes, Wire, type WireAnswer, type WireHeader } from '../../support/wire.ts'

const ROUNDS = amount({ short: 3, long: 20 })
const AT_ONCE = 20

const fixture = await openFixture({ instances: 3 })
const { marketplace, urls, agent, users } = fixture
const { buyer, builder } = users
const wires: Wire[] = []
const adminCookie = await signIn(marketplace.admin)

async function signIn({ email, password }: { email: string; password: string }): Promise<string> {
  const body = JSON.stringify({ email, password })
  const type = ['content-type', 'application/json'] as const
  const { headers } = await exchange(marketplace.url, 'POST', '/api/auth/login', [type], body)
  return headers['set-cookie']!.split(';')[0]!
}

/** A request that an actor could send, and the trigger that it pulls. */
interface Contestant {
  trigger: Trigger
  bytes: Buffer
}

function contestant(trigger: Trigger, id: string, key = keyOf(trigger)): Contestant {
  const credential: WireHeader = trigger.startsWith('resolve_')
    ? ['cookie', adminCookie]
    : ['authorization', `Bearer ${key}`]
  const path = trigger === 'reject' ? `/api/agent/tasks/${id}/reject` : pathOf(trigger, id)
  const headers: WireHeader[] = [
    ['host', new URL(marketplace.url).host],
    ['content-type', 'application/json'],
    credential,
  ]
  const body = bodies[trigger] === undefined ? '' : JSON.stringify(bodies[trigger])
  return { trigger, bytes: requestBytes(trigger === 'update' ? 'PUT' : 'POST', path, headers, body) }
}

const keyOf = (trigger: Trigger) => (rightful[trigger][0] === 'builder' ? builder : buyer).key!

// Three instances and two triggers in turn: each trigger comes to each instance.
const urlFor = (i: number) => urls[i % urls.length]!

/** All bytes but the last of every request, so that the last ones arrive together. `between` runs amid these. */
async function atOnce(requests: readonly Contestant[], between?: () => Promise<unknown>, after = 0) {
  const lines = requests.map((_, i) => {
    if (!wires[i] || wires[i].ended) wires[i] = new Wire(urlFor(i))
    return wires[i]
  })
  await Promise.all(requests.map(({ bytes }, i) => lines[i]!.write(bytes.subarray(0, -1))))
  for (let i = 0; i < 3; i++) await turn()
  const finish = (i: number) => void lines[i]!.write(requests[i]!.bytes.subarray(-1))
  requests.slice(0, after).forEach((_, i) => {
    finish(i)
  })
  const meanwhile = between?.()
  for (let i = after; i < requests.length; i++) finish(i)
  const answers = await Promise.all(lines.map(line => line.answer()))
  await meanwhile
  return answers.map((answer, i) => {
    assert.ok(answer, 'a request was left without an answer')
    checkExchange(requests[i]!.bytes, answer)
    return { ...answer, trigger: requests[i]!.trigger }
  })
}

type Called = WireAnswer & { trigger: Trigger }

interface Sight {
  status: string
  dispute: string | null
  buyer: object
  builder: object
  /** What the agent is told, in order. */
  events: readonly string[]
}

async function look(id: string): Promise<Sight> {
  const task = await buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)
  const sql = 'SELECT event FROM deliveries WHERE task_id = $1 ORDER BY id'
  const events = await marketplace.market.db.read(q => q.all<{ event: string }>(sql, [id]))
  const [buyerHas, builderHas] = [await marketplace.balances(buyer.id), await marketplace.balances(builder.id)]
  const { status, dispute } = task
  return {
    status,
    dispute: dispute?.status ?? null,
    buyer: buyerHas,
    builder: builderHas,
    events: events.map(e => e.event),
  }
}

const plus = <T extends object>(a: T, b: T) =>
  Object.fromEntries(Object.entries(a).map(([name, value]) => [name, value + b[name as keyof T]])) as T

/** Every end that the winners can bring about one after the other, such that each loser was out of turn at some point. */
function serialEnds(from: Situation, before: Sight, won: readonly Trigger[], lost: ReadonlySet<Trigger>): Set<string> {
  const ends = new Set<string>()
  const tried = new Set<string>()
  const walk = (at: Situation, sight: Sight, left: readonly Trigger[], open: readonly Trigger[]) => {
    const still = open.filter(trigger => rightful[trigger].some(who => stepOf(at, trigger, who)))
    const key = JSON.stringify([at, sight, left, still])
    if (tried.has(key)) return
    tried.add(key)
    if (left.length === 0) {
      if (still.length === 0) ends.add(JSON.stringify({ ...sight, ...shown(at) }))
      return
    }
    for (const trigger of new Set(left)) {
      const step = stepOf(at, trigger, rightful[trigger][0]!)
      if (!step) continue
      const rest = [...left]
      rest.splice(rest.indexOf(trigger), 1)
      const next = {
        ...sight,
        buyer: plus(sight.buyer, step.money.buyer),
        builder: plus(sight.builder, step.money.builder),
        events: step.event ? [...sight.events, step.event] : sight.events,
      }
      walk(step.to, next, rest, still)
    }
  }
  walk(from, before, won, [...lost])
  return ends
}

const say = (answers: readonly Called[]) => answers.map(({ trigger, status }) => `${trigger} ${status}`).join(', ')

/** Fails unless winners, losers, state, money and events equal those of some serial order. Returns who won. */
async function judge(from: Situation, id: string, before: Sight, answers: readonly Called[]): Promise<Trigger[]> {
  const won = answers.filter(({ status }) => status < 300).map(({ trigger }) => trigger)
  assert.ok(won.filter(trigger => trigger === 'review').length <= 1, say(answers))
  const losers = answers.filter(({ status }) => status >= 300)
  for (const { status, text } of losers) assert.ok(status === 400 || status === 409, text)
  const outOfTurn = new Set(losers.filter(({ status }) => status === 400).map(({ trigger }) => trigger))
  const ends = serialEnds(from, before, won, outOfTurn)
  const after = JSON.stringify(await look(id))
  assert.ok(ends.has(after), `${say(answers)}\nleads to ${after}\nbut could only to\n${[...ends].join('\n')}`)
  return won
}

const pairs: readonly (readonly [from: Situation, one: Trigger, other: Trigger])[] = [
  ['draft', 'submit', 'submit'],
  ['delivered', 'approve', 'approve'],
  ['delivered', 'approve', 'request_revision'],
  ['pending', 'cancel', 'accept'],
  ['pending', 'cancel', 'reject'],
  ['pending', 'reject', 'accept'],
  ['in_progress', 'deliver', 'deliver'],
  ['in_progress', 'dispute', 'deliver'],
  ['delivered, disputed', 'resolve_refund', 'resolve_release'],
  ['completed, disputed', 'resolve_refund', 'resolve_split'],
  ['delivered', 'resolve_release', 'resolve_release'],
]

/** In these the second can follow upon the first: a delivered task can still be disputed. */
const canFollow = (from: Situation, one: Trigger, other: Trigger) =>
  steps.some(first => first.from === from && first.trigger === one && stepOf(first.to, other, rightful[other][0]!))

for (const [from, one, other] of pairs) {
  test(`${one} ‖ ${other}, ${from}: one of twenty wins, the others get 400 or 409`, async () => {
    const tasks = await fixture.bring(Array<Situation>(ROUNDS).fill(from))
    const both = canFollow(from, one, other) || canFollow(from, other, one)
    for (const [round, { id }] of tasks.entries()) {
      const before = await look(id)
      const triggers = Array.from({ length: AT_ONCE }, (_, i) => ((i + round) % 2 === 0 ? one : other))
      const answers = await atOnce(triggers.map(trigger => contestant(trigger, id)))
      const won = await judge(from, id, before, answers)
      const most = both ? 2 : 1
      assert.ok(won.length >= 1 && won.length <= most && new Set(won).size === won.length, say(answers))
    }
    await marketplace.checkLedger()
  })
}

test('any mix of twenty calls: answers, state, money and events equal those of some order', async () => {
  const chance = seededChance('races')
  const pick = <T>(from: readonly T[]) => from[Math.floor(chance.fraction() * from.length)]!
  const all = Object.keys(rightful) as Trigger[]
  const starts: readonly Situation[] = [
    'draft',
    'pending',
    'in_progress',
    'delivered',
    'completed',
    'completed, disputed',
  ]
  for (let round = 0; round < ROUNDS; round++) {
    const { id, situation } = (await fixture.bring([starts[round % starts.length]!]))[0]!
    const before = await look(id)
    const few = Array.from({ length: 4 }, () => pick(all))
    const requests = Array.from({ length: AT_ONCE }, (_, i) => contestant(i % 10 === 0 ? pick(all) : pick(few), id))
    await judge(situation, id, before, await atOnce(requests))
  }
  await marketplace.checkLedger()
})

test('two submits and more on money for one: one holds it, the others get 400 or 409', async () => {
  const poor = await marketplace.join('poor', price)
  const draft = async () => (await marketplace.draft(poor, agent, { agreedPrice: price })).id
  const ids = await Promise.all(Array.from({ length: AT_ONCE }, draft))
  const told = async () => {
    const sql = `SELECT task_id AS "taskId" FROM deliveries WHERE event = 'task.submitted' ORDER BY id`
    return (await marketplace.market.db.read(q => q.all<{ taskId: string }>(sql))).map(({ taskId }) => taskId)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const before = await told()
    const answers = await atOnce(ids.map(id => contestant('submit', id, poor.key)))
    const won = answers.flatMap(({ status }, i) => (status === 200 ? [i] : []))
    assert.is(won.length, 1, say(answers))
    for (const { status } of answers) assert.ok([200, 400, 409].includes(status), say(answers))
    assert.equal(await marketplace.balances(poor.id), { available: 0, held: price, clearing: 0 })
    assert.equal((await told()).slice(before.length), [ids[won[0]!]])
    const { tasks } = await poor.call<{ tasks: TaskRecord[] }>('GET', '/api/tasks?status=pending')
    assert.equal(
      tasks.map(({ id }) => id),
      [ids[won[0]!]],
    )
    await poor.call('POST', `/api/tasks/${ids[won[0]!]}/cancel`)
    ids[won[0]!] = await draft()
  }
  await marketplace.checkLedger()
})

test('clearing ‖ dispute: the builder gets the money, or a dispute holds it; never both', async () => {
  const ends = { cleared: 0, disputed: 0 }
  // What other tests left to clear does so first.
  await marketplace.pass(durations.clearingMs)
  await marketplace.freshen(agent)
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = (await fixture.bring(['completed']))[0]!
    const before = await look(id)
    fixture.advance(durations.clearingMs - 1)
    const requests = Array.from({ length: AT_ONCE }, () => contestant('dispute', id))
    // The first round clears before, the last one after all disputes; between, they meet.
    const between = async () => {
      for (let i = 0; i < round - 1; i++) await turn()
      await marketplace.pass(1)
    }
    if (round === 0) await marketplace.pass(1)
    const last = round === ROUNDS - 1
    const answers = await atOnce(requests, round === 0 || last ? undefined : between, round % 4 === 0 ? AT_ONCE : round)
    await marketplace.pass(1)
    const won = answers.filter(({ status }) => status === 200).length
    for (const { status } of answers) assert.ok([200, 400, 409].includes(status), say(answers))
    assert.ok(won <= 1, say(answers))
    const after = await look(id)
    const cleared = plus(before.builder as Record<string, number>, { available: price, held: 0, clearing: -price })
    const end = won === 1 ? 'disputed' : 'cleared'
    const expected = {
      disputed: [before.builder, 'open', [...before.events, 'task.disputed']],
      cleared: [cleared, null, before.events],
    }
    assert.equal([after.builder, after.dispute, after.events], expected[end])
    ends[end]++
    // Uses of a session are noted in real time, which stands still here; so a week without a sign-in would end it.
    for (const person of round % 2 === 0 ? [buyer, builder, marketplace.admin] : []) {
      await person.call('POST', '/api/auth/login', { email: person.email, password: person.password })
    }
    await marketplace.freshen(agent)
  }
  assert.ok(ends.cleared > 0 && ends.disputed > 0, JSON.stringify(ends))
  await marketplace.checkLedger()
})

test('what is raced here can be told apart: a lost update would be no serial order', () => {
  const still = { available: 0, held: 0, clearing: 0 }
  const before = { status: 'pending', dispute: null, buyer: still, builder: still, events: [] }
  assert.is(serialEnds('pending', before, ['cancel', 'reject'], new Set()).size, 0)
  assert.is(serialEnds('pending', before, ['accept'], new Set<Trigger>(['message'])).size, 0)
  assert.is(serialEnds('pending', before, ['accept'], new Set<Trigger>(['cancel'])).size, 1)
  assert.is(serialEnds('in_progress', before, ['deliver', 'dispute'], new Set()).size, 1)
})

test.after(async () => {
  for (const wire of wires) wire.close()
  await marketplace.close()
})

test.run()
