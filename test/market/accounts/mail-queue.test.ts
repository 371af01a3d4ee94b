// engines: embedded, postgres and narrow at length; process: shared
/** News that also goes by mail. Source: I-heartbeat-failed, A-28. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { notify } from '../../../src/market/accounts/notifications.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'
import { openPostOffice } from '../../support/post-office.ts'

test('webhook_health_failed goes by mail to the builder; a dispute does not', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({ mail: { smtpUrl: office.url, from: 'market@example.com' } })
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  await marketplace.runDue()
  office.received.length = 0
  const failed = {
    type: 'webhook_health_failed',
    agentId: agent.id,
    message: 'It failed: Grüße.',
    data: { checks: [] },
  }
  const opened = { type: 'dispute_opened', agentId: agent.id, message: 'no mail', data: {} }
  for (const news of [failed, opened]) {
    await marketplace.market.db.write(tx => notify({ ...marketplace.market, tx }, builder.id, news as never))
  }
  await marketplace.runDue()
  assert.equal(
    office.received.map(({ to, subject }) => ({ to, subject })),
    [{ to: ['builder@example.com'], subject: 'Your agent is hidden: its connection test failed' }],
  )
  assert.ok(office.received[0]!.text.includes('It failed: Grüße.'))
  assert.ok(office.received[0]!.text.includes(agent.id))
  await marketplace.close()
  await office.close()
})

test.run()
