/** Follows one task by the log of the dev in this folder. */
import { COMMAND_LINE } from '../../api/command-line.ts'
import type { Cause } from '../../api/diagnosis/table.ts'
import { type Client, createClient } from '../../client/typed-client.ts'
import type { StampedEntry } from '../../market/log.ts'
import { version } from '../../settings/config.ts'
import type { TaskFeed } from '../../sim/buyers/buyer.ts'
import { locate, type Target } from '../connection/target.ts'
import { entryLine } from './entry-lines.ts'

/**
 * `onTrouble`: hears why a webhook or a callback failed. Returns null where there is no such log, or where nobody has proved
 * that the keys of this folder are for that address.
 */
export function taskFeed(
  { url, isDev, madeFor }: Target,
  taskId: string,
  onTrouble: (why: string) => void,
  startMs?: number,
): TaskFeed | null {
  if (!isDev || madeFor?.by !== 'dev') return null
  const { key } = locate({ url, as: 'admin' }, 'admin')
  return feedFrom(
    createClient({ baseUrl: url, apiKey: key, userAgent: COMMAND_LINE + version }),
    taskId,
    onTrouble,
    startMs,
  )
}

/** So long an agent at which nobody listens may need until it is up: whoever starts one hires it at once. Source: A-288. */
export const START_MS = 8_000

/** `client`: an administrator's. */
export function feedFrom(
  client: Client,
  taskId: string,
  onTrouble: (why: string) => void,
  startMs = START_MS,
): TaskFeed {
  const stop = new AbortController()
  /** Of what came last, where that failed. */
  let failure: Failure | null = null
  let start: AbortSignal | null = null
  let isNew = false
  let wake = () => {}
  const follow = async () => {
    for await (const entry of await client.watchEvents({ after: 0, taskId }, { signal: stop.signal })) {
      const found = failureIn(entry as unknown as StampedEntry)
      if (found && found.text !== failure?.text) onTrouble(found.why)
      if (found || entry.type === 'webhook') failure = found
      isNew = true
      wake()
    }
  }
  // Without the log the task is looked at now and then.
  follow().catch(() => {})
  return {
    async next() {
      if (!isNew) await new Promise<void>(resolve => (wake = resolve))
      isNew = false
    },
    async hopeless(withinMs) {
      const { diagnosis } = await client.diagnoseTask({ id: taskId }).catch(() => ({ diagnosis: null }))
      start = diagnosis?.cause === 'nobody_listens' ? (start ?? AbortSignal.timeout(startMs)) : null
      // Once it is up, dev sends it at once what waits for it.
      if (start) return start.aborted ? diagnosis!.text : null
      if (failure && failure.againInMs > withinMs) return failure.cause
      return diagnosis && ENDED.has(diagnosis.cause) ? diagnosis.text : null
    },
    close: () => stop.abort(),
  }
}

/** Whoever started the agent has to start it again. */
const ENDED = new Set<Cause>(['died_at_work', 'died_before_answer'])

interface Failure {
  /** What is wrong, what to do, and when it is tried again. */
  why: string
  /** The same without what to do. */
  cause: string
  /** What is wrong alone: of later attempts it is not said once more. */
  text: string
  /** When the marketplace tries again: Infinity for never, 0 if it is up to the agent. */
  againInMs: number
}

function failureIn(entry: StampedEntry): Failure | null {
  if (entry.type !== 'webhook' && entry.type !== 'callback') return null
  // In the stream times are text.
  const at = new Date(entry.at).getTime()
  const [why] = entryLine({ ...entry, at }, new Map())?.below ?? []
  if (why === undefined) return null
  const { diagnosis } = entry
  const text = diagnosis?.text ?? why
  if (entry.type === 'callback')
    return {
      ...{ why: diagnosis ? why : `its callback was refused with ${entry.status}: ${why}` },
      ...{ cause: text, text, againInMs: 0 },
    }
  const { nextAttemptAt, outcome } = entry
  if (outcome === 'delivered') return null
  const wait = diagnosis?.cause === 'nobody_listens' ? ` It has ${START_MS / 1_000} s to start.` : ''
  const bare = diagnosis ? { ...entry, at, diagnosis: { ...diagnosis, fix: '' } } : { ...entry, at }
  const [cause = why] = entryLine(bare, new Map())?.below ?? []
  return {
    ...{ why: why + wait, cause, text },
    againInMs: nextAttemptAt === null ? Number.POSITIVE_INFINITY : Date.parse(nextAttemptAt) - at,
  }
}
