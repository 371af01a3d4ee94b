/** Tests and lists the agents that dev forwards webhooks to, and sends what waited when one is back. */
import type { Diagnosis } from '../../api/diagnosis/causes.ts'
import { type Finding, inWords, toRecord } from '../../api/diagnosis/record.ts'
import { asksForWork, isRefusal } from '../../api/diagnosis/story.ts'
import type { TestReport } from '../../api/records.ts'
import { patienceFor } from '../../market/agents/health.ts'
import type { LogEntry } from '../../market/log.ts'
import type { Market } from '../../market/market.ts'
import { aboutAgent } from '../../market/stories.ts'
import { AgentWatch } from '../../sim/agents/agent-watch.ts'
import { list, type Staff, testAndList, visibilityOf } from '../../sim/agents/agents.ts'
import { type ForwardedAgent, hurry } from '../../sim/agents/forwarded-agents.ts'
import { verbsAs } from '../../sim/verb-calls.ts'
import { nextSteps } from '../connection/next-steps.ts'

interface Kept {
  agent: ForwardedAgent
  watch: AgentWatch
  /** Since the start, and since its secret changed. */
  isTested: boolean
  isTesting: boolean
  /** What waited for it at the start of dev was sent: it goes out at once when the agent is up, and by its schedule if that fails. */
  isServed: boolean
  /** dev itself starts it anew. */
  isRestarting: boolean
  /** What it gets wrong is being found out. */
  asking: Promise<void> | null
  /** What was said of that mistake since it was last away or took a webhook. */
  told: string
  /** The mistake in its verification, if it refuses webhooks; undefined: not asked since it was last away or took one. */
  mistake: Diagnosis | null | undefined
  /** It has answered a forged webhook, or is not to get one. */
  isTried: boolean
}

/** Loaded when there is something to find out. */
const probe = () => import('../../sim/webhooks/signature-probe.ts')

export interface ForwardingOptions {
  /** Sends each agent one forged webhook, to warn of those that believe it. */
  triesForgery?: boolean | undefined
}

export class Forwarding {
  readonly #market: Market
  readonly #staff: Staff
  readonly #agents = new Map<string, Kept>()
  readonly #looks = new Set<NodeJS.Timeout>()
  #closed = false

  constructor(
    market: Market,
    staff: Staff,
    agents: readonly ForwardedAgent[],
    { triesForgery = false }: ForwardingOptions,
  ) {
    this.#market = market
    this.#staff = staff
    for (const agent of agents) this.#agents.set(agent.id, this.#keep(agent, !triesForgery))
    if (market.recording) market.recording.probe = id => this.#probe(id)
  }

