/** A process that plays trials side by side: they wait most of their time, and share what it has loaded. */
import { type ChildProcess, fork } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { Report } from '../../../src/conform/judging/report.ts'
import { freePort } from '../../../src/sim/agents/free-port.ts'
import type { Trial } from './trial.ts'

/** A busy machine takes a minute for all checks. */
const LONGEST_MS = 300_000

type Told = { readonly id: number } & ({ readonly report: Report } | { readonly error: string })

export class Trials {
  /** The root of the project whose judge it is. */
  readonly root: string
  readonly #longestMs: number
  #child: ChildProcess | null = null
  #last = 0
  readonly #asked = new Map<number, (told: Told) => void>()

  constructor(root = resolve('.'), longestMs = LONGEST_MS) {
    this.root = root
    this.#longestMs = longestMs
  }

  /** Throws what the run throws, and if it does not end: it is ended then, and its agent with it. */
  async play(trial: Trial): Promise<Report> {
    const child = this.#opened()
    const id = ++this.#last
    const telling = new Promise<Told>(resolve => this.#asked.set(id, resolve))
    const impatience = setTimeout(() => {
      child.send({ id, ends: true })
      this.#hear({ id, error: 'The trial does not end' })
    }, this.#longestMs)
    // Processes that each look for a free port may find the same, as agents are away for a moment when they are started anew.
    child.send({ id, trial: { ...trial, port: await freePort() } })
    const told = await telling
    clearTimeout(impatience)
    if ('error' in told) throw new Error(told.error)
    return told.report
  }

  #hear(told: Told): void {
    this.#asked.get(told.id)?.(told)
    this.#asked.delete(told.id)
  }

  #opened(): ChildProcess {
    if (this.#child) return this.#child
    const source = join(this.root, 'test/conform/mutants/trial-process.ts')
    const child = fork(source, { execArgv: ['--import', import.meta.resolve('tsx')] })
    child.on('message', (told: Told) => this.#hear(told))
    child.once('exit', () => {
      if (this.#child === child) this.#child = null
      for (const id of this.#asked.keys()) this.#hear({ id, error: 'The process of the trial has ended' })
    })
    this.#child = child
    return child
  }

  end(): void {
    this.#child?.disconnect()
    this.#child = null
  }
}
