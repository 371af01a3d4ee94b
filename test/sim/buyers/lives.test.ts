// engines: embedded; process: shared
/** The lives of a crowd: when they come, and what happens to each with an agent that works at once, word by word. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Crowd } from '../../../src/sim/buyers/crowd.ts'
import { type CrowdOptions, type Life, planLives } from '../../../src/sim/buyers/lives.ts'
import { personas } from '../../../src/sim/buyers/personas.ts'
import { answered } from '../../../src/world/virtual.ts'
import { sameAsKept } from '../../support/golden.ts'
import { inTime, until } from '../../support/patience.ts'
import { inParagraphs, legible } from '../golden/legible.ts'
import { openScene, type Scene, worker } from './scene.ts'

const HOUR_MS = 3_600_000

const optionsIn = ({ marketplace: { market, admin } }: Scene, id: string): CrowdOptions => ({
  ...{
    market,
    adminId: admin.id,
    agent: { id, basePrice: 500 },
    hearing: { webhookUrl: 'https://hearing.localhost/' },
  },
  ...{ mix: personas.map(persona => ({ persona, share: 1 })), buyers: 34, tasks: 1, forMs: HOUR_MS, seed: 1 },
  patienceMs: 1_000,
})

test('each character has the story that it is said to have', async () => {
  let crowd: Crowd | undefined
  const scene = await openScene(entry => crowd?.hear(entry))
  const agent = await worker(scene, 'Alpha', { maxRevisions: 3 })
  const told: string[] = []
  for (const persona of personas) {
    await scene.marketplace.freshen(agent)
    const ended: number[] = []
    const mix = [{ persona, share: 1 }]
    const options = { ...optionsIn(scene, agent.id), mix, tasks: persona.atOnce, onLife: (n: number) => ended.push(n) }
    crowd = new Crowd(options)
    for (const { number, persona, story, end, taskId } of await crowd.play()) {
      told.push([`${persona} ${number}: ${end}`, ...story.map(words => `  ${legible(words)}`)].join('\n'))
      assert.is(crowd.hasCancelled(taskId!), story.includes('cancels'))
    }
    assert.equal(
      ended,
      Array.from(ended, (_, at) => at + 1),
    )
  }
  await scene.marketplace.checkLedger()
  await scene.close()
  sameAsKept('test/sim/golden/stories.txt', inParagraphs(told))
})

/** Lives of easy buyers, with this agent. Time goes by when it has said what it says. */
async function livesWith(
  answer: (say: (body: object) => Promise<unknown>) => Promise<unknown>,
  more: Partial<CrowdOptions>,
) {
  let crowd: Crowd | undefined
  let silent = 0
  const scene = await openScene(entry => {
    crowd?.hear(entry)
    if (entry.type === 'task' && entry.trigger === 'submit') silent++
  })
  const agent = await worker(scene, 'Alpha')
  agent.sink.answer = async () => {
    const { event, data } = agent.sink.received.at(-1)!
    if (event === 'task.submitted') {
      await answer(body => scene.marketplace.callback(agent, data.taskId, body))
      silent--
    }
    return answered(200)
  }
  const { world } = scene.marketplace
  crowd = new Crowd({ ...optionsIn(scene, agent.id), mix: [{ persona: personas[0]!, share: 1 }], ...more })
  const began = world.realNow()
  let lives: readonly Life[] | undefined
  const played = crowd.play().then(all => (lives = all))
  await until('the end of all lives', () => {
    if (silent === 0) world.tick(500)
    return lives !== undefined
  })
  await played
  const tookMs = world.realNow() - began
  await scene.close()
  return { lives: lives!, tookMs }
}

test('an agent that rejects has its story; what it says is told, and how long it took', async () => {
  const { lives } = await livesWith(say => say({ action: 'reject' }), { tasks: 2 })
  for (const { story, end, answersMs } of lives)
    assert.equal([story, end, answersMs.length], [['hires the agent for 5.00', 'reject'], 'cancelled', 1])
})

