/** What takes days: the clock of the marketplace is moved, and everything that falls due on the way happens. */
import { durations, retryScheduleMs } from '../../api/limits.ts'
import { answerLost, webhookLost } from '../marketplaces/webhook-faults.ts'
import { approve, dispute, revise, say } from './buying.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

const HOUR = durations.hourMs
const MINUTE = HOUR / 60
/** The first retry comes before. */
const SECONDS_MS = 10_000

const days: Scenario = {
  name: 'days',
  lane: 'clock',
  needs: ['delivered'],
  async run(stage) {
    await heldUp(stage)
    const late = await stage.task('dup.late', { fault: answerLost })
    // All but the last answer. The moves of the clock below must reach the whole schedule.
    for (let lost = 1; lost < retryScheduleMs.length; lost++) stage.fault(late, 'task.submitted', answerLost)
    const [cleared, disputed] = [
      await approved(stage, 'life.approved'),
      await approved(stage, 'life.dispute-last-minute'),
    ]
    const approvedAt = stage.lane.world.now()
    const [accepted, revised] = [
      await delivered(stage, 'life.day-later/approved'),
      await delivered(stage, 'life.day-later/revised'),
    ]
    await stage.lane.advance(20 * HOUR)
    if (accepted) await approve(stage, accepted)
    await stage.lane.advance(10 * HOUR)
    if (revised && stage.declared.revisions) {
      await revise(stage, revised, 'I have slept on it: please say it in other words.')
      await stage.delivered(revised, 2)
    }
    // A busy agent is asked again, which takes time of this clock.
    const lastMoment = approvedAt + durations.disputeWindowMs - 2 * MINUTE
    await stage.lane.advance(Math.max(0, lastMoment - stage.lane.world.now()))
    if (disputed) await disputedLate(stage, disputed)
    if (cleared) await stage.lane.advance(5 * MINUTE)
    await deactivated(stage)
  },
}

async function heldUp(stage: Stage): Promise<void> {
  const task = await stage.task('order.held-up', { fault: webhookLost })
  await task.buyer.act('sendMessage', { id: task.id, content: 'I forgot to say that there is no hurry.' })
  await stage.lane.advance(SECONDS_MS)
  await stage.delivered(task)
}

async function delivered(stage: Stage, label: string): Promise<StageTask | null> {
  const task = await stage.task(label)
  return (await stage.delivered(task)) ? task : null
}

async function approved(stage: Stage, label: string): Promise<StageTask | null> {
  const task = await delivered(stage, label)
  if (task) await approve(stage, task)
  return task
}

async function disputedLate(stage: Stage, task: StageTask): Promise<void> {
  await dispute(stage, task)
  await stage.answered(task, 'task.disputed')
  await stage.lane.admin('resolveTask', { id: task.id, outcome: 'refund' })
}

/** Its open tasks go on. */
async function deactivated(stage: Stage): Promise<void> {
  const task = await delivered(stage, 'life.deactivated')
  if (!task) return
  const { id } = stage.agent
  await stage.lane.builder('deactivateAgent', { id })
  try {
    if (stage.declared.revisions) {
      await revise(stage, task, 'Please say it in other words.')
      await stage.delivered(task, 2)
    } else {
      await say(stage, task, 'Thank you. Was that all?')
    }
  } finally {
    await stage.lane.list()
    await stage.lane.builder('reactivateAgent', { id })
  }
}

export const dayScenarios: readonly Scenario[] = [days]
