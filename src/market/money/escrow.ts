/** Moves a task's money: into the hold, and out of it once. Source: I-escrow, A-32, A-33. */
import type { Money } from '../../api/flow.ts'
import { durations } from '../../api/limits.ts'
import {
  endClearing,
  reverseSettlement,
  type SettlementRow,
  setReleaseStatus,
  settlementStep,
} from '../../store/tables/money/transfers.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import { ofAgent } from '../../store/tables/tasks/work-sums.ts'
import type { Ctx } from '../market.ts'
import { account, post, postLeg } from './ledger.ts'

/** Moves the money as an edge of the task table says. `part` is the refunded part of a split, in cents. */
export async function moveMoney(ctx: Ctx, task: TaskRow, money: Money, part = 0): Promise<void> {
  const price = task.agreedPrice
  switch (money) {
    case 'hold':
      return hold(ctx, task)
    case 'refund':
      await settle(ctx, task, { released: 0, refunded: price, status: 'final', clearsAt: null })
      return refund(ctx, task, price, account.held(task.buyerId))
    case 'release': {
      const clearsAt = ctx.world.now() + durations.clearingMs
      await settle(ctx, task, { released: price, refunded: 0, status: 'clearing', clearsAt })
      return release(ctx, task, price, 'clearing')
    }
    case 'pay':
      await settle(ctx, task, { released: price, refunded: 0, status: 'final', clearsAt: null })
      return release(ctx, task, price, 'available')
    case 'split':
      await settle(ctx, task, { released: price - part, refunded: part, status: 'final', clearsAt: null })
      await release(ctx, task, price - part, 'available')
      return refund(ctx, task, part, account.held(task.buyerId))
    case 'reverse':
      return reverse(ctx, task, price)
    case 'reverse_part':
      return reverse(ctx, task, part)
    case 'clear':
      await clear(ctx, task.id, 1)
  }
}

/** The cents that go back to the buyer. */
export function refundedBy(money: Money, price: number, part: number): number {
  if (money === 'refund' || money === 'reverse') return price
  return money === 'split' || money === 'reverse_part' ? part : 0
}

async function hold(ctx: Ctx, task: TaskRow) {
  await post(ctx, {
    kind: 'hold',
    payerId: task.buyerId,
    payeeId: task.buyerId,
    amount: task.agreedPrice,
    taskId: task.id,
    status: 'completed',
    description: `Held for “${task.title}”`,
    from: account.available(task.buyerId),
    to: account.held(task.buyerId),
  })
}

/** Writes how the hold ends. The task's id is the primary key, so the database refuses a second settlement. */
async function settle(
  ctx: Ctx,
  task: TaskRow,
  end: Pick<SettlementRow, 'released' | 'refunded' | 'status' | 'clearsAt'>,
): Promise<void> {
  const { id: taskId, builderId } = task
  const clearing = end.status === 'clearing' ? end.released : 0
  await ctx.tx.runAll([
    settlementStep({ ...end, taskId, builderId, createdAt: ctx.world.now() }),
    ...ofAgent(task, { earned: end.released, clearing }),
  ])
}

async function release(ctx: Ctx, task: TaskRow, amount: number, into: 'clearing' | 'available') {
  await post(ctx, {
    kind: 'release',
    payerId: task.buyerId,
    payeeId: task.builderId,
    amount,
    taskId: task.id,
    status: into === 'clearing' ? 'clearing' : 'completed',
    description: `Payment for “${task.title}”`,
    from: account.held(task.buyerId),
    to: account[into](task.builderId),
  })
}

async function refund(ctx: Ctx, task: TaskRow, amount: number, from: string) {
  await post(ctx, {
    kind: 'refund',
    payerId: null,
    payeeId: task.buyerId,
    amount,
    taskId: task.id,
    status: 'completed',
    description: `Refund for “${task.title}”`,
    from,
    to: account.available(task.buyerId),
  })
}

/** Refunds `amount` from a payment that is still clearing. The rest becomes spendable for the builder at once. */
async function reverse(ctx: Ctx, task: TaskRow, amount: number) {
  const payment = await endClearing(ctx.tx, task.id, 1)
  if (!payment || (await reverseSettlement(ctx.tx, task.id, amount)) === 0) throw new Error(`${task.id} does not clear`)
  await ctx.tx.runAll(ofAgent(task, { earned: -amount, clearing: -payment.released }))
  await refund(ctx, task, amount, account.clearing(task.builderId))
  const rest = payment.released - amount
  if (rest > 0) await cleared(ctx, task.id, task.builderId, rest)
  await setReleaseStatus(ctx.tx, task.id, rest > 0 ? 'completed' : 'reversed')
}

/**
 * Makes a clearing payment spendable. Returns false if it does not clear (any more), or is disputed without
 * `despiteDispute`.
 */
export async function clear(ctx: Ctx, taskId: string, despiteDispute: 0 | 1 = 0): Promise<boolean> {
  await ctx.tx.lock('tasks', taskId)
  const payment = await endClearing(ctx.tx, taskId, despiteDispute)
  if (!payment) return false
  const { agentId, builderId, released } = payment
  await ctx.tx.runAll(ofAgent({ id: taskId, agentId }, { clearing: -released }))
  await cleared(ctx, taskId, builderId, released)
  await setReleaseStatus(ctx.tx, taskId, 'completed')
  ctx.tx.afterCommit(() =>
    ctx.log({
      type: 'money',
      kind: 'clearing',
      amount: released,
      from: account.clearing(builderId),
      to: account.available(builderId),
      taskId,
    }),
  )
  return true
}

/** Once for each task: the id of the leg says so to the database. */
const cleared = (ctx: Ctx, taskId: string, builderId: string, amount: number) =>
  postLeg(ctx, {
    id: `${taskId}_cleared`,
    kind: 'cleared',
    from: account.clearing(builderId),
    to: account.available(builderId),
    amount,
  })
