// engines: embedded; process: shared
/** The log of webhooks on the command line: listed, shown, resent and followed to its end. */
import { tmpdir } from 'node:os'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DeliveryRecord } from '../../src/api/records.ts'
import { answerOf, run } from './program.ts'
import { openSent } from './sent-webhooks.ts'

const trade = openSent(test)
const env = () => ({ MARKETPLACE_URL: trade.marketplace.url, MARKETPLACE_KEY: trade.agent.builder.key! })
const here = (...args: string[]) => run(['deliveries', ...args], tmpdir(), env())
const answer = (...args: string[]) => answerOf(['deliveries', ...args], tmpdir(), env())

test('list shows the webhooks of an agent, and those alone that its flags ask for', async () => {
  const taskId = await trade.submitted()
  await trade.buyer.client.sendMessage({ id: taskId, content: 'Hello?' })
  await trade.marketplace.webhooksSent()
  trade.agent.sink.status = 410
  const gone = await trade.submitted()

  const all = await here('list', 'test-writer')
  assert.is(all.code, 0, all.err)
  assert.match(all.out, /^ID +EVENT +STATUS +TASK +ATTEMPTS +CREATED\ndlv_\w+ +task\.submitted +failed +task_\w+ +1 /)
  assert.is(all.out.trim().split('\n').length, 4)
  assert.match(
    all.err,
    /^dlv_\w+: The agent answered 410; a 2xx is needed\. .*\n {2}Next: marketplace deliveries resend dlv_\w+/m,
  )
  const found = async (...flags: string[]) =>
    (await answer('list', trade.agent.id, ...flags)).data.items.map((item: DeliveryRecord) => [item.event, item.taskId])
  assert.equal(await found('--failed'), [['task.submitted', gone]])
  assert.equal(await found('--event', 'message'), [['task.message', taskId]])
  assert.equal(await found('--task', taskId, '--event', 'task.submitted'), [['task.submitted', taskId]])
  assert.equal(await found('--limit', '1'), [['task.submitted', gone]])
  assert.match((await here('list', 'another-agent')).err, 'There are no webhooks to another-agent.')
  const ofAll = await here('list', '--failed', '--url', trade.marketplace.url)
  assert.match(ofAll.err, `--url ${trade.marketplace.url}`)
  assert.match(ofAll.out, /^ID +AGENT +EVENT +STATUS .*\ndlv_\w+ +test-writer +task\.submitted +failed +task_\w+ +1 /)
  assert.equal(
    (await answer('list', '--limit', '2')).data.items,
    (await answer('list', trade.agent.id)).data.items.slice(0, 2),
  )
})

test('list --since counts back from the domain time of a dev, and else from now', async () => {
  // The clock of the test stands in January, so that nothing is as young as an hour.
  assert.equal((await answer('list', trade.agent.id, '--since', '1h')).data.items, [])
  assert.is((await answer('list', trade.agent.id, '--since', '99999d')).data.items.length, 3)
  for (const [flags, words] of [
    [['--since', 'yesterday'], 'A duration is written like 90s'],
    [['--event', 'task.created'], 'There is no event task.created. The events: task.submitted'],
    [['--limit', '0'], '--limit takes a whole number'],
  ] as const) {
    const { code, err, out } = await here('list', trade.agent.id, ...flags)
    assert.is(code, 2)
    assert.match(err, words)
    assert.is(out, '')
  }
})

