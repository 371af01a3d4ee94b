/** Tasks of all kinds from their beginning: samples, the smallest and the longest, other prices, and rounds of revisions. */

import { revise } from './buying.ts'
import { byHand } from './hand-sent-webhooks.ts'
import type { Scenario, StageTask } from './scenario.ts'

const ROUNDS = 3
/** How often each sample is sent: an agent that accepts it does so every time. */
const TIMES = 3
const LEAST_PRICE = 200
const HIGH_PRICE = 1_900
const LONGEST_TEXT = 10_000

const samples: Scenario = {
  name: 'samples',
  lane: 'real',
  async run(stage) {
    const { accepts, rejects, sample } = stage.declared
    const filler = ' Please keep to what is said above, and to nothing else.'
    const long = (sample.description + filler.repeat(LONGEST_TEXT / filler.length)).slice(0, LONGEST_TEXT - 20)
    const smallest = { title: 'Hello', description: 'Say hello to my cats', requirements: '', canary: '' }
    const tasks = [
      await stage.task('life.content', { description: long }),
      await stage.task('life.smallest', { ...smallest, price: LEAST_PRICE, decisionIsAll: true }),
      await stage.task('life.price-is-free/low', { price: LEAST_PRICE, decisionIsAll: true }),
      await stage.task('life.price-is-free/high', { price: HIGH_PRICE, decisionIsAll: true }),
    ]
    for (const [at, sample] of accepts.entries())
      for (let time = 0; time < TIMES; time++)
        tasks.push(await stage.task(`life.sample-accepted/${at + 1}`, { sample, decisionIsAll: true }))
    for (const [at, sample] of rejects.entries())
      tasks.push(await stage.task(`life.sample-rejected/${at + 1}`, { sample }))
    await Promise.all(tasks.map(task => stage.accepted(task)))
    if (stage.declared.work !== 'manual') await stage.delivered(tasks[0]!)
  },
}

const revisions: Scenario = {
  name: 'revisions',
  lane: 'real',
  needs: ['delivered', 'revisions'],
  async run(stage) {
    const inRounds = async (task: StageTask, rounds: number) => {
      for (let round = 1; round <= rounds; round++) {
        if (!(await stage.delivered(task, round))) return
        await revise(stage, task, `Please say it in other words once more: this is round ${round}.`)
      }
      await stage.delivered(task, rounds + 1)
    }
    await inRounds(await stage.task('life.revision'), 1)
    await inRounds(await stage.task('life.revision-rounds'), ROUNDS)
  },
}

export const lifeScenarios: readonly Scenario[] = [samples, revisions]

const AT_ONCE = 20

/** More tasks at once than one marketplace sends: what an agent meets that several call, or one after a pause. */
export const burst: Scenario = {
  name: 'burst',
  lane: 'real',
  when: 'alone',
  async run(stage) {
    const label = 'http.burst'
    const all = await Promise.all(Array.from({ length: AT_ONCE }, () => stage.taken(label, { decisionIsAll: true })))
    await Promise.all(all.map(({ webhook }) => byHand(stage, label, webhook, { change: 'one of twenty at once' })))
    await Promise.all(all.map(({ task }) => stage.accepted(task)))
  },
}
