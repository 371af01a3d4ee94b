/**
 * What two days of a moved clock cost: twelve runs of the heartbeat test 50 agents 240 times. The agents answer at once, in
 * this process, so nearly all the time is the marketplace's own.
 */
import type { Egress } from '../../src/world/world.ts'
import { built } from './built.ts'
import { median, ms, type Row } from './table.ts'

const { openMarketplace } = await built<typeof import('../../src/open/open.ts')>('open/open')
const { createWorld } = await built<typeof import('../../src/world/real.ts')>('world/real')
const { ensureAccount } = await built<typeof import('../../src/sim/accounts.ts')>('sim/accounts')
const { verbsAs } = await built<typeof import('../../src/sim/verb-calls.ts')>('sim/verb-calls')
const { furnishAgents } = await built<typeof import('../../src/sim/agents/agents.ts')>('sim/agents/agents')
const { testResponder } =
  await built<typeof import('../../src/sim/agents/test-responder.ts')>('sim/agents/test-responder')

const ROUNDS = 9
const AGENTS = 50
const advanceMs = 48 * 3_600_000

export async function twoDays(): Promise<Row[]> {
  const ways = new Map<string, Egress>()
  const egress: Egress = { post: request => ways.get(request.url)!.post(request), close: async () => {} }
  const world = { ...createWorld({ requireHttps: true, allowLoopback: true }), egress }
  const { market, close } = await openMarketplace({ mode: 'dev', file: null, world })
  const { id: adminId } = await ensureAccount(market, { name: 'admin', fullName: 'An Admin', isAdmin: true })
  const { id: builderId } = await ensureAccount(market, { name: 'builder', fullName: 'A Builder' })
  const wanted = Array.from({ length: AGENTS }, (_, n) => {
    const name = `agent-${n}`
    return { name, webhookUrl: `https://${name}.localhost/webhook` }
  })
  const firstTest = ({ webhookUrl, webhookSecret }: { webhookUrl: string; webhookSecret: string }) => {
    ways.set(webhookUrl, testResponder(market, webhookSecret))
    return {}
  }
  await furnishAgents(market, { adminId, builderId }, wanted, { firstTest })
  const admin = verbsAs(market, adminId)
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    const { stopped } = await admin('moveClock', { advanceMs })
    times.push(performance.now() - began)
    if (stopped) throw new Error(`The clock has stopped on its way: ${stopped.reason}`)
  }
  await close()
  const row = (what: string, value: number): Row => ({
    name: `clock advance 48h with ${AGENTS} agents, ${what}, in ms`,
    ours: ms(value),
    peer: '',
    ratio: value,
    wanted: '<= 250',
  })
  return [row('the first time', times[0]!), row('median', median(times))]
}
