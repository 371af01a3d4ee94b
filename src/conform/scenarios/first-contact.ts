/** The first things that happen to an agent: a test, and one task from submit to payment. What it does decides what else can be tried. */
import { type OutgoingWebhook, signedNow } from '../marketplaces/webhook-faults.ts'
import type { Scenario, Stage } from './scenario.ts'

export const firstContact: Scenario = {
  name: 'first contact',
  lane: 'real',
  when: 'first',
  async run(stage) {
    // A cold start is nobody's fault, so the first webhook is not judged by its time.
    await stage.lane.test('warm-up')
    await stage.lane.test('conn.endpoint-200')
    const [test] = stage.history.webhooks('conn.endpoint-200')
    if (test && test.answer?.status !== 200) await testWithAPrice(stage, test.body.text ?? '')
    const task = await stage.task('first-task')
    // Nobody waits for a person.
    if (stage.declared.work === 'manual') await stage.accepted(task)
    else await stage.delivered(task)
  },
}

/** An agent that refuses a test may do so for its price, which is 0. */
async function testWithAPrice(stage: Stage, body: string): Promise<void> {
  const { url, secret } = stage.agent
  const webhook: OutgoingWebhook = {
    ...{ url, secret, deliveryId: stage.lane.world.id('dlv'), attempt: 1, sentAt: 0, headers: {} },
    body: body.replace('"agreedPrice":0', '"agreedPrice":500'),
  }
  await stage.lane.webhooks.send(signedNow(webhook), { change: 'a price', genuine: true }, 'conn.price-zero')
}
