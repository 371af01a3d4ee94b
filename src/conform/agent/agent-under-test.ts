/** The agent under test: one that is up already, or a command that starts it. It can't tell that it is tested. */

import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inheritedByOthers } from '../../settings/config.ts'
import { masked, secretsIn } from '../../shared/secrets.ts'
import { freePort } from '../../sim/agents/free-port.ts'
import { StartedAgent } from '../../sim/agents/started-agent.ts'
import type { World } from '../../world/world.ts'
import type { Recordeds } from '../history/history.ts'
import { machineNow, stopwatch } from '../history/machine-time.ts'
import type { EventSink } from '../history/recorder.ts'
import { BusyAgent } from './busy-agent.ts'
import { ComingUp, READY_MS } from './coming-up.ts'

type ProcessEvent = Recordeds<'process'>

export interface AgentOptions {
  /** Where it takes webhooks. */
  readonly url: string
  /** Where it may listen instead, as long as it has not been reached. */
  readonly otherUrl?: string
  readonly secret: string
  /** Its id in every marketplace of the run. */
  readonly id: string
  /** Of which the API key of its builder is made, in every marketplace of the run. */
  readonly keyBytes: Buffer
  /** null: it is up already. */
  readonly command: string | null
  readonly recorder: EventSink
  /** Returns numbers in [0, 1). */
  readonly chance: () => number
}

const LOOK_MS = 25
/** In which an agent notices that its port is taken. */
const TAKEN_PORT_MS = 5_000
const LAST_LINES = 20
const LONGEST_LINE = 300
/** Then it is killed: later than it may end, as in a run that stood still meanwhile nothing is told of the last moments. */
const GRACE_MS = 12_000

export class AgentUnderTest {
  readonly id: string
  readonly keyBytes: Buffer
  readonly command: string | null
  /** What it is started with, besides the environment of this process. */
  environment: Readonly<Record<string, string>> = {}
  /** Each that it has had, and since when, in ms. */
  readonly #secrets: { readonly secret: string; readonly since: number }[] = []
  /** How long it is waited for when it asks for time. */
  readonly busy: BusyAgent
  /** How long it is waited for when it has been started. */
  readonly comingUp = new ComingUp()
  readonly #recorder: EventSink
  #url: string
  #otherUrl: string | null
  #lines: string[] = []
  #process: StartedAgent | null = null
  #ended: string | null = null
  #reviving: Promise<void> | null = null
  /** Ids of tasks that are told again to find out of what it has ended; null: it is in the run. What it says of them is not recorded. */
  rehearsed: ReadonlySet<string> | null = null
  /** How often it has ended by itself. */
  ends = 0
  onEnd = () => {}
  /** For good: who is about to start it anew does not. */
  #isClosed = false
  /** What it keeps over its starts is there, and nothing of an earlier run. systemd calls it so too. */
  #stateFolder: string | null = null
  /** Resolves when all was read that was said by those that have ended by themselves. */
  #said: Promise<unknown> = Promise.resolve()

  constructor({ id, keyBytes, url, otherUrl, secret, command, recorder, chance }: AgentOptions) {
    this.id = id
    this.keyBytes = keyBytes
    this.#url = url
    this.#otherUrl = otherUrl ?? null
    this.secret = secret
    this.command = command
    this.#recorder = recorder
    this.busy = new BusyAgent(chance)
  }

  get url(): string {
    return this.#url
  }

  get secret(): string {
    return this.#secrets.at(-1)!.secret
  }

  set secret(secret: string) {
    this.#secrets.push({ secret, since: machineNow() })
  }

