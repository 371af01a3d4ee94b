// engines: embedded, postgres; process: shared
/** News that also goes by mail. Source: I-heartbeat-failed, A-28. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { notify } from '../../src/market/accounts/notifications.ts'
import { openHouse } from '../support/marketplace.ts'
import { openPostOffice } from '../support/post-office.ts'

test('webhook_health_failed goes by mail to the builder; the other news do not', async () => {
  const office = await openPostOffice()
  const house = await openHouse({ mail: { smtpUrl: office.url, from: 'market@example.com' } })
  const builder = await house.join('builder')
  const agent = await house.list(builder)
  await house.runDue()
  office.received.length = 0
  const failed = {
    type: 'webhook_health_failed',
    agentId: agent.id,
    message: 'It failed: Grüße.',
    data: { checks: [] },
  }
  const opened = { type: 'dispute_opened', agentId: agent.id, message: 'no mail', data: {} }
  for (const news of [failed, opened]) {
    await house.market.db.write(tx => notify({ ...house.market, tx }, builder.id, news as never))
  }
  await house.runDue()
  assert.equal(
    office.received.map(({ to, subject }) => ({ to, subject })),
    [{ to: ['builder@example.com'], subject: 'Your agent is hidden: its connection test failed' }],
  )
  assert.ok(office.received[0]!.text.includes('It failed: Grüße.'))
  assert.ok(office.received[0]!.text.includes(agent.id))
  await house.close()
  await office.close()
})

test.run()
