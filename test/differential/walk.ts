/** Random steps over every endpoint, asked of two engines at once. The same seed takes the same steps. */
import { acceptsIdempotencyKey } from '../../src/api/endpoint.ts'
import { type EndpointName, endpoints } from '../../src/api/endpoints/index.ts'
import { rates } from '../../src/api/limits.ts'
import { accountSteps, cookieOf, keyTaken } from './account-steps.ts'
import { agentSteps, budgetSteps } from './agent-steps.ts'
import { dayMs, hourMs, pauseOf } from './clock-steps.ts'
import { settle } from './first-users.ts'
import { followUps } from './follow-ups.ts'
import { invalidPlan, invalidRequest } from './invalid-requests.ts'
import { Model } from './model.ts'
import { type Answer, Difference, openPair, type Pair, type Request } from './pair.ts'
import type { Makers, Plan, Scene } from './plan.ts'
import { Random } from './random-values.ts'
import { requestOf, toldRequest } from './request.ts'
import { adminSteps, taskSteps } from './task-steps.ts'
import { weights } from './weights.ts'

const makers: Makers = { ...accountSteps, ...agentSteps, ...budgetSteps, ...taskSteps, ...adminSteps }
const names = Object.keys(endpoints) as EndpointName[]
const weighted = names.map(name => [name, weights[name] ?? 2] as const)

const soonRefused = names.filter(name => rates[endpoints[name].rate].limit <= 30)

export interface Report {
  seed: string
  steps: number
  /** Answers, batches of webhooks and tables that were found equal. */
  compared: number
  rows: number
  /** `2xx` and `4xx` of each endpoint. */
  answers: ReadonlyMap<EndpointName, { good: number; bad: number }>
}

export interface WalkOptions {
  seed: string
  steps: number
  /** All tables are compared after so many steps, and at the end. */
  tablesEvery: number
}

/** Throws a Difference that says all that is needed to see it again. */
export async function walk({ seed, steps, tablesEvery }: WalkOptions): Promise<Report> {
  const pair = await openPair(seed)
  const walker = new Walker(pair, seed)
  try {
    await walker.begin()
    let rows = 0
    for (let step = 1; step <= steps; step++) {
      await walker.step(step)
      if (step % 250 === 0) await walker.checkLedger()
      if (step % tablesEvery === 0 || step === steps) rows = await pair.compareTables()
    }
    return { seed, steps, compared: pair.compared, rows, answers: walker.answers }
  } catch (error) {
    if (error instanceof Error) error.message = `${error.message}\n\n${walker.whereabouts(steps)}`
    throw error
  } finally {
    await pair.close()
  }
}

class Walker {
  readonly pair: Pair
  readonly seed: string
  readonly random: Random
  readonly model = new Model()
  readonly answers = new Map(names.map(name => [name, { good: 0, bad: 0 }]))
  /** What has to follow the last steps. */
  readonly #agenda: (() => Promise<unknown>)[] = []
  /** What people have in mind. */
  readonly #minds: (readonly [EndpointName, Plan])[] = []
  #freshenedAt = 0
  #step = 0
  #last = 'nothing yet'
  #bursts = 0

  constructor(pair: Pair, seed: string) {
    this.pair = pair
    this.seed = seed
    this.random = new Random(seed)
  }

  get scene(): Scene {
    return { model: this.model, random: this.random, now: this.pair.now }
  }

  begin = () => settle({ scene: this.scene, ask: (name, plan) => this.ask(name, plan) })

  whereabouts(steps: number): string {
    return [
      `seed ${this.seed}, step ${this.#step} of ${steps}: ${this.#last}`,
      `Again: npm run test:differential -- ${JSON.stringify(this.seed)} ${Math.max(1, this.#step)}`,
    ].join('\n')
  }

