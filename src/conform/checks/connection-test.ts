/** The connection test and the heartbeat. */

import type { History, Recordeds } from '../history/history.ts'
import { all, behind, broken, type Check, type Finding, holds, inconclusive, untested } from '../judging/check.ts'
import { within } from '../judging/timing.ts'
import { isMalformed, MALFORMED } from './attempts.ts'
import { isAck, isUnheard, notAsked, refusedAndQuiet, signedCallbacks, startedAt, toldBack } from './evidence.ts'
import { must, should } from './owed.ts'

const FIVE_CHECKS = {
  source: 'I-test-checks',
  quote: 'the agent sends a well-signed callback within 15 seconds',
}
const CALLBACK_MS = 15_000

/** The first webhook of this test. Throws if none was sent. */
function testOf(history: History, label: string): Recordeds<'webhook'> {
  const [test] = history.webhooks(label).filter(({ taskId }) => taskId?.startsWith('test_'))
  if (!test) throw new Error(`no test was sent for ${label}`)
  return test
}

const calledBack = (history: History, test: Recordeds<'webhook'>) => history.callbacksOf(test.taskId!)[0]

/** The endpoint has answered 200 to this test. */
function passed(test: Recordeds<'webhook'>): Finding {
  if (isUnheard(test)) return notAsked(test)
  return test.answer?.status === 200 ? holds : broken(`failed a test: it ${toldBack(test)}`, test)
}

function priceOfTests(history: History): Finding {
  const test = testOf(history, 'conn.endpoint-200')
  const [priced] = history.webhooks('conn.price-zero')
  return priced?.answer?.status === 200
    ? broken(`took a test for 500 cents, and not one for 0: it ${toldBack(test)}`, test, priced)
    : holds
}

function signatureOfTests(history: History): Finding {
  const callback = calledBack(history, testOf(history, 'conn.endpoint-200'))
  if (!callback) return untested('the agent did not call back')
  if (callback.signature === 'valid') return holds
  const others = signedCallbacks(history).filter(({ taskId }) => !taskId.startsWith('test_'))
  const isOfTests = others.length === 0 || others.some(({ signature }) => signature === 'valid')
  if (!isOfTests) return behind('cb.signature', 'after cb.signature failed')
  return broken(`signed the callback of a test wrongly: ${callback.signature}`, callback)
}

function quietTests(history: History): Finding {
  const test = testOf(history, 'conn.endpoint-200')
  const callbacks = history.callbacksOf(test.taskId!)
  if (callbacks.length === 0) return untested('the agent did not call back')
  const work = callbacks.find(({ action }) => action === 'deliver' || action === 'message')
  return work ? broken(`sent a ${work.action} for a test`, test, work) : holds
}

function everyTestCounts(history: History): Finding {
  const tests = ['conn.endpoint-200', 'conn.test-twice/1', 'conn.test-twice/2'].map(label => testOf(history, label))
  if (history.webhooks('rel.alive').length > 0) tests.push(testOf(history, 'rel.alive'))
  const answered = all(tests.map(passed))
  if (answered.holds !== true) return answered
  if (signedCallbacks(history).every(({ taskId }) => !taskId.startsWith('test_')))
    return untested('the agent does not call back about tests')
  const missed = tests.find(test => !calledBack(history, test))
  return missed ? broken('called back about one test, and not about the next', missed) : holds
}

function besideWork(history: History): Finding {
  const [task] = history.tasks('conn.test-beside-work')
  if (!task || !history.stepsOf(task.taskId).some(({ trigger }) => trigger === 'accept'))
    return untested('the agent did not accept the task')
  if (history.webhooks('conn.test-beside-work/test').length === 0)
    return inconclusive('the agent accepted the task when nobody waited for it any more')
  const test = testOf(history, 'conn.test-beside-work/test')
  const answered = passed(test)
  if (answered.holds !== true) return answered
  const delivered = history.stepsOf(task.taskId).some(({ trigger }) => trigger === 'deliver')
  return delivered
    ? holds
    : broken('did not deliver the task during which it was tested', test, ...history.callbacksOf(task.taskId))
}

function visibleAllDay(history: History): Finding {
  const rounds = history.observations('conn.heartbeat-day')
  if (rounds.length === 0) return inconclusive('no heartbeat came')
  const tests = history.webhooks('conn.heartbeat-day')
  const findings = tests.map(passed)
  const missed = all(findings)
  if (missed.holds !== true) return missed
  if (tests.length < rounds.length) return inconclusive(`${tests.length} tests in ${rounds.length} rounds`)
  const hidden = rounds.find(({ value }) => !(value as { visible: boolean }).visible)
  if (!hidden) return holds
  // Whose first test was signed badly is hidden for that, which has a line of its own.
  if (isMalformed(history, testOf(history, 'conn.endpoint-200').taskId!)) return untested(MALFORMED)
  return broken(`was hidden: ${(hidden.value as { hiddenReason: string }).hiddenReason}`, hidden)
}

