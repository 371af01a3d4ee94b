// engines: embedded, postgres at length; process: shared
/** Simulated buyers live by the clock of a marketplace: whole lives, over the wire, with the books in order after each. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { personas } from '../../../src/sim/buyers/personas.ts'
import { answered } from '../../../src/world/virtual.ts'
import { until } from '../../support/patience.ts'
import { isOpen, openScene, storyOf, worker } from './scene.ts'

const MINUTE = 60_000

async function live(names: readonly string[], moves: number) {
  const scene = await openScene()
  await worker(scene, 'Alpha')
  await worker(scene, 'Beta')
  const buyers = await scene.live(names)
  await scene.move(0)
  for (let n = 0; n < moves; n++) {
    await scene.move(10 * MINUTE)
    const seen = new Set<string>()
    for (const task of (await scene.tasks()).filter(isOpen)) {
      const pair = `${task.buyer} ${task.agent.slug}`
      assert.not.ok(seen.has(pair), `${pair} has two open tasks`)
      seen.add(pair)
    }
  }
  await buyers.close()
  return scene
}

test('five characters live with two agents: each does what it is said to do, and nothing piles up', async () => {
  const scene = await live(
    personas.map(({ name }) => name),
    4,
  )
  const all = await scene.tasks()
  const of = (name: string) => all.filter(({ buyer }) => buyer === name)
  const ends = (name: string) =>
    [
      ...new Set(
        of(name)
          .filter(task => !isOpen(task))
          .map(({ status }) => status),
      ),
    ].sort()
  for (const name of ['easy', 'picky', 'fickle', 'quarrelsome']) assert.is(of(name).length, 10, `${name}: 5 with each`)
  assert.equal(ends('easy'), ['completed'])
  assert.equal(ends('picky'), ['completed'])
  assert.equal(
    [
      ...new Set(
        of('picky')
          .filter(task => !isOpen(task))
          .map(({ revisionCount }) => revisionCount),
      ),
    ],
    [1],
  )
  assert.equal(
    of('ghost').map(({ status }) => status),
    ['delivered', 'delivered'],
  )
  const outcomes = of('quarrelsome').flatMap(({ dispute }) => dispute?.outcome ?? [])
  assert.is(outcomes.length, 8, 'each that has ended was disputed and decided')
  assert.ok(new Set(outcomes).size > 1, String(outcomes))
  // Sometimes the agent is faster.
  for (const end of ends('fickle')) assert.ok(end === 'cancelled' || end === 'completed')
  const deeds = scene.log.flatMap(entry => (entry.type === 'persona' ? [entry] : []))
  assert.equal([...new Set(deeds.map(({ persona }) => persona))].sort(), personas.map(({ name }) => name).sort())
  assert.ok(deeds.some(({ message }) => /^picky asks for a revision: “.+”$/.test(message)))
  assert.ok(deeds.some(({ message }) => /^the administrator decides the dispute: \w+$/.test(message)))
  assert.not.ok(scene.log.some(({ type }) => type === 'warning' || type === 'error'))
  await scene.close()
})

test('the same seed and the same answers are the same story of each task', async () => {
  const stories: string[][] = []
  for (let run = 0; run < 2; run++) {
    const scene = await live(['picky', 'quarrelsome'], 3)
    stories.push((await scene.tasks()).map(storyOf).sort())
    await scene.close()
  }
  assert.is(stories[0]!.length, 16)
  assert.equal(stories[1], stories[0])
})

test('the clock stops where a buyer returns, and names it', async () => {
  const scene = await openScene()
  await worker(scene, 'Alpha')
  await scene.live(['easy'])
  await scene.move(0)
  const [task] = await scene.tasks()
  const { next } = await scene.marketplace.admin.client.getClock()
  assert.equal([next!.kind, next!.about, next!.id], ['buyer', 'easy', task!.id])
  const wait = Date.parse(next!.at) - Date.parse(task!.deliveredAt!)
  assert.ok(wait >= 5_000 && wait < 30_000, String(wait))
  const done = await scene.move(30_000)
  assert.equal(
    done.map(({ kind }) => kind),
    ['buyer'],
  )
  const [approved, ...others] = await scene.tasks()
  assert.equal([approved!.status, approved!.completedAt], ['completed', next!.at])
  assert.is(others.length, 0, 'a minute has not passed')
  await scene.move(30_000)
  assert.is((await scene.tasks()).length, 2)
  await scene.close()
})

test('buyers that are opened again go on with the tasks that they have', async () => {
  const scene = await openScene()
  await worker(scene, 'Alpha')
  const first = await scene.live(['easy', 'ghost'])
  await scene.move(0)
  await first.close()
  await scene.move(5 * MINUTE)
  assert.equal(
    (await scene.tasks()).map(({ status }) => status),
    ['delivered', 'delivered'],
  )
  await scene.live(['easy', 'ghost'])
  await scene.marketplace.market.settled()
  await scene.move(0)
  const all = await scene.tasks()
  assert.equal(
    all.map(({ buyer, status, title }) => [buyer, status, /No\. \d+/.exec(title)?.[0]]),
    [
      ['easy', 'completed', 'No. 1'],
      ['ghost', 'delivered', 'No. 1'],
      ['easy', 'delivered', 'No. 2'],
    ],
  )
  await scene.close()
})

test('fickle takes its money back before a slow agent has accepted, and impatience ends what nobody takes', async () => {
  const scene = await openScene()
  const builder = await scene.marketplace.join('builder')
  await scene.marketplace.list(builder, { name: 'Sleeper' })
  const buyers = await scene.live(['fickle', 'easy'])
  await scene.move(0)
  await scene.move(MINUTE / 2)
  const [easy, fickle] = await scene
    .tasks()
    .then(all => ['easy', 'fickle'].map(name => all.find(one => one.buyer === name)!))
  assert.equal([easy!.status, fickle!.status], ['pending', 'cancelled'])
  await scene.move(2 * 60 * MINUTE)
  assert.is((await scene.marketplace.admin.client.getTask({ id: easy!.id })).status, 'cancelled')
  for (const [id, name] of buyers.names) {
    const { available, held } = await scene.marketplace.balances(id)
    const price = (await scene.tasks()).filter(task => task.buyer === name && isOpen(task)).length * 500
    assert.equal([available, held], [50_000 - price, price])
  }
  await scene.close()
})

test('nobody is hired while something is in flight', async () => {
  const scene = await openScene()
  const { world, market } = scene.marketplace
  const agent = await worker(scene, 'Alpha')
  let answer = (_: ReturnType<typeof answered>) => {}
  agent.sink.answer = () => new Promise(resolve => (answer = resolve))
  await scene.live(['easy'])
  const look = async () => {
    world.tick(250)
    for (let n = 0; n < 20; n++) await new Promise(resolve => setTimeout(resolve, 1))
  }
  while (agent.sink.received.length === 0) await look()
  await worker(scene, 'Beta')
  for (let n = 0; n < 5; n++) await look()
  assert.is((await scene.tasks()).length, 1)
  answer(answered(200))
  await market.settled()
  await until('the second task', async () => {
    await look()
    return (await scene.tasks()).length >= 2
  })
  assert.is((await scene.tasks()).length, 2)
  await market.settled()
  await scene.close()
})

test('a buyer who is sent away while he hires hires nobody else, and leaves the task that he has made', async () => {
  let isGone = false
  const scene = await openScene(({ type }) => {
    if (type !== 'task' || isGone) return
    buyers.remove(personas.find(({ name }) => name === 'easy')!)
    isGone = true
  })
  await worker(scene, 'Alpha')
  await worker(scene, 'Beta')
  const buyers = await scene.live(['easy'])
  await scene.move(0)
  await scene.move(10 * MINUTE)
  assert.ok(isGone)
  assert.equal(
    (await scene.tasks()).map(({ status }) => status),
    ['delivered'],
  )
  await scene.close()
})

test.run()
