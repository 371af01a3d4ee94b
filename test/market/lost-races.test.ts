// engines: embedded, postgres; process: shared
/** Each change is decided by one conditional statement: where it changes nothing, somebody was first, and nothing is kept. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { losingTx } from '../support/losing-tx.ts'
import { type House, type ListedAgent, type Member, openHouse } from '../support/marketplace.ts'

interface State {
  house: House
  buyer: Member
  agent: ListedAgent
}

const races = suite<State>('lost races')

races.before(async state => {
  const house = await openHouse()
  Object.assign(state, {
    house,
    agent: await house.list(await house.join('builder')),
    buyer: await house.join('buyer', 50_000),
  })
})

races.after(({ house }) => house.close())

type Ask = () => Promise<{ status: number; error?: string | undefined }>

/** The request is refused with 409 and leaves nothing while the statement is lost; then it goes through. */
async function losing(house: House, isLost: RegExp, ask: Ask): Promise<void> {
  const { db } = house.market
  const write = db.write.bind(db)
  await house.webhooksSent()
  const before = await house.contents()
  db.write = work => write(tx => work(losingTx(tx, isLost)))
  const { status, error } = await ask()
  db.write = write
  assert.equal([status, error], [409, 'Someone else changed this at the same moment; look again'])
  assert.equal(await house.contents(), before)
  const again = await ask()
  assert.ok(again.status < 300, again.error)
}

const STATUS = /^UPDATE tasks SET status = /
const MARK = /^UPDATE tasks SET disputed = 1/
const RESOLVE = /^UPDATE disputes SET status = 'resolved'/
const AGENT = /^UPDATE agents SET .* AND status = /

races('a task: each step from its draft to its end, disputed and resolved', async ({ house, buyer, agent }) => {
  const { builder } = agent
  const { id } = await house.draft(buyer, agent)
  const at = `/api/tasks/${id}`
  await losing(house, /^UPDATE tasks SET agent_id = /, () => buyer.ask('PUT', at, { title: 'Another title' }))
  await losing(house, STATUS, () => buyer.ask('POST', `${at}/submit`))
  await losing(house, STATUS, () => builder.ask('POST', `${at}/accept`))
  await losing(house, STATUS, () => builder.ask('POST', `${at}/deliver`, { content: 'One' }))
  await losing(house, STATUS, () => buyer.ask('POST', `${at}/request-revision`, { reason: 'Not yet.' }))
  await losing(house, STATUS, () => builder.ask('POST', `${at}/deliver`, { content: 'Two' }))
  await losing(house, STATUS, () => buyer.ask('POST', `${at}/approve`))
  await losing(house, MARK, () => buyer.ask('POST', `${at}/dispute`, { reason: 'It is not what was asked.' }))
  const resolve: Ask = () => house.admin.ask('POST', `/api/admin/tasks/${id}/resolve`, { outcome: 'release' })
  await losing(house, RESOLVE, resolve)
  await house.checkLedger()
})

races('a task that an administrator settles undisputed, one that is cancelled, one that is rejected', async state => {
  const { house, buyer, agent } = state
  const submitted = async () => {
    const { id } = await house.draft(buyer, agent)
    await buyer.client.submitTask({ id })
    return id
  }
  const settled = await submitted()
  const resolve = `/api/admin/tasks/${settled}/resolve`
  for (const isLost of [MARK, STATUS, RESOLVE]) {
    const id = isLost === MARK ? settled : await submitted()
    await agent.builder.client.acceptTask({ id })
    await agent.builder.client.deliverTask({ id, content: 'Done' })
    await losing(house, isLost, () => house.admin.ask('POST', resolve.replace(settled, id), { outcome: 'refund' }))
  }
  const [cancelled, rejected] = [await submitted(), await submitted()]
  await losing(house, STATUS, () => buyer.ask('POST', `/api/tasks/${cancelled}/cancel`))
  await losing(house, STATUS, () => agent.builder.ask('POST', `/api/agent/tasks/${rejected}/reject`, {}, 'key'))
  await house.checkLedger()
})

races('an agent: each step of its states', async ({ house, agent }) => {
  const { builder, id } = agent
  const own = `/api/my/agents/${id}`
  await losing(house, AGENT, () => builder.ask('POST', `${own}/deactivate`))
  await house.pass(1)
  await house.freshen(agent)
  await losing(house, AGENT, () => builder.ask('POST', `${own}/reactivate`))
  await house.market.db.write(tx => tx.run(`UPDATE agents SET status = 'draft' WHERE id = $1`, [id]))
  await losing(house, AGENT, () => builder.ask('POST', `${own}/publish`))
  const review = `/api/admin/agents/${id}`
  await losing(house, AGENT, () => house.admin.ask('POST', `${review}/reject`, { reason: 'Too thin.' }))
  await builder.call('POST', `${own}/publish`)
  await losing(house, AGENT, () => house.admin.ask('POST', `${review}/approve`))
})

races('a category, and a second factor', async ({ house, buyer }) => {
  const category = { name: 'Gardens', description: 'All that grows' }
  await losing(house, /^INSERT INTO categories/, () => house.admin.ask('POST', '/api/admin/categories', category))
  const { secret } = await buyer.client.beginTotp({ password: buyer.password })
  await losing(house, /^UPDATE second_factors/, () =>
    buyer.ask('POST', '/api/auth/totp/confirm', { code: totpCode(secret, house.world.realNow()) }),
  )
})

races.run()
