// engines: embedded; process: shared
/** Places of the webhooks that are sent, and what waits for them. Source: A-37. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import { InFlight } from '../../../src/market/webhooks/in-flight.ts'
import { type Target, targetOf } from '../../../src/market/webhooks/target.ts'
import { answered, createVirtualWorld, type VirtualWorld } from '../../../src/world/virtual.ts'
import type { OutgoingResult } from '../../../src/world/world.ts'

const to = (host: string, account = host): Target => ({ host, keys: [`account ${account}`] })
const settled = () => new Promise(setImmediate)

function open(most: number): { world: VirtualWorld; flight: InFlight; freed: () => number } {
  let freed = 0
  const world = createVirtualWorld()
  const flight = new InFlight({ world, limit: () => most, onFree: () => freed++ })
  return { world, flight, freed: () => freed }
}

/** Ends when it is told to, as if it had taken so long. */
function send(flight: InFlight, target: Target) {
  let end = (_result: OutgoingResult) => {}
  const answer = new Promise<OutgoingResult>(resolve => {
    end = resolve
  })
  flight.add(target, answer, answer)
  return async (durationMs = 0) => {
    end({ ...answered(200), durationMs })
    await settled()
  }
}

test('a host has two slots, and what waits for one of them leaves no room to take more for it', async () => {
  const { flight } = open(5)
  const free = () => [
    flight.freeSlots(),
    flight.hasSlot(to('a')),
    flight.freeSlotsAt(to('a')),
    flight.freeSlotsAt(to('b')),
  ]
  assert.equal(free(), [5, true, 2, 2])
  const first = send(flight, to('a'))
  assert.equal(free(), [4, true, 1, 2])
  flight.countWaiting(to('a'), 1)
  assert.equal(free(), [4, true, 0, 2])
  flight.countWaiting(to('a'), -1)
  const second = send(flight, to('a'))
  assert.equal(free(), [3, false, 0, 2])
  await first()
  assert.equal(free(), [4, true, 1, 2])
  await second()
  await flight.ended()
  assert.equal(free(), [5, true, dispatch.perHost, 2])
})

test('an answer that fails frees its slot too', async () => {
  const { flight } = open(1)
  flight.add(to('a'), Promise.reject(new Error('lost')), Promise.resolve())
  assert.is(flight.freeSlots(), 0)
  await settled()
  assert.is(flight.freeSlots(), 1)
})

test('one that is slow to answer gives its slot to others, and its host is still busy', async () => {
  const { flight, world, freed } = open(1)
  const end = send(flight, to('slow'))
  assert.is(flight.freeSlots(), 0)
  world.tick(dispatch.slowAfterMs - 1)
  assert.equal([flight.freeSlots(), freed()], [0, 0])
  world.tick(1)
  assert.equal([flight.freeSlots(), freed(), flight.freeSlotsAt(to('slow'))], [1, 1, dispatch.perHost - 1])
  await end(dispatch.knownSlowMs + 1)
  assert.equal([flight.freeSlots(), freed(), flight.freeSlotsAt(to('slow'))], [1, 2, dispatch.perHost])
})

test('a host that was slow the last time takes no slot of the quick ones, until it was quick again or that is long ago', async () => {
  const { flight, world } = open(1)
  const slowly = async (ms: number) => {
    const end = send(flight, to('host'))
    const slots = flight.freeSlots()
    await end(ms)
    return slots
  }
  assert.equal([await slowly(dispatch.knownSlowMs + 1), await slowly(1), await slowly(1)], [0, 1, 0])
  await slowly(dispatch.knownSlowMs + 1)
  world.tick(dispatch.knownForMs)
  assert.is(await slowly(1), 0)
})

test('an account has its share of the slots, and more only for hosts that were quick', async () => {
  const { flight } = open(dispatch.overall)
  const hosts = Array.from({ length: dispatch.overall }, (_, n) => to(`h${n}`, 'one'))
  const sendAll = () => hosts.filter(host => flight.hasSlot(host)).length
  const fill = (most: number) => {
    const ends = []
    for (const host of hosts) if (ends.length < most && flight.hasSlot(host)) ends.push(send(flight, host))
    return ends
  }
  const first = fill(dispatch.overall)
  assert.equal([first.length, sendAll()], [dispatch.share, 0])
  assert.ok(flight.hasSlot(to('else', 'other')))
  for (const end of first) await end(1)
  // Of those that have answered quickly, all may go; new ones as many as the share allows.
  const second = fill(dispatch.overall)
  assert.is(second.length, dispatch.share)
  for (const end of second) await end(1)
  for (const host of hosts) await send(flight, host)(1)
  assert.is(fill(dispatch.overall).length, dispatch.shareAlone)
})

