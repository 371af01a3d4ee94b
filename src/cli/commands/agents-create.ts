/** `marketplace agents create`: a new agent in draft. */
import { ask, type FieldFlags, fieldsGiven, refuseMissing } from '../agent-fields.ts'
import { type ConnectionFlags, connected } from '../connection.ts'
import { canAsk } from '../output.ts'

export type CreateFlags = ConnectionFlags & FieldFlags

/** Asks on a terminal for what is missing; anywhere else what is missing is wrong usage. */
export const create = (flags: CreateFlags) =>
  connected(flags, 'builder', async ({ client, out, talk, answer, json }) => {
    const categories = await client.listCategories()
    const given = await fieldsGiven(flags, categories)
    if (json || !canAsk()) refuseMissing(given)
    const agent = await client.createAgent(await ask(given, categories))
    return answer(agent, () => {
      const { id, slug, status, webhookUrl } = agent
      out.line(`${slug} (${id}) is made, in ${status}.`)
      talk.line('Next:')
      if (!webhookUrl) {
        talk.line(`  marketplace call PUT /api/my/agents/${id} -d '{"webhookUrl": "https://localhost:8443/webhook"}'`)
      }
      talk.line(`  marketplace secret rotate ${slug}      the agent verifies webhooks and signs callbacks with it`)
      talk.line(`  marketplace test-connection ${slug}`)
      talk.line(`  marketplace agents publish ${slug}`)
    })
  })
