/** `marketplace deliveries resend`: sends webhooks again, and follows each to its end. */

import { plainShellWord } from '../../api/command-line.ts'
import { limits } from '../../api/limits.ts'
import type { AgentRecord, DeliveryDetails, DeliveryRecord, OwnAgentRecord } from '../../api/records.ts'
import { type Client, MarketplaceError } from '../../client/typed-client.ts'
import { UsageError } from '../../settings/config.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { type Connection, type ConnectionFlags, connected } from '../connection/connection.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { exitCodes } from '../exit-codes.ts'
import {
  deliveryCalled,
  filtersIn,
  newestOf,
  ownAgents,
  type Search,
  type SearchFlags,
  searchOf,
} from '../log/delivery-search.ts'
import { noneOf } from '../output/empty-list.ts'
import { plain } from '../output/ui.ts'

export interface ResendFlags extends ConnectionFlags, SearchFlags {
  agent?: string
  timeout?: string
}

const LONGEST_TIMEOUT_S = 86_400

/** Exits with 0 only if all were delivered within the time. */
export async function resend(ids: readonly string[], flags: ResendFlags): Promise<number> {
  const search = searchOf(flags)
  const timeoutMs = numberGiven('--timeout', flags.timeout ?? '60', [0, LONGEST_TIMEOUT_S]) * 1000
  if ((ids.length === 0) === !flags.failed) {
    throw new UsageError('Which deliveries? Give their ids, or --failed for all that failed: not both, not neither.')
  }
  return connected(flags, 'builder', async connection => {
    const agent = flags.agent ? await agentCalled(connection, flags.agent) : undefined
    const chosen = await wanted(connection, ids, agent, search)
    if (chosen.length === 0) connection.notes.line(none(connection, flags))
    const sent = await sendAgain(connection, chosen)
    const items = await follow(connection, sent, timeoutMs)
    connection.answer({ items }, () => {
      for (const item of items) tellEnd(connection, item)
    })
    const isDone = sent.length === chosen.length && items.every(({ status }) => status === 'delivered')
    return isDone ? exitCodes.ok : exitCodes.failed
  })
}

type Agent = AgentRecord | OwnAgentRecord

async function wanted(
  connection: Connection,
  ids: readonly string[],
  agent: Agent | undefined,
  search: ReturnType<typeof searchOf>,
): Promise<DeliveryRecord[]> {
  const { client } = connection
  return ids.length > 0
    ? named(connection, agent ? [agent] : await ownAgents(client), ids)
    : failed(client, await search(connection, agent))
}

/** Returns the new deliveries. One that can't be sent is told of. */
async function sendAgain(connection: Connection, chosen: readonly DeliveryRecord[]): Promise<DeliveryRecord[]> {
  const { client, out, notes, json } = connection
  const sent: DeliveryRecord[] = []
  for (let at = 0; at < chosen.length; at += limits.page.max) {
    const ids = chosen.slice(at, at + limits.page.max).map(({ id }) => id)
    const { items } = await patiently(() => client.resendDeliveries({ ids }))
    for (const { of, delivery, refused } of items) {
      if (delivery) sent.push(delivery)
      if (!delivery) notes.line(`${of} is not sent again: ${refused}`)
      else if (!json) out.line(`${delivery.id} resends ${of}: ${delivery.event} for ${delivery.taskId}`)
    }
    connection.whenInterrupted(farewell(connection, sent, chosen.length))
  }
  return sent
}

function none({ found }: Connection, { agent, ...search }: ResendFlags): string {
  const ofAgent = agent === undefined ? [] : [`--agent ${plain(plainShellWord(agent))}`]
  return noneOf({
    things: 'failed webhooks to send again',
    filters: [...filtersIn({ ...search, failed: false }), ...ofAgent],
    all: nextSteps.wholeList('deliveries list --failed', flagsToReach(found, 'builder')),
  })
}

