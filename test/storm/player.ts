/** Plays storms in a process of its own, and makes a course that breaks a promise shorter. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import type { Program } from './bundle.ts'
import type { Course, Outcome } from './storm.ts'

/** As it goes to the process and comes back. */
export interface Played extends Omit<Outcome, 'good'> {
  readonly seed: string
  /** Names of endpoints that answered 2xx, with how often. */
  readonly good: readonly (readonly [string, number])[]
  /** Processor time. */
  readonly ms: number
}

/** After so many storms the process is a new one, as each leaves a little behind. */
const STORMS_OF_PROCESS = 100

export class Player {
  readonly #program: Program
  #child: ChildProcess | null = null
  #lines: AsyncIterator<string> | null = null
  #reader: Interface | null = null
  #played = 0

  constructor(program: Program) {
    this.#program = program
  }

  async play({ without, ...course }: Course): Promise<Played> {
    if (this.#played++ % STORMS_OF_PROCESS === 0) await this.close()
    if (!this.#child) this.#begin()
    this.#child!.stdin!.write(`${JSON.stringify({ ...course, ...(without && { without: [...without] }) })}\n`)
    const { value, done } = await this.#lines!.next()
    if (done) throw new Error(`The process that played the storm ${course.seed} has ended`)
    return JSON.parse(value)
  }

  #begin(): void {
    const { path } = this.#program
    this.#child = spawn(process.execPath, ['--enable-source-maps', path], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#reader = createInterface({ input: this.#child.stdout! })
    this.#lines = this.#reader[Symbol.asyncIterator]()
  }

  async close(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child) return
    const ended = new Promise(resolve => child.once('close', resolve))
    child.stdin!.end()
    this.#reader?.close()
    await ended
  }
}

/** Leaves out steps for as long as a promise is still broken (delta debugging). Returns the numbers of those that are left. */
export async function shorter(player: Player, broken: Played): Promise<number[]> {
  let kept = Array.from({ length: broken.step }, (_, at) => at + 1)
  const breaks = async (some: readonly number[]) => {
    const without = new Set(Array.from({ length: broken.step }, (_, at) => at + 1))
    for (const step of some) without.delete(step)
    return (await player.play({ seed: broken.seed, steps: broken.step, without })).broken !== null
  }
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length; ) {
      const fewer = [...kept.slice(0, from), ...kept.slice(from + size)]
      if (await breaks(fewer)) {
        kept = fewer
      } else from += size
    }
  }
  return kept
}
