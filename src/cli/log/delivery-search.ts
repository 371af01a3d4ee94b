/** Finds deliveries in the logs of one's own agents. */

import { plainShellWord } from '../../api/command-line.ts'
import { agentEvents } from '../../api/flow.ts'
import type { AgentRecord, DeliveryDetails, DeliveryRecord, OwnAgentRecord } from '../../api/records.ts'
import { type Client, MarketplaceError } from '../../client/typed-client.ts'
import { UsageError } from '../../settings/config.ts'
import type { Connection } from '../connection/connection.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { locate } from '../connection/target.ts'
import { idIn } from '../endpoint/whole-id.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { durationGiven } from '../output/numbers.ts'
import { plain } from '../output/ui.ts'

export interface SearchFlags {
  failed?: boolean
  all?: boolean
  event?: string
  task?: string
  since?: string
}

export interface Search {
  isFailed: boolean
  /** Also of samples that are down on purpose. */
  isAll: boolean
  event: string | undefined
  taskId: string | undefined
  /** Domain time in ms. */
  from: number
}

/** The flags that leave some out, as they were typed. */
export const filtersIn = ({ failed, event, task, since }: SearchFlags): string[] => [
  ...(failed ? ['--failed'] : []),
  ...Object.entries({ event, task, since }).flatMap(([name, given]) =>
    given === undefined ? [] : [`--${name} ${plain(plainShellWord(given))}`],
  ),
]

/** Throws a UsageError before anything is sent if a flag makes no sense. */
export function searchOf({ failed = false, all = false, event, task, since }: SearchFlags) {
  const known = agentEvents.find(name => name === event || name === `task.${event}`)
  if (event !== undefined && !known)
    throw new UsageError(`There is no event ${event}. The events: ${agentEvents.join(', ')}.`)
  const sinceMs = since === undefined ? undefined : durationGiven(since)
  return async (connection: Connection): Promise<Search> => ({
    isFailed: failed,
    isAll: all,
    event: known,
    taskId: task,
    from: sinceMs === undefined ? Number.NEGATIVE_INFINITY : (await domainNow(connection)) - sinceMs,
  })
}

/** Domain time decides when a delivery was made, and a simulator's can be ahead of this machine's. Source: A-44. */
async function domainNow({ found, transport }: Connection): Promise<number> {
  if (!found.isDev) return Date.now()
  const { key } = locate({ url: found.url, as: 'admin' }, 'admin')
  const headers = { authorization: `Bearer ${key}` }
  const { data } = await transport.ask<{ now: string }>('GET', '/api/dev/clock', { headers })
  return data ? Date.parse(data.now) : Date.now()
}

/** Yields the deliveries of one agent that match, newest first. */
export async function* matching(client: Client, id: string, search: Search): AsyncGenerator<DeliveryRecord> {
  for await (const { items } of client.listDeliveries({ id, limit: 100 })) {
    for (const item of items) {
      if (Date.parse(item.createdAt) < search.from) return
      const isMeant = item.diagnosis?.cause === 'down_on_purpose'
      const isWanted =
        (!search.isFailed || (item.status === 'failed' && (search.isAll || !isMeant))) &&
        (search.event ?? item.event) === item.event
      if (isWanted && (search.taskId ?? item.taskId) === item.taskId) yield item
    }
  }
}

/** The deliveries of all these agents that match, newest first, up to `most`. */
export async function newestOf(
  client: Client,
  agents: readonly (OwnAgentRecord | AgentRecord)[],
  search: Search,
  most: number,
): Promise<DeliveryRecord[]> {
  const found: DeliveryRecord[] = []
  for (const { id } of agents) {
    let left = most
    for await (const item of matching(client, id, search)) {
      found.push(item)
      if (--left === 0) break
    }
  }
  return found.sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt)).slice(0, most)
}

export async function ownAgents(client: Client): Promise<OwnAgentRecord[]> {
  const agents: OwnAgentRecord[] = []
  for await (const { items } of client.listMyAgents({ limit: 100 })) agents.push(...items)
  return agents
}

/** The last deliveries to any of these agents, newest first. */
export async function lastDeliveries(
  client: Client,
  agents: readonly Pick<OwnAgentRecord, 'id'>[],
  most: number,
): Promise<DeliveryRecord[]> {
  const pages = await Promise.all(agents.map(({ id }) => client.listDeliveries({ id, limit: most })))
  const all = pages.flatMap(({ items }) => items)
  return all.sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt)).slice(0, most)
}

/** Finds a delivery by its id alone: in the log of each of these agents. */
export async function deliveryCalled(
  client: Client,
  agents: readonly (OwnAgentRecord | AgentRecord)[],
  given: string,
): Promise<DeliveryDetails> {
  for (const { id } of agents) {
    const deliveryId = (await idIn({ client }, 'listDeliveries', given, { id })) ?? given
    const found = await client.getDelivery({ id, deliveryId }).catch(nullIf404)
    if (found) return found
  }
  throw new Fault(`There is no delivery ${given} to an agent of this key`, {
    code: exitCodes.failed,
    status: 404,
    hint: `Yours are shown by: ${nextSteps.allDeliveries()}`,
  })
}

function nullIf404(error: unknown): null {
  if (error instanceof MarketplaceError && error.status === 404) return null
  throw error
}
