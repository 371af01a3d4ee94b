// engines: embedded; process: own
/** Waits of the judge that nobody would sit out: they end, by a clock that the test moves. */
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { AgentUnderTest } from '../../src/conform/agent/agent-under-test.ts'
import { BusyAgent } from '../../src/conform/agent/busy-agent.ts'
import { nothingDeclared, Patience } from '../../src/conform/agent/declared.ts'
import { type Answer, contentOf } from '../../src/conform/history/history.ts'
import { Recorder } from '../../src/conform/history/recorder.ts'
import type { Lane } from '../../src/conform/marketplaces/lane.ts'
import type { OutgoingWebhook } from '../../src/conform/marketplaces/webhook-faults.ts'
import type { WebhookTap } from '../../src/conform/marketplaces/webhook-tap.ts'
import { Stage, type StageTask } from '../../src/conform/scenarios/scenario.ts'

const test = suite('waits')
const { now } = performance
let elapsed = 0

test.before.each(() => {
  elapsed = 0
  performance.now = () => elapsed
  mock.timers.enable({ apis: ['setTimeout'] })
})

test.after.each(() => {
  performance.now = now
  mock.timers.reset()
})

async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    elapsed += 1_000
    mock.timers.tick(1_000)
    await setImmediate()
  }
}

type Prepared = Parameters<WebhookTap['prepare']>[0]

/** A stage before a marketplace that sends what was prepared when the test says so. */
function stageWith(prepared: Prepared[]) {
  const webhooks = { prepare: (one: Prepared) => void prepared.push(one) }
  const recorder = new Recorder()
  const chance = () => 0
  const agent = new AgentUnderTest({
    ...{
      url: 'http://127.0.0.1:1/',
      secret: 's',
      id: 'agt',
      keyBytes: Buffer.alloc(24),
      command: null,
      recorder,
      chance,
    },
  })
  const lane = { webhooks } as unknown as Lane
  const shared = { agent, declared: nothingDeclared, patience: new Patience({ answer: 1, work: 1 }), recorder, chance }
  return new Stage({ ...shared, scenario: 'play', lane, lanes: [lane] })
}

const task = {
  ...{ label: 'a.b', id: 'task_1', canary: '', price: 500 },
  buyer: { id: 'usr_1', act: async () => ({}) },
} as unknown as StageTask

test('a webhook that the marketplace does not send is waited for a minute, and no longer', async () => {
  const prepared: Prepared[] = []
  const outcome: string[] = []
  const taking = stageWith(prepared).takenOf(task, 'task.submitted', 'submitTask')
  taking.catch((error: Error) => outcome.push(error.message))
  await pass(59)
  assert.equal(outcome, [])
  await pass(2)
  assert.equal(outcome, ['the marketplace did not send task.submitted of a.b within 60 s'])
})

test('one that comes late is taken all the same', async () => {
  const prepared: Prepared[] = []
  const taking = stageWith(prepared).takenOf(task, 'task.submitted', 'submitTask')
  await pass(58)
  const webhook = { deliveryId: 'dlv_1' } as OutgoingWebhook
  const unheard = () => assert.unreachable('it is not sent') as never
  await prepared[0]!.fault.play(webhook, unheard)
  await pass(1)
  assert.is(await taking, webhook)
})

test('an agent that has ended meanwhile is not waited for, though it is back', async () => {
  const stage = stageWith([])
  const told: string[] = []
  const wait = (name: string) => void stage.until(() => false, 60_000).then(() => told.push(name))
  wait('before')
  await pass(2)
  stage.agent.ends += 1
  await pass(1)
  assert.equal(told, ['before'])
  wait('after')
  await pass(59)
  assert.equal(told, ['before'])
  await pass(2)
  assert.equal(told, ['before', 'after'])
})

const answered = (status: number): Answer => ({ status, headers: [], body: contentOf(Buffer.from('')) })

test('an agent that has taken nothing for half a minute is not asked again, and one that has taken anything is', async () => {
  const agent = new BusyAgent(() => 0)
  const told = (status: number) => {
    agent.heard(answered(status))
    return agent.staysBusy
  }
  assert.is(told(503), false)
  await pass(30)
  assert.is(told(503), false)
  await pass(1)
  assert.is(told(429), true)
  assert.is(told(401), false)
  assert.is(told(503), false)
  await pass(31)
  const sent: number[] = []
  const send = async (attempt: number) => {
    sent.push(attempt)
    return { answer: answered(503) }
  }
  await agent.ask(send, async () => assert.unreachable('it is not waited for any more'))
  assert.equal(sent, [1])
})

test.run()
