// engines: embedded; process: shared; lengths: long
/**
 * Forbidden addresses by every way out of a whole marketplace in serve: no canary sees a connection. On one
 * engine, as no address is judged by a database. Source: A-42.
 */
import https from 'node:https'
import net from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { NotificationRecord, TestReport } from '../../../src/api/records.ts'
import { type Marketplace, openMarketplace } from '../../../src/open/open.ts'
import { createFrontAuthority } from '../../../src/sim/agents/https-front.ts'
import type { Lookup } from '../../../src/world/egress/names.ts'
import { createWorld, type WorldOptions } from '../../../src/world/real.ts'
import { checkedFetch } from '../../support/contract.ts'
import { addresses, canaries } from '../../support/forbidden.ts'
import { TestUser } from '../../support/marketplace.ts'

const serve: WorldOptions = { requireHttps: true, allowLoopback: false }
const PRIVATE = /^.* is .+; webhooks go to public addresses only\.$/

/** What became of one URL on each way out, in the sentences that people read. */
interface Said {
  url: string
  check: string
  delivery: string
  heartbeat: string
}

interface Shop extends Marketplace {
  builder: TestUser
  buyer: TestUser
}

const agentFields = {
  name: 'An agent',
  tagline: 'Lives where it should not',
  description: 'Its webhook leads to a place that a marketplace in public must never call.',
  pricingModel: 'fixed' as const,
  basePrice: 200,
  categoryIds: ['cat_code'],
}

async function open(options: WorldOptions): Promise<Shop> {
  const { rateLimits, payments } = { rateLimits: 'off', payments: 'sandbox' } as const
  const world = createWorld(options)
  const opening = openMarketplace({ mode: 'serve', file: null, rateLimits, payments, heartbeatBatch: 1_000, world })
  const marketplace = await opened(opening)
  const [builder, buyer] = [await join(marketplace, 'builder'), await join(marketplace, 'buyer')]
  await buyer.client.deposit({ amount: 50_000 })
  return { ...marketplace, builder, buyer }
}

async function join({ url }: Marketplace, name: string): Promise<TestUser> {
  const user = new TestUser(url, checkedFetch)
  await user.client.register({
    email: `${name}@example.com`,
    password: `the ${name} of a test`,
    name,
    isBuilder: true,
  })
  return user
}

const closers: (() => unknown)[] = []

async function opened<Thing extends { close(): unknown }>(opening: Promise<Thing>): Promise<Thing> {
  const thing = await opening
  closers.push(() => thing.close())
  return thing
}

