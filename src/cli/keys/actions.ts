/** What each key does with the simulator: the same as the command of that name, and what it did in one line. */
import { spawn } from 'node:child_process'
import { COMMAND_LINE } from '../../api/command-line.ts'
import type { ExchangeDetails } from '../../api/exchange-records.ts'
import type { DeliveryRecord } from '../../api/records.ts'
import { type Client, createClient } from '../../client/typed-client.ts'
import { version } from '../../settings/config.ts'
import { PlanError, playBuyer } from '../../sim/buyers/buyer.ts'
import type { Credentials } from '../../sim/seed.ts'
import { afterPass, diagnosisHint, notListed } from '../connection/diagnosis.ts'
import { nextSteps } from '../connection/next-steps.ts'
import type { Person } from '../connection/target.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { tail } from '../log/entry-lines.ts'
import { feedFrom } from '../log/task-feed.ts'
import { plain, type Ui } from '../output/ui.ts'
import { adviceOn as adviceOnBuyer, planOf } from '../simulation/buyer-plan.ts'
import { dueInWords, moveOnce, nextIn, refuseStuck } from '../simulation/clock-steps.ts'
import type { Action } from './key-presses.ts'
import { showKeys } from './start-screen.ts'
/** The dev whose log is shown, by its address and its keys. */
export interface ShownDev extends Pick<Credentials, 'accounts' | 'agents'> {
  readonly url: string
}

/** A delivery that may be sent again. */
export interface Choice {
  readonly agentId: string
  readonly deliveryId: string
  readonly event: string
  readonly taskId: string
  readonly label: string
}

const MOST_CHOICES = 50

const clientOf = ({ url, accounts }: ShownDev, person: Person): Client =>
  createClient({ baseUrl: url, apiKey: accounts[person].apiKey, userAgent: COMMAND_LINE + version })

/** One's own agent, if dev forwards to one. */
const agentOf = ({ agents }: ShownDev) => agents.find(({ forwardTo }) => forwardTo !== undefined) ?? agents[0]!

/** The last deliveries, newest first. */
export async function choices(dev: ShownDev, most = MOST_CHOICES): Promise<Choice[]> {
  const { items } = await clientOf(dev, 'builder').listMyDeliveries({ limit: most })
  if (items.length === 0) throw new Fault('No webhook was sent to an agent yet', { code: exitCodes.failed })
  return items.map(choiceOf)
}

function choiceOf({ id, agentId, agent, event, taskId, status, createdAt }: DeliveryRecord): Choice {
  const time = new Date(createdAt).toLocaleTimeString('en-GB')
  const label = `${time}  ${tail(taskId)}  ${event.padEnd(26)} ${status.padEnd(9)}  ${agent.slug}`
  return { agentId, deliveryId: id, event, taskId, label }
}

/** Returns what it did, for a line of the log. Throws why it did not. */
type Act = (dev: ShownDev, ui: Ui) => Promise<string>

const resend: Act = async dev => resendChosen(dev, (await choices(dev, 1))[0]!)

export async function resendChosen(dev: ShownDev, { agentId, deliveryId, event, taskId }: Choice): Promise<string> {
  const made = await clientOf(dev, 'builder').redeliver({ id: agentId, deliveryId })
  return `Resends ${event} of ${tail(taskId)}: ${nextSteps.showDelivery(made.id)}`
}

const test: Act = async dev => {
  const agent = agentOf(dev)
  const client = clientOf(dev, 'builder')
  const { checks, status, diagnosis } = await client.testConnection({ id: agent.id })
  const weak = checks.find(check => check.status === 'failed' || check.status === 'warning')
  if (!weak) {
    const next = afterPass(await client.getAgent({ id: agent.id }))
    return `${agent.slug} passed its connection test${next && `.${next}`}`
  }
  const advice = diagnosis ? diagnosisHint(diagnosis) : undefined
  if (status === 'warning')
    return `${agent.slug} passed its connection test with a warning: ${weak.message}. ${advice ?? ''}`
  throw new Fault(`${agent.slug} failed its connection test: ${weak.message}`, { code: exitCodes.check, hint: advice })
}

