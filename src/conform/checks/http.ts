/** The endpoint: it answers what HTTP and the marketplace send, soon and whatever it knows of it. */

import { firstTaskHas, type History, type Recordeds } from '../history/history.ts'
import { all, broken, type Check, type Finding, holds, inconclusive, noted, untested } from '../judging/check.ts'
import { isBusy } from '../judging/heard-webhooks.ts'
import { spanOf, within } from '../judging/timing.ts'
import {
  accepted,
  attempts,
  callbackUnlooked,
  decided,
  isAck,
  listened,
  notAsked,
  startedAt,
  taskOf,
  toldBack,
  worked,
} from './evidence.ts'
import { must, should } from './owed.ts'

type Law = Check['law']

const SOON: Law = { source: 'I-webhook-answer', quote: 'The agent answers 200, and soon' }
const POST: Law = { source: 'I-webhook-request', quote: 'A webhook is a POST of JSON' }
const AT_ONCE: Law = { source: 'A-37', quote: 'Two in flight for a host' }
const BOTH: Law = {
  source: 'I-webhook-request',
  quote:
    'A webhook is a POST of JSON with `X-Service-Signature` and `X-Service-Timestamp`. Its `Content-Type` is `application/json`.',
}
const BESIDES: Law = {
  source: 'A-37',
  quote: '`X-Service-Delivery-Id`, `X-Service-Attempt` and the headers of Standard Webhooks come with it.',
}

const EVENTS = [
  'task.submitted',
  'task.message',
  'task.revision_requested',
  'task.approved',
  'task.disputed',
  'task.cancelled',
]

/** As the marketplace has sent them. One that met a busy agent comes again. */
const eventsIn = (history: History) =>
  history.webhooks('http.ack').filter(({ change, answer }) => change === null && !isBusy(answer))

const answers: readonly Check[] = [
  {
    id: 'http.ack',
    title: 'answers 2xx to every event within 30 seconds',
    level: 'must',
    law: must.answer,
    why: 'A webhook that is not answered is sent again for a day, and every other event of that task waits behind it.',
    fix: 'Answer 200 to every event with a right signature, even if there is nothing to do. Redirect nothing.',
    scenario: 'every event',
    after: ['sig.valid'],
    judge(history) {
      const finding = accepted(eventsIn(history))
      if (finding.holds !== true) return finding
      const missing = EVENTS.filter(name => !eventsIn(history).some(({ event }) => event === name))
      // It comes before the approval, unless the agent takes no revisions, as declared.
      if (`${missing}` === 'task.revision_requested') return holds
      return missing.length === 0
        ? holds
        : untested(`the agent did not get far enough for ${missing.join(', ')} to be sent`)
    },
  },
  {
    id: 'http.ack-200',
    title: 'answers exactly 200 to every event',
    level: 'must',
    law: SOON,
    why: 'Other marketplaces and the connection test count nothing else as an answer.',
    fix: 'Answer 200, not 201, 202 or 204.',
    scenario: 'every event',
    after: ['http.ack', 'conn.endpoint-200'],
    judge(history) {
      const answered = eventsIn(history).filter(({ answer }) => answer !== null)
      if (answered.length === 0) return untested('the agent answered nothing')
      const other = answered.find(({ answer }) => answer!.status !== 200)
      return other ? broken(`answered ${other.answer!.status} to ${other.event}`, other) : holds
    },
  },
  {
    id: 'http.ack-prompt',
    title: 'answers within five seconds',
    level: 'should',
    law: should.answerSoon,
    why: 'Only two webhooks to a host are under way at once: a slow answer holds up everything behind it.',
    fix: 'Verify, note the event, answer 200, and do the work afterwards.',
    scenario: 'every event',
    judge(history) {
      const times = history.of('webhook').filter(({ genuine, change, answer }) => genuine && change === null && answer)
      if (times.length === 0) return untested('the agent answered nothing')
      // A busy machine makes some of them slow: what is slow by itself is so each time.
      const quickestOf = (name: string) => quickest(times.filter(({ event }) => event === name))
      return all(
        EVENTS.flatMap(name => quickestOf(name) ?? []).map(one =>
          within(history, spanOf(one), PROMPT_MS, ms =>
            broken(`took ${ms} ms to answer ${one.event}, and never less`, one),
          ),
        ),
      )
    },
  },
  {
    id: 'http.ack-not-after-work',
    title: 'answers before it does the work',
    level: 'should',
    law: { source: 'I-webhook-answer', quote: 'after 30 seconds nobody listens any more' },
    why: 'Work that one day takes longer hits the limit of 30 seconds, and is then begun once more.',
    fix: 'Answer 200 first, and work afterwards.',
    scenario: 'every event',
    judge: answersFirst,
  },
]

