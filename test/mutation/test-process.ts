/** A process that runs test files until one of them fails. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Bundle } from '../support/bundle.ts'

/** `broken`: it ended before its tests did. */
export type End = 'passed' | 'failed' | 'broken' | 'timeout'

export class TestProcess {
  readonly #bundle: Bundle
  readonly #child: ChildProcess
  readonly #mark = randomUUID()
  readonly #closed: Promise<void>
  #heard = ''
  #wake = () => {}

  constructor(bundle: Bundle, env: NodeJS.ProcessEnv) {
    this.#bundle = bundle
    // A group of its own: what a test has started goes with it.
    this.#child = spawn(process.execPath, [...bundle.laneArguments, this.#mark], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      detached: true,
    })
    const hear = (chunk: Buffer) => {
      this.#heard += chunk
      this.#wake()
    }
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) stream.on('data', hear)
    this.#child.stdin!.on('error', () => {})
    this.#closed = new Promise(resolve => this.#child.once('close', () => resolve()))
    void this.#closed.then(() => this.#wake())
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Does not wait for the rest of a file when one of its tests has failed. */
  async run(file: string, timeoutMs: number): Promise<End> {
    this.#heard = ''
    this.#child.stdin!.write(`${this.#bundle.pathOf(file)}\n`)
    let hasClosed = false
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#wake()
    }, timeoutMs)
    void this.#closed.then(() => {
      hasClosed = true
    })
    for (;;) {
      const end = this.#end(hasClosed, isLate)
      if (end) {
        clearTimeout(timer)
        return end
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  #end(hasClosed: boolean, isLate: boolean): End | null {
    if (FAILED.test(this.#heard)) return 'failed'
    if (this.#heard.includes(this.#mark)) return totals(this.#heard)
    if (hasClosed) return 'broken'
    return isLate ? 'timeout' : null
  }

  /** What it said about the last file. */
  get output(): string {
    return this.#heard
  }

  async end(): Promise<void> {
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {}
    await this.#closed
  }
}

/** What uvu writes at once for a test that failed. */
const FAILED = /✘/

function totals(heard: string): End {
  const count = (word: string) =>
    [...heard.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'gm'))].reduce((sum, [, n]) => sum + Number(n), 0)
  if (count('Total') === 0) return 'broken'
  return count('Total') === count('Passed') ? 'passed' : 'failed'
}
