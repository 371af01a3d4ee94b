/** Copies of the webhook by which a task is submitted: at once, soon after, as a retry, under a new id, after a restart. */

import { forgeries } from '../../sim/webhooks/forgeries.ts'
import type { HeaderLines } from '../../world/header-lines.ts'
import { pause } from '../history/machine-time.ts'
import { answerLost, copiedAfter, copiedAtOnce, precededBy } from '../marketplaces/webhook-faults.ts'
import { untilHeard } from './hand-sent-webhooks.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

const SOON_MS = 50
/** In which an agent reads an answer, and keeps what it says. */
const NOTED_MS = 300
const SUBMITTED = 'task.submitted'

const copies: Scenario = {
  name: 'copies of submissions',
  lane: 'real',
  needs: ['delivered'],
  async run(stage) {
    // Its retry comes after a second or two, in which the others take place.
    const retried = await stage.task('dup.retry', { fault: answerLost })
    await stage.delivered(await stage.task('dup.same-bytes', { fault: copiedAfter(SOON_MS) }))
    await stage.delivered(await stage.task('dup.at-once', { fault: copiedAtOnce }))
    await redelivered(stage)
    await replayed(stage)
    await forgedFirst(stage)
    await sameWords(stage)
    await stage.answered(retried, SUBMITTED, 2)
    await stage.delivered(retried)
  },
}

async function redelivered(stage: Stage): Promise<void> {
  const task = await stage.task('dup.redelivered')
  if (!(await stage.delivered(task))) return
  const { deliveryId } = await stage.webhook(task, SUBMITTED)
  await stage.lane.builder('redeliver', { id: stage.agent.id, deliveryId: deliveryId! })
  await stage.answered(task, SUBMITTED, 2)
}

/** A stranger who has seen a webhook can give it another id, and a second signature: some agents verify one of the two, and remember the other. */

async function replayed(stage: Stage): Promise<void> {
  const { task, webhook } = await stage.taken('dup.replayed')
  const sent = { change: null, genuine: true }
  await stage.lane.webhooks.send(webhook, sent, task.label)
  if (!(await stage.delivered(task))) return
  const another = ['X-Service-Signature', '0'.repeat(64)] as const
  const replays: Readonly<Record<string, (own: HeaderLines) => HeaderLines>> = {
    'another id': own => own,
    'another id, and a signature before its own': own => [another, ...own],
    'another id, and a signature behind its own': own => [...own, another],
  }
  for (const [at, [change, changed]] of Object.entries(replays).entries()) {
    const own: HeaderLines = Object.entries(webhook.headers).map(([name, value]) =>
      /delivery-id$|^webhook-id$/i.test(name) ? [name, `${value}${at}`] : [name, value],
    )
    const how = { headers: changed(own) }
    await untilHeard(stage, () => stage.lane.webhooks.sendByHand(webhook, { change, genuine: false }, task.label, how))
  }
  await stage.delivered(await stage.task('dup.replayed/twin'))
}

async function forgedFirst(stage: Stage): Promise<void> {
  const forgery = forgeries.find(({ name }) => name === 'wrong-secret')!
  const task = await stage.task('dup.forged-does-not-burn', { fault: precededBy(forgery), decisionIsAll: true })
  await stage.accepted(task)
  await stage.accepted(await stage.task('dup.forged-does-not-burn/twin', { decisionIsAll: true }))
}

async function sameWords(stage: Stage): Promise<void> {
  const first = await stage.task('dup.not-by-content/first')
  await stage.delivered(first)
  const { canary, price } = first
  await stage.delivered(await stage.task('dup.not-by-content/second', { canary, price }))
}

const copiesOverRestart: Scenario = {
  name: 'a copy after a restart',
  lane: 'real',
  needs: ['start', 'delivered'],
  when: 'alone',
  async run(stage) {
    const task = await stage.task('dup.after-restart')
    if (!(await stage.delivered(task))) return
    await toldOfIt(stage, task)
    await stage.agent.restart()
    await stage.resend(task, SUBMITTED)
    // What it does about the copy it does before this.
    await stage.delivered(await stage.task('dup.after-restart/twin'))
  },
}

/** Who is ended before it has heard that its delivery counted repeats it afterwards, and rightly so. */
async function toldOfIt(stage: Stage, task: StageTask): Promise<void> {
  await stage.webhook(task, SUBMITTED)
  const told = () => stage.history.callbacksOf(task.id).some(({ action }) => action === 'deliver')
  await stage.until(told, stage.patience.limit('answer'))
  await pause(NOTED_MS)
}

export const copyScenarios: readonly Scenario[] = [copies, copiesOverRestart]
