/** Signed requests that must be accepted, or must have no effect although they are signed. */
import { durations } from '../../api/limits.ts'
import { dresses } from '../../sim/webhooks/unusual.ts'
import { dressedAs, signedAt } from '../marketplaces/webhook-faults.ts'
import { untilHeard } from './hand-sent-webhooks.ts'
import type { Scenario, Stage } from './scenario.ts'

const lateRetry = dresses.find(({ name }) => name === 'late-retry')!
const NEAR_LIMIT_MS = durations.signatureToleranceMs - 30_000

export const signedTimes: Scenario = {
  name: 'signed times',
  lane: 'real',
  async run(stage) {
    const faults = {
      'sig.near-limit/late': signedAt('signed 4 min 30 s ago', -NEAR_LIMIT_MS),
      'sig.near-limit/early': signedAt('signed 4 min 30 s ahead', NEAR_LIMIT_MS),
      // Whoever minds the number of the attempt is told so elsewhere: here the time in the body alone is another.
      'sig.body-time-not-judged': dressedAs({ ...lateRetry, dress: event => ({ body: lateRetry.dress(event).body }) }),
    }
    const tasks = await Promise.all(
      Object.entries(faults).map(([label, fault]) => stage.task(label, { fault, decisionIsAll: true })),
    )
    await Promise.all(tasks.map(task => stage.sent(task)))
    await stage.accepted(tasks[2]!)
  },
}

export const reflected: Scenario = {
  name: 'reflected',
  lane: 'real',
  needs: ['delivered'],
  run: reflectAll,
}

/** Sends to the agent what it has signed itself. */
async function reflectAll(stage: Stage): Promise<void> {
  const label = 'sig.reflected'
  const { task, webhook } = await stage.taken(label)
  await stage.lane.webhooks.send(webhook, { change: null, genuine: true }, label)
  if (!(await stage.delivered(task))) return
  // The answer to its last callback has to reach the agent first.
  const signed = await stage.until(() => {
    const all = stage.history.callbacksOf(task.id).filter(one => one.signature === 'valid')
    return all.some(({ action }) => action === 'deliver') && all
  }, stage.patience.limit('answer'))
  for (const { action, headers, body } of signed ?? []) {
    const own = headers.filter(([name]) => /^(content-type|x-service-)/i.test(name))
    const again = { ...webhook, body: body.text ?? '' }
    const how = { headers: own, timeoutMs: stage.patience.limit('answer') }
    const sent = { change: `its own ${action}`, genuine: false }
    await untilHeard(stage, () => stage.lane.webhooks.sendByHand(again, sent, label, how))
  }
}
