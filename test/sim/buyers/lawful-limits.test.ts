// engines: embedded; process: shared
/** Simulated buyers that meet what the law refuses, over the wire: the money is right after each step, and each goes on by the law. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import { personas } from '../../../src/sim/buyers/personas.ts'
import { isOpen, openScene, type Scene, worker } from './scene.ts'

const MINUTE = 60_000
const DEPOSITED = 50_000
const PRICE = 500

/** Lets one buyer live, until it has hired the agent once more or the time is over. Returns what it has done. */
async function lifeOf(name: string, forMs = 10 * MINUTE, agents = ['Alpha']) {
  const scene = await openScene()
  for (const agent of agents) await worker(scene, agent)
  const buyers = await scene.live([name])
  const [id] = [...buyers.names.keys()]
  await scene.move(0)
  const until = scene.marketplace.world.now() + forMs
  while (scene.marketplace.world.now() < until) {
    const { next } = await scene.marketplace.admin.client.getClock()
    const byMs = next ? Date.parse(next.at) - scene.marketplace.world.now() : MINUTE
    await scene.move(Math.min(Math.max(byMs, 1), MINUTE))
    await checkMoney(scene, id!)
  }
  const deeds = scene.log.flatMap(entry => (entry.type === 'persona' ? [entry] : []))
  const first = deeds.find(({ taskId }) => taskId !== null)?.taskId
  const story = deeds.filter(({ taskId }) => taskId === first).map(({ message }) => message)
  const warnings = scene.log.flatMap(entry => (entry.type === 'warning' ? [entry.message] : []))
  assert.equal(warnings, [])
  await buyers.close()
  return { scene, id: id!, story, deeds, tasks: await scene.tasks() }
}

/** What it has paid is what has ended, and what is held is what is open. */
async function checkMoney(scene: Scene, id: string): Promise<void> {
  const tasks = (await scene.tasks()).filter(({ buyerId }) => buyerId === id)
  const sum = (wanted: typeof tasks) => wanted.reduce((cents, { agreedPrice }) => cents + agreedPrice, 0)
  const held = sum(tasks.filter(({ status }) => ['pending', 'in_progress', 'delivered'].includes(status)))
  const paid = sum(tasks.filter(({ status }) => status === 'completed'))
  const balances = await scene.marketplace.balances(id)
  assert.equal([balances.available, balances.held], [DEPOSITED - held - paid, held])
}

test('what agents buy is paid by the authorization of their owner, and never a cent more than that allows', async () => {
  const { scene, id, deeds, tasks } = await lifeOf('agent-buyer')
  const [budget, ...others] = await scene.marketplace.market.db.read(q =>
    q.all<{ id: string; agent: string; owner: string; cap: number }>(
      'SELECT id, agent_id AS agent, owner_id AS owner, max_per_task AS cap FROM budget_authorizations',
    ),
  )
  assert.equal([others.length, budget!.owner, Number(budget!.cap)], [0, id, PRICE])
  assert.ok(tasks.length > 5)
  for (const task of tasks)
    assert.equal(
      [task.buyerAgentId, task.budgetAuthorizationId, task.buyerId, task.agreedPrice],
      [budget!.agent, budget!.id, id, PRICE],
    )
  const tooMuch = deeds.filter(({ message }) => message === 'agent-buyer hires alpha for 5.01').length
  const refused = deeds.filter(({ step }) => step === 'refused')
  assert.ok(tooMuch > 0 && tooMuch < tasks.length)
  assert.is(refused.length, tooMuch)
  for (const { message } of refused)
    assert.is(
      message,
      'agent-buyer is refused: The budget authorization allows 5.00 a task (maxPerTask); this one costs 5.01',
    )
  const heard = scene.log.filter(entry => entry.type === 'webhook' && entry.event === 'task.delivered_to_buyer')
  assert.ok(heard.length > 0, 'its own agent hears of what was delivered')
  await scene.close()
})

test('talkative writes before an answer, during the revision and after the end; each message is there, in order', async () => {
  const { scene, story, tasks } = await lifeOf('talkative', 3 * MINUTE)
  assert.match(
    story.join('\n'),
    /hires alpha[\s\S]+writes: “[\s\S]+asks for a revision[\s\S]+writes: “[\s\S]+approves[\s\S]+writes: “Thank you!” “Thank you!”/,
  )
  const { items } = await scene.marketplace.admin.client.listMessages({ id: tasks[0]!.id })
  const said = (items as { senderRole: string; content: string }[]).filter(({ senderRole }) => senderRole === 'buyer')
  const told = story.filter(words => words.includes('writes: ')).join()
  assert.is(said.length, 7)
  for (const { content } of said) assert.ok(told.includes(`“${content}”`), content)
  await scene.close()
})

test('a suspended buyer may not hire again, and approves what is open', async () => {
  const { scene, id, story, tasks } = await lifeOf('suspended', 5 * MINUTE, ['Alpha', 'Beta'])
  assert.equal(
    story.map(words => words.replace(/, with .*/, '')),
    [
      'suspended hires beta for 5.00',
      'the administrator suspends its account',
      'suspended hires again',
      'suspended is refused: This account is suspended: it can finish open work, not start anything new',
      'suspended approves',
    ],
  )
  assert.ok(tasks.filter(({ status }) => status === 'completed').length > 4)
  const { items } = await scene.marketplace.admin.client.adminListUsers({})
  assert.is((items as { id: string; suspended: boolean }[]).find(user => user.id === id)?.suspended, true)
  await scene.close()
})

test('a banned buyer may do nothing, and the administrator has the builder paid; a start later goes on', async () => {
  const { scene, story, tasks } = await lifeOf('banned', 2 * 60 * MINUTE)
  assert.equal(
    story.map(words => words.replace(/, with .*/, '')),
    [
      'banned hires alpha for 5.00',
      'the administrator bans its account',
      'banned approves',
      'banned is refused: This account is banned',
      'the administrator settles the task: release',
    ],
  )
  const open = tasks.find(isOpen)!
  assert.ok(open && tasks.some(({ status }) => status === 'completed'))
  await scene.live(['banned'])
  await scene.move(60 * MINUTE)
  assert.is((await scene.marketplace.admin.client.getTask({ id: open.id })).status, 'completed')
  assert.not.ok(scene.log.some(({ type }) => type === 'warning'))
  await scene.close()
})

test('whoever is too late is refused twice, rests, and hires again', async () => {
  const scene = await openScene()
  const agent = await worker(scene, 'Alpha')
  const buyers = await scene.live(['too-late'])
  const [id] = [...buyers.names.keys()]
  for (const ms of [0, MINUTE, durations.disputeWindowMs, 2 * MINUTE]) {
    await scene.move(ms)
    await checkMoney(scene, id!)
  }
  const [first] = await scene.tasks()
  assert.equal([first!.status, first!.dispute, first!.revisionCount], ['completed', null, 0])
  const refused = scene.log.flatMap(entry =>
    entry.type === 'persona' && entry.step === 'refused' ? [entry.message] : [],
  )
  assert.is(refused.length, 2, refused.join('\n'))
  await scene.marketplace.freshen(agent)
  await scene.move(MINUTE)
  assert.is((await scene.tasks()).length, 2)
  await scene.close()
})

test('dev has all characters that come alone', async () => {
  const { personasCalled } = await import('../../../src/cli/dev/personas.ts')
  const alone = personas.filter(({ name }) => name !== 'flooder').map(({ name }) => name)
  assert.is(personasCalled(alone).length, alone.length)
  assert.throws(() => personasCalled(['flooder']), /not flooder, which .+ is for simulate buyers:\n {2}easy /)
})

test.run()
