// engines: embedded; process: shared
/** Which agents are looked at next, and how far round. Source: A-37. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { InFlight } from '../../../src/market/webhooks/in-flight.ts'
import type { Leases, Pass, Queued } from '../../../src/market/webhooks/leases.ts'
import { divideSlots, Scheduler } from '../../../src/market/webhooks/scheduler.ts'
import { targetOf } from '../../../src/market/webhooks/target.ts'
import type { QueuedAgent } from '../../../src/store/tables/webhooks/outbox.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'

const PAGE = 32
const name = (n: number) => `agt_${String(n).padStart(3, '0')}`

interface Waiting {
  due: number
  url: string
}

/** Queues in memory: of each agent so many webhooks, those due first. */
function open(agents: ReadonlyMap<string, Waiting>, most = 64, lastServed = '') {
  const flight = new InFlight({ world: createVirtualWorld(), limit: () => most, onFree: () => {} })
  const asked: [after: string, count: number][] = []
  let passes = 0
  const rowOf = (agentId: string, { due, url }: Waiting): QueuedAgent =>
    ({
      agentId,
      builderId: `usr_${agentId}`,
      webhookUrl: url,
      secret: `secret of ${agentId}`,
      due: due > 0 ? 1 : 0,
    }) as QueuedAgent
  const pass: Pass = {
    dueOf: async ids => ids.map(id => rowOf(id, agents.get(id)!)).filter(({ due }) => due === 1),
    claim: async ({ agentId }, count) =>
      Array.from(
        { length: Math.min(count, agents.get(agentId)!.due) },
        (_, n) => ({ id: `${agentId}/${n}`, agentId }) as never,
      ),
  }
  const queued: Queued = async (after, count) => {
    asked.push([after, count])
    return [...agents]
      .filter(([id]) => id > after)
      .slice(0, count)
      .map(([id, one]) => rowOf(id, one))
  }
  const leases = {
    begin: () => void passes++,
    pass: work => work(pass),
    passOverAll: async (find, claim) => claim(pass, await find(queued)),
  } as Leases
  const scheduler = new Scheduler(leases, flight, lastServed)
  const claim = async (named: readonly string[] | null = null) =>
    (await scheduler.claim(named)).map(({ delivery }) => delivery.id)
  return { flight, scheduler, asked, claim, passes: () => passes }
}

const many = (count: number, due = 1) =>
  new Map(Array.from({ length: count }, (_, n) => [name(n), { due, url: `https://host${n}.example${n}.net/` }]))

test('all that is due is taken, a page at a time, and each delivery knows where it goes', async () => {
  const { asked, scheduler, claim, passes } = open(many(40))
  const found = await scheduler.claim(null)
  assert.is(found.length, 40)
  const { delivery, to } = found[3]!
  assert.equal([delivery.agentId, to.host], ['agt_003', 'host3.example3.net'])
  assert.equal(asked, [
    ['', PAGE],
    [name(31), PAGE],
  ])
  assert.is(passes(), 1)
  asked.length = 0
  await claim()
  // Places were left for a second webhook of the first 24.
  assert.equal(asked.slice(0, 2), [
    [name(23), PAGE],
    ['', PAGE],
  ])
})

test('a look goes around once: behind the last that was served, then from the first up to it', async () => {
  const { claim } = open(many(6), 64, name(2))
  assert.equal(
    await claim(),
    [3, 4, 5, 0, 1, 2].map(n => `${name(n)}/0`),
  )
})

test('as many are taken as there are slots, and whose turn is next is known', async () => {
  const agents = many(10)
  agents.get(name(5))!.due = 0
  const { asked, scheduler, claim } = open(agents, 4)
  assert.equal(
    await claim(),
    [0, 1, 2, 3].map(n => `${name(n)}/0`),
  )
  assert.is(scheduler.hasUnserved, true)
  assert.equal(asked, [['', 8]])
  assert.equal([scheduler.dequeueNext(), scheduler.dequeueNext()], [[4, 6, 7].map(name), []])
  assert.equal(
    await claim(),
    [4, 6, 7, 8].map(n => `${name(n)}/0`),
  )
})

