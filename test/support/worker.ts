/** A process that runs test files one after another, and what it says about each. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Bundle } from './bundle.ts'
import { cpuMsOf } from './cpu.ts'
import { PATIENCE_MS } from './patience.ts'

/** A test that fails may leave a marketplace open, and its process with it. */
const failedTimeoutMs = 3_000

export interface Verdict {
  passed: number
  failed: number
  output: string
  /** Of the process and of what it started; the first file of a process pays for its start. */
  cpuMs: number
}

export class Worker {
  readonly #bundle: Bundle
  readonly #patienceMs: number
  readonly #child: ChildProcess
  readonly #closed: Promise<number | null>
  readonly #mark = randomUUID()
  /** Since the last file ended: what a file leaves behind may break the next. */
  #output = ''
  /** When the last file ended. */
  #cpuMs = 0
  #heard = () => {}

  /** `patienceMs`: for one file. */
  constructor(bundle: Bundle, env: NodeJS.ProcessEnv, patienceMs: number) {
    this.#bundle = bundle
    this.#patienceMs = patienceMs
    this.#child = spawn(process.execPath, [...bundle.workerArguments, this.#mark], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    const hear = (chunk: Buffer) => {
      this.#output += chunk
      this.#heard()
    }
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) stream.on('data', hear)
    // It may have ended before it is told what comes next.
    this.#child.stdin!.on('error', () => {})
    this.#closed = new Promise(resolve => this.#child.once('close', resolve))
  }

  /** Another file can follow if none of this one's tests has failed. */
  async run(file: string): Promise<Verdict> {
    const ended = new Promise<void>(resolve => {
      this.#heard = () => {
        if (this.#output.includes(this.#mark)) resolve()
      }
    })
    this.#child.stdin!.write(`${this.#bundle.pathOf(file)}\n`)
    await this.#within(this.#patienceMs, Promise.race([ended, this.#closed]))
    const said = this.#output.replace(this.#mark, '')
    this.#output = ''
    const before = this.#cpuMs
    this.#cpuMs = cpuMsOf(this.#child.pid!)
    return { ...judge(file, said), cpuMs: Math.max(0, this.#cpuMs - before) }
  }

  /** Lets it end by itself, as it does unless a file has left something open. What it says if it doesn't, or says at all. */
  async end(hasFailed: boolean): Promise<string> {
    this.#child.stdin!.end()
    const code = await this.#within(hasFailed ? failedTimeoutMs : PATIENCE_MS, this.#closed)
    return code === 0 ? '' : `${this.#output}\nended with ${code}\n`
  }

  async #within<T>(ms: number, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#output += `\nended after ${ms} ms\n`
      this.#child.kill('SIGKILL')
    }, ms)
    const result = await work
    clearTimeout(timer)
    return result
  }
}

// uvu colours its totals only on a terminal; a file that forgets `.run()` says nothing at all.
function count(output: string, word: string) {
  const totals = output.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'gm'))
  return [...totals].reduce((sum, [, number]) => sum + Number(number), 0)
}

function judge(file: string, said: string): Omit<Verdict, 'cpuMs'> {
  let output = said
  const total = count(output, 'Total')
  const passed = count(output, 'Passed')
  const skipped = count(output, 'Skipped')
  if (total === 0) output += `\n${file} ran no test\n`
  if (skipped > 0) output += `\n${file} skipped ${skipped}\n`
  const failed = total - passed || Number(total === 0 || skipped > 0)
  return { passed, failed, output }
}
