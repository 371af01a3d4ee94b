// engines: embedded; process: shared
/** An agent that was deactivated comes back by what the commands print as the next step, typed as it stands; keys of dev do the same, and say what they did. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { actions, choices } from '../../src/cli/keys/actions.ts'
import { createUi } from '../../src/cli/output/ui.ts'
import { Masked } from '../support/masked.ts'
import { until } from '../support/patience.ts'
import { answerHere, enterDev, runHere } from './in-process.ts'

const here = enterDev(test)

test.before(async () => {
  // dev tests it at its start, and two tests at once are refused.
  await until('no other test runs', async () => (await runHere('test-connection', 'sample-agent')).code === 0)
})

const wordsOf = (line: string) => line.replace(/^marketplace /, '').split(' ')

const nextIn = (text: string) => {
  const [, line] = /Next: (marketplace [^\n]+)/.exec(text) ?? []
  assert.ok(line, text)
  return wordsOf(line!)
}

test('a refused reactivation leads to the test, and the passed test back to the reactivation', async () => {
  await runHere('agents', 'deactivate', 'sample-agent')
  const early = await runHere('agents', 'reactivate', 'sample-agent')
  assert.is(early.code, 1)
  assert.match(
    early.err,
    /^Run the connection test first: no test has passed since the deactivation\.\nThe agent is deactivated\..*\nNext: /,
  )
  const tested = await runHere(...nextIn(early.err))
  assert.is(tested.code, 0, tested.err)
  const back = await runHere(...nextIn(tested.err))
  assert.is(back.code, 0, back.err)
  assert.ok((await answerHere('agents', 'show', 'sample-agent')).data.visible)
})

test('programs get the same step as a hint, and not what they have asked for just now', async () => {
  await runHere('agents', 'deactivate', 'sample-agent')
  const { hint, status } = await answerHere('agents', 'reactivate', 'sample-agent')
  assert.is(status, 400)
  assert.match(hint, /^[^\n]+\nNext: marketplace test-connection sample-agent$/)
})

test('the key of dev that tests a deactivated agent says what lists it again', async () => {
  const dev = { ...here.ready, url: here.ready.url }
  const told = await actions.test(dev, createUi())
  assert.match(told, /^sample-agent passed its connection test\. Next: marketplace agents reactivate sample-agent$/)
  assert.is((await runHere(...nextIn(told))).code, 0)
  assert.is(await actions.test(dev, createUi()), 'sample-agent passed its connection test')
})

test('the agent of a task is called so', async () => {
  const letter = ['--title', 'A letter', '--description', 'Count the words, please.', '--price', '5.00']
  const { id } = (await answerHere('tasks', 'create', '--agent', 'sample-agent', ...letter)).data
  assert.match((await runHere('tasks', 'show', id)).out, /^agent +sample-agent$/m)
  assert.match((await runHere('tasks', 'list')).out, /^ID +STATUS +AGREED PRICE +AGENT +TITLE/)
})

test('each key of dev says what it did, or why not', async () => {
  const masked = new Masked()
  let shown = ''
  const ui = createUi({ write: (text: string) => (shown += text) })
  const press = (key: keyof typeof actions) =>
    actions[key](here.ready, ui).then(
      done => masked.in(done).replaceAll(/…\w{6}/g, '…'),
      error => [error.message, error.details?.code, error.details?.hint],
    )
  const told = async (...keys: (keyof typeof actions)[]) => {
    const said: unknown[] = []
    for (const key of keys) said.push(await press(key))
    return said
  }
  assert.equal(await told('resend', 'buyer', 'resend', 'clock', 'accounts'), [
    ['No webhook was sent to an agent yet', 1, undefined],
    'A simulated buyer hired sample-agent: … is completed, paid and reviewed',
    'Resends task.approved of …: marketplace deliveries show dlv_1',
    'Moved the clock to TIME: heartbeat tests agents',
    'These are its accounts, keys and secrets',
  ])
  const { accounts, agents } = here.ready
  assert.match(shown, `key ${accounts.admin.apiKey}\n`)
  assert.match(shown, `secret  ${agents[0].webhookSecret}\n`)
  await until('the resent webhook', async () =>
    (await choices(here.ready)).every(({ label }) => label.includes('delivered')),
  )
  const labels = (await choices(here.ready)).map(({ label }) => masked.in(label))
  for (const label of labels) assert.match(label, /^TIME {2}…\w{6} {2}task\.\w+ +delivered {2}sample-agent$/)
  assert.is(labels.length, 3, 'of the hired task two, and the one that was resent')
  shown = ''
  assert.match(`${await press('details')}`, /^That was a (?:webhook|callback) of …$/)
  assert.match(shown, /^\n[→←] POST http\S+\n.*\n200 {2}\d+ ms\n/s)

  const FIX = 'Webhooks go to https:// only: save such a URL. For a plain http agent let dev do the https.'
  const NEXT = 'Next: marketplace dev --forward-to http://localhost:3000/webhook'
  const WHY = 'The webhook URL does not start with https://'
  await runHere('agents', 'update', 'sample-agent', '--webhook-url', 'http://localhost:9/webhook')
  assert.equal(await told('test', 'buyer'), [
    [`sample-agent failed its connection test: ${WHY}`, 3, `${WHY}. ${FIX}\n${NEXT}`],
    [`sample-agent can't be hired: ${WHY}`, 1, `${FIX}\n${NEXT}`],
  ])
})

test.run()
