/** The agent stays up, and comes back. */

import type { History, Recordeds } from '../history/history.ts'
import { broken, type Check, type Finding, holds, inconclusive, noted, untested } from '../judging/check.ts'
import { isBusy } from '../judging/heard-webhooks.ts'
import { spanOf, within } from '../judging/timing.ts'
import { attempts, callbackUnlooked, isAck, taskOf, toldBack } from './evidence.ts'
import { must, should } from './owed.ts'

const RETRIED = { source: 'A-37', quote: 'Agents are down, slow, or restarting.' }

/** The next genuine webhook was served. */
function goesOn(history: History, label: string): Finding {
  const [next] = history.webhooks(`${label}/next`)
  if (!next) return inconclusive('the run ended before')
  if (isAck(next)) return holds
  const sent = history.webhooks(label).filter(one => one.label === label)
  return broken(`was not there for the next webhook: it ${toldBack(next)}`, ...sent, next)
}

/** What was sent is no whole webhook: nothing comes of it, and the agent is there for the next. */
function withoutEffect(history: History, label: string): Finding {
  for (const { taskId } of history.tasks(label).filter(task => task.label === label)) {
    const callback = callbackUnlooked(history, taskId)
    if (callback) return broken(`called back with ${callback.action}`, ...history.webhooksOf(taskId), callback)
  }
  return goesOn(history, label)
}

const SLOW_MS = 5_000

function twoMegabytes(history: History): Finding {
  const [sent] = history.webhooks('rel.two-megabytes')
  if (!sent) return inconclusive('it was not sent')
  const next = goesOn(history, 'rel.two-megabytes')
  if (next.holds !== true) return next
  return within(history, spanOf(sent), SLOW_MS, ms => broken(`left two megabytes without an answer for ${ms} ms`, sent))
}

function hangUp(history: History): Finding {
  const next = goesOn(history, 'rel.hang-up')
  if (next.holds !== true) return next
  const { taskId } = history.tasks('rel.hang-up').find(({ label }) => label === 'rel.hang-up')!
  const retry = history.webhooksOf(taskId).at(-1)!
  if (!isAck(retry)) return broken(`did not accept it when it came again: it ${toldBack(retry)}`, retry)
  return workedOnce(history, taskId)
}

function workedOnce(history: History, taskId: string): Finding {
  const delivered = attempts(history, taskId, 'deliver')
  return delivered.length <= 1 ? holds : broken(`delivered ${delivered.length} different texts`, ...delivered)
}

/** The task of a time in which the agent was away is delivered, and once. */
function workedAfterwards(history: History, label: string): Finding {
  const { taskId } = taskOf(history, label)
  const did = (trigger: string) => history.stepsOf(taskId).some(step => step.trigger === trigger)
  if (did('reject')) return untested('the agent rejected the task')
  if (!did('deliver')) return broken('did not do the work after it was back', ...history.webhooksOf(taskId))
  return workedOnce(history, taskId)
}

function killedInWork(history: History): Finding {
  const finding = workedAfterwards(history, 'rel.killed-in-work')
  const { taskId } = taskOf(history, 'rel.killed-in-work')
  const taken = history.webhooksOf(taskId).find(isAck)
  const killed = history.of('process').find(({ seq, what }) => taken && seq > taken.seq && what === 'killed')
  if (finding.holds !== false || history.stepsOf(taskId).some(({ trigger }) => trigger === 'deliver')) return finding
  return taken && killed
    ? broken('answered 200, was killed, and had lost the work at the next start', taken, killed)
    : finding
}

const GRACE_MS = 10_000

function endsInOrder(history: History): Finding {
  const sent = history.webhooks('rel.sigterm').at(-1)
  const ended =
    sent && history.of('process').find(({ seq, what, death }) => seq > sent.seq && what === 'ended' && !death)
  if (!ended) return inconclusive('the agent was not ended')
  const inTime = within(history, spanOf(ended), GRACE_MS, () =>
    broken('had not ended ten seconds after SIGTERM', ended),
  )
  if (inTime.holds !== true) return inTime
  return isAck(sent) || isBusy(sent.answer) || isWordOfProxy(sent)
    ? holds
    : broken(`did not answer the webhook that came when it was told to end: it ${toldBack(sent)}`, sent, ended)
}

/** A proxy that has read the webhook finds nobody behind it any more: the agent has not begun to read it. */
const isWordOfProxy = ({ answer }: Recordeds<'webhook'>) => answer?.status === 502 || answer?.status === 504

/** The last start of the run. */
function startOf(history: History): Finding {
  const ready = history.of('process').filter(({ what }) => what === 'ready')
  return ready.length > 1
    ? noted(`it was ready ${ready.at(-1)!.ms} ms after its start`)
    : untested('it was not started anew')
}

const MEBIBYTE = 1024 * 1024

function memoryOf(history: History): Finding {
  const sizes = history.observations('rel.memory').map(({ value }) => value as number | null)
  const [first, last] = [sizes[0], sizes.at(-1)].map(size => size && Math.round(size / MEBIBYTE))
  return sizes.length < 2 || !first || !last
    ? untested('this system does not tell the memory of processes')
    : noted(`${first} MiB at first, ${last} MiB after the work of the run`)
}

function alive(history: History): Finding {
  const test = history.webhooks('rel.alive').at(-1) as Recordeds<'webhook'> | undefined
  if (!test) return inconclusive('no test was sent')
  if (test.answer?.status !== 200) return broken(`failed the test at the end of the run: it ${toldBack(test)}`, test)
  return holds
}

