/** The agent ends, in order and in the midst of its work, and comes back. */
import { answeredAfter } from '../../sim/callback-faults.ts'
import { pause } from '../time.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

/** Between the half of a body and SIGTERM, and SIGTERM and the rest. */
const MOMENT_MS = 50
const KILL_AFTER_MS = 200
const RETRY_MS = 3_000

const ended: Scenario = {
  name: 'ended in order',
  lane: 'real',
  when: 'alone',
  needs: ['start'],
  async run(stage) {
    const { webhook } = await stage.taken('rel.sigterm')
    const stopping = pause(MOMENT_MS).then(() => ({ stopped: stage.agent.stop() }))
    const sent = stage.lane.webhooks.sendByHand(webhook, { change: null, genuine: true }, 'rel.sigterm', {
      pieces: 2,
      between: stopping.then(() => pause(MOMENT_MS)),
    })
    await sent
    await (await stopping).stopped
    await comesBack(stage)
  },
}

const killed: Scenario = {
  name: 'killed',
  lane: 'real',
  when: 'alone',
  needs: ['start', 'delivered'],
  async run(stage) {
    const late = { accept: answeredAfter(KILL_AFTER_MS) }
    const task = await stage.task('rel.killed-in-work', { callbackFaults: late })
    const took = await stage.accepted(task)
    await stage.agent.kill()
    // It is away when this one is sent first.
    const missed = await stage.task('rel.down-and-up')
    await stage.answered(missed, 'task.submitted')
    await comesBack(stage)
    if (took) await redeliver(stage, task)
    await Promise.all([task, missed].map(one => worked(stage, one)))
  },
}

async function comesBack(stage: Stage): Promise<void> {
  await stage.agent.open()
}

/** As its builder does who sees that nothing goes on. */
async function redeliver(stage: Stage, task: StageTask): Promise<void> {
  const { deliveryId } = await stage.webhook(task, 'task.submitted')
  await stage.lane.builder('redeliver', { id: stage.agent.id, deliveryId: deliveryId! })
}

/** Its pace is not judged by a time in which it was away. */
async function worked(stage: Stage, { id }: StageTask): Promise<void> {
  const ends = () => stage.history.stepsOf(id).some(({ trigger }) => trigger === 'deliver' || trigger === 'reject')
  await stage.until(ends, stage.patience.limit('work') + RETRY_MS)
}

export const restarts: readonly Scenario[] = [ended, killed]