const quickest = (webhooks: readonly Recordeds<'webhook'>[]) => webhooks.toSorted((one, other) => one.ms - other.ms)[0]

const WORTH_MS = 2_000
const PROMPT_MS = 5_000

/** A busy machine makes some answers slow: who waits for the work does so each time. */
function answersFirst(history: History): Finding {
  const compared = eventsIn(history).flatMap(webhook => {
    if (webhook.event !== 'task.submitted') return []
    const deliver = history.callbacksOf(webhook.taskId!).find(({ action }) => action === 'deliver')
    return deliver ? [{ webhook, deliver, workMs: startedAt(deliver) - (webhook.realAt - webhook.ms) }] : []
  })
  const [first] = compared
  if (!first) return untested('the agent delivered nothing')
  const isAfter = ({ webhook: { ms }, workMs }: typeof first) => ms > WORTH_MS && ms >= 0.8 * workMs
  if (!compared.every(isAfter)) return holds
  return within(history, spanOf(first.webhook), WORTH_MS, ms =>
    broken(`answered after ${ms} ms, when the work was done`, first.webhook, first.deliver),
  )
}

const together: readonly Check[] = [
  {
    id: 'http.two-at-once',
    title: 'takes a webhook while another is still coming in',
    level: 'must',
    law: must.treatAlike,
    why: 'Two buyers at the same moment are nothing unusual.',
    fix: 'Keep no state of a request in a variable that all requests share, and refuse no request because of another.',
    scenario: 'framing',
    judge: history => decided(history, 'http.two-at-once'),
  },
  {
    id: 'http.burst',
    title: 'decides about each of twenty tasks that come at once',
    level: 'should',
    law: AT_ONCE,
    why: 'A task that is answered and then lost holds a buyer’s money for ever.',
    fix: 'Put what you have answered into a queue that loses nothing; what you can’t take, answer 429 or 503 with Retry-After.',
    scenario: 'burst',
    after: ['sig.valid'],
    judge: burst,
  },
]

function burst(history: History): Finding {
  const tasks = history.tasks('http.burst')
  if (tasks.length === 0) return inconclusive('no task was sent')
  for (const { taskId } of tasks) {
    const last = history.webhooksOf(taskId).findLast(({ event }) => event === 'task.submitted')
    if (!last) return inconclusive('not all of them were sent')
    if (!isAck(last)) return broken(`lost one: it ${toldBack(last)}`, last)
    const decisions = ['accept', 'reject'].flatMap(action => attempts(history, taskId, action))
    if (decisions.length > 1) return broken('decided twice about a task', ...decisions)
    if (decisions.length === 0 && firstTaskHas(history, 'accept', 'reject'))
      return broken('took a task, and never accepted nor rejected it', last)
  }
  return holds
}