test('a look reads as many as there are slots, and large pages once it has found nobody', async () => {
  const agents = many(60, 0)
  for (const n of [20, 21, 50]) agents.get(name(n))!.due = 1
  const { asked, claim } = open(agents, 2)
  assert.equal(await claim(), [`${name(20)}/0`, `${name(21)}/0`])
  assert.equal(asked, [
    ['', 8],
    [name(7), PAGE],
  ])
})

test('where nothing is due nothing is looked into, and nothing is left behind', async () => {
  const { scheduler, claim, asked } = open(many(3, 0))
  scheduler.markUnserved()
  assert.equal([await claim(), scheduler.hasUnserved, asked.length], [[], false, 1])
})

test('without a slot nobody is asked, and the next free slot is worth a look', async () => {
  const { scheduler, claim, asked } = open(many(3), 0)
  assert.equal([await claim(), scheduler.hasUnserved, asked], [[], true, []])
})

test('a look that has found one who may be served ends after 64 agents; one that has not goes on', async () => {
  const agents = many(100, 0)
  agents.get(name(3))!.due = 1
  const early = open(agents)
  assert.equal(await early.claim(), [`${name(3)}/0`])
  assert.equal([early.asked.length, early.scheduler.hasUnserved], [2, true])
  agents.get(name(3))!.due = 0
  agents.get(name(99))!.due = 1
  const late = open(agents)
  assert.equal(await late.claim(), [`${name(99)}/0`])
  assert.is(late.asked.length, 4)
})

test('of named agents alone their own queues are looked at', async () => {
  const agents = many(5)
  agents.get(name(4))!.due = 0
  const { scheduler, claim, asked } = open(agents)
  scheduler.markUnserved()
  assert.equal(await claim([name(1), name(4)]), [`${name(1)}/0`])
  assert.equal([asked, scheduler.hasUnserved], [[], true])
})

test('who got as many as were asked for may have more: that is known', async () => {
  const { scheduler, claim } = open(many(2, 5))
  assert.is((await claim()).length, 4)
  assert.is(scheduler.hasUnserved, true)
  const few = open(many(2, 1))
  assert.is((await few.claim()).length, 2)
  assert.is(few.scheduler.hasUnserved, false)
})

test('an agent whose host has no room is passed over, and remembered', async () => {
  const agents = many(3)
  const { flight, scheduler, claim } = open(agents)
  const busy = targetOf({ webhookUrl: agents.get(name(1))!.url, builderId: 'usr_x' })
  for (const _ of [1, 2]) flight.add(busy, new Promise(() => {}), new Promise(() => {}))
  assert.equal(await claim(), [`${name(0)}/0`, `${name(2)}/0`])
  assert.is(scheduler.hasUnserved, true)
})

test('a host that is shared goes to its agents in turn, and a second webhook of one only where there is room left', () => {
  const of = (agentId: string, webhookUrl: string) => ({
    agent: { agentId },
    to: targetOf({ builderId: 'b', webhookUrl }),
  })
  const at = (agentId: string) => of(agentId, 'https://one.example/x')
  const inFlight = { freeSlotsAt: () => 2, withinShares: () => true, freeSlots: () => 64 }
  const due = ['a', 'b', 'c'].map(at)
  const first = divideSlots(due, inFlight)
  assert.equal([...first.counts.keys()], ['a', 'b'])
  assert.is(first.lastServed, 'b')
  const alone = [of('d', 'https://two.example/')]
  assert.equal([...divideSlots(alone, inFlight).counts], [['d', 2]])
  assert.equal([...divideSlots(alone, { ...inFlight, freeSlotsAt: () => 1 }).counts], [['d', 1]])
  assert.equal([...divideSlots([...due, ...alone], { ...inFlight, freeSlots: () => 1 }).counts].length, 1)
})

test.run()
