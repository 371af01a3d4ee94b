/** The agent that `dev --run` starts: its environment, its port, its output in the log, and new starts when files change. */
import { inherited } from '../../config.ts'
import type { Log } from '../../market/log.ts'
import type { Marketplace } from '../../open.ts'
import type { ForwardedAgent } from '../../sim/agents/forwarded-agents.ts'
import { StartedAgent } from '../../sim/agents/started-agent.ts'
import type { Credentials } from '../../sim/seed.ts'
import { agentEnvironment } from './environment.ts'
import { watchFolders } from './folder-watch.ts'
import type { Forwarding } from './forwarding.ts'

interface Setting {
  marketplace: Marketplace
  forwarding: Forwarding
  credentials: Credentials
  forwarded: readonly ForwardedAgent[]
}

interface RunOptions {
  run: string | undefined
  watch: readonly string[]
}

export class AgentRun {
  readonly #process: StartedAgent
  readonly #agent: ForwardedAgent
  readonly #forwarding: Forwarding
  readonly #log: Log
  readonly #watch: readonly string[]
  readonly #unwatch: () => void
  #begun = false

  static of(options: RunOptions, setting: Setting): AgentRun | null {
    const [agent] = setting.forwarded
    return options.run === undefined || !agent ? null : new AgentRun(options.run, agent, options, setting)
  }

  private constructor(command: string, agent: ForwardedAgent, { watch }: RunOptions, setting: Setting) {
    const { marketplace, forwarding, credentials } = setting
    const { log } = marketplace.market
    this.#agent = agent
    this.#forwarding = forwarding
    this.#log = log
    this.#watch = watch
    this.#unwatch = watchFolders(watch, path => this.#begun && this.restart(`${path} has changed`))
    this.#process = new StartedAgent({
      command,
      env: () => ({ ...inherited(), ...agentEnvironment({ url: marketplace.url, ...credentials }, agent) }),
      onLine: (stream, line) => log({ type: 'output', agent: agent.slug, stream, line }),
      onEnd: how => this.#ended(command, how),
    })
  }

  begin(): void {
    this.#begun = true
    this.#forwarding.restarting(this.#agent.id)
    this.#process.start()
  }

  /** What is sent to it meanwhile waits, and goes when it accepts again. */
  restart(why: string): void {
    const { id, slug } = this.#agent
    if (!this.#process.isRestarting) this.#log({ type: 'info', message: `${slug} starts anew: ${why}` })
    this.#forwarding.restarting(id)
    void this.#process.restart().then(() => this.#forwarding.restarted(id))
  }

  async close(): Promise<void> {
    this.#unwatch()
    await this.#process.close()
  }

  #ended(command: string, how: string): void {
    const again = this.#watch.length > 0 ? ' It starts anew when a watched file changes.' : ''
    this.#log({ type: 'warning', message: `${command} ended ${how}.${again}` })
  }
}
