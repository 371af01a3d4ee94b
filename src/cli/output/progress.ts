/** Shows that a command waits: a spinner on a terminal, nothing elsewhere. */

import { wantsColour } from '../../settings/config.ts'
import { fit } from './ui.ts'

export interface Progress {
  /** Somebody sees it. */
  readonly isShown: boolean
  /** Shows what the command waits for now. */
  wait(text: string): void
  /** Removes the spinner before something is printed. */
  clear(): void
}

/** Each removes a spinner of this process, which has one at a time. */
const spinners = new Set<() => unknown>()

/** Before the last words of a command: a spinner that turns on would stay below them. */
export function clearProgress(): void {
  for (const clear of spinners) clear()
}

export async function showProgress({ json }: { readonly json: boolean }): Promise<Progress> {
  // On a terminal that does not say how wide it is, ora would clear lines without end.
  if (json || !process.stderr.isTTY || !process.stderr.columns)
    return { isShown: false, wait: () => {}, clear: () => {} }
  const { default: ora } = await import('ora')
  let since = 0
  const spinner = ora({
    suffixText: () => secondsIn(performance.now() - since),
    stream: process.stderr,
    color: wantsColour(process.stderr) ? 'cyan' : false,
    discardStdin: false,
  })
  const clear = () => void spinner.stop()
  spinners.add(clear)
  return {
    isShown: true,
    wait(text) {
      since = performance.now()
      spinner.start(fit(text))
    },
    clear,
  }
}

/** A wait that is longer than this is told with its time: a spinner alone looks the same whether anything goes on or not. */
const LONG_MS = 5_000

const secondsIn = (ms: number) => (ms < LONG_MS ? '' : ` ${Math.floor(ms / 1_000)} s`)
