/** A process that plays trials one after the other. Several of them are busy side by side. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Judged } from '../../../src/conform/judge.ts'
import type { Trial } from './trial.ts'

const source = fileURLToPath(new URL('trial-process.ts', import.meta.url))

/** A busy machine takes a minute for all checks. */
const LONGEST_MS = 300_000

type Told = { readonly verdicts: readonly Judged[] } | { readonly error: string }

export class Trials {
  #child: ChildProcess | null = null

  /** Throws what the run throws, and if it does not end. */
  async play(trial: Trial): Promise<readonly Judged[]> {
    this.#child ??= fork(source, { execArgv: ['--import', 'tsx'] })
    const impatience = setTimeout(() => this.end(), LONGEST_MS)
    const told = await ask(this.#child, trial).finally(() => clearTimeout(impatience))
    if ('error' in told) throw new Error(told.error)
    return told.verdicts
  }

  end(): void {
    this.#child?.disconnect()
    this.#child = null
  }
}

function ask(child: ChildProcess, trial: Trial): Promise<Told> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The process of the trial ended, or the trial did not'))
    child.once('exit', ended)
    child.once('message', (told: Told) => {
      child.off('exit', ended)
      resolve(told)
    })
    child.send(trial)
  })
}
