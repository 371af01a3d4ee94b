/** Keeps the agents of a dev in step with their webhook secrets, whoever makes new ones. */
import type { Market } from '../../market/market.ts'
import { secretOf } from '../../sim/agents/agents.ts'
import type { SampleAgent } from '../../sim/agents/sample-agent.ts'
import type { Forwarding } from './forwarding.ts'
import { type Furnished, testSample } from './furnish.ts'
import type { AgentRun } from './run-agent.ts'

interface Followers extends Furnished {
  market: Market
  sample: SampleAgent
  forwarding: Forwarding
  run: AgentRun | null
}

/** The sample agent uses a new secret at once. A process of `--run` is started anew with it. */
export function followSecrets({ market, credentials, keep, staff, sample, forwarding, run }: Followers): void {
  const follow = async (id: string) => {
    const agent = credentials.agents.find(one => one.id === id)
    const secret = agent && (await secretOf(market, id))
    if (!secret || secret === agent.webhookSecret) return
    agent.webhookSecret = secret
    keep()
    if (agent === credentials.agents[0]) {
      sample.use(secret)
      await testSample(market, staff, id)
    } else if (run) run.restart('it has a new secret')
    else forwarding.secretChanged(id)
  }
  market.webhooks.watchTargets(id => {
    follow(id).catch(error => market.log({ type: 'warning', message: `A new secret was not taken: ${error.message}` }))
  })
}
