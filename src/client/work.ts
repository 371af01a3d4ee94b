/** What an agent does for the events that it has taken. It needs only Node. Source. */
import type { AgentOptions, Work } from './agent-options.ts'
import { CallbackError, type Reply, replyTo } from './callbacks.ts'
import { type Came, Inbox, type Unfinished } from './inbox.ts'
import { keptReply } from './kept-reply.ts'
import { mayPass } from './transport.ts'
import type { WebhookEvent } from './webhook-events.ts'

/** What ends its process each time is not begun for ever. */
const MOST_RUNS = 10
const TASKS_AT_ONCE = 16

export class AgentWork {
  readonly #options: AgentOptions
  readonly #secret: string
  readonly #inbox: Inbox
  #underWay = 0

  constructor(options: AgentOptions, secret: string) {
    this.#options = options
    this.#secret = secret
    this.#inbox = new Inbox(options.journal)
    options.signal?.addEventListener('abort', () => this.#closeWhenDone(), { once: true })
  }

  /** Responds whether the event is kept, and works on it unless it has come before. */
  async receive(came: Came, event: WebhookEvent, respond: (isKept: boolean) => void): Promise<void> {
    if (this.#options.signal?.aborted) return respond(false)
    await this.#counted(async () => {
      const isNew = await this.#inbox.isNew(came).catch((error: unknown) => ({ error }))
      respond(typeof isNew === 'boolean')
      if (typeof isNew !== 'boolean') this.#tell(isNew.error, event)
      else if (isNew) await this.#work(came.key, event)
    })
  }

  /** Goes on with what an earlier process has not ended. Soon, as what the functions use may not be made yet. */
  resume(): void {
    const waiting = [...linesOf(this.#inbox.unfinished).values()]
    const workOff = async () => {
      for (let line = waiting.shift(); line; line = waiting.shift()) for (const one of line) await this.#again(one)
    }
    const lines = Math.min(TASKS_AT_ONCE, waiting.length)
    if (lines > 0) setImmediate(() => Array.from({ length: lines }, workOff))
  }

  async #again({ key, runs, event }: Begun): Promise<void> {
    if (this.#options.signal?.aborted) return
    await this.#counted(async () => {
      if (runs < MOST_RUNS) {
        await this.#note(this.#inbox.begun(key), event)
        return this.#work(key, event)
      }
      await this.#note(this.#inbox.done(key, true), event)
      this.#tell(new Error(`It was begun ${runs} times and has never ended, so it is given up.`), event)
    })
  }

  async #work(key: string, event: WebhookEvent): Promise<void> {
    const kept = this.#inbox.kept(key)
    try {
      await handlerOf(event, this.#options)?.(event as never, this.#reply(key, event))
    } catch (error) {
      if (isForGood(error)) await this.#note(this.#inbox.done(key, true), event)
      else this.#inbox.leave(key)
      return this.#tell(error, event)
    }
    // A function may have caught that its callback was given up.
    const isCut = this.#options.signal?.aborted && [...(kept?.sent.values() ?? [])].some(({ counts }) => !counts)
    if (isCut) this.#inbox.leave(key)
    else await this.#note(this.#inbox.done(key, false), event)
  }

  #reply(key: string, event: WebhookEvent): Reply {
    const kept = this.#inbox.kept(key)
    if (!kept) return replyTo(event, this.#secret, this.#options)
    return keptReply(event, this.#secret, this.#options, {
      sent: kept.sent,
      keep: (name, sent) => this.#note(this.#inbox.sent(key, name, sent), event),
    })
  }

  /** The work goes on if it can't be noted how far it has come. */
  async #note(kept: Promise<void>, event: WebhookEvent): Promise<void> {
    await kept.catch((error: unknown) => this.#tell(error, event))
  }

  #tell(error: unknown, event: WebhookEvent): void {
    if (this.#options.onError) this.#options.onError(error, event)
    else console.error(`${event.event} for ${event.data.taskId}:`, error)
  }

  async #counted(work: () => Promise<void>): Promise<void> {
    this.#underWay += 1
    try {
      await work()
    } finally {
      this.#underWay -= 1
      this.#closeWhenDone()
    }
  }

  #closeWhenDone(): void {
    if (this.#underWay === 0 && this.#options.signal?.aborted) this.#inbox.close()
  }
}

interface Begun {
  readonly key: string
  readonly runs: number
  readonly event: WebhookEvent
}

/** The events of a task come one after the other. */
function linesOf(unfinished: readonly Unfinished[]): Map<string, Begun[]> {
  const lines = new Map<string, Begun[]>()
  for (const { key, runs, body } of unfinished) {
    const event = JSON.parse(body) as WebhookEvent
    const line = lines.get(event.data.taskId) ?? []
    lines.set(event.data.taskId, [...line, { key, runs, event }])
  }
  return lines
}

/** The same callback would be refused at the next start too. A 401 may be a secret that is about to be mended. */
const isForGood = (error: unknown) =>
  error instanceof CallbackError && error.status >= 400 && error.status !== 401 && !mayPass(error.status)

function handlerOf(event: WebhookEvent, options: AgentOptions): Work<never> | undefined {
  if (event.data.test) return options.onTest ?? ((_event, reply) => reply.accept())
  const handlers: Record<WebhookEvent['event'], Work<never> | undefined> = {
    'task.submitted': options.onTask,
    'task.revision_requested': options.onRevision,
    'task.message': options.onMessage,
    'task.approved': options.onApproved,
    'task.cancelled': options.onCancelled,
    'task.disputed': options.onDisputed,
    'task.delivered_to_buyer': options.onDelivered,
  }
  return handlers[event.event]
}
