/** `marketplace simulate buyer`: plays one buyer with an agent to the end. */
import { setTimeout } from 'node:timers/promises'
import { type BuyerPlan, PlanError, playBuyer } from '../../sim/buyers/buyer.ts'
import { type Connection, connected } from '../connection/connection.ts'
import { storedDev } from '../connection/dev-folder.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import type { Person } from '../connection/target.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { START_MS, taskFeed } from '../log/task-feed.ts'
import { showProgress } from '../output/progress.ts'
import { money, plain } from '../output/ui.ts'
import { adviceOn, type BuyerFlags, planOf, topUp } from '../simulation/buyer-plan.ts'

export type { BuyerFlags } from '../simulation/buyer-plan.ts'

export async function buyer(agent: string, flags: BuyerFlags): Promise<number> {
  const plan = planOf(flags)
  return connected(flags, 'buyer', connection => play(connection, agent, plan))
}

const LOOK_MS = 200

/** Whoever starts an agent hires it at once, and dev needs a moment to list it. */
async function whenListed(connection: Connection, agent: string, onWait: (text: string) => void) {
  const agents = connection.found.isDev ? (storedDev()?.agents ?? []) : []
  const isForwarded = agents.some(({ id, slug, forwardTo }) => forwardTo && [id, slug].includes(agent))
  for (let left = isForwarded ? START_MS / LOOK_MS : 0; ; left--) {
    try {
      return await agentCalled(connection, agent)
    } catch (error) {
      if (!(error instanceof Fault) || error.details.status !== 404 || left === 0) throw error
      onWait(`${plain(agent)} is not listed yet: dev tests it as soon as it is up`)
      await setTimeout(LOOK_MS)
    }
  }
}

async function play(connection: Connection, agent: string, plan: BuyerPlan): Promise<number> {
  const { client, out, notes, json, found, whenInterrupted } = connection
  const as = (person: Person) => flagsToReach(found, person)
  const progress = await showProgress(connection)
  try {
    const record = await whenListed(connection, agent, progress.wait)
    const deposited = await topUp(connection, plan.price ?? record.basePrice)
    if (deposited > 0) notes.line(`Deposited ${money(deposited)} for the buyer: in dev it is play money.`)
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
    throw new Fault(error.message, { code: exitCodes.failed, hint: await adviceOn(error, client, as) })
  }
}