/** Ctrl-C takes nothing back. `open`: those that were sent again and have not ended; `wanted`: how many were to be. */
function farewell({ found }: Connection, open: readonly { readonly id: string }[], wanted = open.length): string {
  const [first] = open
  if (!first) return 'Interrupted.'
  const reach = flagsToReach(found, 'builder')
  if (wanted === 1) return `Interrupted. ${first.id} stays in the queue: ${nextSteps.showDelivery(first.id, reach)}`
  const some = open.length < wanted ? `${open.length} of ${wanted}` : String(wanted)
  return `Interrupted. ${some} resent webhooks stay in the queue: ${nextSteps.allDeliveries(reach)}`
}

/** Finds all before any is sent, so that a wrong id among them sends nothing. */
async function named(
  { client }: Connection,
  agents: readonly Agent[],
  ids: readonly string[],
): Promise<DeliveryRecord[]> {
  const found: DeliveryRecord[] = []
  for (const id of new Set(ids)) found.push(await patiently(() => deliveryCalled(client, agents, id)))
  return found
}

/** Returns the failed ones, oldest first, except those that were resent since. */
const failed = async (client: Client, { query }: Search) =>
  (await newestOf(client, { query: { ...query, status: 'failed' }, isUnmeant: false }, limits.page.reach))
    .filter(({ resentAs }) => resentAs === null)
    .reverse()

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000

/** Prints each attempt as it is made. Ends when all have ended, or when no attempt comes in time. */
async function follow(
  connection: Connection,
  sent: readonly DeliveryRecord[],
  timeoutMs: number,
): Promise<DeliveryDetails[]> {
  const { client, out, json } = connection
  const until = performance.now() + timeoutMs
  const seen = new Map<string, DeliveryDetails>()
  const look = async ({ id, agentId }: DeliveryRecord) => {
    const known = seen.get(id)?.attempts.length ?? 0
    const now = await patiently(() => client.getDelivery({ id: agentId, deliveryId: id }))
    seen.set(id, now)
    for (const { attempt, status, reason, message, durationMs } of now.attempts.slice(known)) {
      if (!json) out.line(plain(`${id} attempt ${attempt}: ${status ?? reason} in ${durationMs} ms. ${message}`))
    }
  }
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const left = until - performance.now()
    const open = sent.filter(({ id }) => isOpen(seen.get(id), left))
    for (const delivery of open) {
      await look(delivery)
      connection.whenInterrupted(
        farewell(
          connection,
          sent.filter(({ id }) => isQueued(seen.get(id))),
        ),
      )
    }
    if (!open.some(({ id }) => isOpen(seen.get(id), left)) || left <= 0) return [...seen.values()]
    await wait(pauseMs)
  }
}

const isQueued = (delivery: DeliveryDetails | undefined) =>
  delivery === undefined || delivery.status === 'pending' || delivery.status === 'waiting'

/** Whether another look can find something new within `leftMs`. */
function isOpen(delivery: DeliveryDetails | undefined, leftMs: number): boolean {
  if (delivery === undefined) return true
  const { status, nextAttemptAt, attempts } = delivery
  const last = attempts.at(-1)
  if (status !== 'pending' || last === undefined || nextAttemptAt === null)
    return status === 'waiting' || status === 'pending'
  // Both are domain time, which may be ahead of this machine's.
  return Date.parse(nextAttemptAt) - Date.parse(last.createdAt) - last.durationMs <= leftMs
}

function tellEnd({ out, notes, found }: Connection, { id, status, nextAttemptAt }: DeliveryDetails): void {
  const { colour, line } = out
  if (status === 'delivered') line(`${colour.green('✔')} ${id} was delivered.`)
  else {
    const again = nextAttemptAt ? ` The next attempt is at ${nextAttemptAt}.` : ''
    line(`${colour.red('✖')} ${id} is ${status === 'failed' ? 'given up' : status}.${again}`)
    notes.line(`Why: ${nextSteps.showDelivery(id, flagsToReach(found, 'builder'))}`)
  }
}

/** Waits as long as a 429 asks for, then tries again. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof MarketplaceError) || error.status !== 429) throw error
      await wait(error.retryAfterMs ?? LONGEST_PAUSE_MS)
    }
  }
}

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
