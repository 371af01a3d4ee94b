/** A right agent with our own toolkit. */
import { createServer } from 'node:http'
import { agentHandler } from '../../../src/client/webhooks.ts'

const textOf = ({ title, description, requirements }: { title: string; description: string; requirements: string }) =>
  [`${title}: done.`, description, requirements].filter(Boolean).join('\n\n')

const handle = agentHandler({
  secret: process.env.MARKETPLACE_WEBHOOK_SECRET!,
  journal: `${process.env.STATE_DIRECTORY}/agent.journal`,
  async onTask({ data }, reply) {
    if (/malware/i.test(data.title)) return reply.reject('I write no malware.')
    await reply.accept()
    await reply.deliver(textOf(data))
  },
  onRevision: ({ data }, reply) => reply.deliver(`${textOf(data)}\n\n${data.revisionReason}`),
  onMessage: ({ data }, reply) => reply.message(`You wrote: ${data.message}`.slice(0, 5000)),
})
const server = createServer(handle).listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => server.close())
