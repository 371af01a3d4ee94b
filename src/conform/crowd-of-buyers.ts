/** Many buyers over many days with one agent, in a marketplace of its own. Source: A-260. */
import { Crowd } from '../sim/buyers/crowd.ts'
import type { CrowdOptions } from '../sim/buyers/lives.ts'
import { createWorld } from '../world/real.ts'
import { agentUnderTest } from './agent/agent-under-test.ts'
import { stopwatch } from './history/machine-time.ts'
import { BASE_PRICE, Lane, OTHER_URL } from './marketplaces/lane.ts'

interface SimulationOptions extends Omit<CrowdOptions, 'market' | 'adminId' | 'agent' | 'hearing'> {
  readonly url: string | null
  readonly secret: string | null
  readonly command: string | null
}

export async function simulate(options: SimulationOptions) {
  const elapsed = stopwatch()
  const world = createWorld({ requireHttps: false, allowLoopback: true })
  // What is told at the end is counted on the way; nothing is kept.
  const recorder = { add: () => 0 }
  const agent = await agentUnderTest(world, options, recorder)
  const counts = { refusedCallbacks: 0, cancelledCallbacks: 0, passed: 0, failed: 0, refunded: 0 }
  const balances = new Map<string, number>()
  let crowd: Crowd | null = null
  const lane = await Lane.open({
    ...{ name: 'clock', agent, recorder, egress: world.egress, maxRevisions: 3 },
    log(entry) {
      crowd?.hear(entry)
      if (entry.type === 'callback' && entry.status >= 400) {
        counts.refusedCallbacks++
        // The agent could not know.
        if (crowd?.hasCancelled(entry.taskId)) counts.cancelledCallbacks++
      }
      if (entry.type === 'money') {
        const { from, to, amount, kind } = entry
        balances.set(from, (balances.get(from) ?? 0) - amount)
        balances.set(to, (balances.get(to) ?? 0) + amount)
        if (kind === 'refund') counts.refunded += amount
      }
      if (entry.type === 'check' && entry.name === 'endpoint') counts[entry.status === 'failed' ? 'failed' : 'passed']++
    },
  })
  try {
    agent.environment = lane.environment
    await agent.open()
    const { market, adminId } = lane
    const hired = { id: agent.id, basePrice: BASE_PRICE }
    crowd = new Crowd({ ...options, market, adminId, agent: hired, hearing: { webhookUrl: OTHER_URL } })
    const lives = await crowd.play()
    const { problems } = await lane.admin('checkLedger', {})
    return {
      ...{ lives, ledgerFaults: problems, ms: elapsed() },
      refusedCallbacks: counts.refusedCallbacks,
      cancelledCallbacks: counts.cancelledCallbacks,
      heartbeats: { passed: counts.passed, failed: counts.failed },
      money: {
        held: sumOf(balances, 'held:'),
        clearing: sumOf(balances, 'clearing:'),
        available: balances.get(`available:${lane.builderId}`) ?? 0,
        refunded: counts.refunded,
      },
    }
  } finally {
    await lane.close()
    await agent.close()
    await world.egress.close()
  }
}

const sumOf = (balances: ReadonlyMap<string, number>, prefix: string) =>
  [...balances].reduce((sum, [account, cents]) => (account.startsWith(prefix) ? sum + cents : sum), 0)
