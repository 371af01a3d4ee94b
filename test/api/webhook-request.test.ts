// engines: embedded; process: shared
/** How a webhook looks on the wire, byte for byte: the outbox, the connection test and emit have one encoder. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { webhookBody, webhookHeaders } from '../../src/api/webhook-request.ts'
import { emissionOf } from '../../src/sim/webhooks/emission.ts'
import { createVirtualWorld } from '../../src/world/virtual.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'

const SECRET = 'whsec_c2VjcmV0'

// The digests were computed by openssl.
test('the bytes of a webhook are these, and no others', () => {
  const body = webhookBody({
    event: 'task.submitted',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { taskId: 'task_1' },
  })
  assert.is(body, '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_1"}}')
  const headers = webhookHeaders(SECRET, { deliveryId: 'dlv_1', attempt: 2, sentAt: 1_767_225_600_123, body })
  assert.equal(Object.entries(headers), [
    ['content-type', 'application/json'],
    ['user-agent', 'agent-marketplace-webhooks'],
    ['X-Service-Timestamp', '1767225600123'],
    ['X-Service-Signature', 'f68ef33f9969ef41ab7f4917104bd7e0aecea309b6b73e763077760c1bf19f69'],
    ['webhook-id', 'dlv_1'],
    ['webhook-timestamp', '1767225600'],
    ['webhook-signature', 'v1,RoT+QboaJg86Eq0Z5WmUmmLsoH5ODm2hR7spOhjwfaU='],
    ['X-Service-Delivery-Id', 'dlv_1'],
    ['X-Service-Attempt', '2'],
  ])
})

test('emit sends the fields and headers of the outbox, in its order', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await marketplace.webhooksSent()
  const { headers, ...sent } = agent.sink.received[0]!
  const emission = emissionOf(createVirtualWorld(), {
    event: 'task.submitted',
    secret: agent.secret,
    callbackUrl: taskId => `${marketplace.url}/api/agent/tasks/${taskId}/callback`,
    change: ({ data, ...payload }) => {
      const { agentId, requestor } = sent.data as unknown as typeof data
      return { ...payload, data: { ...data, ...taskFields, agentId, requestor } } as never
    },
    headers: [],
  })
  assert.equal(Object.keys(emission.headers), Object.keys(headers))
  assert.is(emission.body, JSON.stringify(sent).replaceAll(id, emission.taskId))
  await marketplace.close()
})

test.run()
