/** An agent with a journal, whose path is given, in a process of its own. It prints its port, or why it can't have its journal, and its errors. */
import { agentHandler } from '../../src/client/webhooks.ts'
import { listen } from '../support/listen.ts'
import { SECRET } from './toolkit.ts'

const say = (what: object) => console.log(JSON.stringify(what))

try {
  const agent = agentHandler({
    secret: SECRET,
    journal: process.argv[2]!,
    async onTask({ data }, reply) {
      await reply.accept()
      await reply.deliver(data.title)
    },
    onError: error => say({ error: (error as Error).message }),
  })
  say({ url: (await listen(agent)).url })
} catch (error) {
  say({ refused: (error as Error).message })
}
