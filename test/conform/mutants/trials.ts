/** Processes that play trials side by side: a run is busy at times and waits at others. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Judged } from '../../../src/conform/judge.ts'
import type { Trial } from './trial.ts'

const source = fileURLToPath(new URL('trial-process.ts', import.meta.url))
const AT_ONCE = 2

/** What came of a trial. */
export type Told = { readonly verdicts: readonly Judged[] } | { readonly error: string }

/** Plays all, and hands over what came of each as it comes. */
export async function playAll<Item>(
  items: readonly Item[],
  trialOf: (item: Item) => Trial,
  took: (item: Item, told: Told, ms: number) => void,
): Promise<void> {
  const left = [...items]
  const lane = async () => {
    const child = fork(source, { execArgv: ['--import', 'tsx'] })
    try {
      for (let item = left.shift(); item !== undefined; item = left.shift()) {
        const started = performance.now()
        const told = await ask(child, trialOf(item))
        took(item, told, performance.now() - started)
      }
    } finally {
      child.disconnect()
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, lane))
}

function ask(child: ChildProcess, trial: Trial): Promise<Told> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The process of the trials ended'))
    child.once('exit', ended)
    child.once('message', (told: Told) => {
      child.off('exit', ended)
      resolve(told)
    })
    child.send(trial)
  })
}
