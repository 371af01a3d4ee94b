/** What the agent sends: the form of its callbacks, and what it does when one goes wrong. */

import type { History, Recordeds } from '../history/history.ts'
import { broken, type Check, type Finding, holds, inconclusive, untested } from '../judging/check.ts'
import { unlessHeldUp } from '../judging/timing.ts'
import { cbForm } from './callback-form.ts'
import { attempts, contentIn, headerOf, isAck, startedAt, taskOf } from './evidence.ts'
import { must, should } from './owed.ts'

type Callback = Recordeds<'callback'>

/** `judge` gets the callbacks that have met the fault; without any there is nothing to judge. */
function ofFaulted(history: History, label: string, judge: (met: Callback[]) => Finding): Finding {
  const met = history.callbacks(label).filter(({ fault }) => fault !== null)
  if (met.length > 0) return judge(met)
  const [other] = history.callbacks(label)
  return untested(other ? `the agent answered with ${other.action}` : 'the agent did not call back')
}

/** Each task with this label was delivered, whatever its first callbacks met. */
function deliveredAllTheSame(history: History, label: string): Finding {
  const tasks = history.tasks(label)
  if (tasks.length === 0) return inconclusive('nothing was sent')
  for (const { taskId, label: part } of tasks) {
    const delivered = history.stepsOf(taskId).some(({ trigger }) => trigger === 'deliver')
    const finding = ofFaulted(history, part, met =>
      delivered ? holds : broken(`did not deliver after its ${met[0]!.action} met “${met[0]!.fault!.name}”`, ...met),
    )
    if (finding.holds !== true) return finding
  }
  return holds
}

/** However often it was sent, the work was the same. */
const deliveredOneContent = (history: History, label: string): Finding =>
  ofFaulted(history, label, () => {
    const different = attempts(history, history.tasks(label).at(-1)!.taskId, 'deliver')
    return different.length < 2 ? holds : broken(`delivered ${different.length} different texts`, ...different)
  })

const MOST_REPEATS = 5
const WITHIN_MS = 2_000

/** An agent that repeats without a pause shows it by the number of its callbacks. */
const stopsAt = (history: History, label: string, status: number): Finding =>
  ofFaulted(history, label, met => {
    const all = met.filter(({ answer, fault }) => (answer?.status ?? fault?.status) === status)
    const refused = all.filter(one => startedAt(one) - startedAt(all[0]!) < WITHIN_MS)
    if (refused.length === 0) return untested(`the agent was not answered ${status}`)
    if (refused.length <= MOST_REPEATS) return holds
    const finding = broken(`repeated it ${refused.length} times in two seconds`, refused[0]!, refused.at(-1)!)
    const from = startedAt(refused[0]!)
    return unlessHeldUp(history, { from, to: from + WITHIN_MS }, { count: refused.length, most: MOST_REPEATS }, finding)
  })

const STORM = { callbacks: 10, ms: 10_000 }

/** Equal messages are one, others are what it has to say. */
function storm(history: History): Finding {
  const byWhat = new Map<string, Callback[]>()
  for (const callback of history.of('callback')) {
    const said = callback.action === 'message' ? contentIn(callback) : ''
    const what = `${callback.taskId} ${callback.action} ${said}`
    byWhat.set(what, [...(byWhat.get(what) ?? []), callback])
  }
  let unclear: Finding | null = null
  for (const callbacks of byWhat.values()) {
    const times = callbacks.map(startedAt).sort((a, b) => a - b)
    const at = times.findIndex((time, index) => (times[index + STORM.callbacks] ?? Infinity) - time < STORM.ms)
    if (at === -1) continue
    const inAll = times.filter(time => time >= times[at]! && time - times[at]! < STORM.ms).length
    const finding = broken(
      `sent the same ${callbacks[0]!.action} ${inAll} times in ten seconds`,
      ...callbacks.slice(0, 3),
    )
    const span = { from: times[at]!, to: times[at]! + STORM.ms }
    const told = unlessHeldUp(history, span, { count: inAll, most: STORM.callbacks }, finding)
    if (told.holds === false) return told
    unclear ??= told
  }
  if (unclear) return unclear
  return history.of('callback').length > 0 ? holds : untested('the agent has not called back')
}

/** Clocks and timers are not that exact. */
const TIMER_MS = 100
const RETRY_AFTER_MS = 2_000

const waited = (history: History): Finding =>
  ofFaulted(history, 'cb.retry-after', ([told]) => {
    const again = history
      .callbacks('cb.retry-after')
      .find(({ seq, action }) => seq > told!.seq && action === told!.action)
    if (!again) return broken('did not try again after a 429', told!)
    const ms = startedAt(again) - told!.realAt
    return ms >= RETRY_AFTER_MS - TIMER_MS
      ? holds
      : broken(`tried again after ${ms} ms, not after 2 seconds`, told!, again)
  })

