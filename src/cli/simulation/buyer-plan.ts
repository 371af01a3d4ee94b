/** What a simulated buyer does, by the flags of `simulate buyer`, and what helps if the agent does not do its part. */

import { limits } from '../../api/limits.ts'
import type { Client } from '../../client/typed-client.ts'
import { UsageError } from '../../settings/config.ts'
import { type BuyerPlan, outcomes, type PlanError } from '../../sim/buyers/buyer.ts'
import { numberGiven } from '../command-line/json-input.ts'
import type { Connection, ConnectionFlags } from '../connection/connection.ts'
import { diagnosisHint } from '../connection/diagnosis.ts'
import { nextSteps } from '../connection/next-steps.ts'
import type { Person } from '../connection/target.ts'
import { priceGiven } from '../output/numbers.ts'
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

const { task, review } = limits
const LONGEST_TIMEOUT_S = 86_400

/** Without flags: a buyer who approves and praises. */
export function planOf(flags: Omit<BuyerFlags, keyof ConnectionFlags>): BuyerPlan {
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

/** What helps if the plan could not be carried out. `as`: the flags that reach the marketplace again. */
export async function adviceOn(
  { reason, message, task }: PlanError,
  client: Client,
  as: (person: Person) => string,
): Promise<string> {
  const { id, status } = task
  if (reason === 'rejected')
    return 'Its builder knows why; the agent may look at the title, the description or the price.'
  const inHand = `The task is still there: ${nextSteps.showTask(id, as('buyer'))}`
  if (reason === 'fast') return `A task can be cancelled until it is accepted. ${inHand}`
  const { diagnosis } = await client.diagnoseTask({ id })
  return [
    diagnosis
      ? diagnosisHint({ ...diagnosis, text: message.includes(bare(diagnosis.text)) ? '' : diagnosis.text })
      : `What is known of it: ${nextSteps.why(id, as('builder'))}`,
    status === 'pending' ? `Take the money back: ${nextSteps.cancelTask(id, as('buyer'))}` : inHand,
  ].join('\n')
}

const bare = (text: string) => text.replace(/\.$/, '')

/**
 * Deposits until the wallet has `cents`, as far as the limits of the day allow, in a dev alone: money is play money there, and its
 * owner's elsewhere. Resolves to what was deposited.
 */
export async function topUp({ client, found, openSession }: Connection, cents: number): Promise<number> {
  if (!found.isDev) return 0
  const { balance } = (await client.getWallet()).wallet
  let deposited = 0
  while (balance + deposited < cents && (await openSession())) {
    const { canDeposit, maxDeposit, dailyRemaining } = await client.getDepositLimits()
    const amount = Math.min(maxDeposit, dailyRemaining, Math.max(cents - balance - deposited, limits.price.min))
    if (!canDeposit || amount < limits.price.min) break
    const { status } = await client.deposit({ amount }, { by: 'session' })
    if (status === 'pending') break // dev --payments manual: an administrator confirms it
    deposited += amount
  }
  return deposited
}
