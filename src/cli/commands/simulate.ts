/** `marketplace simulate buyer`: plays one buyer with an agent to the end. */
import { limits } from '../../api/limits.ts'
import { UsageError } from '../../config.ts'
import { type BuyerPlan, outcomes, PlanError, playBuyer } from '../../sim/buyer.ts'
import { agentCalled } from '../agent-called.ts'
import { type Connection, type ConnectionFlags, connected } from '../connection.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { numberGiven } from '../json-input.ts'
import { priceGiven } from '../money.ts'
import { nextSteps, sameWay } from '../next-steps.ts'
import { showProgress } from '../progress.ts'
import type { Person } from '../target.ts'
import { taskFeed } from '../task-feed.ts'
import { money, plain } from '../ui.ts'

export interface BuyerFlags extends ConnectionFlags {
  outcome?: string
  revisions?: string
  title?: string
  description?: string
  requirements?: string
  price?: string
  rating?: string
  timeout?: string
}

export async function buyer(agent: string, flags: BuyerFlags): Promise<number> {
  const plan = planOf(flags)
  return connected(flags, 'buyer', connection => play(connection, agent, plan))
}

async function play(connection: Connection, agent: string, plan: BuyerPlan): Promise<number> {
  const { client, out, notes, json, found, whenInterrupted } = connection
  const as = (person: Person) => sameWay(found, person)
  const progress = await showProgress(connection)
  try {
    const record = await agentCalled(connection, agent)
    const task = await playBuyer(client, record, plan, {
      onWait: progress.wait,
      follow: id =>
        taskFeed(found, id, why => {
          progress.clear()
          if (json) out.json({ type: 'trouble', message: why })
          else notes.line(`${notes.colour.yellow('!')} ${plain(why)}`)
        }),
      onStep({ step, text, task }) {
        progress.clear()
        whenInterrupted(`Interrupted. Task ${task.id} stays as it is: ${nextSteps.showTask(task.id, as('buyer'))}`)
        if (json) out.json({ type: 'step', step, text, taskId: task.id, status: task.status })
        else out.line(`${out.colour.green('✔')} ${plain(text)}`)
      },
    })
    progress.clear()
    const { wallet } = await client.getWallet()
    if (json) out.json({ type: 'end', success: true, data: { task, wallet } })
    else {
      const state = task.dispute?.status === 'open' ? `${task.status}, in dispute` : task.status
      out.line(`Task ${task.id} is ${state}. Wallet ${money(wallet.balance)}, held ${money(wallet.heldBalance)}.`)
      if (task.dispute) notes.line(`An administrator decides it: ${nextSteps.resolveTask(task.id, as('admin'))}`)
    }
    return exitCodes.ok
  } catch (error) {
    progress.clear()
    if (!(error instanceof PlanError)) throw error
    throw new Fault(error.message, { code: exitCodes.failed, hint: adviceOn(error, as) })
  }
}

function adviceOn({ reason, task }: PlanError, as: (person: Person) => string): string {
  const { id, agent, status } = task
  if (reason === 'rejected')
    return 'Its builder knows why; the agent may look at the title, the description or the price.'
  const inHand = `The task is still there: ${nextSteps.showTask(id, as('buyer'))}`
  if (reason === 'fast') return `A task can be cancelled until it is accepted. ${inHand}`
  return [
    `Test the agent: ${nextSteps.testConnection(agent.slug, as('builder'))}`,
    `What its webhook answered: ${nextSteps.deliveries(agent.slug, as('builder'))}`,
    status === 'pending' ? `Take the money back: ${nextSteps.cancelTask(id, as('buyer'))}` : inHand,
  ].join('\n')
}

const { task, review } = limits
const LONGEST_TIMEOUT_S = 86_400

function planOf(flags: BuyerFlags): BuyerPlan {
  const { outcome = 'approve', revisions = '0', rating = '5', timeout = '60', price, requirements } = flags
  const known = outcomes.find(name => name === outcome)
  if (!known) throw new UsageError(`--outcome takes ${outcomes.join(' or ')}, not ${outcome}.`)
  if (known === 'cancel' && flags.revisions !== undefined) {
    throw new UsageError('--outcome cancel ends before anything is delivered, so it takes no --revisions.')
  }
  return {
    outcome: known,
    title: textOf('--title', flags.title ?? 'A task from a simulated buyer', task.title),
    description: textOf(
      '--description',
      flags.description ?? 'Please do what you do best: a simulated buyer wants to see how you work.',
      task.description,
    ),
    requirements: requirements === undefined ? undefined : textOf('--requirements', requirements, task.requirements),
    price: price === undefined ? undefined : priceGiven('--price', price),
    revisions: numberGiven('--revisions', revisions, limits.agent.maxRevisions),
    rating: numberGiven('--rating', rating, review.rating),
    timeoutMs: numberGiven('--timeout', timeout, [1, LONGEST_TIMEOUT_S]) * 1000,
  }
}

function textOf(flag: string, text: string, [min, max]: readonly [number, number]): string {
  if (text.length >= min && text.length <= max) return text
  throw new UsageError(`${flag} takes ${min} to ${max} characters; this has ${text.length}.`)
}
