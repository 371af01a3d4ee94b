/** What falls due in a simulator, by name, and the clock that is moved there. */
import { api } from '../api.ts'
import { toast, tried } from '../parts/toasts.tsx'
import { count } from '../parts/words.tsx'

export type Clock = Awaited<ReturnType<typeof api.getClock>>
export type Due = Clock['due'][number]
export type ClockMove = { advanceMs: number } | { to: string }

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

const STOPS = {
  steps: 'It stopped: that were as many steps as were asked for.',
  time: 'It stopped: its time was over.',
  under_way: 'It stopped: something is under way.',
} as const

/** Moves the clock, and says what happened on the way, and why it stopped. */
export async function moveClock(move: ClockMove): Promise<void> {
  const moved = await tried('The clock stays', () => api.moveClock(move))
  if (!moved) return
  const done = `${count(moved.done.length + moved.omitted, 'thing')} happened on the way.`
  toast(
    moved.stopped
      ? { tone: 'wait', word: 'Moved', text: `${done} ${STOPS[moved.stopped.reason]}` }
      : { tone: 'ok', word: 'Moved', text: done },
  )
}