function newSecret(history: History): Finding {
  const fresh = history.webhooks('conn.new-secret/new').filter(({ genuine }) => genuine)
  const refused = fresh.find(webhook => !isAck(webhook))
  if (refused) {
    return isUnheard(refused)
      ? notAsked(refused)
      : broken(`did not take the new secret: a webhook signed with it ${toldBack(refused)}`, refused)
  }
  return refusedAndQuiet(history, 'conn.new-secret/old', 'conn.new-secret/new')
}

export const conn: readonly Check[] = [
  {
    id: 'conn.endpoint-200',
    title: 'answers 200 to the test webhook within 30 seconds',
    level: 'must',
    law: must.passTests,
    why: 'The connection test takes no other status: the agent can neither be published nor stay visible.',
    fix: 'Answer exactly 200 to a genuine webhook, before you do any work.',
    scenario: 'first contact',
    after: ['conn.price-zero', 'sig.valid'],
    judge(history) {
      const test = testOf(history, 'conn.endpoint-200')
      if (test.answer?.status === 200) return holds
      return broken(
        isAck(test) ? `answered ${test.answer?.status}, not 200` : `failed the test: it ${toldBack(test)}`,
        test,
      )
    },
  },
  {
    id: 'conn.callback-arrives',
    title: 'calls back about a test within 15 seconds',
    level: 'should',
    law: FIVE_CHECKS,
    why: 'Without it nobody knows whether the agent can call back, and each test takes 15 seconds and ends in a warning.',
    fix: 'Send accept to data.callbackUrl of the test, as for a task. Nothing comes of it.',
    scenario: 'first contact',
    after: ['conn.endpoint-200'],
    judge(history) {
      const test = testOf(history, 'conn.endpoint-200')
      const callback = calledBack(history, test)
      if (!callback) return broken('did not call back', test)
      const late = (ms: number) => broken(`called back after ${Math.round(ms / 1000)} seconds`, test, callback)
      return within(history, { from: test.realAt, to: startedAt(callback) }, CALLBACK_MS, late)
    },
  },
  {
    id: 'conn.callback-signature',
    title: 'signs the callback of a test as any other',
    level: 'must',
    law: { source: 'I-test-checks', quote: 'No callback is a warning, a badly signed one a failure.' },
    why: 'A test whose callback has a wrong signature fails, and the agent is hidden.',
    fix: 'Sign the callback of a test with the code that signs all others: with the secret, over the bytes that you send.',
    scenario: 'first contact',
    after: ['cb.time-form', 'cb.digest-form'],
    judge: signatureOfTests,
  },
  {
    id: 'conn.price-zero',
    title: 'applies no minimum price to tests',
    level: 'must',
    law: must.passTests,
    why: 'A test costs nothing. An agent that refuses it because of the price can’t be listed.',
    fix: 'Look at data.test before you look at the price.',
    scenario: 'first contact',
    judge: priceOfTests,
  },
  {
    id: 'conn.test-is-quiet',
    title: 'does no work for a test',
    level: 'should',
    law: { source: 'I-test-webhook', quote: 'a callback that does nothing' },
    why: 'Six tests a day, each worked on as a task, cost money that nobody pays.',
    fix: 'Where data.test is true, call back with accept and do nothing more.',
    scenario: 'first contact',
    judge: quietTests,
  },
  {
    id: 'conn.test-beside-work',
    title: 'passes a test while it works on a task, and goes on with the task',
    level: 'must',
    law: must.keepApart,
    why: 'The heartbeat comes whether or not the agent is busy.',
    fix: 'Keep the state of a task with the task, not in one variable for all.',
    scenario: 'test beside work',
    after: ['conn.heartbeat-day'],
    judge: besideWork,
  },
  {
    id: 'conn.test-twice',
    title: 'calls back about each test, however alike they are',
    level: 'should',
    law: should.callBackAboutTests,
    why: 'Tests differ only in their ids and times: for an agent that takes the second for a copy of the first each later test ends in a warning.',
    fix: 'Recognise copies by the delivery id, or by task, event and time, never by title or words.',
    scenario: 'tests again',
    after: ['conn.heartbeat-day'],
    judge: everyTestCounts,
  },
  {
    id: 'conn.heartbeat-day',
    title: 'stays visible for a day of heartbeats',
    level: 'must',
    law: must.passTests,
    why: 'An agent that fails one heartbeat can’t be hired for four hours.',
    fix: 'Answer every test alike, by day and by night, and don’t count them against a limit of your own.',
    scenario: 'heartbeat day',
    after: ['conn.endpoint-200'],
    judge: visibleAllDay,
  },
  {
    id: 'conn.new-secret',
    title: 'believes its new secret alone',
    level: 'must',
    law: must.believeItsSecret,
    why: 'A secret is replaced because somebody else has it, and could go on giving the agent orders.',
    fix: 'Verify with the secret of the environment alone, and keep no older ones.',
    scenario: 'new secret',
    after: ['sig.wrong-secret'],
    judge: newSecret,
  },
]
