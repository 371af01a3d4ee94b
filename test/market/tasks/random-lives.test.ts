// engines: embedded, postgres at length; process: shared; lengths: short, long
/** Random lives of tasks against a model: after each step the money, the states and the fates are what they must be. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { WalletRecord } from '../../../src/api/money-records.ts'
import { amount } from '../../support/length.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
  taskFields,
} from '../../support/marketplace.ts'
import { bodies, pathOf, routesOf } from '../../support/task-fixture.ts'
import { Model, type ModelTask } from '../../support/task-model.ts'
import { rightful, shown, type Trigger, triggers, window48h } from '../../support/task-rules.ts'

const hourMs = 3_600_000
const PEOPLE = 4
const FUNDS = 6_000
/** A session that rests for seven days ends; a walk stays within them. */
const LONGEST_MS = 6.5 * 24 * hourMs

/** Lives should come far: how often each trigger is tried where it is possible. */
const weights: Record<Trigger, number> = {
  update: 1,
  submit: 6,
  cancel: 1,
  accept: 6,
  reject: 1,
  deliver: 8,
  approve: 8,
  request_revision: 3,
  dispute: 3,
  message: 1,
  review: 1,
  resolve_refund: 1,
  resolve_release: 1,
  resolve_split: 1,
}

type Deed =
  | { kind: 'create'; buyer: number; agent: number; price: number }
  | { kind: 'go on'; pick: number; route: number; part: number }
  | { kind: 'try'; task: number; trigger: Trigger; who: number; route: number; part: number }
  | { kind: 'pass'; ms: number }

const pick = fc.noBias(fc.nat(1_000_000))
const person = fc.noBias(fc.nat(PEOPLE - 1))
const part = fc.double({ min: 0, max: 1, noNaN: true })
const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('create'),
      buyer: person,
      agent: fc.nat(1),
      price: fc.integer({ min: 200, max: 3_000 }),
    }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('go on'), pick, route: pick, part }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('try'),
      task: pick,
      trigger: fc.constantFrom(...triggers),
      who: fc.noBias(fc.nat(PEOPLE)),
      route: pick,
      part,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pass'),
      ms: fc.constantFrom(1, hourMs, window48h - 1, window48h),
    }),
  },
)

class Walk {
  readonly marketplace: TestMarketplace
  readonly people: TestUser[]
  readonly agents: ListedAgent[]
  readonly model: Model
  readonly start: number

  constructor(marketplace: TestMarketplace, people: TestUser[], agents: ListedAgent[]) {
    this.marketplace = marketplace
    this.people = people
    this.agents = agents
    this.start = marketplace.world.now()
    this.model = new Model(PEOPLE, FUNDS, this.start)
  }

  async perform(deed: Deed): Promise<void> {
    if (deed.kind === 'create') return this.create(deed)
    if (deed.kind === 'pass') return this.pass(deed.ms)
    if (deed.kind === 'go on') return this.goOn(deed)
    const { tasks } = this.model
    if (tasks.length > 0) await this.pull(tasks[deed.task % tasks.length]!, deed.trigger, deed.who, deed)
  }

  async create({ buyer, agent, price: agreedPrice }: Deed & { kind: 'create' }): Promise<void> {
    const { id } = await this.marketplace.draft(this.people[buyer]!, this.agents[agent]!, {
      ...taskFields,
      agreedPrice,
    })
    // The agents belong to the first two.
    this.model.add(id, buyer, agent, agreedPrice)
  }

  async pass(ms: number): Promise<void> {
    if (this.model.now + ms > this.start + LONGEST_MS) return
    // The long jumps are few: none is spent where nothing waits for it.
    if (ms > hourMs && !this.model.tasks.some(({ clearing }) => clearing)) return
    await this.marketplace.pass(ms)
    this.model.pass(ms)
    if (ms > hourMs) for (const agent of this.agents) await this.marketplace.freshen(agent)
  }

  /** A trigger that somebody can pull now, and one of the tasks that it can be pulled on. */
  async goOn(deed: Deed & { kind: 'go on' }): Promise<void> {
    const { model } = this
    const all = triggers.map(trigger =>
      model.tasks.flatMap(task =>
        [task.buyer, task.builder, PEOPLE]
          .filter(who => model.step(task, trigger, model.parties(task, who)))
          .map(who => ({ task, trigger, who })),
      ),
    )
    const possible = all.flatMap((steps, at) => (steps.length > 0 ? Array(weights[triggers[at]!]).fill(steps) : []))
    const steps = possible[deed.pick % possible.length]
    const chosen = steps?.[Math.floor(deed.pick / possible.length) % steps.length]
    if (chosen) await this.pull(chosen.task, chosen.trigger, chosen.who, deed)
  }

