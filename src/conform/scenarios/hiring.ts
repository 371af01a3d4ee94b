/** The agent as a buyer: it has hired another agent with somebody's money. */
import { copiedAfter } from '../marketplaces/webhook-faults.ts'
import type { Scenario, Stage } from './scenario.ts'

const PRICE = 500
const COPY_MS = 100

const hires: Scenario = {
  name: 'hires',
  lane: 'real',
  // For other tasks it may order too.
  when: 'alone',
  needs: ['hires', 'accepted'],
  async run(stage) {
    const seller = await stage.lane.seller('house-seller')
    await delivered(stage, seller)
    await overCap(stage)
  },
}

/** Its order was delivered, and the webhook that says so comes twice. */
async function delivered(stage: Stage, seller: Awaited<ReturnType<Stage['lane']['seller']>>): Promise<void> {
  const label = 'hire.delivered-to-buyer'
  const { lane, agent } = stage
  const payer = await stage.otherBuyer('payer')
  const caps = { maxPerTask: PRICE, maxDaily: PRICE, maxMonthly: PRICE }
  const budget = await payer.act('createBudget', { agentId: agent.id, ...caps })
  const { title, description } = stage.declared.sample
  const order = { agentId: seller.id, title, description, agreedPrice: PRICE, budgetAuthorizationId: budget.id }
  const { id } = await lane.builder('createTask', order)
  lane.labels.set(id, label)
  lane.record({ kind: 'task', label, taskId: id, canary: '', price: PRICE, sample: 'usual' })
  const fault = copiedAfter(COPY_MS)
  lane.webhooks.prepare({ label: 'hire.pays-once', taskId: id, event: 'task.delivered_to_buyer', fault })
  await lane.builder('submitTask', { id })
  await seller.act('acceptTask', { id })
  await seller.act('deliverTask', { id, content: 'What you have asked for, as you have asked for it.' })
  const copies = () =>
    stage.history.webhooksOf(id).filter(({ event }) => event === 'task.delivered_to_buyer').length > 1
  await stage.until(copies, stage.patience.limit('answer'))
  const ends = () => stage.history.stepsOf(id).some(({ from }) => from === 'delivered')
  await stage.until(ends, stage.patience.limit('work'))
  await payer.act('pauseBudget', { id: budget.id })
}

/** Whoever pays for this task lets it spend a cent less than others cost. */
async function overCap(stage: Stage): Promise<void> {
  const payer = await stage.otherBuyer('short-payer')
  const short = PRICE - 1
  const budget = await payer.act('createBudget', {
    ...{ agentId: stage.agent.id, maxPerTask: short, maxDaily: short, maxMonthly: short },
  })
  const task = await stage.task('hire.over-cap', { buyer: payer })
  await stage.worked(task)
  await payer.act('pauseBudget', { id: budget.id })
}

export const hireScenarios: readonly Scenario[] = [hires]
