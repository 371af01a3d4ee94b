// engines: embedded; process: own
/** A simulated buyer beside a dev hears of its task instead of asking, and knows why an agent does not answer. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { locate } from '../../src/cli/connection/target.ts'
import { taskFeed } from '../../src/cli/log/task-feed.ts'
import { hurry } from '../../src/sim/agents/forwarded-agents.ts'
import { type BuyerPlan, PlanError, playBuyer } from '../../src/sim/buyers/buyer.ts'
import { answered } from '../../src/world/virtual.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'

const folder = mkdtempSync(join(tmpdir(), 'marketplace-feed-'))
process.chdir(folder)
mkdirSync('.marketplace')
test.after(() => rmSync(folder, { recursive: true, force: true }))

const plan: BuyerPlan = {
  outcome: 'dispute',
  title: 'A task of a buyer',
  description: 'Something that is long enough.',
  revisions: 0,
  rating: 5,
  timeoutMs: PATIENCE_MS,
}

async function open() {
  /** How often the task was asked for. */
  const asked = { times: 0 }
  const marketplace = await openTestMarketplace({
    log(entry) {
      if (entry.type === 'request' && entry.route === '/api/tasks/:id') asked.times++
    },
  })
  const { url, market, admin } = marketplace
  const accounts = { admin: { apiKey: admin.key } }
  writeFileSync(
    join('.marketplace', 'credentials.json'),
    JSON.stringify({ url, instance: market.config.instanceId, accounts }),
  )
  const [buyer, builder] = [await marketplace.join('buyer', 100_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const trouble: string[] = []
  const play = async () =>
    playBuyer(buyer.client, await buyer.client.getAgent({ id: agent.id }), plan, {
      onStep: () => {},
      onWait: () => {},
      follow: id => taskFeed(locate({}, 'admin'), id, why => void trouble.push(why), PATIENCE_MS),
    })
  return { marketplace, asked, agent, play, trouble }
}

test('it asks for the task when something has happened, and else hardly ever', async () => {
  const { marketplace, asked, agent, play } = await open()
  let meanwhile = Number.POSITIVE_INFINITY
  /** On a slow machine that time is longer: a buyer who hears of nothing looks every two seconds all the same. */
  let seldom = 0
  const working = new Promise<void>(resolve => {
    agent.sink.answer = () => {
      const { taskId } = agent.sink.received.at(-1)!.data
      const work = async () => {
        await until('the first look', () => asked.times > 0)
        const before = asked.times
        const lookNowAndThen = setInterval(() => seldom++, 2_000)
        await new Promise(go => setTimeout(go, 1_500))
        clearInterval(lookNowAndThen)
        meanwhile = asked.times - before
        await marketplace.callback(agent, taskId, { action: 'accept' })
        await marketplace.callback(agent, taskId, { action: 'deliver', content: 'Done' })
        resolve()
      }
      if (agent.sink.received.length === 1) void work()
      return answered(200)
    }
  })
  const task = await play()
  await working
  assert.is(task.status, 'delivered')
  // Its submit and its webhook may be heard of late. A buyer who polls asks six times.
  assert.ok(meanwhile <= 3 + seldom, `asked ${meanwhile} times while nothing happened`)
  await marketplace.close()
})

test('it says at once why the agent does not answer, and does not wait for what comes too late', async () => {
  const { marketplace, agent, play, trouble } = await open()
  // Later than the buyer would wait.
  agent.sink.answer = () => answered(503, 'no', { 'retry-after': '3600' })
  const error = await play().catch((caught: unknown) => caught)
  assert.ok(error instanceof PlanError)
  assert.match(error.message, /^The agent can't accept: The agent answered 503; .*Again in /)
  assert.is(trouble.length, 1)
  await marketplace.close()
})

test('an agent that is being started has some seconds, and what failed until then counts no more', async () => {
  const { marketplace, agent, play, trouble } = await open()
  agent.sink.answer = () => ({ ok: false, reason: 'refused', message: 'Nobody listens.', durationMs: 1 })
  const hired = play()
  await until('the first attempt', () => trouble.length > 0)
  // The attempt after this one comes too late for the buyer, but dev sees that the agent is up.
  await marketplace.pass(6_000)
  assert.is(agent.sink.received.length, 2)
  let isUp = false
  agent.sink.answer = () => {
    isUp = true
    return answered(200)
  }
  await hurry(marketplace.market, agent.id)
  await until('the third attempt', () => isUp)
  // Something happens, so the buyer looks.
  const { taskId } = agent.sink.received.at(-1)!.data
  await marketplace.callback(agent, taskId, { action: 'accept' })
  await marketplace.callback(agent, taskId, { action: 'deliver', content: 'Done' })
  assert.is((await hired).status, 'delivered')
  assert.match(trouble[0]!, /It has \d s to start\.$/)
  assert.is(trouble.length, 1)
  await marketplace.close()
})

test.run()
