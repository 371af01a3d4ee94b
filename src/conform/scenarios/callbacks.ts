/** What goes wrong between the agent and the marketplace when it calls back. */
import {
  answerCut,
  answeredAfter,
  badGateway,
  byteChanged,
  type CallbackFault,
  lasting,
  lostRace,
  redirected,
  tooMany,
  unavailable,
} from '../../sim/callbacks/faults.ts'
import { bodyChanged, heldUntil } from '../marketplaces/webhook-faults.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

/** Time for repeats, besides that for the work. */
const REPEAT_MS = 8_000
const SLOW_MS = 10_000
const RETRY_AFTER_S = 2
const DOWN_MS = 1_000
/** More repeats than any check allows. */
const MANY = 7
/** So long they are waited for. */
const REPEATS_MS = 2_000

/** What is added to a callbackUrl: it is to be called as it stands. */
const QUERY = 'ref=from-the-webhook'

type Faults = Readonly<Record<string, CallbackFault>>

/** By the label of the task. The agent does the work in the end if it repeats what failed. */
const repeated: Readonly<Record<string, Faults>> = {
  'cb.lost-accept': { accept: answerCut },
  'cb.lost-deliver': { deliver: answerCut },
  'cb.bad-gateway/accept': { accept: badGateway },
  'cb.bad-gateway/deliver': { deliver: badGateway },
  'cb.not-committed': { deliver: unavailable(2) },
  'cb.retry-after': { accept: tooMany(RETRY_AFTER_S) },
  'cb.no-storm': { deliver: lasting(2_000, unavailable(1)) },
}

/** Waits until it is delivered, or can't be any more. The agent's pace is not judged by what was held up. */
async function workedInTheEnd(stage: Stage, { id }: StageTask): Promise<void> {
  const ends = () => stage.history.stepsOf(id).some(({ trigger }) => trigger === 'deliver' || trigger === 'reject')
  await stage.until(ends, stage.patience.limit('work') + REPEAT_MS)
}

const lostCallbacks: Scenario = {
  name: 'lost callbacks',
  lane: 'real',
  needs: ['delivered'],
  async run(stage) {
    const play = async ([label, callbackFaults]: [string, Faults]) =>
      workedInTheEnd(stage, await stage.task(label, { callbackFaults }))
    await Promise.all(Object.entries(repeated).map(play))
  },
}

const slowCallbacks: Scenario = {
  name: 'slow callbacks',
  lane: 'real',
  needs: ['delivered'],
  long: true,
  async run(stage) {
    const task = await stage.task('cb.slow', { callbackFaults: { deliver: answeredAfter(SLOW_MS) } })
    const told = () => stage.history.callbacksOf(task.id).some(({ fault }) => fault !== null)
    if (await stage.delivered(task)) await stage.until(told, SLOW_MS + 5_000)
  },
}

const refusedCallbacks: Scenario = {
  name: 'refused callbacks',
  lane: 'real',
  needs: ['accepted'],
  async run(stage) {
    const decidedWith = async (label: string, fault: CallbackFault) => {
      const task = await stage.task(label, { callbackFaults: { accept: fault } })
      await calledBack(stage, task)
    }
    await Promise.all([
      decidedWith('cb.stops-at-401', { ...byteChanged, times: MANY }),
      decidedWith('cb.lost-race', { ...lostRace, times: MANY }),
      decidedWith('cb.no-redirect', redirected(`${stage.lane.otherHost.url}/moved`)),
      tooLate(stage),
    ])
  },
}

/** The buyer has cancelled before the agent hears of the task. */
async function tooLate(stage: Stage): Promise<void> {
  let release = () => {}
  const cancelled = new Promise<void>(resolve => (release = resolve))
  const task = await stage.task('cb.stops-at-400', { fault: heldUntil(cancelled) })
  await task.buyer.act('cancelTask', { id: task.id })
  release()
  await calledBack(stage, task)
}

/** Waits for the first callback, and so long that an agent shows whether it repeats without end. */
async function calledBack(stage: Stage, { id }: StageTask): Promise<void> {
  const so = (many: number) => () => stage.history.callbacksOf(id).length >= many
  if (await stage.until(so(1), stage.patience.limit('answer'))) await stage.until(so(MANY), REPEATS_MS)
}

const withQuery = bodyChanged('a callbackUrl with a query', body =>
  body.replace(/("callbackUrl":\s*"[^"]+)"/, `$1?${QUERY}"`),
)

const manyCallbacks: Scenario = {
  name: 'many callbacks',
  lane: 'real',
  needs: ['accepted'],
  async run(stage) {
    const buyer = await stage.buyer()
    const ten = Array.from({ length: 10 }, (_, at) => stage.task(`cb.unique/${at + 1}`, { buyer, decisionIsAll: true }))
    const odd = await stage.task('cb.url', { buyer, fault: withQuery, decisionIsAll: true })
    await Promise.all([odd, ...(await Promise.all(ten))].map(task => stage.accepted(task)))
  },
}

const marketplaceAway: Scenario = {
  name: 'marketplace away',
  // Nothing else calls back there meanwhile.
  lane: 'clock',
  needs: ['delivered'],
  async run(stage) {
    const back = stage.lane.callbacks.away(DOWN_MS)
    const task = await stage.task('cb.down')
    await back
    await workedInTheEnd(stage, task)
  },
}

export const callbackScenarios = [
  lostCallbacks,
  slowCallbacks,
  refusedCallbacks,
  manyCallbacks,
  marketplaceAway,
] as const
