/** Somebody who has installed the package and types what a page prints. Only the port 3000 of the page is another. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { inFolder } from '../cli/program.ts'
import { installed } from './guide.ts'

/** For a test: a reader in a folder of their own, who ends in the end what they have started. */
export const withReader = (work: (reader: Reader, folder: string) => Promise<void>) =>
  inFolder(async folder => {
    const reader = await Reader.in(folder)
    await work(reader, folder).finally(() => reader.leaves())
  })

export class Reader {
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv
  readonly #port: number
  readonly #kept: Running[] = []

  static async in(folder: string): Promise<Reader> {
    return new Reader(folder, await freePort())
  }

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#env = installed(folder)
    this.#port = port
  }

  /** Returns what the code prints. Throws all of it if it ends with anything but 0. */
  async types(code: string): Promise<string> {
    const child = this.#launch(code)
    let said = ''
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', chunk => (said += chunk))
    const [exitCode] = await once(child, 'close')
    assert.is(exitCode, 0, said)
    return said
  }

  /** Starts a program that goes on, in a terminal of its own. */
  starts(code: string): Running {
    const running = new Running(this.#launch(code))
    this.#kept.push(running)
    return running
  }

  /** Ends all that has been started. */
  async leaves(): Promise<void> {
    for (const running of this.#kept.reverse()) await running.end()
  }

  #launch(code: string): ChildProcess {
    const script = code.replaceAll('3000', String(this.#port))
    const bash = ['--norc', '-euo', 'pipefail', '-c', script]
    return spawn('bash', bash, { cwd: this.#folder, env: this.#env, detached: true })
  }
}

/** A program that goes on. */
class Running {
  readonly #child: ChildProcess
  #said = ''
  #heard = () => {}

  constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', chunk => {
        this.#said += chunk
        this.#heard()
      })
    }
  }

  /** Waits until it has said a word. */
  says(word: string): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#heard = () => {
        if (this.#said.includes(word)) resolve()
      }
      this.#heard()
      this.#child.once('close', () => reject(new Error(`It ended: ${this.#said}`)))
    })
  }

  /** The shell and what it has started. */
  async end(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#child
    if (exitCode !== null || signalCode !== null) return
    const closed = once(this.#child, 'close')
    process.kill(-pid!, 'SIGTERM')
    await closed
  }
}
