/** Whether chosen tests pass by themselves, with nothing changed: some build on what the tests before them have left. */
import { appendFileSync, existsSync } from 'node:fs'
import { type Reach, readLines } from './reach.ts'

/** Runs these tests of the file with all mutants off. */
export type Control = (reach: Reach, tests: readonly string[]) => Promise<boolean>

interface Line {
  readonly key: string
  readonly holds: boolean
}

const fileKey = ({ file, engine }: Reach) => `${file} (${engine})`

export class Controls {
  readonly #run: Control
  readonly #noted: string | null
  readonly #known = new Map<string, Promise<boolean>>()
  readonly #whole = new Set<string>()

  /** Each answer is kept, in the file `noted` if there is one, so that a run that was cut off goes on. */
  constructor(run: Control, noted: string | null = null) {
    this.#run = run
    this.#noted = noted
    if (noted !== null && existsSync(noted)) for (const line of readLines<Line>(noted)) this.#keep(line)
  }

  #keep({ key, holds }: Line): void {
    this.#known.set(key, Promise.resolve(holds))
    if (!holds) this.#whole.add(key.split('\n')[0]!)
  }

  /** False once a choice of its tests has failed: the file is run as a whole from then on. */
  canChoose(reach: Reach): boolean {
    return !this.#whole.has(fileKey(reach))
  }

  hold(reach: Reach, tests: readonly string[]): Promise<boolean> {
    const key = [fileKey(reach), ...tests].join('\n')
    const known = this.#known.get(key)
    if (known) return known
    const asked = this.#ask(key, reach, tests)
    this.#known.set(key, asked)
    return asked
  }

  async #ask(key: string, reach: Reach, tests: readonly string[]): Promise<boolean> {
    const line = { key, holds: await this.#run(reach, tests) }
    if (!line.holds) this.#whole.add(fileKey(reach))
    if (this.#noted !== null) appendFileSync(this.#noted, `${JSON.stringify(line)}\n`)
    return line.holds
  }
}
