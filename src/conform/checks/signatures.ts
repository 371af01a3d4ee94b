/** Who speaks: the agent believes the marketplace, and it alone. */

import type { History, Recordeds } from '../history/history.ts'
import { all, broken, type Check, type Finding, holds, untested } from '../judging/check.ts'
import { spanOf, within } from '../judging/timing.ts'
import { forgeriesOf } from '../scenarios/forged-webhooks.ts'
import {
  accepted,
  changeOf,
  contentIn,
  decided,
  isAck,
  isUnheard,
  listened,
  refusedAndQuiet,
  taskOf,
  toldBack,
} from './evidence.ts'
import { forged } from './forged-webhooks.ts'
import { must, should } from './owed.ts'

const genuine: readonly Check[] = [
  {
    id: 'sig.valid',
    title: 'accepts a genuine webhook',
    level: 'must',
    law: must.answer,
    why: 'An agent that refuses the marketplace never hears of a task.',
    fix: 'Compute the digest over the raw bytes of the body, with the whole whsec_… as key. `npx agent-marketplace verify` shows what differs.',
    scenario: 'forged',
    judge: history => accepted(history.webhooks('sig.valid').filter(({ label }) => label === 'sig.valid')),
  },
  {
    id: 'sig.near-limit',
    title: 'accepts a webhook that was signed 4 min 30 s ago, or ahead',
    level: 'should',
    law: {
      source: 'I-durations',
      quote: '5 minutes of clock difference',
    },
    why: 'Clocks differ and networks are slow: an agent that is stricter loses tasks that nobody sees.',
    fix: 'Accept timestamps up to 300,000 ms away from your clock, in both directions.',
    scenario: 'signed times',
    after: ['sig.valid'],
    judge: history => accepted(history.webhooks('sig.near-limit')),
  },
  {
    id: 'sig.body-time-not-judged',
    title: 'accepts the last retry, whose body is a day old and whose signature is new',
    level: 'must',
    law: must.treatAlike,
    why: 'An agent that judges the time in the body loses every task that was sent while it was down.',
    fix: 'Judge the age by the timestamp header alone. `timestamp` in the body says when the event happened.',
    scenario: 'signed times',
    after: ['sig.valid'],
    judge: history => decided(history, 'sig.body-time-not-judged'),
  },
]

const others: readonly Check[] = [
  {
    id: 'sig.doubled-header',
    title: 'refuses an old webhook to which a fresh timestamp was added',
    level: 'should',
    law: must.refuse,
    why: 'If one line of the code reads the first header of a name and another the last, a copied webhook looks fresh.',
    fix: 'Read the timestamp once, use that value both for the age and for the digest, and refuse a header that comes twice.',
    scenario: 'forged',
    after: ['sig.stale-day'],
    judge: history => refusedAndQuiet(history, 'sig.doubled-header'),
  },
  {
    id: 'sig.reflected',
    title: 'does nothing when its own callback is sent to it',
    level: 'must',
    law: must.ignoreNoEvent,
    why: 'Both directions use one secret: whoever has seen a callback could make the agent repeat it.',
    fix: 'Treat nothing as an event that has no `event`, however well it is signed.',
    scenario: 'reflected',
    after: ['life.one-deliverable', 'sig.valid'],
    judge: notReflected,
  },
]

function notReflected(history: History): Finding {
  const { taskId } = taskOf(history, 'sig.reflected')
  const [first] = history.webhooks('sig.reflected').filter(({ genuine }) => !genuine)
  if (!first) return untested('the agent signed no callback that could be sent to it')
  // An agent may repeat what it has said: only what is new came of it.
  const said = (callback: Recordeds<'callback'>) => `${callback.action} ${contentIn(callback)}`
  const callbacks = history.callbacksOf(taskId)
  const before = new Set(callbacks.filter(({ seq }) => seq < first.seq).map(said))
  const another = callbacks.find(callback => callback.seq > first.seq && !before.has(said(callback)))
  if (another) return broken(`called back with ${another.action} because of it`, first, another)
  return listened(history) ?? holds
}

/** All that were refused. */
const refusals = (history: History) =>
  [...Object.keys(forgeriesOf), 'sig.doubled-header']
    .flatMap(id => history.webhooks(id))
    .filter(webhook => !webhook.genuine && !isAck(webhook) && !isUnheard(webhook))

const SLOW_MS = 5_000
const DIGEST = /\b[0-9a-f]{64}\b|\b[A-Za-z0-9+/]{43}=/

const manner: readonly Check[] = [
  {
    id: 'sig.refusal-401',
    title: 'answers 401 to what it does not believe',
    level: 'should',
    law: should.answer401,
    why: 'With any other status neither the marketplace nor you can tell that the signature was the reason.',
    fix: 'Answer exactly 401 where the signature or its time is not right.',
    scenario: 'forged',
    after: ['sig.valid'],
    judge(history) {
      const refused = refusals(history)
      if (refused.length === 0) return untested('the agent refused nothing')
      const others = refused.filter(({ answer }) => answer?.status !== 401)
      if (others.length === 0) return holds
      const kinds = [...new Set(others.map(({ answer }) => answer?.status ?? 'nothing'))]
      return broken(`answered ${kinds.join(', ')} in place of 401 to ${others.length} of ${refused.length}`, ...others)
    },
  },
  {
    id: 'sig.refusal-clean',
    title: 'refuses at once, without an error of its own, and tells nobody the right digest',
    level: 'should',
    law: should.answerSoon,
    why: 'A refusal that crashes or takes long lets strangers stop the agent; one that prints the right digest signs for them.',
    fix: 'Check the form of both headers before you compute with them, catch what goes wrong, and answer with no details.',
    scenario: 'forged',
    after: ['sig.valid'],
    judge: history => all([noErrors(history), atOnce(history)]),
  },
]

function noErrors(history: History): Finding {
  const answered = refusals(history).filter(({ answer }) => answer !== null)
  if (answered.length === 0) return untested('the agent answered nothing to what it does not believe')
  const failed = answered.find(({ answer }) => answer!.status >= 500)
  if (failed) return broken(`failed over it${changeOf(failed)}: it ${toldBack(failed)}`, failed)
  const told = answered.find(tellsDigest)
  return told ? broken('told a digest in its refusal', told) : holds
}

function tellsDigest({ answer, headers }: Recordeds<'webhook'>): boolean {
  const [digest] = DIGEST.exec(answer?.body.text ?? '') ?? []
  return digest !== undefined && !headers.some(([, value]) => value.includes(digest))
}

/** The median, as a busy machine makes some of them slow. */
function atOnce(history: History): Finding {
  const times = refusals(history).filter(({ answer }) => answer !== null)
  const middle = times.toSorted((one, other) => one.ms - other.ms)[times.length >> 1]
  if (middle === undefined) return holds
  return within(history, spanOf(middle), SLOW_MS, ms => broken(`took ${ms} ms for most refusals`, middle))
}

export const sig: readonly Check[] = [...genuine, ...forged, ...others, ...manner]
