/** What falls due in a simulator, by name, and the clock that is moved there. */
import { api } from '../api.ts'
import { toast, tried } from '../parts/toasts.tsx'
import { count } from '../parts/words.tsx'

export type Clock = Awaited<ReturnType<typeof api.getClock>>
export type Due = Clock['due'][number]
export type ClockMove = { advanceMs: number } | { to: string } | 'next'

/** What is delivered is work, too: of what is removed it is a webhook. */
const oldOf = (id: string) => id.replace('delivery', 'webhook').replaceAll('_', ' ')

const KINDS = {
  webhook: ['arrow', 'A webhook is sent'],
  clearing: ['coin', 'A payment clears'],
  heartbeat: ['play', 'The heartbeat tests agents'],
  mail: ['inbox', 'A mail is sent'],
  retention: ['box', 'Old rows are removed'],
  buyer: ['person', 'A simulated buyer acts'],
} as const

export const dueWords = ({ kind, id, about, title, agent }: Due) =>
  kind === 'retention'
    ? `Old ${oldOf(id)} are removed`
    : [kind === 'webhook' && about ? about : KINDS[kind][1], title ?? agent].filter(Boolean).join(': ')

export const dueName = ({ kind }: Due) => KINDS[kind][1]

export const dueIcon = ({ kind }: Due) => KINDS[kind][0]

/** Longer than the server takes for one move: no connection that stands still keeps the next from being tried. */
const MOST_MS = 60_000

let moving = Promise.resolve()

/**
 * Moves the clock, and says what happened on the way, and why it stopped. One move at a time: what is next is what the clock
 * says after the move before, not what a page has read before that.
 */
export const moveClock = (move: ClockMove): Promise<void> =>
  (moving = moving.then(async () => {
    const moved = await tried('The clock stays', async () => {
      const bound = { signal: AbortSignal.timeout(MOST_MS) }
      if (move !== 'next') return api.moveClock(move, bound)
      const { next } = await api.getClock({}, bound)
      return next ? api.moveClock({ to: next.at }, bound) : undefined
    })
    if (!moved) return
    const { done, omitted, stopped } = moved
    const why = stopped?.reason === 'under_way' ? 'something is under way' : 'its time was over'
    const text = `${count(done.length + omitted, 'thing')} happened on the way.${stopped ? ` It stopped: ${why}.` : ''}`
    toast({ tone: stopped ? 'wait' : 'ok', word: 'Moved', text })
  }))
