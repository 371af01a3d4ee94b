/** Judgements in time: what the machine has held up is nobody's slowness. Source: A-286. */

import type { History } from '../history/history.ts'
import { type broken, type Finding, holds, inconclusive } from './check.ts'

interface Span {
  readonly from: number
  readonly to: number
}

/** From the moment in which it was sent or came, to its answer. */
export const spanOf = ({ realAt, ms }: { readonly realAt: number; readonly ms: number }): Span => ({
  from: realAt - ms,
  to: realAt,
})

const stoodStill = (ms: number) =>
  inconclusive(
    `the machine or the run itself stood still for ${Math.round(ms)} ms meanwhile: play it again when it is less busy`,
  )

/** Holds within the limit. Beyond it, `late` says what is wrong, unless the machine has held it up for so long. */
export function within(
  history: History,
  span: Span,
  limitMs: number,
  late: (ms: number) => ReturnType<typeof broken>,
): Finding {
  const ms = span.to - span.from
  if (ms <= limitMs) return holds
  const stalled = history.stalledMs(span.from, span.to)
  return ms - stalled > limitMs ? late(ms) : stoodStill(stalled)
}

/** So many, where `most` were allowed in the span: while the run stood still they were not read, and then all at once. */
export function unlessHeldUp(
  history: History,
  { from, to }: Span,
  { count, most }: { readonly count: number; readonly most: number },
  finding: Finding,
): Finding {
  const stalled = history.stalledMs(from - LOOK_BACK_MS, to)
  return count > most * (1 + stalled / (to - from)) ? finding : stoodStill(stalled)
}

/** What stood still just before is read in the span. */
const LOOK_BACK_MS = 1_000
