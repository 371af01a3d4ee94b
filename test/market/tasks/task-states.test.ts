// engines: embedded, postgres at length; process: shared
/** Every task in every situation × every trigger × every route × every actor, over the wire. Source: I-states, A-32. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../../src/api/records.ts'
import {
  type ActorName,
  actors,
  type Fixture,
  openFixture,
  type Route,
  routesOf,
  words,
} from '../../support/task-fixture.ts'
import {
  type Deltas,
  momentSetBy,
  moments,
  price,
  rightful,
  type Situation,
  type Step,
  shown,
  situations,
  stepOf,
  steps,
  type Trigger,
  triggers,
} from '../../support/task-rules.ts'

/** What a refused actor is answered. A signature by anything but the agent's secret is no signature. */
function refusalOf(actor: ActorName, trigger: Trigger, route: Route): 400 | 401 | 403 {
  if (actor === 'nobody') return 401
  if (route === 'signed' && actor !== 'builder') return 401
  return (rightful[trigger] as readonly string[]).includes(actor) ? 400 : 403
}

const isPerson = (actor: ActorName) => actor === 'buyer' || actor === 'builder' || actor === 'admin'

/** A signed message is always the agent's. */
const stepBy = (actor: ActorName, from: Situation, trigger: Trigger, route: Route): Step | undefined =>
  isPerson(actor) && (route !== 'signed' || actor === 'builder') ? stepOf(from, trigger, actor) : undefined

const refusals = suite<{ fixture: Fixture; ids: Map<Situation, string>; before: Record<string, string> }>('refusals')

refusals.before(async context => {
  context.fixture = await openFixture()
  const brought = await context.fixture.bring(situations)
  context.ids = new Map(brought.map(({ situation, id }) => [situation, id]))
  await context.fixture.marketplace.webhooksSent()
  context.before = await context.fixture.marketplace.contents()
})

refusals.after(({ fixture }) => fixture.marketplace.close())

for (const situation of situations) {
  for (const trigger of triggers) {
    refusals(`${situation}: ${trigger} is refused to all who may not, and changes nothing`, async context => {
      const { fixture, ids, before } = context
      const id = ids.get(situation)!
      for (const route of routesOf[trigger]) {
        for (const actor of actors) {
          if (stepBy(actor, situation, trigger, route)) continue
          const answer = await fixture.pull(actor, trigger, id, route)
          const which = `${trigger} by ${actor} (${route}): ${answer.error}`
          assert.is(answer.status, refusalOf(actor, trigger, route), which)
          assert.is(answer.success, false, which)
          assert.type(answer.error, 'string', which)
        }
      }
      assert.equal(await fixture.marketplace.contents(), before)
    })
  }
}

refusals.run()

interface Move extends Step {
  route: Route
  id: string
}

const successes = suite<{ fixture: Fixture; moves: Move[] }>('successes')

successes.before(async context => {
  context.fixture = await openFixture()
  const wanted = steps.flatMap(step =>
    routesOf[step.trigger]
      .filter(route => stepBy(step.by, step.from, step.trigger, route))
      .map(route => ({ ...step, route })),
  )
  const pool = await context.fixture.bring(wanted.map(({ from }) => from))
  context.moves = wanted.map(move => {
    const at = pool.findIndex(({ situation }) => situation === move.from)
    return { ...move, id: pool.splice(at, 1)[0]!.id }
  })
})

successes.after(async ({ fixture }) => {
  await fixture.marketplace.checkLedger()
  await fixture.marketplace.close()
})

const statusOf = (trigger: Trigger) => (trigger === 'message' || trigger === 'review' ? 201 : 200)

const extras: Record<string, object> = {
  'task.revision_requested': { revisionReason: words.revision },
  'task.disputed': { disputeReason: words.dispute },
  'task.message': { message: words.message },
}

for (const step of steps) {
  const { from, trigger, by, to, event } = step
  successes(
    `${from}: ${trigger} by the ${by} leads to ${to}, with ${event ?? 'no event'}`,
    async ({ fixture, moves }) => {
      const mine = moves.filter(move => move.from === from && move.trigger === trigger && move.by === by)
      assert.ok(mine.length > 0)
      for (const { id, route } of mine) {
        const before = await standing(fixture)
        const taskBefore = await readTask(fixture, id)
        fixture.advance(1_000)
        const answer = await fixture.pull(by, trigger, id, route)
        assert.is(answer.status, statusOf(trigger), `${route}: ${answer.error}`)
        const after = await standing(fixture)
        assert.equal(moved(before.money, after.money), step.money, route)
        assert.equal(after.others, before.others, 'nobody else is touched')
        const task = await readTask(fixture, id)
        checkMoments(fixture, taskBefore, task, momentSetBy(step))
        assert.equal({ status: task.status, dispute: task.dispute?.status ?? null }, shown(to))
        checkEvents(fixture, after.events.slice(before.events.length), event, task)
      }
    },
  )
}

successes.run()

const readTask = ({ users }: Fixture, id: string) => users.buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)

/** The moment that is due is now; all others are as they were, so null where nothing of the kind has happened. */
function checkMoments({ marketplace }: Fixture, before: TaskRecord, after: TaskRecord, set?: (typeof moments)[number]) {
  const now = new Date(marketplace.world.now()).toISOString()
  const of = (task: TaskRecord) => Object.fromEntries(moments.map(moment => [moment, task[moment]]))
  assert.equal(of(after), { ...of(before), ...(set && { [set]: now }) })
  if (set) assert.is(after.updatedAt, now)
}

async function standing({ marketplace, users: { buyer, builder } }: Fixture) {
  return marketplace.market.db.read(async q => {
    const accounts = await q.all<{ id: string; userId: string | null; kind: string; balance: number }>(
      'SELECT id, user_id AS "userId", kind, balance FROM accounts ORDER BY id',
    )
    const of = (id: string) =>
      Object.fromEntries(accounts.filter(({ userId }) => userId === id).map(({ kind, balance }) => [kind, balance]))
    const events = await q.all<{ body: string }>('SELECT body FROM deliveries ORDER BY id')
    return {
      money: { buyer: of(buyer.id), builder: of(builder.id) } as Deltas,
      others: accounts.filter(({ userId }) => userId !== buyer.id && userId !== builder.id),
      events: events.map(({ body }) => JSON.parse(body) as { event: string; timestamp: string; data: object }),
    }
  })
}

function moved(before: Deltas, after: Deltas): Deltas {
  const change = (who: 'buyer' | 'builder') => ({
    available: after[who].available - before[who].available,
    held: after[who].held - before[who].held,
    clearing: after[who].clearing - before[who].clearing,
  })
  return { buyer: change('buyer'), builder: change('builder') }
}

/** Exactly the event that is due, with every field of the body table. Source: I-webhook-body, I-events, A-37. */
function checkEvents({ marketplace, agent, users }: Fixture, events: object[], event: string | null, task: TaskRecord) {
  if (event === null) return assert.equal(events, [])
  const timestamp = new Date(marketplace.world.now()).toISOString()
  const data = {
    taskId: task.id,
    agentId: agent.id,
    title: task.title,
    description: task.description,
    requirements: '',
    agreedPrice: price,
    status: task.status,
    callbackUrl: `${marketplace.url}/api/agent/tasks/${task.id}/callback`,
    requestor: { id: users.buyer.id, type: 'user', trustTier: 'new_verified' },
    ...extras[event],
  }
  assert.equal(events, [{ event, timestamp, data }])
}