test('an account whose endpoints never answer has its share of the slow slots too, and then no slot at all', async () => {
  const { flight, world } = open(dispatch.overall)
  const hosts = Array.from({ length: 100 }, (_, n) => to(`h${n}`, 'one'))
  let sent = 0
  for (let round = 0; round < 10; round++) {
    for (const host of hosts.slice(sent)) {
      if (!flight.hasSlot(host)) break
      send(flight, host)
      sent++
    }
    world.tick(dispatch.slowAfterMs)
  }
  assert.is(sent, dispatch.slowShare)
  assert.is(flight.freeSlots(), dispatch.overall)
  assert.ok(flight.hasSlot(to('else', 'other')))
})

/** Sends what has a slot, for builders who have many hosts each, until nothing more goes; how many each has got. */
function crowd({ flight, world }: ReturnType<typeof open>, builders: readonly string[], hosts = 40) {
  const counts = new Map<string, number>()
  const ends: ReturnType<typeof send>[] = []
  const one = (builder: string) => {
    const host = Array.from({ length: hosts }, (_, n) => to(`h${n}.${builder}`, builder)).find(
      host => flight.freeSlots() > 0 && flight.hasSlot(host),
    )
    if (!host) return false
    counts.set(builder, (counts.get(builder) ?? 0) + 1)
    ends.push(send(flight, host))
    return true
  }
  for (const builder of builders) {
    while (one(builder)) if (flight.freeSlots() === 0) world.tick(dispatch.slowAfterMs)
    world.tick(dispatch.slowAfterMs)
  }
  return { counts: builders.map(builder => counts.get(builder) ?? 0), ends }
}

const builders = (count: number, name = 'stalled') => Array.from({ length: count }, (_, n) => `${name}${n}`)
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)

test('the slow slots are never full by a hundred accounts whose endpoints stall, whoever comes first: each next one has a slot, and so have the quick', async () => {
  const marketplace = open(dispatch.overall)
  const { counts, ends } = crowd(marketplace, builders(100))
  assert.is(counts[0], dispatch.slowShare)
  assert.ok(Math.min(...counts) >= 1, `${counts}`)
  assert.ok(sum(counts.slice(0, 32)) < 0.75 * dispatch.slow, `${counts}`)
  assert.ok(sum(counts) < dispatch.slow, `${counts}`)
  assert.is(marketplace.flight.freeSlots(), dispatch.overall)
  assert.ok(marketplace.flight.hasSlot(to('else', 'other')))
  // Those who came first had more only because nobody else was there.
  for (const end of ends) await end(30_000)
  const again = crowd(marketplace, builders(100)).counts
  assert.ok(Math.max(...again) <= dispatch.slowShare && sum(again) < dispatch.slow, `${again}`)
})

test('an account that has given its many slots back gets as many as its turn is worth by now', async () => {
  const marketplace = open(dispatch.overall)
  const first = crowd(marketplace, ['first'])
  crowd(marketplace, builders(60))
  // Of its sixteen slots the first gives all back, and gets as many as the newcomers have.
  for (const end of first.ends) await end(30_000)
  assert.ok(crowd(marketplace, ['first']).counts[0]! <= 3)
})

test('accounts whose hosts were quick and then stall together do not fill the slow slots either', async () => {
  const marketplace = open(dispatch.overall)
  const all = builders(30)
  for (const name of all) for (let n = 0; n < 40; n++) await send(marketplace.flight, to(`h${n}.${name}`, name))(1)
  const { counts } = crowd(marketplace, all)
  assert.is(counts[0], dispatch.shareAlone)
  assert.ok(Math.min(...counts) >= 1, `${counts}`)
  assert.ok(sum(counts) < dispatch.slow, `${counts}`)
  assert.is(marketplace.flight.freeSlots(), dispatch.overall)
})

test('where even so all slow slots are taken, the next slow one goes there when one comes free', async () => {
  const marketplace = open(dispatch.overall)
  const many = builders(dispatch.slow + 200)
  const { counts, ends } = crowd(marketplace, many)
  assert.is(sum(counts), dispatch.slow + dispatch.overall)
  assert.is(marketplace.flight.freeSlots(), 0)
  const freed = marketplace.freed()
  await ends[0]!(30_000)
  assert.is(marketplace.flight.freeSlots(), 1)
  assert.ok(marketplace.freed() > freed)
  // One that has ended among the quick is not moved by another's end.
  await ends.at(-1)!(30_000)
  assert.is(marketplace.flight.freeSlots(), 2)
})

test('a host is a name with its port, whatever the path; what is no address shares one; an account has one share for all its hosts', () => {
  const at = (webhookUrl: string | null) => targetOf({ webhookUrl, builderId: 'b' })
  assert.equal(at('https://one.example/a?b'), at('https://one.example/c'))
  assert.is.not(at('https://one.example/').host, at('https://one.example:444/').host)
  assert.equal([at(null).host, at('nothing').host], ['', ''])
  assert.ok(at(null).keys.includes('account b'))
  // Two builders may name one address: each counts for its own share.
  const { keys } = targetOf({ webhookUrl: 'https://one.example/a?b', builderId: 'c' })
  assert.ok(keys.includes('account c'))
})

test.run()
