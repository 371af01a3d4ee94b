/**
 * One storm: people who do every verb at random, agents that fail, processes that are killed, disks that fill up, clocks that
 * move, all of one seed. Each step has its own chance, made of the seed and its number, so that steps can be left out.
 */
import { acceptsIdempotencyKey } from '../../src/api/endpoint.ts'
import { type EndpointName, endpoints } from '../../src/api/endpoints/index.ts'
import { accountSteps, cookieOf } from '../differential/account-steps.ts'
import { agentSteps, budgetSteps } from '../differential/agent-steps.ts'
import { followUps } from '../differential/follow-ups.ts'
import { answerIn, wireRequest } from '../differential/in-names.ts'
import { invalidPlan } from '../differential/invalid-requests.ts'
import type { Answer } from '../differential/pair.ts'
import { type Makers, ownerOf, type Plan, type Scene } from '../differential/plan.ts'
import { Random } from '../differential/random-values.ts'
import { requestOf } from '../differential/request.ts'
import { adminSteps, taskSteps } from '../differential/task-steps.ts'
import { weights } from '../differential/weights.ts'
import type { Webhook } from '../support/agent-sink.ts'
import type { WireAnswer } from '../support/wire.ts'
import { Agents, type Reaction } from './agents.ts'
import { Broken, Ground } from './ground.ts'
import { type Host, hostOf } from './hosts.ts'
import { Promises } from './promises.ts'
import { type Memory, remembered, type Town } from './town.ts'

const makers: Makers = {
  ...{ ...accountSteps, ...agentSteps, ...budgetSteps, ...taskSteps, ...adminSteps },
  createTask: scene => usingUp(scene, taskSteps.createTask(scene)),
  // While one for callbacks waits, all of them pass through a real socket.
  armFault: ({ model }) => ({ by: model.admin, body: { name: 'copy', agentId: 'agt_nobody' } }),
}

/** A price that is a good part of what its budget allows a day, so that a few tasks pass it. */
function usingUp({ model, random }: Scene, plan: Plan | undefined): Plan | undefined {
  const body = plan?.body as { budgetAuthorizationId?: string } | undefined
  const budget = body?.budgetAuthorizationId ? model.get(body.budgetAuthorizationId) : undefined
  if (!plan || !budget || random.often(0.3)) return plan
  const agreedPrice = Math.min(budget.maxPerTask, Math.round(budget.maxDaily * random.pick([0.5, 0.6, 0.7])))
  return { ...plan, body: { ...body, agreedPrice } }
}

/** Who hires by a budget goes on until that allows no more. */
function hiredOn(scene: Scene, name: EndpointName, { data }: Answer): readonly [EndpointName, Plan] | undefined {
  const { id = '', budgetAuthorizationId } = (data ?? {}) as { id?: string; budgetAuthorizationId?: string | null }
  const budget = scene.model.get((name === 'createBudget' ? id : name === 'submitTask' && budgetAuthorizationId) || '')
  const plan = budget && taskSteps.createTask(scene)
  const by = budget && ownerOf(scene, scene.model.get(budget.agentId)?.builder?.id)
  if (!plan || !by) return undefined
  const body = { ...(plan.body as object), budgetAuthorizationId: budget.id }
  const hire = usingUp(scene, { by, body })
  return hire && ['createTask', hire]
}

const names = Object.keys(endpoints) as EndpointName[]
const weighted = names.map(name => [name, weights[name] ?? 2] as const)

const SECOND = 1000
const HOUR = 3_600 * SECOND
/** Everything is looked at after so many steps, after each start, and at the end. */
const LOOK_EVERY = 8

export interface Course {
  readonly seed: string
  readonly steps: number
  /** Numbers of steps that are left out. */
  readonly without?: ReadonlySet<number>
  /** Keeps the lines of the story. */
  readonly tells?: boolean
}

export interface Outcome {
  readonly digest: string
  readonly lines: readonly string[]
  /** Why a promise was broken; null if none was. */
  readonly broken: string | null
  /** The step after which that was seen. */
  readonly step: number
  /** `2xx` of each endpoint. */
  readonly good: ReadonlyMap<EndpointName, number>
  /** Starts after the first, and hours of domain time that went by. */
  readonly starts: number
  readonly hours: number
}

export async function storm(town: Town, course: Course): Promise<Outcome> {
  const one = new Storm(await remembered(town), town, course)
  return one.play()
}

