/** An agent that ends by itself during a run. What could not be tried any more is inconclusive. */

import { type History, isOf, type Recordeds } from '../history/history.ts'
import { behind, broken, type Check, type Finding } from './check.ts'
import { isBusy } from './heard-webhooks.ts'

type Webhook = Recordeds<'webhook'>
type Death = Recordeds<'process'>

/** How much earlier a cut connection may be noticed than the end itself, and how much later; and how long after a webhook it may come. */
export const NOTICED_MS = 1_000

/** The ends that nobody has asked for. */
export const deathsIn = (history: History): Death[] => history.of('process').filter(({ death }) => death !== undefined)

export const reasonOf = ({ text }: Death): string => `the agent had ended ${text}`

/** What it may have ended of: all that was under way, or answered just before. If nothing was, the last that it has answered. */
export function suspectsOf(history: History, { realAt }: Death): Webhook[] {
  const begun = history.of('webhook').filter(one => one.realAt - one.ms <= realAt && !isUnsent(one))
  const close = begun.filter(one => one.realAt > realAt - NOTICED_MS && (one.answer === null || one.realAt <= realAt))
  return close.length > 0 ? close : begun.filter(one => one.realAt <= realAt + NOTICED_MS).slice(-1)
}

/**
 * What it has ended of: the one of which it ended again when that was sent alone; else what is unusual of what was under way or just
 * answered, and else what was cut.
 */
export function lastHeard(history: History, death: Death): Webhook[] {
  const suspects = suspectsOf(history, death)
  const proven = culpritOf(history, death)
  if (proven) return [proven]
  const odd = suspects.filter(isOdd)
  if (odd.length > 0) return odd
  const cut = suspects.filter(({ answer }) => answer === null)
  return cut.length > 0 ? cut : suspects.slice(-1)
}

/** An end of the agent, as a cause beside checks. */
export const ENDED = 'agent.ended'

/** Named in an observation of the run. */
export interface ProvenDeath {
  readonly death: number
  readonly culprit: number
}

function culpritOf(history: History, { seq }: Death): Webhook | undefined {
  const proof = history.observations(ENDED).find(({ value }) => (value as ProvenDeath).death === seq)
  return proof && history.of('webhook').find(one => one.seq === (proof.value as ProvenDeath).culprit)
}

/** It has ended by itself before this moment, and nobody has started it since. */
export function isDownAt(history: History, moment: number): boolean {
  const before = history.of('process').filter(({ realAt, what }) => realAt <= moment && what !== 'started')
  return before.at(-1)?.death !== undefined
}

/** Nobody listened any more. */
const isUnsent = ({ error }: Webhook) => error?.startsWith('refused') ?? false

/** A finding about an agent that had ended: what it did or said counts, what it left undone does not. */
export function unlessDead(finding: Finding, check: Check, history: History, all: readonly Check[]): Finding {
  const own = deathsIn(history).find(one => isEndOf(check, one, history))
  if (finding.holds !== false && own) return broken(`ended ${own.text} of it`, ...lastHeard(history, own), own)
  if (finding.holds === true || ('byDeclaration' in finding && finding.byDeclaration)) return finding
  // Whether it is there at the end is what that one is about.
  if (finding.holds === false && check.scenario === 'last contact') return finding
  const deaths = deathsIn(history).filter(one => isPlayedBeside(check, one, history))
  const forgotten = finding.holds === false && deaths.find(one => isForgotten(finding.evidence, history, one))
  if (forgotten) return behind(causeOf(forgotten, all, history), `${reasonOf(forgotten)}, and what it knew with it`)
  const [death] = deaths
  if (!death || (finding.holds === false && isItsOwn(finding.evidence, check, history, death))) return finding
  return behind(causeOf(death, all, history), reasonOf(death))
}

/** A must that it has ended of has a line of its own: one bug is one cause. */
const causeOf = (death: Death, all: readonly Check[], history: History): string =>
  all.find(one => one.level === 'must' && isEndOf(one, death, history))?.id ?? ENDED

/** It has ended of what this check has sent, and of nothing else. */
function isEndOf({ id }: Check, death: Death, history: History): boolean {
  if (endsOfUsual(history)) return false
  const [culprit, ...others] = lastHeard(history, death)
  return culprit !== undefined && others.length === 0 && isOdd(culprit) && isOf(culprit.label, id)
}

/** It has ended once while it heard nothing unusual: then no other of its ends shows what it can't bear. */
const endsOfUsual = (history: History): boolean =>
  deathsIn(history).some(death => {
    const suspects = suspectsOf(history, death)
    return suspects.length > 0 && !suspects.some(isOdd)
  })

const isOdd = ({ change, genuine }: Webhook) => change !== null || !genuine

/** It did the same before and after it was started anew: what a process keeps in memory is lost with it. */
function isForgotten(evidence: readonly number[], history: History, { realAt }: Death): boolean {
  const callbacks = history.of('callback').filter(({ seq }) => evidence.includes(seq))
  return callbacks.some(one => one.realAt <= realAt) && callbacks.some(one => one.realAt > realAt)
}

/** Whether the scenario of the check had not ended when the agent did, and had begun before it was back. */
function isPlayedBeside({ scenario }: Check, { seq, realAt }: Death, history: History): boolean {
  const played = history.of('scenario').find(one => one.scenario === scenario)
  const back = history.of('process').find(one => one.seq > seq && one.what === 'ready')?.realAt ?? Infinity
  return played === undefined || (played.realAt >= realAt && played.realAt - played.ms <= back)
}

/** The agent has done it, or said it, or has ended of it. */
function isItsOwn(evidence: readonly number[], { id }: Check, history: History, death: Death): boolean {
  if (isDeed(evidence, history)) return true
  return !endsOfUsual(history) && lastHeard(history, death).some(({ label }) => isOf(label, id))
}

/** Whether some of it is what the agent has done or said, and not what it left undone. */
export function isDeed(evidence: readonly number[], { events }: History): boolean {
  const shown = events.filter(({ seq }) => evidence.includes(seq))
  // One callback that met a fault shows what was to be done after it, and a second what was done.
  const isTold = shown.filter(({ kind }) => kind === 'callback').length > 1
  return shown.some(event => {
    if (event.kind === 'webhook') return event.genuine ? isNotTaken(event) : event.answer !== null
    if (event.kind === 'callback') return isTold || event.fault === null
    return event.kind === 'request'
  })
}

/** Any answer but the one that it owes is its own, however little time it had. */
const isNotTaken = ({ answer }: Webhook) => answer !== null && answer.status !== 200 && !isBusy(answer)
