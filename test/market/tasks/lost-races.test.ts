// engines: embedded, postgres; process: shared
/** Each change is decided by one conditional statement: where it changes nothing, somebody was first, and nothing is kept. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../../src/market/accounts/totp.ts'
import { losingTx } from '../../support/losing-tx.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

interface State {
  marketplace: TestMarketplace
  buyer: TestUser
  agent: ListedAgent
}

const races = suite<State>('lost races')

races.before(async state => {
  const marketplace = await openTestMarketplace()
  Object.assign(state, {
    marketplace,
    agent: await marketplace.list(await marketplace.join('builder')),
    buyer: await marketplace.join('buyer', 50_000),
  })
})

races.after(({ marketplace }) => marketplace.close())

type Ask = () => Promise<{ status: number; error?: string | undefined }>

/** The request is refused with 409 and leaves nothing while the statement is lost; then it goes through. */
async function losing(marketplace: TestMarketplace, isLost: RegExp, ask: Ask): Promise<void> {
  const { db } = marketplace.market
  const write = db.write.bind(db)
  await marketplace.webhooksSent()
  const before = await marketplace.contents()
  db.write = work => write(tx => work(losingTx(tx, isLost)))
  const { status, error } = await ask()
  db.write = write
  assert.equal([status, error], [409, 'Someone else changed this at the same moment; look again'])
  assert.equal(await marketplace.contents(), before)
  const again = await ask()
  assert.ok(again.status < 300, again.error)
}

const STATUS = /^UPDATE tasks SET status = /
const MARK = /^UPDATE tasks SET disputed = /
const RESOLVE = /^UPDATE disputes SET status = /
const AGENT = /^UPDATE agents SET .* AND status = /

races('a task: each step from its draft to its end, disputed and resolved', async ({ marketplace, buyer, agent }) => {
  const { builder } = agent
  const { id } = await marketplace.draft(buyer, agent)
  const at = `/api/tasks/${id}`
  await losing(marketplace, /^UPDATE tasks SET title = /, () => buyer.ask('PUT', at, { title: 'Another title' }))
  await losing(marketplace, STATUS, () => buyer.ask('POST', `${at}/submit`))
  await losing(marketplace, STATUS, () => builder.ask('POST', `${at}/accept`))
  await losing(marketplace, STATUS, () => builder.ask('POST', `${at}/deliver`, { content: 'One' }))
  await losing(marketplace, STATUS, () => buyer.ask('POST', `${at}/request-revision`, { reason: 'Not yet.' }))
  await losing(marketplace, STATUS, () => builder.ask('POST', `${at}/deliver`, { content: 'Two' }))
  await losing(marketplace, STATUS, () => buyer.ask('POST', `${at}/approve`))
  await losing(marketplace, MARK, () => buyer.ask('POST', `${at}/dispute`, { reason: 'It is not what was asked.' }))
  const resolve: Ask = () => marketplace.admin.ask('POST', `/api/admin/tasks/${id}/resolve`, { outcome: 'release' })
  await losing(marketplace, RESOLVE, resolve)
  await marketplace.checkLedger()
})

races('a task that an administrator settles undisputed, one that is cancelled, one that is rejected', async state => {
  const { marketplace, buyer, agent } = state
  const submitted = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.client.submitTask({ id })
    return id
  }
  const settled = await submitted()
  const resolve = `/api/admin/tasks/${settled}/resolve`
  for (const isLost of [MARK, STATUS, RESOLVE]) {
    const id = isLost === MARK ? settled : await submitted()
    await agent.builder.client.acceptTask({ id })
    await agent.builder.client.deliverTask({ id, content: 'Done' })
    await losing(marketplace, isLost, () =>
      marketplace.admin.ask('POST', resolve.replace(settled, id), { outcome: 'refund' }),
    )
  }
  const [cancelled, rejected] = [await submitted(), await submitted()]
  await losing(marketplace, STATUS, () => buyer.ask('POST', `/api/tasks/${cancelled}/cancel`))
  await losing(marketplace, STATUS, () => agent.builder.ask('POST', `/api/agent/tasks/${rejected}/reject`, {}, 'key'))
  await marketplace.checkLedger()
})

races('an agent: each step of its states', async ({ marketplace, agent }) => {
  const { builder, id } = agent
  const own = `/api/my/agents/${id}`
  await losing(marketplace, AGENT, () => builder.ask('POST', `${own}/deactivate`))
  await marketplace.pass(1)
  await marketplace.freshen(agent)
  await losing(marketplace, AGENT, () => builder.ask('POST', `${own}/reactivate`))
  await marketplace.market.db.write(tx => tx.run(`UPDATE agents SET status = 'draft' WHERE id = $1`, [id]))
  await losing(marketplace, AGENT, () => builder.ask('POST', `${own}/publish`))
  const review = `/api/admin/agents/${id}`
  await losing(marketplace, AGENT, () => marketplace.admin.ask('POST', `${review}/reject`, { reason: 'Too thin.' }))
  await builder.call('POST', `${own}/publish`)
  await losing(marketplace, AGENT, () => marketplace.admin.ask('POST', `${review}/approve`))
})

races('a category, and a second factor', async ({ marketplace, buyer }) => {
  const category = { name: 'Gardens', description: 'All that grows' }
  await losing(marketplace, /^INSERT INTO categories/, () =>
    marketplace.admin.ask('POST', '/api/admin/categories', category),
  )
  const { secret } = await buyer.client.beginTotp({ password: buyer.password })
  await losing(marketplace, /^UPDATE second_factors/, () =>
    buyer.ask('POST', '/api/auth/totp/confirm', { code: totpCode(secret, marketplace.world.realNow()) }),
  )
})

races.run()
