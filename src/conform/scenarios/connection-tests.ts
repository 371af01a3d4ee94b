/** Connection tests beside work, one after the other, by the heartbeat, and with a new secret. */
import { webhookHeaders } from '../../api/webhook-request.ts'
import { answeredAfter } from '../../sim/callbacks/faults.ts'
import { forgedAs } from '../marketplaces/webhook-faults.ts'
import type { Scenario, Stage } from './scenario.ts'

const HOUR_MS = 3_600_000
const ROUNDS = 6
const BESIDE_MS = 800

const testsAgain: Scenario = {
  name: 'tests again',
  lane: 'real',
  async run(stage) {
    const callbackMs = stage.patience.limit('answer')
    await stage.lane.test('conn.test-twice/1', callbackMs)
    await stage.lane.test('conn.test-twice/2', callbackMs)
  },
}

const testBesideWork: Scenario = {
  name: 'test beside work',
  lane: 'real',
  needs: ['delivered'],
  async run(stage) {
    // It has accepted, and waits for the answer, when the test comes.
    const label = 'conn.test-beside-work'
    const task = await stage.task(label, { callbackFaults: { accept: answeredAfter(BESIDE_MS) } })
    const accepted = () => stage.history.stepsOf(task.id).some(({ trigger }) => trigger === 'accept')
    if (!(await stage.until(accepted, stage.patience.limit('answer')))) return
    await stage.lane.test(`${label}/test`, stage.patience.limit('answer'))
    await stage.delivered(task)
  },
}

const heartbeatDay: Scenario = {
  name: 'heartbeat day',
  lane: 'clock',
  // Nobody else's bursts make the agent ask for time.
  when: 'alone',
  async run(stage) {
    const label = 'conn.heartbeat-day'
    stage.lane.labelTests(label)
    await stage.lane.list()
    // Each round waits 15 seconds for an agent that does not call back.
    const rounds = stage.history.callbacks('conn.endpoint-200').length > 0 ? ROUNDS : 1
    for (let round = 1; round <= rounds; round += 1) {
      await stage.lane.advance(4 * HOUR_MS)
      const { visible, hiddenReason, freshness } = await stage.lane.listing()
      stage.observe(label, { round, visible, hiddenReason, freshness })
    }
  },
}

const newSecret: Scenario = {
  name: 'new secret',
  lane: 'real',
  when: 'alone',
  needs: ['start', 'secret'],
  async run(stage) {
    const old = stage.agent.secret
    await changeSecret(stage)
    const task = await stage.task('conn.new-secret/new', { decisionIsAll: true })
    await stage.answered(task, 'task.submitted')
    const fault = forgedAs({
      name: 'signed with the old secret',
      forge: webhook => ({ body: webhook.body, headers: webhookHeaders(old, webhook) }),
    })
    const stale = await stage.task('conn.new-secret/old', { fault })
    await stage.answered(stale, 'task.submitted')
    const after = await stage.task('conn.new-secret/new', { decisionIsAll: true })
    await stage.answered(after, 'task.submitted')
  },
}

/** As a builder does: the agent is stopped, and started with the new secret. What it has begun it ends with the old one. */
async function changeSecret({ agent, lane, lanes }: Stage): Promise<void> {
  await agent.stop()
  agent.secret = `whsec_${lane.world.bytes(32).toString('base64')}`
  agent.environment = { ...agent.environment, MARKETPLACE_WEBHOOK_SECRET: agent.secret }
  for (const one of lanes) await one.takeSecret()
  await agent.open()
}

export const testScenarios: readonly Scenario[] = [testsAgain, testBesideWork, heartbeatDay, newSecret]
