/** What makes a run long, where the agent does: how late it answers webhooks, and how long it works. */
import type { History } from '../history/history.ts'

/** Whoever answers sooner does what an agent should. */
const SLOW_ANSWER_MS = 5_000
const SLOW_WORK_MS = 10_000

/** In whole sentences without their full stops; empty: it is not the agent that takes so long. */
export function slownessInWords(history: History): string[] {
  const answers = history.of('webhook').filter(({ genuine }) => genuine)
  const [late, work] = [middleOf(answers.map(({ ms }) => ms)), middleOf(worksIn(history))]
  return [
    late > SLOW_ANSWER_MS &&
      `Half of the ${answers.length} webhooks were answered only after ${seconds(late)} or later`,
    work > SLOW_WORK_MS && `Half of the deliveries came ${seconds(work)} or longer after the agent had begun`,
  ].filter(sentence => sentence !== false)
}

/** How long each delivery took, in ms of this machine. */
function worksIn(history: History): number[] {
  return history.of('step').flatMap(({ trigger, taskId, seq, realAt }) => {
    const begun = history.stepsOf(taskId).findLast(step => step.seq < seq && step.to === 'in_progress')
    return trigger === 'deliver' && begun ? [realAt - begun.realAt] : []
  })
}

/** So long, or longer, half of them took. One alone may be late by chance. */
const middleOf = (times: readonly number[]): number =>
  times.length < 2 ? 0 : times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
