/** An agent that a marketplace lists: whose it is, and what may be spent on it. */

import type { AgentRecord, OwnAgentRecord } from '../../api/records.ts'
import { MarketplaceError } from '../../client/typed-client.ts'
import type { Declared } from '../../conform/agent/declared.ts'
import type { History, Purchases, Recorded } from '../../conform/history/history.ts'
import type { Check } from '../../conform/judging/check.ts'
import { chosenAmong, those } from '../../conform/judging/selection.ts'
import { outsideChecks, scenesFor } from '../../conform/listed-agent/checks.ts'
import type { Wait } from '../../conform/listed-agent/retries.ts'
import { UsageError } from '../../settings/config.ts'
import type { Connection, ConnectionFlags } from '../connection/connection.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { centsIn } from '../output/numbers.ts'
import { money, plain, type Ui } from '../output/ui.ts'
import { topUp } from '../simulation/buyer-plan.ts'

export interface ListedFlags extends Omit<ConnectionFlags, 'json'> {
  agent?: string
  spend?: string
}

/** What belongs to a run that plays a marketplace, what to one that looks at an agent from outside, and what to no run. */
export function refuseMixed(flags: ListedFlags & Readonly<Record<string, unknown>>): void {
  const { agent } = flags
  const other = agent === undefined ? onlyListed : neverListed
  const given = Object.entries(other).find(([name]) => flags[name] !== undefined)
  if (!given) {
    refuseToPlay(flags)
    return
  }
  throw new UsageError(
    agent === undefined ? `${given[1]} goes with --agent, which names an agent that a marketplace lists.` : given[1],
  )
}

/** A pipeline with `--history` would stay as it was, whatever becomes of the agent. */
function refuseToPlay(flags: Readonly<Record<string, unknown>>): void {
  const given = flags.history !== undefined && ofRuns.find(name => flags[name] !== undefined)
  if (given)
    throw new UsageError(`--history judges what was kept, and plays nothing: leave out --${given}, or --history.`)
}

const ofRuns = ['start', 'url', 'seed', 'repeat', 'bail', 'timeout']

const onlyListed = { spend: '--spend', profile: '--profile', key: '--key', as: '--as' }

const neverListed = {
  start: '--start plays a marketplace to an agent, and --agent looks at one that is listed: give one of them.',
  secret: '--agent needs no secret: the marketplace signs.',
  secretFile: '--agent needs no secret: the marketplace signs.',
  history: '--history judges what was kept, without the agent: leave out --agent.',
  requirements:
    '--requirements asks that each must is tested, and with --agent most can’t be seen: use --start or --url.',
  writeBaseline: '--write-baseline would excuse what --agent can’t see: write it with --start or --url.',
  repeat: '--repeat would buy again each time: leave it out with --agent.',
}

interface Look {
  readonly declared: Declared
  readonly chosen: readonly Check[]
  readonly seed: number
  readonly listen: (event: Recorded, history: History) => void
  readonly onWait: (wait: Wait) => void
  readonly signal: AbortSignal
}

/** Says first what it costs at most. Throws a Fault if it can't be done. */
export async function lookAtListed(
  connection: Connection,
  { agent: name = '', spend }: ListedFlags,
  look: Look,
): Promise<History> {
  const { client, found, whenInterrupted } = connection
  if (!found.key && !found.session)
    throw new Fault(`You are not signed in to ${plain(found.url)}`, {
      code: exitCodes.auth,
      hint: `Sign in: ${nextSteps.signIn(found.url)} , or give a key: --key, MARKETPLACE_KEY.`,
    })
  const agent = await agentCalled(connection, name)
  const isOwn = await owns(connection, agent)
  if (!isOwn && spend === undefined) throw notYours(agent)
  const scenes = scenesFor(those(outsideChecks, look.chosen))
  const limit =
    spend === undefined ? null : await limitOf(connection, agent, { spend, scenes, declared: look.declared })
  const { lookAt } = await import('../../conform/listed-agent/run.ts')
  const { createWorld } = await import('../../world/real.ts')
  const { id: newId } = createWorld({ requireHttps: true, allowLoopback: false })
  const onPurchases = ({ tasks }: Purchases) =>
    whenInterrupted(['Interrupted at once.', ...openLines(tasks, flagsToReach(found, 'builder'))].join('\n'))
  const { chosen: checks, ...rest } = look
  const { chosen } = chosenAmong(outsideChecks, checks)
  return lookAt({ client, marketplace: found.url, agent, isOwn, limit, scenes, newId, onPurchases, ...rest, chosen })
}

