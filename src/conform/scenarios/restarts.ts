/** The agent ends, orderly and during its work, and comes back. */
import { answeredWhen } from '../../sim/callbacks/faults.ts'
import { pause } from '../history/machine-time.ts'
import { latch } from './latch.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

/**
 * Between the half of a body and SIGTERM, and SIGTERM and the rest. On a busy machine an agent may not have begun to read by then: what got no
 * answer is sent once more, with longer moments.
 */
const MOMENTS_MS = [50, 1_000]
const UNANSWERED_MS = 1_500
const RETRY_MS = 3_000

const ended: Scenario = {
  name: 'ended in order',
  lane: 'real',
  when: 'alone',
  needs: ['start'],
  async run(stage) {
    const { webhook } = await stage.taken('rel.sigterm')
    for (const ms of MOMENTS_MS) {
      const stopping = pause(ms).then(() => ({ stopped: stage.agent.stop() }))
      const answer = await stage.lane.webhooks.sendByHand(webhook, { change: null, genuine: true }, 'rel.sigterm', {
        pieces: 2,
        between: stopping.then(() => pause(ms)),
      })
      await (await stopping).stopped
      await comesBack(stage)
      if (answer !== null) return
    }
  },
}

const killed: Scenario = {
  name: 'killed',
  lane: 'real',
  when: 'alone',
  needs: ['start', 'delivered'],
  async run(stage) {
    await killInWork(stage, 'rel.killed-in-work')
    // It is away when this one is sent first.
    const missed = await stage.task('rel.down-and-up')
    await stage.answered(missed, 'task.submitted')
    await comesBack(stage)
    // Nothing is sent again of what it has answered: to the marketplace that is delivered.
    const begun = stage.history.tasks('rel.killed-in-work').map(({ taskId: id }) => ({ id }))
    await Promise.all([...begun, missed].map(task => worked(stage, task)))
  },
}

/** Kills it when it has answered 200 and accepted, and waits to hear that its accept counted: there is work to do, and nobody else knows of it. */
async function killInWork(stage: Stage, label: string): Promise<void> {
  const { opened, open } = latch()
  const task = await stage.task(label, { callbackFaults: { accept: answeredWhen(opened) } })
  try {
    if (!(await stage.accepted(task))) return
    // Some answer only when the work is done. They get the webhook again.
    await stage.until(() => stage.history.webhooksOf(task.id).length > 0, UNANSWERED_MS)
  } finally {
    await stage.agent.kill()
    open()
  }
}

async function comesBack(stage: Stage): Promise<void> {
  await stage.agent.open()
}

/** Its pace is not judged by a time in which it was away. */
async function worked(stage: Stage, { id }: Pick<StageTask, 'id'>): Promise<void> {
  const ends = () => stage.history.stepsOf(id).some(({ trigger }) => trigger === 'deliver' || trigger === 'reject')
  await stage.until(ends, stage.patience.limit('work') + RETRY_MS)
}

export const restarts: readonly Scenario[] = [ended, killed]