test.after.each(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** An agent for each URL, in public and fresh, so that every way out is open to it. */
async function listAll({ market, builder }: Shop, urls: readonly string[]): Promise<{ ids: string[]; saved: number }> {
  const ids: string[] = []
  let saved = 0
  for (const [i, webhookUrl] of urls.entries()) {
    const { id } = await builder.client.createAgent({ ...agentFields, name: `Agent ${i}` })
    await builder.client.rotateSecret({ id })
    const { status } = await builder.ask('PUT', `/api/my/agents/${id}`, { webhookUrl })
    assert.ok(status === 200 || status === 400, webhookUrl)
    if (status === 200) saved++
    // What can't be saved may still lie in a database from elsewhere.
    const sql = `UPDATE agents SET webhook_url = $1, status = 'verified', last_pass_at = $2 WHERE id = $3`
    await market.db.write(tx => tx.run(sql, [webhookUrl, market.world.now(), id]))
    ids.push(id)
  }
  return { ids, saved }
}

async function walk(shop: Shop, urls: readonly string[]): Promise<{ said: Said[]; saved: number }> {
  const { market, builder, buyer } = shop
  const { ids, saved } = await listAll(shop, urls)
  for (const agentId of ids) {
    const { id } = await buyer.client.createTask({
      agentId,
      title: 'To be sent',
      description: 'A task whose webhook has nowhere to go.',
      agreedPrice: 200,
    })
    await buyer.client.submitTask({ id })
  }
  const tried = () => market.db.read(q => q.get<{ count: number }>('SELECT COUNT(*) AS count FROM attempts'))
  while (Number((await tried())!.count) < ids.length) await new Promise(resolve => setTimeout(resolve, 10))

  const checks: string[] = []
  for (const id of ids) checks.push(failureOf(await builder.client.testConnection({ id })))
  market.world.advance(market.world.now() + 5 * 3_600_000)
  await shop.runDue()
  const news = await heartbeatNews(builder)
  const said: Said[] = []
  for (const [i, id] of ids.entries()) {
    const { items } = await builder.client.listDeliveries({ id })
    const { attempts } = await builder.client.getDelivery({ id, deliveryId: items[0]!.id })
    const heartbeat = failureOf(news.get(id) ?? { checks: [] })
    said.push({ url: urls[i]!, check: checks[i]!, delivery: attempts[0]!.message, heartbeat })
  }
  return { said, saved }
}

const failureOf = ({ checks }: Pick<TestReport, 'checks'>) =>
  checks.find(({ status }) => status === 'failed')?.message ?? 'did not fail'

async function heartbeatNews({ client }: TestUser): Promise<Map<string, Pick<TestReport, 'checks'>>> {
  const all: NotificationRecord[] = []
  for (let page = 1; ; page++) {
    const { items, pagination } = await client.listNotifications({ page, limit: 100 })
    all.push(...items)
    if (!pagination.hasMore) break
  }
  return new Map(all.map(({ agentId, data }) => [agentId!, data as Pick<TestReport, 'checks'>]))
}

/** What each way out has to say of a URL that serve refuses for this reason. */
function rulesOf(reason: string, url: string): Record<Exclude<keyof Said, 'url'>, RegExp> {
  const notHttps = /^The webhook URL does not start with https:\/\/$|^No webhook URL is saved$/
  const words: Record<string, RegExp> = {
    private_address: PRIVATE,
    https_required: /^The URL begins with http:\/\/; webhooks go to https:\/\/ only\.$/,
    bad_url: /^The URL is not an http\(s\) address\.$|holds a user name or password|^The agent has no webhook URL$/,
  }
  const check = /^https:\/\//i.test(url) ? new RegExp(words[reason]!.source.replaceAll('^', '')) : notHttps
  return { check, heartbeat: check, delivery: words[reason]! }
}

test(`serve: ${addresses.length} spellings, by dispatch, test of the connection and heartbeat: no connection, and the rule is named`, async () => {
  const canary = await opened(canaries())
  const shop = await open(serve)
  const { said, saved } = await walk(shop, addresses.map(canary.aimed))
  assert.ok(saved >= 150, `${saved} of them can be saved as a webhook URL`)
  for (const [i, { reason }] of addresses.entries()) {
    const { url, ...sentences } = said[i]!
    const rules = rulesOf(reason, url)
    for (const [way, sentence] of Object.entries(sentences)) {
      assert.match(sentence, rules[way as keyof typeof rules], `${way} of ${JSON.stringify(url)}`)
    }
  }
  assert.is(canary.seen(), 0)
})

test(`serve: a redirect to each of the ${addresses.length} spellings is told as one and never followed`, async () => {
  const canary = await opened(canaries())
  const targets = addresses.map(canary.aimed)
  const statuses = [301, 302, 303, 307, 308]
  const authority = createFrontAuthority()
  let asked = 0
  const lure = https.createServer(await authority.credentials, (incoming, answer) => {
    asked++
    const at = Number(incoming.url!.slice(1))
    const location = encodeURI(targets[at]!)
    incoming.resume().on('end', () => {
      answer.writeHead(statuses[at % 5]!, { Location: location, Refresh: `0; url=${location}` }).end()
    })
  })
  await new Promise<void>(resolve => lure.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    lure.closeAllConnections()
    lure.close()
  })
  const { port } = lure.address() as net.AddressInfo
  // The lure itself lives on this machine, so here even loopback is allowed: only not following keeps the canary safe.
  const shop = await open({ requireHttps: true, allowLoopback: true, ca: authority.ca })
  const { said } = await walk(
    shop,
    targets.map((_, i) => `https://localhost:${port}/${i}`),
  )
  for (const [i, { check, delivery, heartbeat }] of said.entries()) {
    const status = statuses[i % 5]!
    assert.is(check, `The endpoint answered ${status}; exactly 200 is needed`)
    assert.is(heartbeat, check)
    assert.is(delivery, `The agent answered ${status}, and redirects are not followed`)
  }
  assert.ok(asked >= 3 * targets.length)
  assert.is(canary.seen(), 0)
})

test('serve: names whose answers change with every look-up lead nowhere', async () => {
  const canary = await opened(canaries())
  const hosts = addresses.filter(({ reason }) => reason === 'private_address').map(({ url }) => hostOf(url))
  const forbidden = [...new Set(hosts)].filter(host => net.isIP(host) > 0)
  const asked = new Map<string, number>()
  const of = (address: string) => ({ address, family: net.isIP(address) })
  const honest = of('93.184.216.34')
  const lookup: Lookup = async name => {
    const turn = asked.get(name) ?? 0
    asked.set(name, turn + 1)
    const bad = of(forbidden[(Number(name.split('.')[0]) + turn) % forbidden.length]!)
    return [[bad], [honest, bad], [bad, honest]][turn % 3]!
  }
  const shop = await open({ ...serve, lookup })
  const names = forbidden.map((_, i) => `${i}.rebind.example.com`)
  const { said } = await walk(
    shop,
    names.map(name => `https://${name}:${canary.port}/`),
  )
  for (const { url, check, delivery, heartbeat } of said) {
    const { hostname } = new URL(url)
    for (const sentence of [check, delivery, heartbeat]) {
      assert.match(
        sentence,
        new RegExp(`The name ${hostname} has no public address; webhooks go to public addresses only\\.$`),
      )
    }
    assert.ok(asked.get(hostname)! >= 3)
  }
  assert.ok(forbidden.length > 60, `${forbidden.length} addresses`)
  assert.is(canary.seen(), 0)
})

test('serve, as it is opened without a world of its own: a test of the connection to each loopback address is refused', async () => {
  const canary = await opened(canaries())
  const marketplace = await opened(openMarketplace({ mode: 'serve', file: null, rateLimits: 'off' }))
  const builder = await join(marketplace, 'builder')
  const { id } = await builder.client.createAgent(agentFields)
  await builder.client.rotateSecret({ id })
  for (const row of addresses.filter(({ kind, url }) => /^loopback/.test(kind) && /^https:\/\//.test(url))) {
    await builder.client.updateAgent({ id, webhookUrl: canary.aimed(row) })
    assert.match(failureOf(await builder.client.testConnection({ id })), new RegExp(PRIVATE.source.slice(1)), row.url)
  }
  assert.is(canary.seen(), 0)
})

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') : '')

test.run()
