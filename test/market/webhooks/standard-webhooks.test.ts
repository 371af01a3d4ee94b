// engines: embedded, postgres at length; process: shared
/** The library of Standard Webhooks verifies what is sent, with the secret as the marketplace gives it. Source: A-37. */
import { Webhook as Verifier } from 'standardwebhooks'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../../support/marketplace.ts'

test('every event and every attempt is verified by it; another body, secret, id or time is not', async () => {
  // It asks the machine's clock how old a message is.
  const marketplace = await openTestMarketplace({ startMs: Date.now() })
  const [buyer, builder] = [await marketplace.join('buyer', 20_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  agent.sink.status = 500
  const { id } = await marketplace.draft(buyer, agent, { title: 'Grüße “aus” 東京 😀' })
  await buyer.client.submitTask({ id })
  await marketplace.webhooksSent()
  agent.sink.status = 200
  await marketplace.pass(7_000)
  await buyer.client.sendMessage({ id, content: 'Línea 1\n\tLínea 2 \u2028 "quoted"' })
  await builder.client.acceptTask({ id })
  await builder.client.deliverTask({ id, content: 'Done' })
  await buyer.client.requestRevision({ id, reason: 'Once more, please' })
  await builder.client.deliverTask({ id, content: 'Done again' })
  await buyer.client.approveTask({ id })
  const other = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id: other.id })
  await buyer.client.cancelTask({ id: other.id })
  await marketplace.webhooksSent()

  const sent = agent.sink.received.map(({ headers, ...webhook }) => ({ headers, body: JSON.stringify(webhook) }))
  const events = agent.sink.received.map(({ event }) => event)
  const once = ['message', 'revision_requested', 'approved', 'cancelled'].map(name => `task.${name}`)
  for (const event of once) assert.is(events.filter(each => each === event).length, 1, `${event} of ${events}`)
  assert.is(events.filter(event => event === 'task.submitted').length, 3)

  const verifier = new Verifier(agent.secret)
  for (const { headers, body } of sent) {
    assert.equal(verifier.verify(body, headers), JSON.parse(body))
    const other = new Verifier(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)
    const refused: (() => unknown)[] = [
      () => other.verify(body, headers),
      () => verifier.verify(`${body} `, headers),
      () => verifier.verify(body, { ...headers, 'webhook-id': 'dlv_other' }),
      () =>
        verifier.verify(body, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) }),
    ]
    for (const attempt of refused) assert.throws(attempt, /No matching signature/)
  }
  await marketplace.close()
})

test.run()
