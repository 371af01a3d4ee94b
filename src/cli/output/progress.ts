/** Shows that a command waits: a spinner on a terminal, nothing elsewhere. */

import { wantsColour } from '../../config.ts'
import type { CommandOutput } from './output.ts'

export interface Progress {
  /** Shows what the command waits for now. */
  wait(text: string): void
  /** Removes the spinner before something is printed. */
  clear(): void
}

export async function showProgress({ json }: CommandOutput): Promise<Progress> {
  // On a terminal that does not say how wide it is, ora would clear lines without end.
  if (json || !process.stderr.isTTY || !process.stderr.columns) return { wait: () => {}, clear: () => {} }
  const { default: ora } = await import('ora')
  const spinner = ora({
    stream: process.stderr,
    color: wantsColour(process.stderr) ? 'cyan' : false,
    discardStdin: false,
  })
  return {
    wait: text => void spinner.start(text),
    clear: () => void spinner.stop(),
  }
}
