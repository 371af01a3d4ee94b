/** What falls due next by domain time. Source. */
import { durations } from '../../api/limits.ts'
import type { Reader } from '../../store/db.ts'
import { type Kept, keptKinds, oldestOf } from '../../store/tables/upkeep/retention.ts'
import { namesOf, type UpcomingRow, upcomingAfter, upcomingInOrder } from '../../store/tables/upkeep/upcoming.ts'
import type { Market } from '../market.ts'
import { iso } from '../time.ts'
import { ClockFollowers } from './clock-followers.ts'
import { keptSince } from './retention.ts'

export interface DueThing extends Pick<UpcomingRow, 'id' | 'about'> {
  readonly kind: UpcomingRow['kind'] | 'retention' | 'buyer'
}

/** A moment, and what falls due at it. */
export interface DueMoment {
  readonly at: number
  /** Not all of it where it is very much. */
  readonly things: readonly DueThing[]
  /** How many things fall due at it. */
  readonly total: number
}

type Premises = Pick<Market, 'world' | 'config' | 'memory'>

/** Returns the first moment after `after` at which something falls due, with up to `count` things; null if there is none. */
export async function nextMoment(q: Reader, market: Premises, after: number, count: number): Promise<DueMoment | null> {
  const [rows, removals] = await Promise.all([upcomingAfter(q, after, count), removalsAfter(q, market, after)])
  const steps = market.memory.of(ClockFollowers).next(after)
  const first = [rows[0]?.dueAt, steps[0]?.at].map(time => time ?? Number.POSITIVE_INFINITY)
  const at = Math.min(...first, ...removals.map(removal => removal.at))
  if (!Number.isFinite(at)) return null
  const due = rows[0]?.dueAt === at ? rows : []
  const removed = removals.filter(removal => removal.at === at)
  const taken = steps.filter(step => step.at === at)
  const things: DueThing[] = [
    ...due.map(({ kind, id, about }) => ({ kind, id, about })),
    ...removed.map(({ kind }) => ({ kind: 'retention' as const, id: kind, about: null })),
    ...taken.map(({ id, about }) => ({ kind: 'buyer' as const, id, about })),
  ]
  return { at, things, total: (due[0]?.total ?? 0) + removed.length + taken.length }
}

/** Returns the next things after `after` in order, with the names of what they are about. */
export async function dueThings(q: Reader, market: Premises, after: number, count: number) {
  const [rows, removals] = await Promise.all([upcomingInOrder(q, after, count), removalsAfter(q, market, after)])
  const steps = market.memory.of(ClockFollowers).after(after)
  const things = [
    ...rows.map(({ kind, id, about, dueAt }) => ({ at: dueAt, kind, id, about })),
    ...removals.map(({ kind, at }) => ({ at, kind: 'retention' as const, id: kind, about: null })),
    ...steps.map(({ at, id, about }) => ({ at, kind: 'buyer' as const, id, about })),
  ]
  const next = things.sort((a, b) => a.at - b.at).slice(0, count)
  const names = await namesOf(
    q,
    next.map(({ id }) => id),
  )
  return next.map(({ at, ...thing }) => {
    const { taskId = null, title = null, agent = null } = names.get(thing.id) ?? {}
    return { at: iso(at), ...thing, taskId, title, agent }
  })
}

/** Signatures are kept by real time. The counters of requests and guesses are rows on Postgres alone, and nobody's to see. */
const unlisted: ReadonlySet<Kept> = new Set<Kept>(['seen_signatures', 'rate_windows', 'guesses'])

/**
 * When rows of each kind are deleted next, in full hours. The exact moment is nobody's concern, and a moment for each row
 * would be thousands.
 */
async function removalsAfter(q: Reader, market: Premises, after: number) {
  const since = keptSince(market)
  const now = market.world.now()
  const kinds = keptKinds.filter(kind => !unlisted.has(kind))
  const oldest = await Promise.all(kinds.map(kind => oldestOf(q, kind)))
  return kinds.flatMap((kind, index) => {
    const at = inFullHours((oldest[index] ?? Number.NEGATIVE_INFINITY) + now - since[kind])
    return at > after ? [{ kind, at }] : []
  })
}

const inFullHours = (ms: number) => Math.ceil(ms / durations.hourMs) * durations.hourMs
