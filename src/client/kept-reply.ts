/** The callbacks for an event of a journal: what was sent before the process ended is not said twice. It needs only Node. Source: A-273. */
import { createHash } from 'node:crypto'
import { type AnswerOptions, answerSigned, CallbackError, type Reply, replyBy, type Say } from './callbacks.ts'
import type { Sent } from './inbox.ts'
import type { WebhookEvent } from './webhook-events.ts'

interface KeptCallbacks {
  /** What was sent for it, by the names of the callbacks. */
  readonly sent: ReadonlyMap<string, Sent>
  keep(name: string, sent: Sent): Promise<void>
}

/**
 * Returns the four callbacks for one event. One that the marketplace has taken before resolves to what it answered then. One whose answer was not
 * heard is sent with the same bytes, so that it counts once; if these are too old, an accept that has counted is none that went wrong.
 */
export function keptReply(event: WebhookEvent, secret: string, options: AnswerOptions, kept: KeptCallbacks): Reply {
  const { sent, keep } = kept
  const nameOf = nthOfItsKind()
  const say: Say = async (action, fields) => {
    const name = nameOf(JSON.stringify([action, fields]))
    const before = sent.get(name)
    if (before?.counts) return before.data
    let at = 0
    const signedAt = {
      before: before?.at,
      keep(moment: number) {
        at = moment
        return at === before?.at ? undefined : keep(name, { at })
      },
    }
    try {
      const data = await answerSigned(event, secret, action, fields, options, signedAt)
      void keep(name, { at, counts: true, data })
      return data
    } catch (error) {
      if (!before || action !== 'accept' || !isUnderWay(error)) throw error
      void keep(name, { at, counts: true })
      return undefined
    }
  }
  return replyBy(say)
}

const isUnderWay = (error: unknown) =>
  error instanceof CallbackError && error.status === 400 && error.message.includes('that is in_progress')

/** The same words may be said several times. */
function nthOfItsKind(): (words: string) => string {
  const counts = new Map<string, number>()
  return words => {
    const hash = createHash('sha256').update(words).digest('base64url').slice(0, 22)
    const nth = (counts.get(hash) ?? 0) + 1
    counts.set(hash, nth)
    return `${hash}.${nth}`
  }
}