test('one that accepts and delivers nothing is disputed, and one that says nothing is waited for and left', async () => {
  const idle = await livesWith(say => say({ action: 'accept' }), { patienceMs: 500 })
  const [{ story, end, answersMs }] = idle.lives as [Life]
  assert.equal(story.slice(0, 3), [
    'hires the agent for 5.00',
    'accept',
    `disputes: “It was accepted a day ago, and nothing was delivered since.”`,
  ])
  assert.equal([story.length, answersMs.length], [4, 1])
  assert.is.not(end, 'in_progress')
  assert.ok(idle.tookMs >= 500)
  const silent = await livesWith(async () => {}, { tasks: 1, patienceMs: 2_000 })
  assert.equal(
    silent.lives.map(({ story, end, answersMs }) => [...story, end, ...answersMs]),
    [['hires the agent for 5.00', 'cancels', 'cancelled']],
  )
  assert.ok(silent.tookMs >= 2_000)
})

test('whoever never answers is waited for by those who come first, and hardly by those who come later', async () => {
  const scene = await openScene()
  const agent = await worker(scene, 'Alpha')
  agent.sink.answer = async () => answered(200)
  const { world } = scene.marketplace
  const [patienceMs, waits] = [1_000, [] as number[]]
  const market = {
    ...scene.marketplace.market,
    world: {
      ...world,
      after(ms: number, then: () => void) {
        const timer = world.after(ms, then)
        waits.push(ms)
        // Time goes by as soon as somebody waits for it.
        if (ms <= patienceMs) setImmediate(() => world.tick(ms))
        return timer
      },
    },
  }
  const mix = [{ persona: personas[0]!, share: 1 }]
  const crowd = new Crowd({ ...optionsIn(scene, agent.id), market, mix, tasks: 12, patienceMs })
  const lives = await inTime('the end of all lives', crowd.play())
  const full = waits.filter(ms => ms === patienceMs).length
  assert.ok(full >= 3 && full < 12, `${full}`)
  assert.is(lives.length, 12)
  await scene.close()
})

test('lives come four in a moment, by shares, each from an account of its character; a flood comes from one address at once', async () => {
  const scene = await openScene()
  const from = scene.marketplace.world.now()
  const named = (name: string) => personas.find(persona => persona.name === name)!
  const mix = [
    { persona: named('easy'), share: 6 },
    { persona: named('agent-buyer'), share: 2 },
    { persona: named('flooder'), share: 1 },
  ]
  const planned = async (seed: number) =>
    (await planLives({ ...optionsIn(scene, 'agt_1'), mix, buyers: 6, tasks: 80, forMs: 40 * HOUR_MS, seed }, from)).map(
      ({ buyer: { id, budgetId }, draw, character, ...life }) => ({
        ...life,
        id,
        paysBy: budgetId !== null,
        drawn: draw('of it'),
      }),
    )
  const lives = await planned(1)
  assert.equal(
    lives.map(({ number }) => number),
    Array.from({ length: 80 }, (_, at) => at + 1),
  )
  assert.equal(await planned(1), lives)
  assert.not.equal(await planned(2), lives)
  assert.is(new Set(lives.map(({ drawn }) => drawn)).size, 80)
  for (const { nextAt } of lives) {
    const hours = (nextAt! - from) / HOUR_MS
    assert.ok(hours >= 0 && hours < 40 && hours % 2 === 0, `${hours}`)
  }
  for (const { persona, address, paysBy, story, answersMs, taskId, end } of lives) {
    assert.is(paysBy, persona === 'agent-buyer')
    assert.equal([story, answersMs, taskId, end], [[], [], null, null])
    if (persona !== 'flooder') assert.is(address, null)
  }
  const of = (name: string) => lives.filter(({ persona }) => persona === name)
  for (const name of ['easy', 'agent-buyer']) assert.is(new Set(of(name).map(({ id }) => id)).size, 2)
  assert.ok(of('easy').length > 2 * of('agent-buyer').length)
  const floods = [...new Set(of('flooder').map(({ address }) => address))]
  for (const address of floods.slice(0, -1)) {
    const flood = of('flooder').filter(life => life.address === address)
    assert.equal(
      flood.map(({ number, id, nextAt }) => [number - flood[0]!.number, id, nextAt]),
      Array.from({ length: named('flooder').atOnce }, (_, at) => [at, flood[0]!.id, flood[0]!.nextAt]),
    )
  }
  assert.ok(floods.length > 1 && !floods.includes(null))
  await scene.close()
})

test.run()
