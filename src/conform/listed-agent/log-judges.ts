/** Checks on the delivery log of the user's own agent: each webhook, and how it was answered. */

import { isRefused } from '../checks/attempts.ts'
import { accepted, isAck, toldBack } from '../checks/evidence.ts'
import type { History } from '../history/history.ts'
import { broken, type Finding, holds, untested } from '../judging/check.ts'
import { isBusy } from '../judging/heard-webhooks.ts'
import { type OutsideJudge, scenes } from './scenes.ts'

/** Of some checks only the fault can be seen: that there is none would need what only the marketplace sees. */
const onlyFaults = (
  fault: (history: History) => Finding | null,
  unseen: string,
  plays: readonly string[] = [scenes.life],
): OutsideJudge => ({
  ...{ scenario: scenes.log, plays, faultsOnly: true },
  after: ['sig.valid'],
  judge: history => fault(history) ?? untested(`${unseen}; what was seen is right`),
})

/** A webhook of this event that was refused for good. */
const refusal =
  (event: string) =>
  (history: History): Finding | null => {
    const refused = history.of('webhook').find(one => one.event === event && isRefused(one))
    return refused ? broken(`did not accept ${event}: it ${toldBack(refused)}`, refused) : null
  }

const ALL = [scenes.life, scenes.cancellation]
const NO_DISPUTE = 'nothing is disputed from outside, as people have to decide it'
const REFUSED_WORK = 'what it still tries then is refused, and only the marketplace sees it'

function not200(history: History): Finding | null {
  const other = history.of('webhook').find(one => isAck(one) && one.answer?.status !== 200)
  return other ? broken(`answered ${other.answer?.status} to ${other.event}`, other) : null
}

function notTaken(history: History): Finding | null {
  const finding = accepted(history.of('webhook'))
  return finding.holds === false ? finding : null
}

const genuineTaken = (history: History): Finding => {
  const heard = history.of('webhook').filter(({ answer }) => !isBusy(answer))
  if (heard.length === 0) return untested('no webhook was answered')
  return heard.some(isAck) ? holds : broken(`did not accept it: it ${toldBack(heard[0]!)}`, heard[0]!)
}

export const judgesOfLog: Readonly<Record<string, OutsideJudge>> = {
  'sig.valid': { scenario: scenes.log, plays: [scenes.life], judge: genuineTaken },
  'http.ack': onlyFaults(notTaken, NO_DISPUTE, ALL),
  'http.ack-200': onlyFaults(not200, NO_DISPUTE, ALL),
  'http.ack-prompt': { scenario: scenes.log, plays: [scenes.life] },
  'life.approved': onlyFaults(refusal('task.approved'), 'the money is there two days later'),
  'life.cancelled': onlyFaults(refusal('task.cancelled'), REFUSED_WORK, [scenes.cancellation]),
  'life.message': onlyFaults(refusal('task.message'), REFUSED_WORK),
}