const staysUp = (about: string) => ({
  why: `Nobody without the secret can send ${about}. But a marketplace with a bug could, and a tool of your own: an agent that ends of it is down for all its buyers.`,
  scenario: 'no webhooks',
  after: ['sig.valid'],
})

export const rel: readonly Check[] = [
  {
    id: 'rel.cut-body',
    title: 'does nothing about a webhook whose connection was cut, and goes on',
    level: 'must',
    law: must.refuse,
    why: 'Connections are cut each day, and the rest of the body was never seen.',
    fix: 'Work with the body only once it is complete, and catch the error of a request that was cut.',
    scenario: 'closed connections',
    after: ['sig.valid'],
    judge: history => withoutEffect(history, 'rel.cut-body'),
  },
  {
    id: 'rel.hang-up',
    title: 'goes on when nobody waits for its answer, and works once when the webhook comes again',
    level: 'must',
    law: must.haveOneEffect,
    why: 'The marketplace has not heard the answer, so it sends the webhook again.',
    fix: 'Catch errors of the connection, and remember the delivery id of each webhook before you work on it.',
    scenario: 'closed connections',
    after: ['sig.valid', 'life.one-deliverable'],
    judge: hangUp,
  },
  {
    id: 'rel.not-json',
    title: 'goes on after a signed body that is not JSON',
    level: 'should',
    law: should.goOn,
    ...staysUp('a signed body that is no JSON'),
    fix: 'Catch the error of JSON.parse, and answer 400.',
    judge: history => withoutEffect(history, 'rel.not-json'),
  },
  {
    id: 'rel.empty-body',
    title: 'goes on after a signed empty body',
    level: 'should',
    law: should.goOn,
    ...staysUp('a signed empty body'),
    fix: 'Treat an empty body like any other that is not JSON: answer 400.',
    judge: history => withoutEffect(history, 'rel.empty-body'),
  },
  {
    id: 'rel.not-an-event',
    title: 'goes on after signed JSON that is not an event',
    level: 'should',
    law: should.goOn,
    ...staysUp('signed JSON that is no event'),
    fix: 'Check that `event` is a string and `data` an object before you use them.',
    judge: history => withoutEffect(history, 'rel.not-an-event'),
  },
  {
    id: 'rel.two-megabytes',
    title: 'refuses or takes two megabytes within five seconds, and goes on',
    level: 'should',
    law: should.answerSoon,
    why: 'No webhook is longer than 200 KB. An agent that reads without a limit can be made to run out of memory.',
    fix: 'Stop reading at one megabyte, and answer 413.',
    scenario: 'no webhooks',
    after: ['sig.valid'],
    judge: twoMegabytes,
  },
  {
    id: 'rel.down-and-up',
    title: 'does the work that came while it was away',
    level: 'should',
    law: RETRIED,
    why: 'The marketplace tries again, and the second attempt is all that the agent ever sees.',
    fix: 'Work on a webhook whose delivery id is new, whatever its attempt says.',
    scenario: 'killed',
    after: ['life.one-deliverable'],
    judge: history => workedAfterwards(history, 'rel.down-and-up'),
  },
  {
    id: 'rel.killed-in-work',
    title: 'finishes the work during which it was killed, and does it once',
    level: 'should',
    law: { source: 'A-37', quote: 'Any 2xx ends it, a redirect is a failure, 410 gives up.' },
    why: 'It has answered 200 and accepted: the money is held, nothing is sent again, and nobody but the agent can go on.',
    fix: 'Keep what came in a database or a file before you answer 200, and at the next start go on with what is unfinished.',
    scenario: 'killed',
    after: ['life.one-deliverable'],
    judge: killedInWork,
  },
  {
    id: 'rel.sigterm',
    title: 'answers what it has begun to read before it ends',
    level: 'should',
    law: must.answer,
    why: 'Each new version of the agent would lose a webhook, or wait until it is killed.',
    fix: 'On SIGTERM take no new connections, answer the open ones, and end within ten seconds. It may come twice: systemd sends it to each process of a service, and npm passes it on.',
    scenario: 'ended in order',
    after: ['sig.valid'],
    judge: endsInOrder,
  },
  {
    id: 'rel.restart-time',
    title: 'is soon ready again',
    level: 'may',
    law: { source: 'A-46', quote: 'It may send files, take memory, take time to restart.' },
    why: 'Webhooks that fall into that time come later.',
    fix: 'Listen first, and load what is large afterwards.',
    scenario: 'ended in order',
    judge: startOf,
  },
  {
    id: 'rel.memory',
    title: 'keeps its memory',
    level: 'may',
    law: { source: 'A-46', quote: 'It may send files, take memory, take time to restart.' },
    why: 'Memory that grows with each task runs out.',
    fix: 'Drop the state of tasks that are over.',
    scenario: 'memory',
    judge: memoryOf,
  },
  {
    id: 'rel.alive',
    title: 'passes the connection test after everything that has happened',
    level: 'must',
    law: must.passTests,
    why: 'An agent that something in this run has broken would be hidden within a day.',
    fix: 'Read the last lines of its log: an error has ended it, or it has run out of something.',
    scenario: 'last contact',
    after: ['conn.endpoint-200'],
    judge: alive,
  },
]
