/**
 * A marketplace that the agent under test is listed in, with buyers of its own. It is the real one, in memory: what agents do moves its
 * tasks and cents. All lanes know the agent by the same id and secret, and its builder by the same key.
 */

import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { diagnose } from '../../api/diagnosis/diagnose.ts'
import { durations } from '../../api/limits.ts'
import type { TestReport } from '../../api/records.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verify } from '../../api/signature.ts'
import type { StampedEntry } from '../../market/log.ts'
import type { Market } from '../../market/market.ts'
import { account, post } from '../../market/money/ledger.ts'
import { moveClockTo } from '../../market/upkeep/clock-moves.ts'
import { type Marketplace, openMarketplace } from '../../open/open.ts'
import { type EarlyTier, ensureAccount, furnishBuyers, titleOf } from '../../sim/accounts.ts'
import { ensureAgents, type Staff, testAndList, visibilityOf, type WantedAgent } from '../../sim/agents/agents.ts'
import { testResponder } from '../../sim/agents/test-responder.ts'
import { type Act, verbsAs } from '../../sim/verb-calls.ts'
import { createWorld } from '../../world/real.ts'
import type { Egress, World } from '../../world/world.ts'
import type { AgentUnderTest } from '../agent/agent-under-test.ts'
import { type CallbackEvent, contentOf, type Happening, type LaneName } from '../history/history.ts'
import type { EventSink } from '../history/recorder.ts'
import { CallbackFront, type FrontRequest } from './callback-proxy.ts'
import { WebhookTap } from './webhook-tap.ts'
export interface LaneOptions {
  readonly name: LaneName
  readonly agent: AgentUnderTest
  readonly recorder: EventSink
  /** The way out, which all lanes share. */
  readonly egress: Egress
  /** How often a delivered task may be sent back. */
  readonly maxRevisions: number
  /** Hears of what the marketplace logs. */
  readonly log?: (entry: StampedEntry) => void
}

/** The front takes https alone; the tap knows the agent's own address. */
const WEBHOOK_URL = 'https://agent.localhost/webhook'
/** The URL of other agents in the lane. Nobody listens there. */
export const OTHER_URL = 'https://other.localhost/webhook'
const TRUSTED_AFTER_MS = 31 * 24 * durations.hourMs
/** In cents. */
export const BASE_PRICE = 500

export interface LaneBuyer {
  readonly id: string
  readonly act: Act
}

export class Lane {
  readonly name: LaneName
  readonly webhooks: WebhookTap
  readonly callbacks: CallbackFront
  readonly otherHost: OtherHost
  readonly world: World
  readonly agent: AgentUnderTest
  /** That of another agent of the same builder. It follows from that of the first, so that a wrong agent of our tests can know it. */
  readonly neighbourSecret: string
  /** What it calls its tasks and tests, by their ids. */
  readonly labels = new Map<string, string>()
  #marketplace!: Marketplace
  #staff!: Staff
  #lastTest: Promise<unknown> = Promise.resolve()
  readonly #recorder: EventSink

  private constructor({ name, agent, recorder, egress }: LaneOptions) {
    this.name = name
    this.agent = agent
    this.neighbourSecret = `whsec_${createHash('sha256').update(`${agent.secret} of a neighbour`).digest('base64')}`
    this.#recorder = recorder
    this.webhooks = new WebhookTap({
      egress,
      url: () => agent.url,
      listedUrl: WEBHOOK_URL,
      secret: () => agent.secret,
      busy: agent.busy,
      comingUp: agent.comingUp,
      ends: () => agent.ends,
      labelOf: id => this.labels.get(id) ?? (id.startsWith('test_') ? this.#testLabel : undefined),
      record: event => this.record(event),
    })
    this.callbacks = new CallbackFront(
      request => this.#heard(request),
      taskId => this.labels.has(taskId),
    )
    this.otherHost = new OtherHost((method, path) => this.record({ kind: 'request', method, path, status: null }))
    this.world = { ...createWorld({ requireHttps: false, allowLoopback: true }), egress: this.webhooks }
  }

  static async open(options: LaneOptions): Promise<Lane> {
    const lane = new Lane(options)
    try {
      await lane.callbacks.listen('127.0.0.1')
      await lane.otherHost.listen()
      lane.#marketplace = await openMarketplace({
        ...{ file: null, mode: 'dev', port: 0, rateLimits: 'off', world: lane.world, baseUrl: lane.callbacks.url },
        // Days of waiting belong to the lane whose clock can be moved.
        retries: options.name === 'real' ? 'quick' : 'real',
        log(entry) {
          lane.#logged(entry)
          options.log?.(entry)
        },
      })
      lane.callbacks.pass(lane.#marketplace.url)
      await lane.#furnish(options)
      return lane
    } catch (error) {
      await lane.close()
      throw error
    }
  }