  async pull(task: ModelTask, trigger: Trigger, who: number, how: { route: number; part: number }): Promise<void> {
    const parties = this.model.parties(task, who)
    const step = this.model.step(task, trigger, parties)
    const refund = 1 + Math.floor(how.part * (task.price - 2))
    const before = step ? undefined : await this.marketplace.contents()
    const answer = await this.send(task, trigger, who, how.route, refund)
    const mayAsk = parties.some(party => rightful[trigger].includes(party))
    const created = trigger === 'message' || trigger === 'review' ? 201 : 200
    const conflict = trigger === 'review' && task.reviewed && task.situation.startsWith('completed') && mayAsk
    const wanted = step ? created : conflict ? 409 : mayAsk ? 400 : 403
    assert.is(answer.status, wanted, `${trigger} by ${parties} in ${task.situation}: ${answer.error}`)
    if (step) this.model.apply(task, step, refund)
    else assert.equal(await this.marketplace.contents(), before, `${trigger} was refused, but left a trace`)
  }

  /** The routes of builders are as good as each other; a stranger has no secret to sign with. */
  send(task: ModelTask, trigger: Trigger, who: number, pickRoute: number, refund: number) {
    const body = trigger === 'resolve_split' ? { outcome: 'split', refundAmount: refund } : bodies[trigger]
    const user = this.people[who] ?? this.marketplace.admin
    // By its signature an agent speaks as its builder, who may be the buyer as well.
    const open = routesOf[trigger].filter(route => route !== 'signed' || (who === task.builder && who !== task.buyer))
    const route = open[pickRoute % open.length]
    if (route === 'signed') return this.marketplace.callback(this.agents[who]!, task.id, { action: trigger, ...body })
    const path = route === 'agent' ? `/api/agent/tasks/${task.id}/${trigger}` : pathOf(trigger, task.id)
    return user.ask(trigger === 'update' ? 'PUT' : 'POST', path, body, route === 'session' ? route : 'key')
  }

  async check(): Promise<void> {
    const { model, marketplace, people } = this
    const { accounts, tasks, fates } = await marketplace.market.db.read(async q => ({
      accounts: await q.all<{ userId: string | null; kind: string; balance: number }>(
        'SELECT user_id AS "userId", kind, balance FROM accounts ORDER BY id',
      ),
      tasks: await q.all<{ id: string; status: string }>('SELECT id, status FROM tasks ORDER BY id'),
      fates: await q.all<{ taskId: string; released: number; refunded: number; reversed: number; status: string }>(
        'SELECT task_id AS "taskId", released, refunded, reversed, status FROM settlements ORDER BY task_id',
      ),
    }))
    assert.is(
      accounts.reduce((sum, { balance }) => sum + balance, 0),
      0,
      'all accounts add up to zero',
    )
    for (const [at, { id }] of people.entries()) {
      const mine = accounts.filter(({ userId }) => userId === id).map(({ kind, balance }) => [kind, balance])
      assert.equal({ available: 0, held: 0, clearing: 0, ...Object.fromEntries(mine) }, model.balances[at])
    }
    const states = new Map(tasks.map(({ id, status }) => [id, status]))
    for (const task of model.tasks) assert.is(states.get(task.id), shown(task.situation).status)
    const held = model.tasks.filter(task => /^(?:pending|in_progress|delivered)/.test(task.situation))
    assert.is(sum(accounts.filter(({ kind }) => kind === 'held').map(({ balance }) => balance)), priceOf(held))
    for (const fate of fates) {
      const task = model.tasks.find(({ id }) => id === fate.taskId)!
      assert.is(fate.released + fate.refunded, task.price, 'a hold ends whole')
      assert.is(fate.status === 'clearing', task.clearing, 'what clears is what the model says')
      assert.not(held.includes(task), 'an open task has no end of its hold')
    }
    assert.is(new Set(fates.map(({ taskId }) => taskId)).size, fates.length, 'one fate per hold')
    await this.checkWallets()
  }

  async checkWallets(): Promise<void> {
    const ask = (user: TestUser) => user.call<WalletRecord>('GET', '/api/wallet', undefined, 'key')
    for (const [at, { wallet }] of (await Promise.all(this.people.map(ask))).entries()) {
      const { available, clearing, held } = this.model.balances[at]!
      assert.equal([wallet.balance, wallet.heldBalance], [available + clearing, held])
    }
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const priceOf = (tasks: readonly ModelTask[]) => sum(tasks.map(({ price }) => price))

async function walk(deeds: readonly Deed[]): Promise<void> {
  const marketplace = await openTestMarketplace()
  try {
    const people = await Promise.all(Array.from({ length: PEOPLE }, (_, at) => marketplace.join(`member.${at}`, FUNDS)))
    const agents = [await marketplace.list(people[0]!), await marketplace.list(people[1]!)]
    const walk = new Walk(marketplace, people, agents)
    for (const deed of deeds) {
      await walk.perform(deed)
      await walk.check()
    }
    await marketplace.checkLedger()
  } finally {
    await marketplace.close()
  }
}

// On failure fast-check prints the seed and the shortest walk that fails.
test('random lives of tasks end with every cent where the model says', async () => {
  const deeds = fc.array(deed, { minLength: 90, maxLength: 140, size: 'max' })
  await fc.assert(fc.asyncProperty(deeds, walk), {
    numRuns: amount({ short: 2, long: 6 }),
    interruptAfterTimeLimit: 90_000,
  })
})

test.run()
