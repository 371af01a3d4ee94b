/** Runs somebody's agent: a shell command with a process group of its own, so that nothing of it is left behind. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'

interface AgentEnd {
  readonly code: number | null
  readonly signal: string | null
  /** Resolves when all that it has written was read. */
  readonly said: Promise<unknown>
}

export interface StartedAgentOptions {
  command: string
  env(): Readonly<Record<string, string | undefined>>
  onLine(stream: 'stdout' | 'stderr', line: string): void
  /** It has ended without being asked to. `how` follows "ended". */
  onEnd(how: string, end: AgentEnd): void
  /** How long it may take to end when it is asked to. */
  graceMs?: number
}

const GRACE_MS = 5_000
/** How long to wait for a process that was killed, and that may have left its group with our pipe. */
const KILLED_MS = 1_000

export class StartedAgent {
  readonly #options: StartedAgentOptions
  #child: ChildProcess | null = null
  #stopping: Promise<void> | null = null
  #restarting: Promise<void> | null = null
  #closed = false

  constructor(options: StartedAgentOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#closed) return
    const { command, env, onLine, onEnd } = this.#options
    // Its own group, as a shell and npm do not pass signals on.
    const given = withoutLoopbackProxy(env())
    const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: given })
    this.#child = child
    // The last resort, also behind an error that nobody has caught.
    process.once('exit', this.#kill)
    eachLine(child.stdout, line => onLine('stdout', line))
    eachLine(child.stderr, line => onLine('stderr', line))
    child.once('error', error => {
      this.#child = null
      onEnd(`before it began: ${error.message}`, { code: null, signal: null, said: Promise.resolve() })
    })
    child.once('exit', (code, signal) => {
      if (this.#stopping) return
      this.#child = null
      process.off('exit', this.#kill)
      const said = within(KILLED_MS, once(child, 'close'))
      // What it has started would go on with the port.
      signalGroup(child, 'SIGKILL')
      onEnd(signal ? `by ${signal}` : `with exit code ${code}`, { code, signal, said })
    })
  }

  get isRestarting(): boolean {
    return this.#restarting !== null
  }

  /** Ends it and starts it anew. Calls that come before it has ended are one with the first. */
  restart(): Promise<void> {
    this.#restarting ??= this.#stop()
      .then(() => this.start())
      .finally(() => (this.#restarting = null))
    return this.#restarting
  }

  /** Of the shell, which is also the number of its group; undefined unless it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Kills it during its work, for good. */
  async kill(): Promise<void> {
    this.#closed = true
    const child = this.#child
    if (child) {
      const ended = once(child, 'exit')
      this.#stopping = ended.then(() => {})
      signalGroup(child, 'SIGKILL')
      await ended
    }
    process.off('exit', this.#kill)
  }

  /** Asks it to end, and ends it after some seconds. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#stop()
    process.off('exit', this.#kill)
  }

  #stop(): Promise<void> {
    this.#stopping ??= this.#end().finally(() => (this.#stopping = null))
    return this.#stopping
  }

  /** A shell and npm end before the agent that they have started, so it waits until nobody has their output any more. */
  async #end(): Promise<void> {
    const child = this.#child
    if (!child) return
    const closed = once(child, 'close')
    signalGroup(child, 'SIGTERM')
    await within(this.#options.graceMs ?? GRACE_MS, closed)
    signalGroup(child, 'SIGKILL')
    await within(KILLED_MS, closed)
    process.off('exit', this.#kill)
    this.#child = null
  }

  #kill = () => {
    if (this.#child) signalGroup(this.#child, 'SIGKILL')
  }
}

/** Resolves once `ended` does, or after this time. */
async function within(ms: number, ended: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const time = setTimeout(ms, undefined, { signal: over.signal }).catch(() => {})
  await Promise.race([ended, time]).finally(() => over.abort())
}

/** A group whose processes have all ended is no error. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {}
}

/** Longer lines are cut into pieces of this length, so that memory is bounded. */
const LONGEST_LINE = 8_192

function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  const pass = (line: string) => onLine(line.replace(/\r$/, ''))
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    lines.forEach(pass)
    for (; rest.length > LONGEST_LINE; rest = rest.slice(LONGEST_LINE)) pass(rest.slice(0, LONGEST_LINE))
  })
  stream.once('end', () => rest && pass(rest)).on('error', () => {})
}

/** A proxy that the environment names can't reach the marketplace on this machine: an agent's callbacks would end there. */
const LOOPBACK = 'localhost,127.0.0.1,::1'

/** The environment for a process that calls a marketplace on this machine. curl and Python heed it, and Node if told to. */
export function withoutLoopbackProxy(env: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  if (!Object.keys(env).some(name => /^(?:https?|all)_proxy$/i.test(name))) return env
  // Programs differ in which of the two they read, and which goes first.
  const own = env.no_proxy || env.NO_PROXY
  // curl takes it for every host only where it stands alone.
  if (own === '*') return env
  const all = own ? `${own},${LOOPBACK}` : LOOPBACK
  return { ...env, no_proxy: all, NO_PROXY: all }
}
