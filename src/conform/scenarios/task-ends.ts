/** How tasks end: cancelled while the agent accepts, disputed, approved. */
import { onItsWayUntil } from '../../sim/callbacks/faults.ts'
import { overtaken } from '../marketplaces/webhook-faults.ts'
import { approve, dispute, say } from './buying.ts'
import { latch } from './latch.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

/** Longer nobody waits for an agent that answers a webhook only when its callback was answered. */
const AT_MOST_MS = 1_500
/** When the buyer cancels: at once, and after up to so long. */
const CANCELS_MS = [0, 0, 10, 25, 50]

/** Cancels a task while the agent's accept is on its way. */
async function cancelledMeanwhile(stage: Stage, label: string): Promise<void> {
  const { opened, open } = latch()
  let isAccepting = false
  const begins = () => {
    isAccepting = true
  }
  const accept = onItsWayUntil(opened, begins)
  const task = await stage.task(label, { callbackFaults: { accept } })
  try {
    const isRejected = () => stage.history.stepsOf(task.id).some(({ trigger }) => trigger === 'reject')
    await stage.until(() => isAccepting || isRejected(), stage.patience.limit('answer'))
    if (!isAccepting) return
    await task.buyer.act('cancelTask', { id: task.id })
    await stage.until(() => stage.history.webhooksOf(task.id).some(isCancelled), AT_MOST_MS)
  } finally {
    open()
  }
  await stage.answered(task, 'task.cancelled')
}

const isCancelled = ({ event }: { event: string | null }) => event === 'task.cancelled'

const cancellations: Scenario = {
  name: 'cancellations',
  lane: 'real',
  needs: ['accepted'],
  async run(stage) {
    await cancelledMeanwhile(stage, 'life.cancelled')
    for (const ms of CANCELS_MS) await race(stage, ms)
    await cancelledFirst(stage)
  },
}

/** Who comes later is refused, the agent or the buyer. */
async function race(stage: Stage, ms: number): Promise<void> {
  const task = await stage.task('life.cancel-race')
  if (ms > 0) await stage.pause(stage.chance() * ms)
  const won = await task.buyer.act('cancelTask', { id: task.id }).then(
    () => true,
    () => false,
  )
  if (won) await stage.answered(task, 'task.cancelled')
}

async function cancelledFirst(stage: Stage): Promise<void> {
  const { opened, open } = latch()
  const task = await stage.task('order.cancelled-first', { fault: overtaken(opened) })
  await task.buyer.act('cancelTask', { id: task.id })
  await stage.answered(task, 'task.cancelled')
  open()
  await stage.answered(task, 'task.submitted')
}

const ends: Scenario = {
  name: 'ends',
  lane: 'real',
  needs: ['delivered'],
  async run(stage) {
    await resolved(stage, 'life.dispute-refund', 'refund')
    await resolved(stage, 'life.dispute-release/release', 'release')
    await resolved(stage, 'life.dispute-release/split', 'split')
    const late = await approved(stage, 'order.late-copy-of-finished')
    if (late) await stage.resend(late, 'task.submitted')
    const written = await approved(stage, 'order.message-after-end')
    if (written) await say(stage, written, 'Thank you. By the way, do you do the like for weddings?')
  },
}

async function resolved(stage: Stage, label: string, outcome: 'refund' | 'release' | 'split'): Promise<void> {
  const task = await stage.task(label)
  if (!(await stage.delivered(task))) return
  await dispute(stage, task)
  await stage.answered(task, 'task.disputed')
  const refundAmount = outcome === 'split' ? { refundAmount: Math.floor(task.price / 2) } : {}
  await stage.lane.admin('resolveTask', { id: task.id, outcome, ...refundAmount })
}

async function approved(stage: Stage, label: string): Promise<StageTask | null> {
  const task = await stage.task(label)
  if (!(await stage.delivered(task))) return null
  await approve(stage, task)
  await stage.answered(task, 'task.approved')
  return task
}

export const endScenarios: readonly Scenario[] = [cancellations, ends]
