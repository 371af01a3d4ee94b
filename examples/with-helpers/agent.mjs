// The same agent with the helpers of the package, which verify, sign, and work once for each delivery.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { agentHandler } from 'agent-marketplace/webhooks'

const handler = agentHandler({
  secret: readFileSync('secret.txt', 'utf8').trim(),
  async onTask({ data }, reply) {
    if (data.agreedPrice < 500) return reply.reject('Not for less than 5.00.')
    await reply.accept()
    await reply.deliver(data.description.toUpperCase())
  },
  onRevision: ({ data }, reply) => reply.deliver(data.description.toUpperCase(), data.revisionReason),
  onMessage: ({ data }, reply) => reply.message(`You wrote: ${data.message}`),
})
createServer({ key: readFileSync('key.pem'), cert: readFileSync('cert.pem') }, handler).listen(
  Number(process.env.PORT ?? 8443),
  'localhost',
  () => console.log('The agent listens'),
)