class Storm {
  readonly #course: Course
  readonly #ground: Ground
  readonly #memory: Memory
  readonly #agents: Agents
  readonly #host: Host
  readonly #promises = new Promises()
  readonly #good = new Map<EndpointName, number>()
  readonly #minds: (readonly [EndpointName, Plan])[] = []
  #random: Random
  #step = 0
  #addresses = 0
  #repeat: readonly [EndpointName, Plan, string] | null = null

  constructor(memory: Memory, town: Town, course: Course) {
    this.#course = course
    this.#memory = memory
    this.#random = new Random(`${course.seed} begins`)
    this.#agents = new Agents({
      ground: () => this.#ground,
      random: () => this.#random,
      react: reaction => void this.#callBack(reaction),
      answerTest: (webhook, isForged) => this.#answerTest(webhook, isForged),
    })
    const egress = { post: this.#agents.post, close: async () => {} }
    this.#ground = new Ground(course.seed, { startMs: town.endsAt, egress, tells: course.tells === true })
    this.#host = hostOf(
      this.#ground,
      town,
      () => this.#random,
      mail => {
        const token = /^[\w-]{43}$/m.exec(mail.text)?.[0]
        if (this.#random.often(0.2))
          return { ok: false, permanent: this.#random.often(0.3), message: 'The mailbox is full.' }
        if (token) this.#memory.model.tokens.push(`${memory.names.nameOf(token, 'token')} to ${mail.to}`)
        return { ok: true }
      },
    )
  }

  get #scene(): Scene {
    return { model: this.#memory.model, random: this.#random, now: this.#ground.world.now() }
  }

  async play(): Promise<Outcome> {
    const { steps, without } = this.#course
    const startsAt = this.#ground.world.now()
    let broken: string | null = null
    try {
      await this.#host.start()
      await this.#look()
      for (this.#step = 1; this.#step <= steps; this.#step++) {
        if (without?.has(this.#step)) continue
        this.#random = new Random(`${this.#course.seed}/${this.#step}`)
        await this.#one()
        await this.#rest()
        if (this.#step % LOOK_EVERY === 0) await this.#look(false)
      }
      this.#random = new Random(`${this.#course.seed} ends`)
      await this.#end()
    } catch (error) {
      if (!(error instanceof Error)) throw error
      broken = error instanceof Broken ? error.message : (error.stack ?? error.message)
    }
    const hours = Math.round((this.#ground.world.now() - startsAt) / HOUR)
    await this.#host.close()
    this.#ground.tell(broken ?? 'whole')
    const { digest, lines } = this.#ground
    return { digest, lines, broken, step: this.#step, good: this.#good, starts: this.#host.starts, hours }
  }

  /** Whoever was killed is started again, and what went wrong by itself is noticed. */
  async #rest(): Promise<void> {
    await this.#ground.settled()
    if (this.#host.needsStart) {
      await this.#host.start()
      await this.#look()
    }
    const [error] = this.#host.errors()
    if (error !== undefined) throw new Broken(`an error was logged: ${error}`)
  }

  async #look(whole = true): Promise<void> {
    await this.#ground.settled()
    await this.#promises.check(this.#host.db, { agents: this.#agents, now: this.#ground.world.now(), whole })
  }

  async #one(): Promise<void> {
    const random = this.#random
    const kind = random.weighted([
      ['ask', 60],
      ['crowd', 14],
      ['pass', 13],
      ['blow', 5],
      ['weather', 4],
    ] as const)
    if (kind === 'ask') await this.#asks([this.#choose()])
    else if (kind === 'crowd') await this.#asks(Array.from({ length: random.from(2, 5) }, () => this.#choose()))
    else if (kind === 'pass') await this.#pass()
    else if (kind === 'blow') await this.#blow()
    else {
      this.#agents.weather = random.pick(['fair', 'fair', 'mixed', 'mixed', 'down'])
      this.#host.skew(random.from(-8, 8) * SECOND)
      this.#ground.tell(`weather ${this.#agents.weather}`)
    }
  }

  /** A process dies, or its disk does, mostly in the middle of requests. */
  async #blow(): Promise<void> {
    const what = this.#host.blow()
    this.#ground.tell(`blow: ${what}`)
    await this.#asks(Array.from({ length: this.#random.from(1, 4) }, () => this.#choose()))
    await this.#ground.settled()
    this.#host.calm()
  }

  async #pass(): Promise<void> {
    const random = this.#random
    const ms = random.weighted([
      [1, 2],
      [SECOND, 4],
      [4 * SECOND, 4],
      [61 * SECOND, 4],
      [600 * SECOND, 3],
      [HOUR, 3],
      [5 * HOUR, 2],
      [49 * HOUR, 0.7],
    ])
    this.#ground.tell(`${ms} ms pass`)
    await this.#elapse(ms)
    if (ms >= 20 * HOUR) await this.#freshen()
  }

  /** A short while in small steps; a long one at once, as of a machine that stood still, and then what is due. */
  async #elapse(ms: number): Promise<void> {
    if (ms <= 5 * SECOND) return this.#ground.pass(ms)
    await this.#ground.stall(ms)
    await this.#during([this.#host.runDue()], 'what is due')
  }

  /** After a day without a test all agents are hidden, and nothing more would happen. */
  async #freshen(): Promise<void> {
    const listed = this.#memory.model.all('agt').filter(({ status }) => status === 'verified' || status === 'active')
    const plans = listed.slice(0, 4).flatMap(({ id, builder }) => {
      const by = this.#memory.model.person(builder?.id)
      return by ? [['testConnection', { by, at: { id } }] as const] : []
    })
    await this.#asks(plans)
  }

  #choose(): readonly [EndpointName, Plan, string?] {
    const random = this.#random
    if (this.#repeat && random.often(0.5)) {
      const again = this.#repeat
      this.#repeat = null
      return again
    }
    if (random.often(0.45) && this.#minds.length > 0) {
      const at = Math.max(0, this.#minds.length - 1 - random.below(8))
      return this.#minds.splice(at, 1)[0]!
    }
    const { admin } = this.#memory.model
    if (admin.sessions.length === 0) {
      const { email, password } = admin
      return ['login', { body: { email, password }, done: answer => void admin.sessions.push(cookieOf(answer)) }]
    }
    for (;;) {
      const name = random.weighted(weighted)
      const plan = makers[name](this.#scene)
      if (!plan || (plan.by === admin && SHUTS_OUT.has(name))) continue
      // One that names no agent would meet others, as it is meant to.
      const given = random.often(0.06) && name !== 'armFault' ? invalidPlan(this.#scene, endpoints[name], plan) : plan
      const key = acceptsIdempotencyKey(endpoints[name]) && random.often(0.2) ? `key ${random.below(1e6)}` : undefined
      if (key === undefined) return [name, given]
      this.#repeat = [name, given, key]
      return [name, given, key]
    }
  }

  /** Asks all of it at once. */
  #asks(plans: readonly (readonly [EndpointName, Plan, string?])[]): Promise<void> {
    const asked = plans.map(([name, plan, key]) => this.#ask(name, plan, key))
    return this.#during(asked, plans.map(([name]) => name).join(', '))
  }

  /** Lets time go by until all of it has ended. */
  async #during(work: readonly Promise<unknown>[], what: string): Promise<void> {
    let open = true
    const ended = Promise.all(work)
      .then(
        () => null,
        error => error as Error,
      )
      .finally(() => {
        open = false
      })
    for (let waits = 0; ; waits++) {
      await this.#ground.settled()
      if (!open) break
      if (waits > 200) throw new Broken(`${what}: not done within ${waits} seconds`)
      await this.#ground.pass(SECOND)
    }
    const error = await ended
    if (error) throw error
  }

  async #ask(name: EndpointName, plan: Plan, key?: string): Promise<Answer | null> {
    const { names } = this.#memory
    const step = this.#step
    const address = `10.${step % 200}.${this.#addresses++ % 250}.${this.#random.below(3)}`
    const request = requestOf(endpoints[name], plan, { address, idempotencyKey: key })
    const wire = wireRequest(request, names, this.#ground.world.realNow())
    const [method, target, headers, body] = wire
    this.#ground.tell(`> ${method} ${target} ${headers.map(String).join(' ')} ${body ?? ''}`)
    const answer = await this.#exchange(plan.form !== undefined, ...wire)
    this.#ground.tell(`< ${name} ${answer ? told(answer) : 'no answer'}`)
    const at = Object.fromEntries(Object.entries(plan.at ?? {}).map(([param, id]) => [param, names.made(id)]))
    this.#promises.asked({ name, at, body: plan.body, answer, key, now: this.#ground.world.now() })
    if (!answer) return null
    if (answer.status >= 500 && !this.#host.isStruck)
      throw new Broken(`${name} was answered ${answer.status}: ${answer.body}`)
    const inNames = answerIn(names, answer)
    if (answer.status === 401 && plan.by && (plan.via === 'session' || plan.by.keys.length === 0))
      plan.by.sessions.pop()
    if (answer.status >= 300) return inNames
    this.#good.set(name, (this.#good.get(name) ?? 0) + 1)
    this.#memory.model.learn(name, inNames.data, plan.at ?? {}, plan.by ?? null)
    if (inNames.headers['idempotent-replayed'] === undefined) plan.done?.(inNames, plan)
    if (this.#random.often(0.85)) this.#follow(name, inNames, plan)
    return inNames
  }

  #follow(name: EndpointName, answer: Answer, plan: Plan): void {
    for (const mind of [followUps[name]?.(this.#scene, answer, plan), hiredOn(this.#scene, name, answer)]) {
      if (mind) this.#minds.push(mind)
      if (this.#minds.length > 40) this.#minds.shift()
    }
  }

  #exchange(isUpload: boolean, ...wire: Parameters<Host['exchange']>): Promise<WireAnswer | null> {
    const exchange = () => this.#host.exchange(...wire)
    return isUpload ? this.#ground.throughThreads(exchange) : exchange()
  }

  async #callBack({ taskId, agentId, body, isForged, times }: Reaction): Promise<void> {
    const { names, model } = this.#memory
    const secret = model.secrets.get(names.named(agentId))
    if (!secret) return
    const plan: Plan = {
      at: { id: names.named(taskId) },
      body,
      signed: { secret: isForged ? `${secret}!` : secret, ageMs: this.#random.below(3) },
    }
    for (let time = 0; time < times; time++) await this.#ask('agentCallback', plan)
  }

  async #answerTest(webhook: Webhook, isForged: boolean): Promise<void> {
    const { names, model } = this.#memory
    const secret = model.secrets.get(names.named(String(webhook.data.agentId)))
    if (!secret) return
    const request = {
      method: 'POST',
      target: new URL(webhook.data.callbackUrl).pathname,
      headers: [['content-type', 'application/json']] as [string, string][],
      body: JSON.stringify({ action: 'accept' }),
      signed: { secret: isForged ? `${secret}!` : secret, ageMs: 0 },
    }
    const answer = await this.#host.exchange(...wireRequest(request, names, this.#ground.world.realNow()))
    this.#ground.tell(`test of ${webhook.data.agentId}: ${answer?.status}`)
  }

  /** The storm is over: what waits comes to its end, and what is kept outlives one more crash. */
  async #end(): Promise<void> {
    this.#agents.weather = 'fair'
    this.#host.calm()
    for (let waits = 0; (await this.#waiting()) > 0; waits++) {
      if (waits > 16) throw new Broken(`${await this.#waiting()} webhooks to agents that are well never came`)
      await this.#elapse(waits < 4 ? 600 * SECOND : 11 * HOUR)
      await this.#ground.pass(2 * SECOND)
      await this.#rest()
    }
    await this.#look()
    this.#host.stopAtOnce()
    await this.#rest()
    await this.#look()
    this.#ground.tell(await this.#host.contents())
  }

  /** Webhooks that are not delivered although their agent is well. */
  async #waiting(): Promise<number> {
    const rows = await this.#host.db.read(q =>
      q.all<{ url: string; secret: string | null }>(
        `SELECT a.webhook_url AS url, a.secret FROM deliveries d JOIN agents a ON a.id = d.agent_id
         WHERE d.ended_at IS NULL AND a.webhook_url IS NOT NULL AND a.secret IS NOT NULL`,
      ),
    )
    return rows.filter(({ url }) => WELL.test(url)).length
  }
}

/** What an administrator must not do who is needed to the end. */
const SHUTS_OUT = new Set<EndpointName>(['changePassword', 'updateMe', 'logout', 'endOtherSessions', 'endSession'])
const WELL = /\.example\/(?:ok|twice|nul|flaky|mute|forger)\//

/** Of the machine, not of the marketplace. */
const LEFT_OUT = new Set(['date', 'x-request-id', 'content-length', 'connection', 'keep-alive'])

function told({ status, headers, body }: WireAnswer): string {
  const shown = Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name))
  return `${status} ${shown.map(String).join(' ')} ${body}`
}
