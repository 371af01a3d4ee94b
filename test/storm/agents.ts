/** The agents of a storm: they hear webhooks, fail in every way, and call back: late, twice, wrongly signed, or not at all. */
import { answered } from '../../src/world/virtual.ts'
import type { Outgoing, OutgoingResult } from '../../src/world/world.ts'
import { Random } from '../differential/random-values.ts'
import { type Behaviour, behaviours } from '../differential/sink.ts'
import type { Webhook } from '../support/agent-sink.ts'
import type { Ground } from './ground.ts'

/** A webhook as it was sent. */
export interface Sent {
  readonly deliveryId: string
  readonly taskId: string
  readonly body: string
}

/** What an agent calls back, once a while has passed. */
export interface Reaction {
  readonly taskId: string
  readonly agentId: string
  readonly body: Record<string, unknown>
  readonly isForged: boolean
  readonly times: number
}

/** How the network is at the moment. */
export type Weather = 'fair' | 'mixed' | 'down'

interface Surroundings {
  ground: () => Ground
  /** Of the present step. */
  random: () => Random
  react(reaction: Reaction): void
  answerTest(webhook: Webhook, isForged: boolean): Promise<void>
}

const lost = (reason: 'timeout' | 'reset' | 'dns' | 'tls') =>
  ({ ok: false, reason, message: 'It failed.', durationMs: 1 }) as const

export class Agents {
  readonly #around: Surroundings
  /** All that was sent, tests of the connection left out, oldest first. */
  readonly sent: Sent[] = []
  /** Ids of those to which an agent said 2xx, whether or not that was heard. */
  readonly taken = new Set<string>()
  weather: Weather = 'fair'

  constructor(around: Surroundings) {
    this.#around = around
  }

  post = async (request: Outgoing): Promise<OutgoingResult> => {
    const ground = this.#around.ground()
    const webhook = JSON.parse(request.body) as Webhook
    const isTest = webhook.data.test === true
    const behaviour = new URL(request.url).pathname.split('/')[1] as Behaviour
    // Its own, so that how it ends does not depend on what else is drawn meanwhile.
    const random = new Random(String(this.#around.random().below(2 ** 31)))
    const deliveryId = request.headers['X-Service-Delivery-Id'] ?? ''
    const { taskId } = webhook.data
    if (!isTest) this.sent.push({ deliveryId, taskId, body: request.body })
    const { weather } = this
    const isHit = weather !== 'fair' && random.often(weather === 'down' ? 0.9 : 0.3)
    const wait = random.often(0.8) ? 0 : random.pick([5, 90, 1_200, 20_000])
    if (wait > 0) await this.#later(wait)
    const said = (behaviours[behaviour] ?? behaviours.ok)(Number(request.headers['X-Service-Attempt']), isTest)
    const { result, heard } = isHit
      ? await this.#failed(said, random, request.timeoutMs)
      : { result: said, heard: true }
    const took = heard && said.ok && said.status >= 200 && said.status < 300
    if (isTest) {
      if (heard && behaviour !== 'mute') await this.#around.answerTest(webhook, behaviour === 'forger')
      return result
    }
    const agentId = String(webhook.data.agentId)
    ground.tell(`webhook ${deliveryId} ${webhook.event} of ${taskId}: ${took ? 'taken' : 'not taken'}`)
    if (took) {
      this.taken.add(deliveryId)
      this.#react(webhook, agentId, random)
    }
    return result
  }

  /** One of the ways in which an exchange fails; some of them after the agent has heard all of it. */
  async #failed(
    said: OutgoingResult,
    random: Random,
    timeoutMs: number,
  ): Promise<{ result: OutgoingResult; heard: boolean }> {
    switch (random.pick(['5xx', 'dns', 'tls', 'timeout', 'too late', 'reset', 'cut', 'busy'] as const)) {
      case '5xx':
        return { result: answered(random.pick([500, 502, 503])), heard: false }
      case 'busy':
        return { result: answered(429, '', { 'retry-after': String(random.pick([1, 30, 100_000])) }), heard: false }
      case 'dns':
        return { result: lost('dns'), heard: false }
      case 'tls':
        return { result: lost('tls'), heard: false }
      case 'reset':
        return { result: lost('reset'), heard: false }
      case 'cut':
        return { result: lost('reset'), heard: said.ok }
      case 'timeout':
        await this.#later(timeoutMs)
        return { result: lost('timeout'), heard: false }
      case 'too late':
        await this.#later(timeoutMs)
        return { result: lost('timeout'), heard: said.ok }
    }
  }

  #later(ms: number): Promise<void> {
    const { world, move } = this.#around.ground()
    return new Promise(resolve => {
      world.after(ms, () => {
        move()
        resolve()
      })
    })
  }

  #react({ event, data }: Webhook, agentId: string, random: Random): void {
    if (event !== 'task.submitted' && event !== 'task.revision_requested') return
    if (random.often(0.4)) return
    const about = { taskId: data.taskId, agentId, isForged: random.often(0.08), times: random.often(0.2) ? 2 : 1 }
    const deliver = { ...about, body: { action: 'deliver', content: `What was asked for, ${random.below(1000)}.` } }
    const first = random.pick([1, 400, 3_000])
    const soon = (ms: number, reaction: Reaction) => void this.#later(ms).then(() => this.#around.react(reaction))
    const isNew = event === 'task.submitted'
    if (!isNew) soon(first, deliver)
    else soon(first, { ...about, body: { action: random.often(0.1) ? 'reject' : 'accept' } })
    if (isNew && random.often(0.7)) soon(first + random.pick([1, 900, 40_000]), deliver)
  }
}
