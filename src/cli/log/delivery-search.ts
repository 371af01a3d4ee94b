/** Finds deliveries in the logs of one's own agents. */

import { plainShellWord } from '../../api/command-line.ts'
import { agentEvents } from '../../api/flow.ts'
import type { AgentRecord, DeliveryDetails, DeliveryRecord, OwnAgentRecord } from '../../api/records.ts'
import { type Client, MarketplaceError } from '../../client/typed-client.ts'
import { UsageError } from '../../settings/config.ts'
import type { Connection } from '../connection/connection.ts'
import { momentSince } from '../connection/domain-time.ts'
import { nextSteps } from '../connection/next-steps.ts'
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
  search?: string
}

export interface Search {
  /** What the marketplace is asked for. */
  query: NonNullable<Parameters<Client['listMyDeliveries']>[0]>
  /** Whether failures of samples that are down on purpose are left out. */
  isUnmeant: boolean
}

/** The flags that leave some out, as they were typed. */
export const filtersIn = ({ failed, event, task, since, search }: SearchFlags): string[] => [
  ...(failed ? ['--failed'] : []),
  ...Object.entries({ event, task, since, search }).flatMap(([name, given]) =>
    given === undefined ? [] : [`--${name} ${plain(plainShellWord(given))}`],
  ),
]

/** Throws a UsageError before anything is sent if a flag makes no sense. */
export function searchOf({ failed = false, all = false, event, task, since, search }: SearchFlags) {
  const known = agentEvents.find(name => name === event || name === `task.${event}`)
  if (event !== undefined && !known)
    throw new UsageError(`There is no event ${event}. The events: ${agentEvents.join(', ')}.`)
  const sinceMs = since === undefined ? undefined : durationGiven(since)
  return async (connection: Connection, agent?: { readonly id: string }): Promise<Search> => {
    const query = {
      ...{ event: known, taskId: task, q: search, agent: agent?.id },
      status: failed ? ('failed' as const) : undefined,
      since: sinceMs === undefined ? undefined : await momentSince(connection, sinceMs),
    }
    return { query, isUnmeant: failed && !all }
  }
}

/** The deliveries that match, newest first, up to `most`. */
export async function newestOf(client: Client, { query, isUnmeant }: Search, most: number): Promise<DeliveryRecord[]> {
  const found: DeliveryRecord[] = []
  for await (const { items } of client.listMyDeliveries({ ...query, limit: 100 })) {
    found.push(...items.filter(({ diagnosis }) => !isUnmeant || diagnosis?.cause !== 'down_on_purpose'))
    if (found.length >= most) break
  }
  return found.slice(0, most)
}

export async function ownAgents(client: Client): Promise<OwnAgentRecord[]> {
  const agents: OwnAgentRecord[] = []
  for await (const { items } of client.listMyAgents({ limit: 100 })) agents.push(...items)
  return agents
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
