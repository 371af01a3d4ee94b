// engines: embedded; process: shared
/** What webhooks that are signed wrongly find out about an agent, and what is sent to it for that. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from '../../../src/api/signature.ts'
import { takesForgery, verificationMistake } from '../../../src/sim/webhooks/signature-probe.ts'
import { type Answerer, answered, recordingEgress } from '../../../src/world/virtual.ts'
import type { Outgoing } from '../../../src/world/world.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

const signedBy = ({ headers, body }: Outgoing, key: string) =>
  headers[SIGNATURE_HEADER] === sign(key, Number(headers[TIMESTAMP_HEADER]), body)
const refusing = (takes: boolean) => answered(takes ? 200 : 401)

test('the mistake of an agent is found, and whether it believes everybody', async () => {
  const { market, close, ...marketplace } = await openTestMarketplace()
  const { id, secret, builder, sink } = await marketplace.list(await marketplace.join('builder'))
  const secretless = await builder.client.createAgent({
    ...{
      name: 'Secretless',
      tagline: 'Has no secret yet',
      description: 'An agent that was made, and that nobody has ever given a secret of its own.',
    },
    ...{ pricingModel: 'fixed', basePrice: 500, categoryIds: ['cat_writing'], webhookUrl: sink.url },
  })
  const probed = async (answer: Answerer, agentId = id) => {
    const egress = recordingEgress(answer)
    const probe = { ...market, world: { ...market.world, egress } }
    const mistake = await verificationMistake(probe, agentId)
    const { length } = egress.sent
    return {
      mistake: mistake ? mistake.text : mistake,
      forgery: await takesForgery(probe, agentId),
      sent: egress.sent,
      length,
    }
  }
  const found = async (answer: Answerer, agentId?: string) => {
    const { mistake, forgery } = await probed(answer, agentId)
    return [mistake, forgery]
  }
  const headless = secret.slice('whsec_'.length)
  const none = { ok: false, reason: 'reset', message: 'It was reset', durationMs: 0 } as const
  assert.equal(await found(one => refusing(signedBy(one, secret))), [null, false], 'a right one')
  assert.equal(await found(one => refusing(signedBy(one, headless))), ['The key was the secret without whsec_.', false])
  assert.equal(await found(() => refusing(true)), [null, true], 'one that believes everybody')
  assert.equal(await found(() => refusing(false)), [null, false], 'one that refuses everything')
  for (const away of [none, answered(500), answered(302)]) assert.equal(await found(() => away), [undefined, null])
  let count = 0
  assert.equal(
    await found(() => (++count === 1 ? refusing(false) : none)),
    [undefined, null],
    'one that goes meanwhile',
  )
  assert.equal(await found(() => refusing(true), 'agt_none'), [null, null])
  assert.is((await probed(() => refusing(true), secretless.id)).mistake, null)

  const { sent, length } = await probed(() => refusing(true))
  assert.is(length, 1)
  for (const { url, account, body, headers } of sent) {
    const { event, timestamp, data } = JSON.parse(body)
    assert.equal(
      [url, account, event, timestamp, data.agentId, data.title, data.status, data.callbackUrl],
      [
        ...[sink.url, builder.id, 'task.cancelled', new Date(market.world.now()).toISOString(), id],
        ...['A naïve <b>test</b> & more, 1/2', 'cancelled', 'http://localhost:1/'],
      ],
    )
    assert.match(data.taskId, /^task_/)
    assert.is(headers['X-Service-Attempt'], '1')
  }
  const ids = sent.map(({ headers }) => headers['X-Service-Delivery-Id'])
  assert.is(new Set(ids).size, 2)
  await close()
})

test.run()