function calledAsItStands(history: History): Finding {
  const { taskId } = taskOf(history, 'cb.url')
  // A webhook that the agent had no time for comes again as it usually is.
  const taken = history.webhooksOf(taskId).filter(one => one.event === 'task.submitted' && isAck(one))
  const odd = taken.find(({ change }) => change !== null)
  if (!odd) return untested('the agent did not accept the webhook')
  const wanted = new Set(taken.map(pathGiven))
  const signed = history.callbacksOf(taskId).filter(({ signature }) => signature !== 'key')
  const astray = history.of('request').filter(({ method, path }) => method === 'POST' && path.includes(taskId))
  const other = [...signed, ...astray].find(({ path }) => !wanted.has(path))
  if (other) return broken(`called ${other.path}, and not ${pathGiven(odd)}`, odd, other)
  return signed.length > 0 ? holds : untested('the agent has sent no signed callback')
}

function pathGiven({ body }: Recordeds<'webhook'>): string {
  const { pathname, search } = new URL(JSON.parse(body.text!).data.callbackUrl)
  return pathname + search
}

function stopsAt400(history: History): Finding {
  const calls = history.callbacks('cb.stops-at-400').filter(({ action }) => action !== 'message')
  const refused = calls.findIndex(({ answer }) => answer?.status === 400)
  if (refused === -1) return untested('the agent did not call back')
  const after = calls.slice(refused + 1)
  return after.length <= 1 ? holds : broken(`tried ${after.length} times more after a 400`, calls[refused]!, ...after)
}