  /** An administrator may have stumbled over a step that went wrong as it should. */
  async #restoreAdmin(): Promise<void> {
    const { admin } = this.model
    const { email, password } = admin
    if ((await this.ask('me', { by: admin })).status === 200) return
    const login = { body: { email, password }, done: (answer: Answer) => void admin.sessions.push(cookieOf(answer)) }
    await this.ask('login', login)
    await this.ask('updateMe', { by: admin, via: 'session', body: { isBuilder: true } })
    const key = { by: admin, via: 'session', body: { name: 'restored' }, done: keyTaken } as const
    if (admin.keys.length === 0) await this.ask('createKey', key)
  }

  async checkLedger(): Promise<void> {
    await this.#restoreAdmin()
    const answer = await this.ask('checkLedger', { by: this.model.admin })
    if (answer.status !== 200) throw new Error(`The ledger could not be checked: ${answer.body}`)
    const { ok, problems } = answer.data as { ok: boolean; problems: string[] }
    if (!ok) throw new Difference(`The books are not in order: ${problems.join(', ')}`)
    await this.pair.compareTables(['accounts', 'settlements'])
  }

  async step(number: number): Promise<void> {
    this.#step = number
    const { random } = this
    const next = this.#agenda.shift()
    if (next) await next()
    else if (random.often(0.07)) await this.pass()
    else if (random.often(0.006)) this.burst()
    else if (random.often(0.5) && this.#minds.length > 0) await this.goOn()
    else await this.play()
  }

  /** Time goes by, and everything falls due. */
  async pass(ms = pauseOf(this.scene)): Promise<void> {
    const { random, pair } = this
    const both = ms <= 600_000 && random.often(0.4)
    this.#last = `${ms} ms pass${both ? ' on both clocks' : ''}`
    await pair.pass(ms, both)
    for (const { to, token } of pair.mails()) {
      if (token === '') continue
      this.model.tokens.push(`${token} to ${to}`)
      this.#minds.push(['confirmPasswordReset', makers.confirmPasswordReset(this.scene)!])
    }
    // After a day without a test all agents are hidden, and nothing more would happen.
    if (pair.now - this.#freshenedAt > 18 * hourMs) this.#agenda.push(...this.freshen())
    if (pair.now % dayMs === 0) this.#agenda.push(() => this.spendAtMidnight())
  }

  /** The first millisecond of a day counts for that day's cap. */
  async spendAtMidnight(): Promise<void> {
    const { model, random } = this
    const budget = random.pick(model.all('bud').filter(({ status, agentId }) => status === 'active' && agentId))
    const by = model.person(model.get(budget?.agentId ?? '')?.builder?.id)
    const plan = makers.createTask(this.scene)
    if (!budget || !by || !plan) return
    const body = { ...(plan.body as object), agreedPrice: 200, budgetAuthorizationId: budget.id }
    const { status, data } = await this.ask('createTask', { by, body })
    if (status === 201) await this.ask('submitTask', { by, at: { id: (data as { id: string }).id } })
    await this.ask('getBudget', { by: budget.seenBy, at: { id: budget.id } })
  }

  /** Listed agents are tested, so that they can be hired. */
  freshen(): (() => Promise<unknown>)[] {
    this.#freshenedAt = this.pair.now
    const listed = this.model.all('agt').filter(({ status }) => status === 'verified' || status === 'active')
    return [...listed.slice(0, 6), ...listed.slice(6).slice(-2)].flatMap(({ id, builder }) => {
      const by = this.model.person(builder?.id)
      return by ? [() => this.ask('testConnection', { by, at: { id } })] : []
    })
  }

  /** More requests from one address than are allowed. */
  burst(): void {
    const { random } = this
    // A hundred a minute are many steps: seldom.
    const name = this.#bursts++ % 25 === 0 ? 'listCategories' : random.pick(soonRefused)
    const { rate } = endpoints[name]
    const address = `192.0.2.${random.below(250)}`
    for (let n = 0; n < rates[rate].limit + 2; n++) {
      this.#agenda.push(async () => {
        const plan = makers[name](this.scene)
        if (plan) await this.ask(name, plan, { address })
      })
    }
  }

  async play(): Promise<void> {
    const { random, scene } = this
    for (let draws = 0; draws < 20; draws++) {
      const { name, invalidate } = (random.often(0.1) && this.#missing()) || randomChoice(random)
      const plan = makers[name](scene)
      if (plan) return this.perform(name, invalidate ? invalidate(scene, endpoints[name], plan) : plan, 0.05)
    }
  }

  /** What was never answered so far, or never refused; undefined once there is nothing of that kind. */
  #missing(): Choice | undefined {
    const all = [...this.answers].flatMap(([name, { good, bad }]) => [
      { name, invalidate: null, count: good },
      { name, invalidate: endpoints[name].auth === 'public' ? invalidPlan : withoutCredential, count: bad },
    ])
    return this.random.pick(all.filter(({ count }) => count === 0))
  }

  /** One of the last things that somebody had in mind. */
  goOn(): Promise<void> {
    const at = Math.max(0, this.#minds.length - 1 - this.random.below(8))
    const [[name, plan]] = this.#minds.splice(at, 1) as [readonly [EndpointName, Plan]]
    return this.perform(name, plan, 0.01)
  }

  async perform(name: EndpointName, plan: Plan, invalidPart: number): Promise<void> {
    const { random } = this
    const key = acceptsIdempotencyKey(endpoints[name]) && random.often(0.12) ? `key ${random.below(40)}` : undefined
    const invalid = random.often(invalidPart)
    const answer = await this.ask(name, plan, { key, invalid })
    this.#again(name, plan, key)
    // A mail goes out when somebody looks what is due.
    if (name === 'requestPasswordReset') this.#agenda.push(() => this.pass(1_500))
    // An invalid one may have gone to another endpoint, under another method.
    if (invalid || answer.status >= 300 || random.often(0.15)) return
    const next = followUps[name]?.(this.scene, answer, plan)
    if (next) this.#minds.push(next)
    if (this.#minds.length > 40) this.#minds.shift()
  }

  /** What was sent once is sent again: as it was, or with another body. */
  #again(name: EndpointName, plan: Plan, key: string | undefined): void {
    const { random } = this
    if (plan.signed && random.often(0.3)) this.#agenda.push(() => this.ask(name, plan))
    if (plan.signed && random.often(0.1)) {
      const other = random.recent(this.model.all('task'))
      if (other) this.#agenda.push(() => this.ask(name, { ...plan, at: { id: other.id } }))
    }
    if (key === undefined || random.often(0.2)) return
    const body = random.often(0.3)
      ? { body: { ...(plan.body as object), more: random.word(), name: random.word() } }
      : {}
    // An answer is kept for a day, to the millisecond.
    if (random.often(0.03)) this.#agenda.push(() => this.pass(dayMs + random.pick([-1, 0, 1])))
    this.#agenda.push(() => this.ask(name, { ...plan, ...body }, { key }))
  }

  async ask(name: EndpointName, plan: Plan, how: How = {}): Promise<Answer> {
    const address = how.address ?? `10.${this.random.below(200)}.${this.random.below(200)}.${this.#step % 250}`
    const given = requestOf(endpoints[name], plan, { address, idempotencyKey: how.key })
    const request = how.invalid ? invalidRequest(this.random, given) : given
    this.#last = `${name}\n${toldRequest(request)}`
    const answer = await this.pair.ask(request)
    this.#note(name, plan, request, answer)
    return answer
  }

  #note(name: EndpointName, plan: Plan, request: Request, answer: Answer): void {
    // Most of these are sent by the agents, while they are tested.
    this.answers.get('testCallback')!.good = this.pair.testCallbacks
    const count = this.answers.get(name)!
    const isAsked = request.method === endpoints[name].method
    if (isAsked && answer.status >= 200 && answer.status < 300) count.good++
    if (answer.status >= 400 && answer.status < 500) count.bad++
    if (answer.status >= 500) throw new Difference(`Both answered ${answer.status}: ${answer.body}`)
    if (answer.status === 401 && plan.via === 'session' && plan.by) plan.by.sessions.pop()
    if (answer.status >= 300 || !isAsked) return
    this.model.learn(name, answer.data, plan.at ?? {}, plan.by ?? null)
    if (answer.headers['idempotent-replayed'] === undefined) plan.done?.(answer, plan)
    if (name === 'rotateSecret') this.#tellSecrets()
  }

  /** What an agent's builder would have given to it. */
  #tellSecrets(): void {
    for (const { secrets, names } of this.pair.sides) {
      for (const [agent, secret] of this.model.secrets) secrets.set(agent, names.made(secret))
    }
  }
}

interface Choice {
  name: EndpointName
  invalidate: typeof invalidPlan | null
}

const withoutCredential: typeof invalidPlan = (_, _record, plan) => ({ ...plan, by: null, body: undefined })

const randomChoice = (random: Random): Choice => ({
  name: random.weighted(weighted),
  invalidate: random.often(0.13) ? invalidPlan : null,
})

interface How {
  key?: string | undefined
  address?: string
  invalid?: boolean
}
