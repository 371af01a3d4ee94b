/** Requests that break on their way, or are not HTTP at all: the agent stays up. After each comes a genuine webhook. */
import { signedNow } from '../marketplaces/webhook-faults.ts'
import type { Scenario, Stage } from './scenario.ts'

/** Signed bodies that are no webhooks, by the label. */
const bodies: Readonly<Record<string, readonly string[]>> = {
  'rel.not-json': ['{"event":'],
  'rel.empty-body': [''],
  'rel.not-an-event': ['[]', '"x"', 'null', '{"event":1}'],
}

const TWO_MEGABYTES = 2 * 1024 * 1024
const ENDING_MS = 1_000
const NOTICED_MS = 250
const CLOSED = { change: 'cut off', genuine: false }

const memoryAtFirst: Scenario = {
  name: 'memory at first',
  lane: 'real',
  when: 'first',
  run: rememberMemory,
}

/** Before the agent is started anew for the first time. */
const memoryThen: Scenario = {
  name: 'memory',
  lane: 'real',
  when: 'alone',
  needs: ['start'],
  run: rememberMemory,
}

async function rememberMemory(stage: Stage): Promise<void> {
  stage.observe('rel.memory', await stage.agent.memory())
}

const noWebhooks: Scenario = {
  name: 'no webhooks',
  lane: 'real',
  // Who ends of one is started anew before the next.
  when: 'alone',
  async run(stage) {
    for (const [label, texts] of Object.entries(bodies)) {
      for (const body of texts)
        await stage.lane.webhooks.send(madeUp(stage, body), { change: body, genuine: false }, label)
      await goesOn(stage, label)
    }
    const { webhook } = await stage.taken('rel.two-megabytes')
    const data = JSON.parse(webhook.body)
    data.data.description = 'a long story '.repeat(TWO_MEGABYTES / 13)
    const long = signedNow({ ...webhook, body: JSON.stringify(data) })
    await stage.lane.webhooks.send(long, { change: 'two megabytes', genuine: false }, 'rel.two-megabytes')
    await goesOn(stage, 'rel.two-megabytes')
  },
}

const closedConnections: Scenario = {
  name: 'closed connections',
  lane: 'real',
  when: 'alone',
  async run(stage) {
    const { webhook } = await stage.taken('rel.cut-body')
    const half = Math.floor(Buffer.byteLength(webhook.body) / 2)
    await stage.lane.webhooks.sendByHand(webhook, CLOSED, 'rel.cut-body', { closeAfter: half })
    // Until the agent has noticed.
    await stage.pause(NOTICED_MS)
    await goesOn(stage, 'rel.cut-body')

    const { task, webhook: whole } = await stage.taken('rel.hang-up')
    const sent = { change: 'closed before the answer', genuine: true }
    await stage.lane.webhooks.sendByHand(whole, sent, 'rel.hang-up', { closeAfter: Buffer.byteLength(whole.body) })
    await stage.pause(NOTICED_MS)
    await goesOn(stage, 'rel.hang-up')
    const retry = signedNow({ ...whole, attempt: 2 })
    await stage.lane.webhooks.send(retry, { change: 'retry', genuine: true }, 'rel.hang-up')
    await stage.worked(task)
  },
}

/** The next webhook, by which it shows that it is still there. */
async function goesOn(stage: Stage, label: string): Promise<void> {
  const next = await stage.task(`${label}/next`, { decisionIsAll: true })
  await stage.answered(next, 'task.submitted')
  // Its end is told a moment later than its port is free.
  const [first] = stage.history.webhooksOf(next.id)
  if (first?.answer === null) await stage.until(() => stage.agent.hasEnded, ENDING_MS)
  await stage.agent.revive()
}

/** A request that is rightly signed, whatever it says. */
function madeUp({ agent: { url, secret }, lane }: Stage, body: string) {
  return signedNow({ url, secret, body, headers: {}, deliveryId: lane.world.id('dlv'), attempt: 1, sentAt: 0 })
}

const lastContact: Scenario = {
  name: 'last contact',
  lane: 'real',
  when: 'last',
  async run(stage) {
    await stage.lane.test('rel.alive', stage.patience.limit('answer'))
  },
}

export const robustness: readonly Scenario[] = [memoryAtFirst, memoryThen, noWebhooks, closedConnections, lastContact]