async function owns({ client }: Connection, { id }: AgentRecord): Promise<boolean> {
  try {
    await client.getMyAgent({ id })
    return true
  } catch (error) {
    if (error instanceof MarketplaceError && [403, 404].includes(error.status)) return false
    throw error
  }
}

const notYours = ({ slug, basePrice }: AgentRecord) =>
  new Fault(`${slug} is another builder’s agent: its own account alone may test it and read its deliveries`, {
    code: exitCodes.auth,
    hint: `What a buyer can see costs money: --spend ${money(basePrice)} buys one task.`,
  })

interface Wanted {
  readonly spend: string
  readonly scenes: ReadonlySet<string>
  readonly declared: Declared
}

/** Returns what is spent at most. */
async function limitOf(
  connection: Connection,
  agent: AgentRecord | OwnAgentRecord,
  { spend, scenes, declared }: Wanted,
) {
  const { client, notes } = connection
  const allowed = centsIn(spend, '--spend')
  const { slug, basePrice: price } = agent
  if (allowed < price)
    throw new UsageError(`--spend ${money(allowed)} buys nothing: ${slug} costs ${money(price)} a task.`)
  if ('hiddenReason' in agent && !agent.visible)
    throw new Fault(`${slug} can't be hired: ${agent.hiddenReason}`, {
      code: exitCodes.failed,
      hint: 'Without --spend it is tested, for nothing.',
    })
  const { purchasesOf } = await import('../../conform/listed-agent/run.ts')
  const { count } = purchasesOf(scenes, declared)
  const wanted = Math.min(count, Math.floor(allowed / price)) * price
  await topUp(connection, wanted)
  const { balance } = (await client.getWallet()).wallet
  if (balance < price && count > 0)
    throw new Fault(`The wallet has ${money(balance)}, and a task of ${slug} costs ${money(price)}`, {
      code: exitCodes.failed,
      hint: `Deposit first: ${nextSteps.deposit(price - balance, flagsToReach(connection.found, 'builder'))}`,
    })
  const limit = Math.min(wanted, Math.floor(balance / price) * price)
  notes.line(
    count === 0
      ? 'None of these checks needs a task: nothing is bought.'
      : `Buys ${limit / price} of ${count} tasks from ${slug}, for ${money(price)} each: ${money(limit)} at most, of ${money(balance)} in the wallet.`,
  )
  return limit
}

/** What became of the money, and of each task. */
export function showPurchases(ui: Ui, { limit, spent, held, tasks }: Purchases, way: string): void {
  const open = held > 0 ? `, ${money(held)} still held` : ''
  ui.line(`Spent ${money(spent)} of ${money(limit)} at most${open}.`)
  for (const { id, label, price, status } of tasks)
    ui.line(ui.colour.dim(`  ${id}  ${label}  ${status}  ${money(price)}`))
  for (const line of openLines(tasks, way)) ui.line(`${ui.colour.yellow('!')} ${line}`)
}

const openLines = (tasks: Purchases['tasks'], way: string): string[] =>
  tasks
    .filter(({ status }) => status !== 'completed' && status !== 'cancelled')
    .map(({ id, status, price }) => {
      const next = status === 'pending' ? nextSteps.cancelTask(id, way) : nextSteps.showTask(id, way)
      return `Task ${id} is ${status}, and ${money(price)} stays held: ${next}`
    })
