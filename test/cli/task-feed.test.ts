// engines: embedded; process: own
/** A simulated buyer beside a dev hears of its task instead of asking, and knows why an agent does not answer. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { locate } from '../../src/cli/connection/target.ts'
import { taskFeed } from '../../src/cli/log/task-feed.ts'
import { type BuyerPlan, PlanError, playBuyer } from '../../src/sim/buyers/buyer.ts'
import { answered } from '../../src/world/virtual.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

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
  timeoutMs: 2_500,
}

async function open() {
  /** For each time that the task was asked for: how many ms after something had happened to it. */
  const asked: number[] = []
  let happened = 0
  const marketplace = await openTestMarketplace({
    log(entry) {
      if ('taskId' in entry) happened = performance.now()
      if (entry.type === 'request' && entry.route === '/api/tasks/:id') asked.push(performance.now() - happened)
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
      follow: id => taskFeed(locate({}, 'admin'), id, why => void trouble.push(why)),
    })
  return { marketplace, asked, agent, play, trouble }
}

test('it asks for the task when something has happened, and else hardly ever', async () => {
  const { marketplace, asked, agent, play } = await open()
  const working = new Promise<void>(resolve => {
    agent.sink.answer = () => {
      const { taskId } = agent.sink.received.at(-1)!.data
      const work = async () => {
        await new Promise(go => setTimeout(go, 1_500))
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
  // A buyer who polls asks twice in the second half of that time.
  assert.equal(
    asked.filter(ms => ms > 600),
    [],
    'nothing has happened, so nothing is asked',
  )
  await marketplace.close()
})

test('it says at once why the agent does not answer, and does not wait for what comes too late', async () => {
  const { marketplace, agent, play, trouble } = await open()
  agent.sink.answer = () => answered(500, 'no')
  const since = performance.now()
  const error = await play().catch((caught: unknown) => caught)
  assert.ok(error instanceof PlanError)
  assert.match(
    error.message,
    /^The agent can't accept: The agent answered 500; a 2xx is needed\. It said “no”\. The agent failed: look at its own output\. Again in /,
  )
  assert.is(trouble.length, 1)
  assert.ok(performance.now() - since < plan.timeoutMs)
  await marketplace.close()
})

test.run()
