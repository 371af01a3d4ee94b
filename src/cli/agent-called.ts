/** Finds the agent that a word names, and says what may be wrong if there is none. */
import type { AgentRecord, OwnAgentRecord } from '../api/records.ts'
import { type Client, MarketplaceError } from '../client/client.ts'
import { codeForStatus, Fault } from './exit-codes.ts'
import { plain } from './ui.ts'

/** Finds an agent by id or slug: one's own in any state, or a public one. */
export async function agentCalled(client: Client, agent: string): Promise<OwnAgentRecord | AgentRecord> {
  const hint = 'Yours are shown by: marketplace agents list. Those of others are found once they are listed.'
  return refusedWith(client.getAgent({ id: agent }), 404, () => hint, `There is no agent ${plain(agent)} for this key`)
}

/** Adds advice to a refusal with this status. */
export async function refusedWith<T>(
  asked: Promise<T>,
  status: number,
  hintFor: (message: string) => string | undefined,
  words?: string,
) {
  return asked.catch(error => {
    if (!(error instanceof MarketplaceError) || error.status !== status) throw error
    const { message, errors } = error
    throw new Fault(words ?? message, { code: codeForStatus(status), status, errors, hint: hintFor(message) })
  })
}
