/** A deployment with a builder, whose agents are right or broken, and with buyers. */
import type http from 'node:http'
import { agentHandler } from '../../src/client/webhooks.ts'
import { openMarketplace } from '../../src/open/open.ts'
import { ensureAccount, furnishBuyers, type SeededAccount } from '../../src/sim/accounts.ts'
import { ensureAgents, list, testAndList } from '../../src/sim/agents/agents.ts'
import { testResponder } from '../../src/sim/agents/test-responder.ts'
import { verbsAs } from '../../src/sim/verb-calls.ts'
import { createWorld } from '../../src/world/real.ts'
import { listen } from '../support/listen.ts'

export const PRICE = 700

/** What one does otherwise than a right agent. */
export type Bug =
  | 'none'
  | 'deaf'
  | '202'
  | 'no revisions'
  | 'same again'
  | 'never decides'
  | 'never delivers'
  | 'by content'
  | 'leaks'
  | 'mute'
  /** It is right too: it delivers its first task when it is tested meanwhile, and begins no other that is cancelled. */
  | 'waits'

export async function openDeployment() {
  const servers: Awaited<ReturnType<typeof listen>>[] = []
  /** Where agents listen, by the URL that the marketplace knows. */
  const listening = new Map<string, string>()
  const world = createWorld({ requireHttps: false, allowLoopback: true })
  const { egress } = world
  const nearby = (request: { url: string }) => ({ ...request, url: listening.get(request.url) ?? request.url }) as never
  const near = { ...egress, post: (request: never) => egress.post(nearby(request)), close: () => egress.close() }
  const { url, market, close } = await openMarketplace({
    ...{
      mode: 'serve',
      file: null,
      port: 0,
      payments: 'sandbox',
      rateLimits: 'off',
      world: { ...world, egress: near },
    },
  })
  const { id: adminId } = await ensureAccount(market, { name: 'root', fullName: 'Root', isAdmin: true })
  const payer = async (name: string, funds: number): Promise<SeededAccount> =>
    (await furnishBuyers(market, adminId, { names: [name], tier: 'new_verified', funds }))[0]!
  const builder = await payer('builder', 20_000)
  let buyers = 0
  return {
    url,
    builder,
    newBuyer: (funds = 10_000) => payer(`payer-${++buyers}`, funds),
    balanceOf: async ({ id }: { id: string }) => (await verbsAs(market, id)('getWallet', {})).wallet,
    async startAgent(name: string, bug: Bug, owner: { readonly id: string } = builder) {
      const webhookUrl = `https://${name}.example/webhook`
      const [agent] = await ensureAgents(market, owner.id, [{ name, webhookUrl, fields: { basePrice: PRICE } }])
      const { id, webhookSecret: secret } = agent!
      const server = await listen(agentWith(bug, secret))
      servers.push(server)
      const staff = { builderId: owner.id, adminId }
      await testAndList(market, staff, id, { egress: testResponder(market, secret) })
      await list(market, staff, id)
      listening.set(webhookUrl, `${server.url}/webhook`)
    },
    async close() {
      await close()
      for (const server of servers) await server.close()
    },
  }
}

function agentWith(bug: Bug, secret: string): http.RequestListener {
  const seen = new Set<string>()
  let tell = () => {}
  const told = () => new Promise<void>(resolve => (tell = resolve))
  const handler = agentHandler({
    secret: bug === 'deaf' ? 'whsec_b3RoZXI=' : secret,
    async onTask({ data }, reply) {
      if (data.title.startsWith('Not this')) return reply.reject(bug === 'mute' ? undefined : 'I do no such work.')
      if (bug === 'never decides' || (bug === 'by content' && seen.has(data.description))) return
      seen.add(data.description)
      if (bug === 'waits' && seen.size === 2) return
      await reply.accept()
      if (bug === 'waits' && seen.size === 1) await told()
      if (bug !== 'never delivers')
        await reply.deliver(bug === 'leaks' ? `Done with ${secret}` : `Done: ${data.description}`)
    },
    async onRevision({ data }, reply) {
      if (bug === 'no revisions') return
      await reply.deliver(bug === 'same again' ? `Done: ${data.description}` : `Again: ${data.revisionReason}`)
    },
    onError: () => {},
  })
  return (request, response) => {
    let isTest = false
    request.on('data', chunk => (isTest ||= String(chunk).includes('"test":true')))
    request.on('end', () => isTest && tell())
    if (bug === '202') {
      const { writeHead } = response
      response.writeHead = ((status: number, ...rest: never[]) =>
        writeHead.call(response, status === 200 && !isTest ? 202 : status, ...rest)) as never
    }
    handler(request, response)
  }
}