  /** What it had to sign with at this moment, in ms. */
  secretAt(moment: number): string {
    return (this.#secrets.findLast(({ since }) => since <= moment) ?? this.#secrets[0]!).secret
  }

  /** Starts it if there is a command, and resolves when it accepts connections. Throws AgentAway if it does not. */
  async open(): Promise<void> {
    const isTaken = this.command !== null && (await accepts(new URL(this.url)))
    // Whoever has the other address already is not the agent.
    if (this.#otherUrl !== null && (await accepts(new URL(this.#otherUrl)))) this.#otherUrl = null
    if (this.command !== null) this.#start(this.command)
    await this.ready()
    if (isTaken) await this.#proveGoesOn()
  }

  /** Whoever listened there before it was started may be a proxy before it, or another program on its port: it ends then. */
  async #proveGoesOn(): Promise<void> {
    const elapsed = stopwatch()
    while (this.#ended === null && elapsed() < TAKEN_PORT_MS) await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    if (this.#ended === null) return
    throw new AgentAway(`The agent ended ${this.#ended}: something else listens at ${this.url} already`, this.#lines)
  }

  async ready(): Promise<void> {
    const elapsed = stopwatch()
    const limitMs = this.command === null ? 1_000 : READY_MS
    while (!(await this.#isReached())) {
      this.#proveIsOpen()
      if (this.#ended !== null)
        throw new AgentAway(`The agent ended ${this.#ended}, before it listened at ${this.url}`, this.#lines)
      if (elapsed() > limitMs) throw new AgentAway(`Nobody listens at ${this.url}`, this.#lines)
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    }
    if (this.command !== null) this.#note('ready', this.url, elapsed())
  }

  /** The first address where it takes a connection stays its own. */
  async #isReached(): Promise<boolean> {
    const urls = this.#otherUrl === null ? [this.#url] : [this.#url, this.#otherUrl]
    for (const url of urls) {
      if (!(await accepts(new URL(url)))) continue
      this.#url = url
      this.#otherUrl = null
      return true
    }
    return false
  }

  /** Ends it as a deployment does, and starts it anew, with the environment that it has by now. */
  async restart(): Promise<void> {
    await this.stop()
    await this.open()
  }

  /** Asks it to end, as a deployment does. */
  async stop(): Promise<void> {
    const elapsed = stopwatch()
    this.comingUp.ends()
    await this.#process?.close()
    this.#process = null
    this.#note('ended', 'after SIGTERM', elapsed())
  }

  /** Kills it during its work. */
  async kill(): Promise<void> {
    const elapsed = stopwatch()
    this.comingUp.ends()
    await this.#process?.kill()
    await this.#said
    this.#process = null
    this.#note('killed', 'by SIGKILL', elapsed())
  }

  /** By itself. */
  get hasEnded(): boolean {
    return this.#ended !== null
  }

  /** Starts it again if it has ended by itself. Those who ask meanwhile wait for the same start. */
  async revive(): Promise<void> {
    if (!this.hasEnded) return
    this.#reviving ??= this.open().finally(() => (this.#reviving = null))
    await this.#reviving
  }

  /** While `work` goes on, it is told what it has been told before, and its end is no other one. */
  async rehearse(taskIds: readonly (string | null)[], work: () => Promise<void>): Promise<void> {
    this.rehearsed = new Set(taskIds.filter(id => id !== null))
    await work().finally(() => (this.rehearsed = null))
  }

  /** Of the shell that has started it; undefined while it does not run, or was not started here. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Bytes that it and what it has started keep in memory; null where the system does not tell. */
  async memory(): Promise<number | null> {
    const { pid } = this.#process ?? {}
    return pid === undefined ? null : residentBytes(pid)
  }

  /** Ends it for good. Nothing is left of it. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#process?.close()
    await this.#said
    this.#process = null
    process.off('exit', this.#removeState)
    this.#removeState()
  }

  #proveIsOpen(): void {
    if (this.#isClosed) throw new Error('the run is over')
  }

  // Also at the end of a process that is interrupted twice, and waits for nothing then.
  readonly #removeState = () => {
    if (this.#stateFolder !== null) rmSync(this.#stateFolder, { recursive: true, force: true, maxRetries: 3 })
    this.#stateFolder = null
  }

  #makeState(): string {
    process.once('exit', this.#removeState)
    return mkdtempSync(join(tmpdir(), 'marketplace-agent-'))
  }

  #start(command: string): void {
    this.#proveIsOpen()
    this.#ended = null
    this.comingUp.starts()
    const folder = this.#stateFolder ?? this.#makeState()
    this.#stateFolder = folder
    const env = { ...inheritedByOthers(), STATE_DIRECTORY: folder, ...this.environment }
    const secrets = secretsIn(env)
    const [lines, lastWords] = [new LastLines(secrets), new LastLines(secrets)]
    this.#lines = lines.kept
    const agent = new StartedAgent({
      command,
      graceMs: GRACE_MS,
      env: () => env,
      onLine: (stream, line) => {
        lines.add(line)
        if (stream === 'stderr') lastWords.add(line)
      },
      onEnd: (how, { code, signal, said }) => {
        if (this.#process !== agent) return
        this.#ended = how
        this.comingUp.ends()
        this.#said = said
        // What it has said just before is read a moment later.
        const death = { code, signal, lastWords: lastWords.kept }
        this.ends += 1
        this.#note('ended', how, 0, this.rehearsed ? undefined : death)
        if (!this.rehearsed) this.onEnd()
      },
    })
    this.#process = agent
    agent.start()
    this.#note('started', masked(command))
  }

  #note(what: ProcessEvent['what'], text: string, ms = 0, death?: ProcessEvent['death']): void {
    this.#recorder.add({ kind: 'process', what, text, ms, ...(death && { death }) })
  }
}

class LastLines {
  readonly kept: string[] = []
  readonly #secrets: readonly string[]

  /** `secrets`: what it was given, and must not be read in a report. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  add(line: string): void {
    this.kept.push(masked(line, this.#secrets).slice(0, LONGEST_LINE))
    if (this.kept.length > LAST_LINES) this.kept.shift()
  }
}

/** Whether somebody takes a connection there. */
function accepts({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise(resolve => {
    const host = hostname.replace(/^\[|\]$/g, '')
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80), timeout: 2_000 })
    const end = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false))
  })
}

/** Makes up what is not given: a free port, an id, a secret. */
export async function agentUnderTest(
  world: Pick<World, 'id' | 'bytes' | 'chance'>,
  { url, secret, command }: { url: string | null; secret: string | null; command: string | null },
  recorder: EventSink,
): Promise<AgentUnderTest> {
  const port = url === null ? await freePort() : null
  return new AgentUnderTest({
    ...{ command, recorder, id: world.id('agt'), keyBytes: world.bytes(24) },
    chance: () => world.chance(),
    url: url ?? `http://127.0.0.1:${port}/webhook`,
    // Who listens at `localhost` has ::1 alone on many machines.
    ...(port !== null && { otherUrl: `http://[::1]:${port}/webhook` }),
    secret: secret ?? `whsec_${world.bytes(32).toString('base64')}`,
  })
}

const PAGE = 4_096

/** Of all processes of the group, in bytes; null where there is no /proc. */
async function residentBytes(group: number): Promise<number | null> {
  const ids = await readdir('/proc').catch(() => [])
  const sizes = await Promise.all(ids.filter(id => /^\d+$/.test(id)).map(id => residentOf(id, group)))
  const all = sizes.reduce((sum, one) => sum + one, 0)
  return all > 0 ? all : null
}

/** 0 if it is of another group, or has ended. */
async function residentOf(id: string, group: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${id}/stat`, 'latin1')
    // The name, in brackets, may have spaces.
    const [, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(itsGroup) !== group) return 0
    const [, resident] = (await readFile(`/proc/${id}/statm`, 'latin1')).split(' ')
    return Number(resident) * PAGE
  } catch {
    return 0
  }
}

/** The agent can't be reached, so nothing can be said about it. */
export class AgentAway extends Error {
  /** What it has written last. */
  readonly lastLines: readonly string[]

  constructor(message: string, lastLines: readonly string[] = []) {
    super(message)
    this.lastLines = lastLines
  }
}
