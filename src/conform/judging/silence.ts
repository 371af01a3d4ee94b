/**
 * A missing answer is no word of the agent: a connection may close by itself, and a machine may stand still. What rests on silence counts
 * where nothing came back twice, and where there was time enough for it. Source: A-286.
 */
import { type History, isOf, type Recordeds } from '../history/history.ts'
import { type Check, type Finding, inconclusive } from './check.ts'
import { deathsIn, isDeed, isDownAt, lastHeard } from './deaths.ts'

type Webhook = Recordeds<'webhook'>

/** Whoever had so little of its time to itself is not judged by what it has left undone. */
const LEAST_SHARE = 0.2
/** In so long a quick agent does what it owes, whatever else goes on. */
const ENOUGH_MS = 5_000

export function unlessSilent(finding: Finding, check: Check, history: History): Finding {
  if (finding.holds !== false || isDeed(finding.evidence, history)) return finding
  const shown = history.events.filter(({ seq }) => finding.evidence.includes(seq))
  // What its process has done is no silence.
  if (shown.some(({ kind }) => kind === 'process')) return finding
  const silent = shown.filter((event): event is Webhook => event.kind === 'webhook' && event.answer === null)
  if (silent.length > 0) return isSure(silent, check, history) ? finding : inconclusive(singleIn(silent[0]!))
  return hadTime(shown.at(-1)?.realAt, check, history) ? finding : inconclusive(HELD_UP)
}

const HELD_UP = 'the machine or the run itself stood still for most of the time that the agent had'

const singleIn = ({ event, method, error }: Webhook) =>
  `one ${event ?? method} got no answer (${error}), and one alone says nothing of the agent`

/** Nothing came back more than once; or it has ended of it. */
function isSure(silent: readonly Webhook[], { id }: Check, history: History): boolean {
  const isItsEnd =
    deathsIn(history).some(death => lastHeard(history, death).some(({ label }) => isOf(label, id))) ||
    silent.every(({ realAt }) => isDownAt(history, realAt))
  const times = new Set(silent.flatMap(one => [one.seq, ...likeIn(history, one).map(({ seq }) => seq)]))
  return isItsEnd || (times.size > 1 && silent.every(one => !isOurs(one, history)))
}

/** Others of the same kind that got no answer. */
const likeIn = (history: History, { label, taskId, event, genuine }: Webhook): Webhook[] =>
  history
    .webhooks(label)
    .filter(one => one.answer === null && one.taskId === taskId && one.event === event && one.genuine === genuine)

function isOurs({ error, realAt, ms }: Webhook, history: History): boolean {
  if (error?.startsWith('own_fault')) return true
  return ms > 0 && history.stalledMs(realAt - ms, realAt) > (1 - LEAST_SHARE) * ms && ms > ENOUGH_MS
}

/** From what it was to do something about to the end of the scenario. */
function hadTime(from: number | undefined, { scenario }: Check, history: History): boolean {
  const until = history.of('scenario').find(one => one.scenario === scenario)?.realAt ?? history.events.at(-1)?.realAt
  if (from === undefined || until === undefined || until <= from) return true
  const calm = until - from - history.stalledMs(from, until)
  return calm >= ENOUGH_MS || calm >= LEAST_SHARE * (until - from)
}