const filesOf = (history: History): Finding => {
  const multipart = history
    .of('callback')
    .filter(callback => /^multipart\//i.test(headerOf(callback, 'Content-Type') ?? ''))
  const refused = multipart.find(({ answer }) => answer !== null && answer.status >= 400)
  if (refused) return broken(`sent files that were refused: ${refused.answer!.body.text}`, refused)
  return multipart.length > 0 ? holds : untested('the agent has sent no files')
}

export const cb: readonly Check[] = [
  {
    id: 'cb.url',
    title: 'calls callbackUrl as it stands',
    level: 'must',
    law: must.callAsItStands,
    why: 'A marketplace behind a proxy has a path before /api, and may have a query: a callback to an address that the agent has made up is lost.',
    fix: 'Post to data.callbackUrl of the webhook, with its path and its query, and build no address of your own.',
    scenario: 'many callbacks',
    judge: calledAsItStands,
  },
  ...cbForm,
  {
    id: 'cb.lost-accept',
    title: 'does the work after the answer to its accept was lost',
    level: 'should',
    law: should.repeat,
    why: 'The task is accepted, the money is held, and nobody works: the buyer waits for ever.',
    fix: 'Repeat a callback that got no answer, with the same bytes or signed anew. A 400 to the repeat means that the first has counted: go on.',
    scenario: 'lost callbacks',
    judge: history => deliveredAllTheSame(history, 'cb.lost-accept'),
  },
  {
    id: 'cb.lost-deliver',
    title: 'delivers the same work again, or nothing, after the answer to its delivery was lost',
    level: 'must',
    law: must.deliverOnce,
    why: 'Work that is made anew costs the builder twice, and what the buyer sees is not what the agent believes to have sent.',
    fix: 'Keep the result before you send it, and repeat the callback with what you have kept.',
    scenario: 'lost callbacks',
    after: ['life.one-deliverable'],
    judge: history => deliveredOneContent(history, 'cb.lost-deliver'),
  },
  {
    id: 'cb.bad-gateway',
    title: 'does the work after a proxy has answered 502 to a callback that counted',
    level: 'should',
    law: should.repeat,
    why: 'A 502 says nothing about what has happened: an agent that gives up leaves the buyer without work.',
    fix: 'Treat 5xx like a lost answer: repeat the same callback.',
    scenario: 'lost callbacks',
    after: ['cb.lost-accept', 'cb.not-committed'],
    judge(history) {
      const delivered = deliveredAllTheSame(history, 'cb.bad-gateway')
      return delivered.holds === true ? deliveredOneContent(history, 'cb.bad-gateway/deliver') : delivered
    },
  },
  {
    id: 'cb.not-committed',
    title: 'repeats a delivery that was answered 503',
    level: 'should',
    law: should.repeat,
    why: 'The marketplace was away for a moment, and the finished work is lost.',
    fix: 'Repeat a callback that is answered 5xx, with growing pauses, until it is accepted.',
    scenario: 'lost callbacks',
    judge: history => deliveredAllTheSame(history, 'cb.not-committed'),
  },
  {
    id: 'cb.retry-after',
    title: 'waits as long as Retry-After asks',
    level: 'should',
    law: should.waitAsAsked,
    why: 'An agent that comes back too early is refused again, for longer.',
    fix: 'Wait the seconds of the Retry-After header of a 429, and repeat the callback then.',
    scenario: 'lost callbacks',
    after: ['cb.not-committed'],
    judge: waited,
  },
  {
    id: 'cb.slow',
    title: 'delivers the work once, even if the answer to its delivery takes ten seconds',
    level: 'must',
    law: must.deliverOnce,
    why: 'An agent that gives up after a few seconds and works again does the work twice for one price.',
    fix: 'Wait 30 seconds for an answer, and repeat after that with the same content.',
    scenario: 'slow callbacks',
    after: ['life.one-deliverable'],
    judge: history => deliveredOneContent(history, 'cb.slow'),
  },
  {
    id: 'cb.down',
    title: 'delivers when the marketplace is back after a second without it',
    level: 'should',
    law: should.repeat,
    why: 'Each new version of the marketplace would lose the tasks of that moment.',
    fix: 'Repeat a callback whose connection was refused, with growing pauses.',
    scenario: 'marketplace away',
    after: ['cb.not-committed'],
    judge(history) {
      const { taskId } = taskOf(history, 'cb.down')
      const steps = history.stepsOf(taskId)
      if (steps.some(({ trigger }) => trigger === 'reject')) return untested('the agent rejected the task')
      const delivered = steps.some(({ trigger }) => trigger === 'deliver')
      return delivered
        ? holds
        : broken('did not deliver', ...history.webhooksOf(taskId), ...history.callbacksOf(taskId))
    },
  },
  {
    id: 'cb.no-storm',
    title: 'sends no callback more than ten times in ten seconds',
    level: 'must',
    law: must.notStorm,
    why: 'Agents that repeat without a pause keep a marketplace down that is just coming back.',
    fix: 'Double the pause before each repeat, from half a second on, and give up after some minutes.',
    scenario: 'lost callbacks',
    judge: storm,
  },
  {
    id: 'cb.stops-at-400',
    title: 'stops when a callback is refused as out of turn',
    level: 'should',
    law: should.takeAsEnd,
    why: 'The buyer has cancelled, and no repeat changes that.',
    fix: 'Take a 400 as the end of this callback: look at the task, or let it go.',
    scenario: 'refused callbacks',
    judge: stopsAt400,
  },
  {
    id: 'cb.stops-at-401',
    title: 'does not repeat at once what was refused with 401',
    level: 'should',
    law: should.takeAsEnd,
    why: 'A wrong secret does not become right by itself, and the marketplace counts guesses.',
    fix: 'Repeat a 401 once, signed anew; then stop and tell the builder.',
    scenario: 'refused callbacks',
    judge(history) {
      const byKey = history.callbacks('cb.stops-at-401').some(({ signature }) => signature === 'key')
      return byKey ? untested('the agent calls by its key') : stopsAt(history, 'cb.stops-at-401', 401)
    },
  },
  {
    id: 'cb.lost-race',
    title: 'does not loop on a 409',
    level: 'should',
    law: should.takeAsEnd,
    why: 'Somebody else was faster, and no repeat changes that.',
    fix: 'Take a 409 as an end, or look at the task before you try again.',
    scenario: 'refused callbacks',
    judge: history => stopsAt(history, 'cb.lost-race', 409),
  },
  {
    id: 'cb.no-redirect',
    title: 'follows no redirect with a callback',
    level: 'should',
    law: must.callAsItStands,
    why: 'The work and its signature would go to whoever answers at the other address.',
    fix: 'Switch redirects off for callbacks: redirect: "manual" in fetch, allow_redirects=False in requests.',
    scenario: 'refused callbacks',
    judge: history =>
      ofFaulted(history, 'cb.no-redirect', met => {
        const heard = history.of('request').find(({ path }) => path.endsWith('/moved'))
        return heard ? broken('sent the callback on to the other address', ...met, heard) : holds
      }),
  },
  {
    id: 'cb.files',
    title: 'sends files that the marketplace takes',
    level: 'may',
    law: { source: 'I-callback-only', quote: "files go through the key's deliver alone" },
    why: 'Files of other kinds, too many or too long ones are refused with the whole delivery.',
    fix: 'Send at most 5 files of 10 MB, of the kinds that are allowed, to /api/agent/tasks/ID/deliver with your key.',
    scenario: 'first contact',
    judge: filesOf,
  },
]