const buyer: Act = async dev => {
  const { id, slug } = agentOf(dev)
  const client = clientOf(dev, 'buyer')
  const agent = await clientOf(dev, 'builder').getMyAgent({ id })
  if (!agent.visible) throw notListed(agent, '')
  try {
    const follow = (taskId: string) => feedFrom(clientOf(dev, 'admin'), taskId, () => {})
    const listener = { onStep: () => {}, onWait: () => {}, follow }
    const task = await playBuyer(client, agent, planOf({}), listener)
    return `A simulated buyer hired ${slug}: ${tail(task.id)} is ${task.status}, paid and reviewed`
  } catch (error) {
    if (!(error instanceof PlanError)) throw error
    throw new Fault(error.message, { code: exitCodes.failed, hint: await adviceOnBuyer(error, client, () => '') })
  }
}

const clock: Act = async dev => {
  const client = clientOf(dev, 'admin')
  const { due, inMs } = nextIn(await client.getClock())
  const move = await moveOnce(client, inMs)
  refuseStuck(move)
  return `Moved the clock to ${move.now}: ${dueInWords(due)}`
}

const details: Act = async (dev, ui) => {
  const client = clientOf(dev, 'admin')
  const [last] = (await client.listExchanges({ limit: 1 })).items
  if (!last) throw new Fault('No webhook and no callback came yet', { code: exitCodes.failed })
  for (const row of exchangeText(ui, await client.getExchange({ id: last.id }))) ui.raw(row)
  return `That was ${last.direction === 'webhook' ? 'a webhook' : 'a callback'}${ofTask(last.taskId)}`
}

const ofTask = (taskId: string | null) => (taskId === null ? '' : ` of ${tail(taskId)}`)

const console: Act = async ({ url }) => {
  const opened = (await openInBrowser(`${url}/console`)) ? 'Opens the console' : 'The console is'
  return plain(`${opened} at ${url}/console  the API's documents are at ${url}/docs  for programs ${url}/openapi.json`)
}

const accounts: Act = async (dev, ui) => {
  showKeys(ui, dev)
  return 'These are its accounts, keys and secrets'
}

export const actions: Readonly<Record<Exclude<Action, 'choose'>, Act>> = {
  resend,
  test,
  buyer,
  clock,
  details,
  console,
  accounts,
}

/** Characters of one body: more is in the answer of the command below it. */
const MOST_CHARACTERS = 2_000
const MOST_LINES = 30

export function exchangeText({ colour }: Ui, exchange: ExchangeDetails): string[] {
  const { direction, method, url, status, error, ms } = exchange
  const { requestHeaders, requestBody, responseHeaders, responseBody } = exchange
  const mark = direction === 'webhook' ? '→' : '←'
  const [request, isRequestWhole] = bodyLines(requestBody)
  const [response, isResponseWhole] = bodyLines(responseBody)
  return [
    '',
    colour.bold(plain(`${mark} ${method} ${url}`)),
    ...requestHeaders.map(({ name, value }) => `${colour.dim(plain(name))}: ${plain(value)}`),
    ...request,
    '',
    colour.bold(status === null ? 'No response' : `${status}`) + colour.dim(`  ${ms} ms`),
    ...(error === null ? [] : [colour.red(plain(error))]),
    ...responseHeaders.map(({ name, value }) => `${colour.dim(plain(name))}: ${plain(value)}`),
    ...response,
    ...(isRequestWhole && isResponseWhole
      ? []
      : ['', `All of it: ${colour.cyan(nextSteps.showExchange(exchange.id))}`]),
    '',
  ]
}

/** A body as it was sent, line by line, with its control characters replaced; and whether that is all of it. */
function bodyLines({ encoding, content, bytes, cut }: ExchangeDetails['requestBody']): [string[], isWhole: boolean] {
  if (bytes === 0) return [[], true]
  if (encoding === 'base64') return [['', `${bytes} bytes that are no text`], false]
  const lines = content.slice(0, MOST_CHARACTERS).split('\n').slice(0, MOST_LINES).map(plain)
  const isWhole = !cut && content.length <= MOST_CHARACTERS && content.split('\n').length <= MOST_LINES
  return [['', ...lines, ...(isWhole ? [] : [`… ${bytes} bytes`])], isWhole]
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens an address there. Resolves to false where nothing opens one. It goes on when this process has ended. */
function openInBrowser(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' })
  child.unref()
  return new Promise(resolve => {
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
  })
}
