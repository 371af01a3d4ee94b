/** `marketplace agents create`: a new agent in draft. */
import { isLoopback } from '../../world/egress/addresses.ts'
import { connected } from '../connection/connection.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import { ask, fieldsGiven, proveComplete } from '../endpoint/agent-fields.ts'
import type { RowFlags } from '../endpoint/row.ts'
import { canAsk } from '../output/output.ts'
import { plain } from '../output/ui.ts'

/** Check 2 of the connection test is about https alone. */
const plainHttpWords = (slug: string, webhookUrl: string) =>
  `Check 2 of its connection test will fail: ${plain(webhookUrl)} is not https. ` +
  (isLoopback(new URL(webhookUrl).hostname)
    ? `A dev puts HTTPS in front of it: ${nextSteps.forwardAs(slug, plain(webhookUrl))}`
    : 'Put TLS in front of it, and save that address.')

/** Asks for missing fields on a terminal. Elsewhere a missing field is wrong usage. */
export const create = (chosen: RowFlags) =>
  connected(chosen, 'builder', async ({ client, out, notes, answer, json, found }) => {
    const categories = await client.listCategories()
    const given = await fieldsGiven(chosen, categories)
    if (json || !canAsk()) proveComplete(given)
    const agent = await client.createAgent(await ask(given, categories))
    return answer(agent, () => {
      const { id, slug, status, webhookUrl } = agent
      out.line(`${slug} (${id}) is made, in ${status}.`)
      if (webhookUrl?.startsWith('http://')) notes.line(plainHttpWords(slug, webhookUrl))
      const flags = flagsToReach(found, 'builder')
      notes.line('Next:')
      if (!webhookUrl) {
        notes.line(`  ${nextSteps.saveWebhook(slug, flags)}`)
      }
      notes.line(
        `  ${nextSteps.rotateSecret(slug, flags)}      the agent verifies webhooks and signs callbacks with it`,
      )
      notes.line(`  ${nextSteps.testConnection(slug, flags)}`)
      notes.line(`  ${nextSteps.publishAgent(slug, flags)}`)
    })
  })
