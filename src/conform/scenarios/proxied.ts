/** The agent is told to reach other hosts by a proxy of ours, which shows whom it calls. */
import type { Scenario } from './scenario.ts'

const proxied: Scenario = {
  name: 'proxied',
  lane: 'real',
  when: 'alone',
  needs: ['start', 'accepted'],
  async run(stage) {
    const { agent, lane } = stage
    const { environment } = agent
    const proxy = {
      HTTP_PROXY: lane.otherHost.url,
      HTTPS_PROXY: lane.otherHost.url,
      NO_PROXY: '127.0.0.1,localhost,::1',
    }
    const small = Object.fromEntries(Object.entries(proxy).map(([name, value]) => [name.toLowerCase(), value]))
    agent.environment = { ...environment, ...proxy, ...small, NODE_USE_ENV_PROXY: '1' }
    await agent.restart()
    const task = await stage.task('safe.no-foreign-host')
    await stage.worked(task)
    agent.environment = environment
    await agent.restart()
  },
}

export const proxyScenarios: readonly Scenario[] = [proxied]