  get market() {
    return this.#marketplace.market
  }

  get builderId(): string {
    return this.#staff.builderId
  }

  get adminId(): string {
    return this.#staff.adminId
  }

  /** What an agent of this marketplace is started with. */
  get environment(): Record<string, string> {
    const { url, id, secret } = this.agent
    return {
      MARKETPLACE_URL: this.callbacks.url,
      MARKETPLACE_KEY: this.apiKey,
      MARKETPLACE_AGENT_ID: id,
      MARKETPLACE_WEBHOOK_SECRET: secret,
      PORT: new URL(url).port || '80',
    }
  }

  get admin(): Act {
    return verbsAs(this.market, this.#staff.adminId)
  }

  get builder(): Act {
    return verbsAs(this.market, this.#staff.builderId)
  }

  /** An API key of the agent's builder: the same in all lanes. */
  apiKey = ''

  /** Returns the number of the event. */
  record(happening: Happening): number {
    return this.#recorder.add(happening, this.name, this.world)
  }

  /** Makes a buyer with money. */
  async buyer(name: string, tier: EarlyTier, funds: number): Promise<LaneBuyer> {
    const [buyer] = await furnishBuyers(this.market, this.#staff.adminId, { names: [name], tier, funds: 0 })
    await fund(this.market, buyer!.id, funds)
    return { id: buyer!.id, act: verbsAs(this.market, buyer!.id) }
  }

  /** Makes one that has been there for longer than a month, and so is trusted. */
  async trustedBuyer(name: string, funds: number): Promise<LaneBuyer> {
    const since = this.world.now() - TRUSTED_AFTER_MS
    await ensureAccount(
      { ...this.market, world: { ...this.world, now: () => since } },
      { name, fullName: titleOf(name) },
    )
    return this.buyer(name, 'new_verified', funds)
  }

  /** Makes an agent that hires others with money of its builder. Returns that, and what its tasks name besides. */
  async buyingAgent(name: string, funds: number): Promise<{ buyer: LaneBuyer; budgetAuthorizationId: string }> {
    const buyer = await this.buyer(name, 'new_verified', funds)
    const [agent] = await ensureAgents(this.market, buyer.id, [{ name, webhookUrl: OTHER_URL }])
    const caps = { maxPerTask: funds, maxDaily: funds, maxMonthly: funds }
    const { id } = await buyer.act('createBudget', { agentId: agent!.id, ...caps })
    return { buyer, budgetAuthorizationId: id }
  }

  /** Makes an agent that others can hire. Its webhooks lead nowhere: the scenario does its work. */
  async seller(name: string): Promise<{ id: string; act: Act }> {
    const { id: builderId } = await ensureAccount(this.market, { name, fullName: name })
    const [agent] = await ensureAgents(this.market, builderId, [{ name: `${name}-agent`, webhookUrl: OTHER_URL }])
    const egress = testResponder(this.market, agent!.webhookSecret)
    await testAndList(this.market, { ...this.#staff, builderId }, agent!.id, { egress })
    return { id: agent!.id, act: verbsAs(this.market, builderId) }
  }

  #testLabel = ''

  /** Runs the connection test, one at a time. The agent can be hired afterwards, whatever came of it. */
  test(label: string, callbackMs = 15_000): Promise<TestReport> {
    const run = async () => {
      this.#testLabel = label
      const report = await testAndList(this.market, this.#staff, this.agent.id, { callbackMs })
      this.record({ kind: 'observation', label, value: report })
      await this.list()
      return report
    }
    const mine = this.#lastTest.then(run)
    this.#lastTest = mine.catch(() => {})
    return mine
  }

  /** Tests that nobody asks for, by the heartbeat, have this label from now on. */
  labelTests(label: string): void {
    this.#testLabel = label
  }

  /** The agent as its builder sees it. */
  listing() {
    return this.builder('getMyAgent', { id: this.agent.id })
  }

  /** From now on the agent's secret is the one that it has by now. */
  async takeSecret(): Promise<void> {
    await this.#ensureAgent({})
    await this.list()
  }

  /** Makes sure that the agent can be hired: a failed test hides it. */
  async list(): Promise<void> {
    const { visible } = await visibilityOf(this.market, this.#staff.builderId, this.agent.id)
    if (visible) return
    await testAndList(this.market, this.#staff, this.agent.id, {
      egress: testResponder(this.market, this.agent.secret),
    })
  }

  /** Moves the clock, and does on the way what falls due. */
  async advance(ms: number): Promise<void> {
    await moveClockTo(this.market, this.world.now() + ms)
  }

  /** Resolves when nothing is under way. */
  settled(): Promise<void> {
    return this.market.settled()
  }

  async close(): Promise<void> {
    await this.#marketplace?.close(1_000)
    await this.callbacks.close()
    await this.otherHost.close()
  }

  #ensureAgent(fields: NonNullable<WantedAgent['fields']>) {
    const { id, secret } = this.agent
    const agent = { name: 'agent', webhookUrl: WEBHOOK_URL, id, secret, fields }
    return ensureAgents(this.market, this.#staff.builderId, [agent])
  }

  async #furnish({ maxRevisions }: LaneOptions): Promise<void> {
    const { keyBytes } = this.agent
    const builder = await ensureAccount(this.market, { name: 'builder', fullName: 'Builder', keyBytes })
    const admin = await ensureAccount(this.market, { name: 'admin', fullName: 'Administrator', isAdmin: true })
    this.apiKey = builder.apiKey
    this.#staff = { builderId: builder.id, adminId: admin.id }
    await this.#ensureAgent({ basePrice: BASE_PRICE, maxRevisions })
    const neighbour = { name: 'neighbour', webhookUrl: OTHER_URL, secret: this.neighbourSecret }
    await ensureAgents(this.market, builder.id, [neighbour])
    await this.list()
  }

  #logged(entry: StampedEntry): void {
    if (entry.type === 'task') {
      const { taskId, trigger, from, to } = entry
      this.record({ kind: 'step', taskId, trigger, from, to })
    } else if (entry.type === 'money') {
      const { taskId, kind: move, amount, from, to } = entry
      this.record({ kind: 'money', taskId, move, amount, from, to })
    }
  }

  #heard({ callback, method, path, headers, body, answer, fault, realAt, ms }: FrontRequest): void {
    if (!callback) {
      this.record({ kind: 'request', method, path, status: answer?.status ?? null })
      return
    }
    const { taskId, action, signed } = callback
    if (this.agent.rehearsed?.has(taskId)) return
    const label = this.labels.get(taskId) ?? (taskId.startsWith('test_') ? this.#testLabel : null)
    this.record({
      ...{ kind: 'callback', label, taskId, action, method, path, body: contentOf(body), fault, realAt, ms },
      headers: headers.map(([name, value]) => [name, /^authorization$/i.test(name) ? withoutKey(value) : value]),
      signature: signed ? this.#signatureOf(headers, body, realAt - ms) : 'key',
      answer: answer && {
        status: answer.status,
        headers: Object.entries(answer.headers),
        body: contentOf(answer.body),
      },
    })
  }

  #signatureOf(headers: CallbackEvent['headers'], body: Buffer, now: number): string {
    const header = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted.toLowerCase())?.[1]
    const secret = this.agent.secretAt(now)
    const timestamp = header(TIMESTAMP_HEADER)
    const verdict = verify({ secret, timestamp, signature: header(SIGNATURE_HEADER), body, now })
    if (verdict.ok) return 'valid'
    return diagnose({ headers, body }, [{ secret, kind: 'current' }], now)?.text ?? verdict.reason
  }
}

const withoutKey = (value: string) => value.replace(/svc_\S+/g, 'svc_…')

/** Money for buyers out of nothing: the work of some agents costs more than anybody may deposit in a day. */
async function fund({ db, world, log, memory }: Market, userId: string, amount: number): Promise<void> {
  const deposit = { kind: 'deposit', status: 'completed', description: 'Deposit', taskId: null } as const
  const legs = { payerId: null, payeeId: userId, from: account.world, to: account.available(userId) }
  await db.write(tx => post({ tx, world, log, memory }, { ...deposit, ...legs, amount }))
}

/** A host that the agent has no reason to call. Every call is recorded and answered with 404. */
class OtherHost {
  readonly #server: http.Server
  url = ''

  /** `heard` gets the URL that was asked for, and of a tunnel the host. */
  constructor(heard: (method: string, asked: string) => void) {
    this.#server = http.createServer((request, response) => {
      const { method = '', url = '' } = request
      heard(method, url.startsWith('/') ? this.url + url : url)
      request.resume()
      response.writeHead(404, { connection: 'close' }).end()
    })
    this.#server.on('connect', (request, socket) => {
      heard('CONNECT', request.url ?? '')
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
