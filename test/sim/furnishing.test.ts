// engines: embedded, postgres at length; process: shared
/** Accounts, money and agents that a simulator makes for itself: by the rules, and the same again for the same names. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import { type EarlyTier, emailOf, ensureAccount, ensureFunds, furnishBuyers } from '../../src/sim/accounts.ts'
import { furnishAgents, secretOf, testAndList, type WantedAgent } from '../../src/sim/agents/agents.ts'
import type { SampleAgent } from '../../src/sim/agents/sample-agent.ts'
import { testResponder } from '../../src/sim/agents/test-responder.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { BUYER, type Credentials, people, seed, seededNames } from '../../src/sim/seed.ts'
import { verbsAs } from '../../src/sim/verb-calls.ts'
import { sameAsKept } from '../support/golden.ts'
import { openTestMarketplace, type TestMarketplace } from '../support/marketplace.ts'
import { inParagraphs, linesOf } from './golden/legible.ts'

async function staffOf({ market, admin }: TestMarketplace) {
  const { id } = await ensureAccount(market, { name: 'builder', fullName: 'A Builder' })
  return { builderId: id, adminId: admin.id }
}

const deposits = ({ market }: TestMarketplace, id: string) =>
  market.db.read(q =>
    q.all<{ amount: number; status: string }>(
      `SELECT amount, status FROM transfers WHERE kind = 'deposit' AND payee_id = $1 ORDER BY id`,
      [id],
    ),
  )

test('buyers have the tier that was asked for, and money in as many deposits as it takes', async () => {
  const marketplace = await openTestMarketplace()
  const { market, admin } = marketplace
  const wanted: [tier: EarlyTier, funds: number, parts: number[]][] = [
    ['new_unverified', 90_000, [50_000, 40_000]],
    ['new_verified', 700_000, [500_000, 200_000]],
    ['chargeback_risk', 1_000_000, [20_000, 20_000, 10_000]],
    ['suspended', 60_000, [50_000, 10_000]],
  ]
  for (const [tier, funds, parts] of wanted) {
    const [buyer] = await furnishBuyers(market, admin.id, { names: [tier.replace('_', '-')], tier, funds })
    const sum = parts.reduce((all, part) => all + part, 0)
    assert.equal([buyer!.funds, (await marketplace.balances(buyer!.id)).available], [sum, sum], tier)
    assert.equal(
      (await deposits(marketplace, buyer!.id)).map(({ amount }) => amount),
      parts,
    )
    const users = (await admin.client.adminListUsers({ limit: 100 })).items
    assert.is(users.find(({ id }) => id === buyer!.id)?.trustTier, tier)
  }
  await marketplace.checkLedger()
  await marketplace.close()
})

test('the same names are the same accounts, and money is only topped up', async () => {
  const marketplace = await openTestMarketplace()
  const { market, admin } = marketplace
  const wanted = { names: ['one', 'two', 'three'], tier: 'new_verified', funds: 50_000 } as const
  const first = await furnishBuyers(market, admin.id, wanted)
  const again = await furnishBuyers(market, admin.id, { ...wanted, funds: 50_100 })
  assert.equal(
    again.map(({ id }) => id),
    first.map(({ id }) => id),
  )
  const parts = (await deposits(marketplace, first[0]!.id)).map(({ amount }) => amount)
  assert.equal(parts, [50_000, 200], 'the least that a deposit may be')
  assert.is(first[0]!.email, emailOf('one'))
  const known = await ensureAccount(market, { name: 'one', fullName: 'One' }, again[0])
  assert.is(known, again[0])
  await marketplace.checkLedger()
  await marketplace.close()
})

test('where payments are handled by hand, the administrator confirms each deposit; the next day brings more', async () => {
  const marketplace = await openTestMarketplace({ payments: 'manual' })
  const { market, admin, world } = marketplace
  const [buyer] = await furnishBuyers(market, admin.id, { names: ['one'], tier: 'new_unverified', funds: 250_000 })
  assert.is(buyer!.funds, 100_000)
  world.advance(world.now() + durations.dayMs)
  const act = verbsAs(market, buyer!.id)
  assert.is(await ensureFunds(act, verbsAs(market, admin.id), 250_000), 200_000)
  assert.equal([...new Set((await deposits(marketplace, buyer!.id)).map(({ status }) => status))], ['completed'])
  await marketplace.checkLedger()
  await marketplace.close()
})

test('an account may do what its roles and its standing allow, in the shapes of the interface', async () => {
  const marketplace = await openTestMarketplace()
  const { market, admin } = marketplace
  const { builderId } = await staffOf(marketplace)
  const act = verbsAs(market, builderId)
  const refused = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: { code?: string }) => error.code ?? error,
    )
  assert.is(await refused(act('adminListUsers', {})), 'admin_only')
  assert.is(await refused(verbsAs(market, 'usr_none')('getWallet', {})), 'not_authenticated')
  assert.match(String(await refused(act('deposit', { amount: 199 }))), /amount/)
  await admin.client.adminUpdateUser({ id: builderId, banned: true })
  assert.is(await refused(act('getWallet', {})), 'banned')
  await marketplace.close()
})

test('agents are made, tested, reviewed and listed by the rules, and left as they are the second time', async () => {
  const marketplace = await openTestMarketplace()
  const { market, sink } = marketplace
  const staff = await staffOf(marketplace)
  const sinks = Array.from({ length: 12 }, (_, n) => sink(`agent-${n}.localhost`))
  const wanted: WantedAgent[] = sinks.map(({ url }, n) => ({ name: `agent-${n}`, webhookUrl: url }))
  const before = wanted.map(agent => ({ ...agent, secret: `whsec_${Buffer.alloc(32, agent.name).toString('base64')}` }))
  before.forEach(({ secret }, n) => {
    sinks[n]!.secret = secret
  })
  before[0]!.id = 'agt_given'
  const agents = await furnishAgents(market, staff, before)
  assert.equal(
    agents.map(({ slug }) => slug),
    wanted.map(({ name }) => name),
  )
  assert.is(agents[0]!.id, 'agt_given')
  assert.equal(
    agents.map(({ webhookSecret }) => webhookSecret),
    before.map(({ secret }) => secret),
  )
  assert.equal(
    sinks.map(({ tests }) => tests),
    Array(12).fill(1),
  )
  const listed = async () => (await marketplace.visitor.client.listAgents({ limit: 100 })).items.map(({ slug }) => slug)
  assert.equal((await listed()).sort(), wanted.map(({ name }) => name).sort())

  const again = await furnishAgents(market, staff, wanted)
  assert.equal(again, agents)
  assert.equal(
    sinks.map(({ tests }) => tests),
    Array(12).fill(1),
    'a test that counts is not made again',
  )

  const moved = sink('moved.localhost')
  moved.secret = before[3]!.secret
  await furnishAgents(market, staff, [{ name: 'agent-3', webhookUrl: moved.url }])
  assert.is(moved.tests, 1, 'another URL is another test')
  assert.is((await listed()).length, 12)
  await marketplace.close()
})

test('an agent that fails its test is not listed, and one that only a stand-in answers for is', async () => {
  const marketplace = await openTestMarketplace()
  const { market } = marketplace
  const staff = await staffOf(marketplace)
  const nowhere = 'https://nobody.localhost/webhook'
  const [agent] = await furnishAgents(market, staff, [{ name: 'nobody', webhookUrl: nowhere }])
  const own = await verbsAs(market, staff.builderId)('getMyAgent', { id: agent!.id })
  assert.equal([own.status, own.visible], ['draft', false])
  const wrong = await testAndList(market, staff, agent!.id, { egress: testResponder(market, 'whsec_other') })
  assert.equal(
    wrong.checks.map(({ status }) => status),
    ['passed', 'passed', 'passed', 'failed', 'skipped'],
  )
  const secret = (await secretOf(market, agent!.id))!
  const right = await testAndList(market, staff, agent!.id, { egress: testResponder(market, secret) })
  assert.equal(
    right.checks.map(({ status }) => status),
    Array(5).fill('passed'),
  )
  assert.is((await marketplace.visitor.client.getAgent({ id: agent!.id })).status, 'verified')
  await marketplace.stopHeartbeat()
  marketplace.world.advance(marketplace.world.now() + durations.freshMs)
  marketplace.world.tick(1) // or the callback would have the signature of the one before
  assert.not((await verbsAs(market, staff.builderId)('getMyAgent', { id: agent!.id })).visible)
  const firstTest = () => ({ egress: testResponder(market, secret) })
  await furnishAgents(market, staff, [{ name: 'nobody', webhookUrl: nowhere }], { firstTest })
  assert.ok((await verbsAs(market, staff.builderId)('getMyAgent', { id: agent!.id })).visible, 'tested again')
  await marketplace.close()
})

test('a new simulator has three people, money, one agent that works and two that never answer; a later start finds them', async () => {
  const marketplace = await openTestMarketplace()
  const { market, visitor, admin } = marketplace
  await admin.client.updateMe({ name: 'Ada Admin' })
  const given: string[] = []
  const sample = { url: 'https://sample-agent.localhost/webhook', use: (secret: string) => void given.push(secret) }
  const start = (known: Credentials | null) => seed(market, known, sample as SampleAgent)
  const first = await start(null)
  const users = (await admin.client.adminListUsers({ limit: 100 })).items
  assert.equal(
    people.map(name => {
      const { email, id, password } = first.accounts[name]
      const user = users.find(one => one.id === id)!
      assert.match(password, new RegExp(`^${name}-.{12}$`))
      return [email, user.email, user.name, user.isBuilder, user.isAdmin, user.identityVerified]
    }),
    [
      ['buyer@example.com', 'buyer@example.com', 'Bo Buyer', true, false, true],
      ['builder@example.com', 'builder@example.com', 'Billie Builder', true, false, false],
      ['admin@example.com', 'admin@example.com', 'Ada Admin', true, true, false],
    ],
  )
  assert.is(first.accounts.buyer.email, BUYER)
  const funds = async () => (await marketplace.balances(first.accounts.buyer.id)).available
  assert.is(await funds(), 100_000)
  const { items } = await visitor.client.listAgents({ sort: 'newest' })
  assert.equal(
    items.map(({ slug }) => slug),
    ['sample-agent', 'silent-analyst', 'silent-translator'],
  )
  assert.equal(items.map(({ slug }) => slug).sort(), [...seededNames].sort())
  const told = await Promise.all(
    items.map(async ({ id }) => {
      const { slug, name, tagline, description, basePrice, pricingModel, maxRevisions, tags, categoryIds } =
        await visitor.client.getAgent({ id })
      const about = { name, tagline, description, basePrice, pricingModel, maxRevisions, tags, categoryIds }
      return [slug, ...linesOf(about)].join('\n')
    }),
  )
  sameAsKept('test/sim/golden/seeded-agents.txt', inParagraphs(told))
  const [working, ...silent] = items
  assert.equal(
    [first.agents, given.join()],
    [
      [
        {
          ...{ id: working!.id, slug: 'sample-agent', webhookUrl: sample.url },
          webhookSecret: await secretOf(market, working!.id),
        },
      ],
      first.agents[0]!.webhookSecret,
    ],
  )
  assert.equal([...first.silent].sort(), silent.map(({ id, slug }) => [id, slug]).sort())

  const { silent: sameSilent, ...known } = await start(first)
  assert.equal([known, sameSilent], [{ accounts: first.accounts, agents: first.agents }, first.silent])
  const anew = await start(null)
  for (const name of people) {
    const [was, is] = [first.accounts[name], anew.accounts[name]]
    assert.equal([is.id, is.email], [was.id, was.email])
    assert.ok(is.password !== was.password && is.apiKey !== was.apiKey)
    const { client } = new HttpUser(marketplace.url)
    assert.is((await client.login({ email: is.email, password: is.password })).user.id, is.id)
  }
  assert.is(await funds(), 100_000, 'nobody pays in twice')
  await marketplace.close()
})

test('a deployment takes no secret that it has not made', async () => {
  const marketplace = await openTestMarketplace({ mode: 'serve', payments: 'sandbox', rateLimits: 'off' })
  const staff = await staffOf(marketplace)
  const wanted = [{ name: 'agent', webhookUrl: 'https://agent.localhost/', secret: 'whsec_known' }]
  const error = await furnishAgents(marketplace.market, staff, wanted).catch(reason => reason)
  assert.match(String(error), 'Only a simulator takes a webhook secret')
  await marketplace.close()
})

test.run()