test('show tells request, attempts, cause and response of one, by its id alone', async () => {
  const [failed] = (await answer('list', trade.agent.id, '--failed')).data.items
  const shown = await here('show', failed.id)
  assert.is(shown.code, 0, shown.err)
  assert.match(shown.out, /^cause +The agent answered 410/m)
  assert.match(shown.out, /^ATTEMPT +AT +RESULT +MS +MESSAGE\n1 +\S+ +410 +0 /m)
  assert.match(shown.out, `\nPOST ${trade.agent.sink.url}\n`)
  assert.match(shown.out, `X-Service-Delivery-Id: ${failed.id}`)
  assert.match(shown.out, `{"event":"task.submitted","timestamp":"`)
  assert.match(shown.out, /\nResponse\n410\n$/)
  assert.match(shown.err, `Send it again: marketplace deliveries resend ${failed.id}`)
  const [fine] = (await answer('list', trade.agent.id, '--event', 'message')).data.items
  assert.is((await answer('show', fine.id, '--agent', 'test-writer')).data.answer.status, 200)

  const elsewhere = await here('show', failed.id, '--agent', 'another-agent')
  assert.is(elsewhere.code, 1)
  assert.match(elsewhere.err, `There is no delivery ${failed.id}`)
})

test('show names the next attempt of one that waits, and what waits behind it', async () => {
  trade.agent.sink.status = 500
  const id = await trade.submitted()
  await trade.buyer.client.sendMessage({ id, content: 'Hello?' })
  const [waiting, pending] = (await answer('list', trade.agent.id, '--task', id)).data.items
  const shown = await here('show', pending.id)
  assert.match(shown.out, /^status +pending$/m)
  assert.match(shown.out, `next attempt  ${pending.nextAttemptAt}`)
  assert.match((await here('show', waiting.id)).out, /^status +waiting: earlier webhooks of its task go first$/m)
  assert.match((await here('list', trade.agent.id, '--task', id)).out, `again at ${pending.nextAttemptAt}`)
  trade.agent.sink.status = 200
  await trade.marketplace.pass(60_000)
  await trade.marketplace.webhooksSent()
})

test('resend follows a new delivery to its end, and exits with 0 only if it was delivered', async () => {
  const [{ id }] = (await answer('list', trade.agent.id, '--failed')).data.items
  const sent = await here('resend', id)
  assert.is(sent.code, 0, sent.err)
  assert.match(
    sent.out,
    new RegExp(`^(dlv_\\w+) resends ${id}: task\\.submitted for task_\\w+\n\\1 attempt 1: 200 in 0 ms`),
  )
  assert.match(sent.out, /\n✔ dlv_\w+ was delivered\.\n$/)

  trade.agent.sink.status = 410
  const refused = await answer('resend', id, '--agent', 'test-writer')
  assert.is(refused.code, 1)
  assert.equal([refused.data.items[0].status, refused.data.items[0].redeliveryOf], ['failed', id])

  trade.agent.sink.status = 500
  const later = await here('resend', id, '--timeout', '2')
  assert.is(later.code, 1)
  assert.match(later.out, /✖ dlv_\w+ is pending\. The next attempt is at 2026-/)
  trade.agent.sink.status = 200
  await trade.marketplace.pass(60_000)
})

test('resend --failed sends each that was given up and not resent since, the oldest first', async () => {
  trade.agent.sink.status = 410
  const tasks = [await trade.submitted(), await trade.submitted()]
  trade.agent.sink.status = 200
  const { items } = (await answer('resend', '--failed')).data
  const failedBefore = 1 // the resend of the test before
  assert.is(items.length, tasks.length + failedBefore)
  assert.equal(
    items.slice(-2).map((item: DeliveryRecord) => item.taskId),
    tasks,
  )
  assert.match((await here('resend', '--failed')).err, 'There are no failed webhooks to send again.')
  assert.is((await here('resend', '--failed')).code, 0)
})

test('resend sends nothing if one of the ids is wrong, or if it is not said which', async () => {
  const [{ id }] = (await answer('list', trade.agent.id)).data.items
  const before = trade.agent.sink.received.length
  assert.is((await here('resend', id, 'dlv_0')).code, 1)
  for (const args of [[], [id, '--failed']]) assert.is((await here('resend', ...args)).code, 2)
  assert.is(trade.agent.sink.received.length, before)
})

test.run()