const onTheWire: readonly Check[] = [
  {
    id: 'http.fresh-connection',
    title: 'takes a webhook on a new connection when the last one was closed',
    level: 'must',
    law: must.treatAlike,
    why: 'Connections are closed whenever nothing is sent for a while, and whenever the marketplace starts anew.',
    fix: 'Keep no state per connection.',
    scenario: 'connections',
    judge: history => decided(history, 'http.fresh-connection'),
  },
  {
    id: 'http.one-connection',
    title: 'takes ten webhooks one after the other, however many on one connection',
    level: 'should',
    law: POST,
    why: 'The marketplace keeps connections open, so that the next webhook comes sooner.',
    fix: 'Read each request to its end before you answer. Say “Connection: close” if you close it.',
    scenario: 'connections',
    judge: history => accepted(history.webhooks('http.one-connection')),
  },
  {
    id: 'http.chunked',
    title: 'takes a webhook whose body comes in chunks, and slowly',
    level: 'should',
    law: POST,
    why: 'A proxy on the way may send it so. Half a body never matches its signature.',
    fix: 'Collect the body until it ends, and do without Content-Length.',
    scenario: 'framing',
    after: ['sig.valid', 'http.two-at-once'],
    judge: history => worked(history, 'http.chunked'),
  },
  {
    id: 'http.only-law-headers',
    title: 'needs no headers but signature and timestamp',
    level: 'must',
    law: BOTH,
    why: 'The others are there to help. A proxy may drop them, and another marketplace may not have them.',
    fix: 'Use X-Service-Delivery-Id and X-Service-Attempt where they are there, and work without them.',
    scenario: 'framing',
    after: ['sig.valid', 'http.two-at-once'],
    judge: eitherSet,
  },
  {
    id: 'http.extra-headers',
    title: 'takes a webhook with headers that it does not know',
    level: 'should',
    law: BESIDES,
    why: 'Proxies and later versions add headers.',
    fix: 'Ignore what you do not know. Let your server take 16 KB of headers.',
    scenario: 'framing',
    after: ['sig.valid', 'http.two-at-once'],
    judge: history => worked(history, 'http.extra-headers'),
  },
  {
    id: 'http.extra-fields',
    title: 'takes a webhook with fields that it does not know',
    level: 'should',
    law: { source: 'A-17', quote: 'Unknown fields are ignored.' },
    why: 'The next version of a marketplace may add fields; an agent that refuses them stops working that day.',
    fix: 'Ignore unknown fields: no strict schema for what comes in.',
    scenario: 'framing',
    after: ['sig.valid', 'http.two-at-once'],
    judge: history => worked(history, 'http.extra-fields'),
  },
  {
    id: 'http.unknown-event',
    title: 'answers 2xx to an event that it does not know, and does nothing',
    level: 'should',
    law: must.answer,
    why: 'A later version may send more events. One that is refused is sent again for a day.',
    fix: 'Answer 200 to every well-signed event, and work only on those that you know.',
    scenario: 'framing',
    after: ['sig.valid', 'http.two-at-once'],
    judge: unknownEvent,
  },
  {
    id: 'http.get-harmless',
    title: 'answers GET, HEAD and PUT without an error of its own',
    level: 'should',
    law: POST,
    why: 'Crawlers and monitors look at every address, and their requests must not bring the agent down.',
    fix: 'Answer 405 to every method but POST, before you read anything.',
    scenario: 'framing',
    judge: otherMethods,
  },
]

/** Whichever set of signature headers it reads. */
function eitherSet(history: History): Finding {
  const bySet = ['interface', 'standard'].map(set => worked(history, `http.only-law-headers/${set}`))
  const [ofInterface, ofStandard] = bySet as [Finding, Finding]
  if (ofInterface.holds === true) return ofInterface
  if (ofStandard.holds === true) return noted('it reads the headers of Standard Webhooks')
  return ofInterface
}

function unknownEvent(history: History): Finding {
  const webhooks = history.webhooks('http.unknown-event')
  const finding = accepted(webhooks)
  if (finding.holds !== true) return finding
  const callback = callbackUnlooked(history, taskOf(history, 'http.unknown-event').taskId)
  if (callback) return broken(`called back with ${callback.action}`, ...webhooks, callback)
  return listened(history) ?? holds
}

/** Who does not know a method at all may say so with 501. */
const isOwnError = ({ answer }: Recordeds<'webhook'>) =>
  answer !== null && answer.status >= 500 && answer.status !== 501

function otherMethods(history: History): Finding {
  const webhooks = history.webhooks('http.get-harmless')
  if (webhooks.length === 0) return inconclusive('nothing was sent')
  const failed = webhooks.find(isOwnError)
  if (failed) return broken(`failed over a ${failed.method}: it ${toldBack(failed)}`, failed)
  const away = webhooks.find(({ error }) => error?.startsWith('refused'))
  return away ? notAsked(away) : holds
}

export const http: readonly Check[] = [...answers, ...together, ...onTheWire]