  #keep(agent: ForwardedAgent, isTried: boolean): Kept {
    const watch = new AgentWatch(agent.forwardTo, {
      onDown: () => kept.isRestarting || this.#down(kept),
      onUp: wasDown => this.#guarded(kept, () => this.#back(kept, wasDown)),
    })
    const kept: Kept = {
      agent,
      watch,
      isTested: false,
      isTesting: false,
      isServed: false,
      isRestarting: false,
      isTried,
      asking: null,
      mistake: undefined,
      told: '',
    }
    return kept
  }

  /** Tests each agent as soon as it accepts connections. */
  begin(): void {
    for (const { watch } of this.#agents.values()) watch.look()
  }

  close(): void {
    this.#closed = true
    for (const look of this.#looks) clearTimeout(look)
    for (const { watch } of this.#agents.values()) watch.close()
  }

  /** What its agents are and whether they accept. */
  standing() {
    return [...this.#agents.values()].map(({ agent: { id, slug, forwardTo }, isTested }) => {
      const isAway = this.#market.recording?.notesOn(id).away != null
      return { agentId: id, slug, forwardTo, isUp: isTested && !isAway }
    })
  }

  /** Hears of failed webhooks, and of tests that somebody else has run. */
  hear(entry: LogEntry): void {
    if (entry.type === 'webhook') this.#hearWebhook(entry)
    if (entry.type !== 'request' || entry.status !== 200) return
    const kept = this.#agents.get(TESTED.exec(entry.path)?.[1] ?? '')
    if (kept) this.#guarded(kept, () => this.#listIfPassed(kept))
  }

  #hearWebhook({ agentId, taskId, event, outcome, status, attempt }: LogEntry & { type: 'webhook' }): void {
    const kept = this.#agents.get(agentId)
    if (!kept) return
    if (outcome === 'delivered') forget(kept)
    if (outcome === 'delivered' && asksForWork(event)) this.#lookLater(kept, taskId)
    if (outcome === 'retry') kept.watch.look()
    // Of a later attempt the same could be said once more.
    if (isRefusal(status) && (attempt === 1 || kept.mistake === undefined))
      this.#guarded(kept, () => this.#tellMistake(kept))
  }

  /** That nothing follows a 200 is no event, and nothing else would say so. */
  #lookLater(kept: Kept, taskId: string): void {
    if (this.#looks.size >= MOST_LOOKS) return
    const look = setTimeout(() => {
      this.#looks.delete(look)
      this.#guarded(kept, () => this.#tellSilence(kept, taskId))
    }, patienceFor(this.#market, 'pending') + MARGIN_MS)
    this.#looks.add(look)
  }

  async #tellSilence({ agent: { id, slug } }: Kept, taskId: string): Promise<void> {
    const { diagnosis } = await verbsAs(this.#market, this.#staff.builderId)('diagnoseTask', { id: taskId })
    if (this.#closed || (diagnosis?.cause !== 'silent' && diagnosis?.cause !== 'died_at_work')) return
    const message = `${slug}: ${inWords(diagnosis)}`
    this.#market.log({ type: 'warning', message, diagnosis, agentId: id, taskId })
  }

  /** Webhooks that fail from now on do so because dev starts the agent anew. */
  restarting(agentId: string): void {
    const kept = this.#agents.get(agentId)
    if (kept) kept.isRestarting = true
  }

  restarted(agentId: string): void {
    this.#agents.get(agentId)?.watch.look()
  }

  /** Nothing listens there, and who has started it knows what helps. Returns what is wrong. */
  away(agentId: string, fix: string): string {
    const kept = this.#agents.get(agentId)
    if (!kept) return ''
    kept.isRestarting = false
    const { text } = this.#noteAway(kept, fix)
    kept.watch.look()
    return text
  }

  /** The agent process has to learn its new secret, so the test waits until it has been restarted. */
  secretChanged(agentId: string): void {
    const kept = this.#agents.get(agentId)
    if (!kept) return
    kept.isTested = false
    kept.mistake = undefined
    this.#say(
      `${kept.agent.slug} has a new secret, so it is tested once it has been restarted with that: ${nextSteps.printEnvironment()}`,
    )
    kept.watch.look({ untilBack: true })
  }

  #noteAway({ agent: { id, forwardTo } }: Kept, fix?: string): Finding {
    const since = this.#market.world.now()
    const text = `Nothing listens at ${new URL(forwardTo).origin}.`
    const finding: Finding = { cause: 'nobody_listens', certainty: 'sure', text, since, ...(fix && { fix }) }
    this.#market.recording?.note(id, 'away', finding)
    return finding
  }

  #down(kept: Kept): void {
    const { agent, isTested } = kept
    if (this.#market.recording?.notesOn(agent.id).away) return
    this.#noteAway(kept)
    const { slug, forwardTo } = agent
    const { origin } = new URL(forwardTo)
    this.#say(
      isTested
        ? `${slug} is down: nothing listens at ${origin}. Its webhooks wait until it is back`
        : `Nothing listens at ${origin} yet. ${slug} is tested as soon as it is up`,
    )
  }

  async #back(kept: Kept, wasDown: boolean): Promise<void> {
    const { agent, isTested, isRestarting } = kept
    kept.isRestarting = false
    this.#market.recording?.note(agent.id, 'away', null)
    const isBack = wasDown || isRestarting
    if (isBack) forget(kept)
    const waits = isBack || !kept.isServed
    kept.isServed = true
    if (waits) await hurry(this.#market, agent.id)
    const { visible } = await visibilityOf(this.#market, this.#staff.builderId, agent.id)
    if (!isTested || !visible) await this.#test(kept)
    else if (isBack) this.#say(`${agent.slug} is back`)
  }

  async #test(kept: Kept): Promise<void> {
    if (kept.isTesting) return
    kept.isTesting = true
    const report = await testAndList(this.#market, this.#staff, kept.agent.id).finally(() => (kept.isTesting = false))
    kept.isTested = true
    await this.#tell(kept, report)
    if (report.passed) this.#guarded(kept, () => this.#tryForgery(kept))
  }

  /** Once for each agent. */
  async #tryForgery(kept: Kept): Promise<void> {
    if (kept.isTried) return
    kept.isTried = true
    const { id, slug, forwardTo } = kept.agent
    // So what the agent itself prints of it is nobody's mistake.
    this.#say(`${slug} is sent a forged webhook, to see that it refuses it`)
    const { takesForgery } = await probe()
    const takes = await takesForgery(this.#market, id)
    if (this.#closed) return
    if (takes === null) kept.isTried = false
    else if (takes) {
      const message = `${slug} believes everybody: it took a webhook that was signed with a wrong secret. See it: ${nextSteps.emitForged(forwardTo)}`
      this.#market.log({ type: 'warning', message })
    }
  }

  async #tell(kept: Kept, { checks }: TestReport): Promise<void> {
    const failed = checks.find(({ status }) => status === 'failed')
    if (!failed) return this.#tellStanding(kept, checks.at(-1)?.status === 'warning')
    const { slug } = kept.agent
    kept.watch.look({ untilBack: true })
    if (this.#closed) return
    // The failed check has a line of its own.
    const message = `${slug} is not listed. It is tested again once it is restarted`
    this.#market.log({ type: 'warning', message })
  }

  /** A connection test that is refused says why. */
  async #probe(id: string): Promise<void> {
    const kept = this.#agents.get(id)
    if (kept && kept.mistake === undefined) await this.#tellMistake(kept)
  }

  /** Says what an agent gets wrong that refuses webhooks, if that can be found out. Whoever wants to know meanwhile waits for the same. */
  #tellMistake(kept: Kept): Promise<void> {
    kept.asking ??= this.#ask(kept).finally(() => (kept.asking = null))
    return kept.asking
  }

  async #ask(kept: Kept): Promise<void> {
    this.#say(
      `${kept.agent.slug} refuses webhooks: it is sent some that are signed wrongly, to find out which it takes`,
    )
    const { verificationMistake } = await probe()
    const mistake = await verificationMistake(this.#market, kept.agent.id)
    kept.mistake = mistake
    if (!mistake || this.#closed) return
    const text = `${kept.agent.slug} refuses webhooks that are signed rightly, and takes one that is signed wrongly. ${mistake.text}`
    const { id: agentId, ...agent } = kept.agent
    this.#market.recording?.note(agentId, 'mistake', { ...mistake, text })
    if (kept.told === text) return
    kept.told = text
    const diagnosis = toRecord({ ...mistake, text }, aboutAgent(this.#market.config, agent))
    this.#market.log({ type: 'warning', message: inWords(diagnosis), diagnosis, agentId })
  }

  async #tellStanding({ agent: { id, slug } }: Kept, isSilent: boolean): Promise<void> {
    const { visible, hiddenReason } = await visibilityOf(this.#market, this.#staff.builderId, id)
    if (!visible) return this.#say(`${slug} passed its test, and is not listed: ${hiddenReason}`)
    const silent = isSilent ? ' (it sent no callback yet)' : ''
    this.#say(`${slug} can be hired${silent}: ${nextSteps.simulateBuyer(slug)}`)
  }

  async #listIfPassed(kept: Kept): Promise<void> {
    const { agent } = kept
    const { visible, hasPassed } = await visibilityOf(this.#market, this.#staff.builderId, agent.id)
    if (kept.isTesting || visible || !hasPassed) return
    await list(this.#market, this.#staff, agent.id)
    await this.#tellStanding(kept, false)
  }

  /** A refusal, such as while another test runs, is only told. */
  #guarded({ agent }: Kept, work: () => Promise<void>): void {
    work().catch(error => {
      if (this.#closed) return
      this.#market.log({ type: 'warning', message: `${agent.slug}: ${(error as Error).message}` })
    })
  }

  #say(message: string): void {
    if (!this.#closed) this.#market.log({ type: 'info', message })
  }
}

const forget = (kept: Kept) => Object.assign(kept, { mistake: undefined, told: '' })

const MOST_LOOKS = 1_000
const MARGIN_MS = 200

const TESTED = /^\/api\/my\/agents\/([^/]+)\/test-connection$/
