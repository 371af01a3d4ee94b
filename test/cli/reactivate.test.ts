// engines: embedded; process: shared
/** An agent that was deactivated comes back by what the commands print as the next step, typed as it stands. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { actions } from '../../src/cli/keys/actions.ts'
import { createUi } from '../../src/cli/output/ui.ts'
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

test.run()
