/** Every event that the marketplace sends, as it sends it. */
import { withheld } from '../marketplaces/webhook-faults.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

export const everyEvent: Scenario = {
  name: 'every event',
  lane: 'real',
  async run(stage) {
    await Promise.all([approved(stage), disputed(stage), cancelled(stage)])
  },
}

async function approved(stage: Stage): Promise<void> {
  const task = await stage.task('http.ack/approved')
  await stage.sent(task)
  if (!(await stage.accepted(task))) return
  await happens(stage, task, 'task.message', { name: 'sendMessage', content: 'Thank you for taking this on so soon.' })
  if (stage.declared.work === 'manual' || !(await stage.delivered(task))) return
  if (stage.declared.revisions) {
    await happens(stage, task, 'task.revision_requested', {
      name: 'requestRevision',
      reason: 'A little shorter, please.',
    })
    if (!(await stage.delivered(task, 2))) return
  }
  await happens(stage, task, 'task.approved', { name: 'approveTask' })
}

async function disputed(stage: Stage): Promise<void> {
  const task = await stage.task('http.ack/disputed')
  if (!(await stage.accepted(task))) return
  if (stage.declared.work !== 'manual') await stage.delivered(task)
  await happens(stage, task, 'task.disputed', { name: 'disputeTask', reason: 'This is not what I have asked for.' })
}

/** The agent hears of this one only when it is over: if it knew it, it could accept first. */
async function cancelled(stage: Stage): Promise<void> {
  const task = await stage.task('http.ack/cancelled', { fault: withheld })
  await happens(stage, task, 'task.cancelled', { name: 'cancelTask' })
}

type Step =
  | { readonly name: 'approveTask' | 'cancelTask' }
  | { readonly name: 'requestRevision' | 'disputeTask'; readonly reason: string }
  | { readonly name: 'sendMessage'; readonly content: string }

async function happens(stage: Stage, task: StageTask, event: string, { name, ...words }: Step): Promise<void> {
  const { id, buyer } = task
  await buyer.act(name, { id, ...words } as never)
  await stage.answered(task, event)
}

/** Makes a task that was cancelled before the agent has heard of it. The scenario gets that webhook in its hands. */
export async function takenCancellation(stage: Stage, label: string) {
  const task = await stage.task(label, { fault: withheld })
  return stage.takenOf(task, 'task.cancelled', 'cancelTask')
}
