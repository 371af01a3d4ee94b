/** A process that runs tests until one of them fails. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Bundle } from '../support/bundle.ts'
import type { Request, Told } from './trial-process.ts'

/** `broken`: it ended before its tests did, or ran none. */
type End = 'passed' | 'failed' | 'broken' | 'timeout'

export interface Passed {
  readonly name: string
  readonly ms: number
  /** Where it came to: of mutants and of functions. */
  readonly numbers: readonly number[]
}

export interface Outcome {
  readonly end: End
  readonly passed: readonly Passed[]
  /** The test that failed, or in which it ended; '' outside of all tests. */
  readonly at: string
  /** Where the file came to outside of its tests. */
  readonly numbers: readonly number[]
}

export class TestProcess {
  readonly #bundle: Bundle
  readonly #child: ChildProcess
  readonly #closed: Promise<void>
  #hasClosed = false
  #output = ''
  #told = ''
  #wake = () => {}

  constructor(bundle: Bundle, env: NodeJS.ProcessEnv) {
    this.#bundle = bundle
    // A group of its own: what a test has started goes with it.
    this.#child = spawn(process.execPath, bundle.workerArguments, {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      detached: true,
    })
    const [stdin, stdout, stderr, told] = this.#child.stdio
    for (const stream of [stdout!, stderr!]) {
      ;(stream as NodeJS.ReadableStream).on('data', chunk => {
        this.#output = (this.#output + chunk).slice(-KEPT_OUTPUT)
      })
    }
    ;(told as NodeJS.ReadableStream).setEncoding('utf8').on('data', chunk => {
      this.#told += chunk
      this.#wake()
    })
    stdin!.on('error', () => {})
    open.add(this)
    this.#closed = new Promise(resolve => this.#child.once('close', () => resolve()))
    void this.#closed.then(() => {
      this.#hasClosed = true
      this.#wake()
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** `timeFor` a test, or for '' what is outside of all tests: in ms. */
  async run(file: string, tests: Request['tests'], timeFor: (at: string) => number): Promise<Outcome> {
    this.#output = ''
    const request: Request = { path: this.#bundle.pathOf(file), tests }
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`)
    const passed: Passed[] = []
    let at = ''
    let deadline = performance.now() + timeFor('')
    const ended = (end: End, numbers: readonly number[] = []): Outcome => ({ end, passed, at, numbers })
    for (;;) {
      const told = this.#heard()
      if (told === undefined) {
        if (this.#hasClosed) return ended('broken')
        if (performance.now() >= deadline) return ended('timeout')
        await this.#something(deadline - performance.now())
        continue
      }
      if (told.kind === 'fail') return ended('failed')
      if (told.kind === 'end') return ended(told.count === 0 ? 'broken' : 'passed', told.numbers)
      if (told.kind === 'pass') passed.push({ name: told.at, ms: told.ms, numbers: told.numbers })
      at = told.kind === 'begin' ? told.at : ''
      deadline = performance.now() + timeFor(at)
    }
  }

  /** The next line that it told, if there is one. */
  #heard(): Told | undefined {
    const end = this.#told.indexOf('\n')
    if (end === -1) return undefined
    const line = this.#told.slice(0, end)
    this.#told = this.#told.slice(end + 1)
    return JSON.parse(line) as Told
  }

  async #something(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.#wake = resolve
      timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
  }

  /** What it said about the last file. */
  get output(): string {
    return this.#output
  }

  async end(): Promise<void> {
    this.kill()
    await this.#closed
  }

  kill(): void {
    open.delete(this)
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {}
  }
}

const open = new Set<TestProcess>()

// Whoever ends a run ends its tests, and what they have started.
process.once('exit', () => {
  for (const one of open) one.kill()
})

const KEPT_OUTPUT = 100_000
