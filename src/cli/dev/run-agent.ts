/** The agent that `dev --run` starts: its environment, its port, its output in the log, and new starts when files change. */

import type { Log } from '../../market/log.ts'
import type { Marketplace } from '../../open/open.ts'
import { inheritedByOthers } from '../../settings/config.ts'
import { accepts } from '../../sim/agents/agent-watch.ts'
import type { ForwardedAgent } from '../../sim/agents/forwarded-agents.ts'
import { lookup } from '../../sim/agents/https-front.ts'
import { StartedAgent } from '../../sim/agents/started-agent.ts'
import type { Credentials } from '../../sim/seed.ts'
import { agentEnvironment } from './environment.ts'
import { watchFolders } from './folder-watch.ts'
import type { Forwarding } from './forwarding.ts'

export interface RunSetting {
  marketplace: Marketplace
  forwarding: Forwarding
  credentials: Credentials
  forwarded: readonly ForwardedAgent[]
}

export class AgentRun {
  readonly #process: StartedAgent
  readonly #agent: ForwardedAgent
  readonly #forwarding: Forwarding
  readonly #log: Log
  readonly #watch: readonly string[]
  readonly #unwatch: () => void
  readonly #command: string
  readonly #now: () => number
  readonly #noteStart: () => void
  #startedAt: number | null = null
  #begun = false
  #words: string[] = []
  #look: NodeJS.Timeout | undefined

  constructor(command: string, agent: ForwardedAgent, watch: readonly string[], setting: RunSetting) {
    const { marketplace, forwarding, credentials } = setting
    const { log } = marketplace.market
    this.#agent = agent
    this.#forwarding = forwarding
    this.#log = log
    this.#watch = watch
    this.#command = command
    this.#now = () => marketplace.market.world.realNow()
    this.#noteStart = () => marketplace.market.recording?.noteStart(agent.id, this.#now())
    this.#unwatch = watchFolders(watch, path => this.#begun && this.restart(`${path} has changed`))
    this.#process = new StartedAgent({
      command,
      env: () => ({ ...inheritedByOthers(), ...agentEnvironment({ url: marketplace.url, ...credentials }, agent) }),
      onLine: (stream, line) => {
        if (stream === 'stderr') this.#hear(line)
        log({ type: 'output', agent: agent.slug, stream, line })
      },
      onEnd: (how, { said }) => {
        const { world, recording } = marketplace.market
        // What it said last is still being read.
        const lastWords = this.#words
        recording?.noteDeath(agent.id, { kind: 'death', from: world.realNow(), at: world.now(), how, lastWords })
        void said.then(() => (this.#words = []))
        log({ type: 'warning', message: `${command} ended ${how}. ${this.#again}` })
        forwarding.away(agent.id, this.#again)
      },
    })
  }

  begin(): void {
    this.#begun = true
    this.#forwarding.restarting(this.#agent.id)
    this.#process.start()
    this.#startedAt = this.#now()
    this.#lookLater()
  }

  /** What is sent to it meanwhile waits, and goes when it accepts again. */
  restart(why: string): void {
    const { id, slug } = this.#agent
    if (!this.#process.isRestarting) this.#log({ type: 'info', message: `${slug} starts anew: ${why}` })
    this.#forwarding.restarting(id)
    this.#noteStart()
    void this.#process.restart().then(() => {
      this.#startedAt = this.#now()
      this.#forwarding.restarted(id)
      this.#lookLater()
    })
  }

  #hear(line: string): void {
    if (MARK.test(line)) this.#words.length = 0
    else if (!FRAME.test(line) && this.#words.push(line.trim().slice(0, LONGEST_WORDS)) > LAST_WORDS)
      this.#words.shift()
  }

  /** Of the process of this agent, if it is the one. */
  standing(agentId: string) {
    if (agentId !== this.#agent.id) return null
    return { command: this.#command, pid: this.#process.pid ?? null, startedAt: this.#startedAt }
  }

  async close(): Promise<void> {
    clearTimeout(this.#look)
    this.#unwatch()
    await this.#process.close()
  }

  /** An agent that listens elsewhere waits in vain, and nothing else would say so. */
  #lookLater(): void {
    clearTimeout(this.#look)
    this.#look = setTimeout(() => void this.#tellIfDeaf(), LOOK_MS)
  }

  async #tellIfDeaf(): Promise<void> {
    const { id, forwardTo } = this.#agent
    const { pid } = this.#process
    if (pid === undefined || (await accepts(new URL(forwardTo), lookup)) || pid !== this.#process.pid) return
    const message = `${this.#forwarding.away(id, ELSEWHERE)} ${ELSEWHERE}`
    this.#log({ type: 'warning', message, agentId: id })
  }

  /** How it comes back. */
  get #again(): string {
    return this.#watch.length > 0
      ? 'It starts anew when a watched file changes.'
      : 'Start dev again once it is mended; with --watch . it starts anew when a file changes.'
  }
}

const ELSEWHERE =
  'The agent runs: PORT in its environment is where it has to listen. If it has a port of its own, add that to dev, as in --forward-to http://localhost:3000/webhook .'

/** So many of its last lines are kept. */
const LAST_WORDS = 5
const LONGEST_WORDS = 300
/** What says nothing: the frames of a stack, as Node, Java and Go print them, and what stands round these. */
const FRAME = /^\s*$|^\s+at |^\t|^goroutine \d|^created by |^[\w./-]+\.[\w.()*]+\(.*\)$|^Node\.js v|^exit status \d/
/** Node and Python print the code before the error, with a mark under its place. */
const MARK = /^\s*[\^~]+$/

/** Most agents listen much sooner. Those that take longer are tested all the same once they do. */
const LOOK_MS = 5_000
