/** That something is being waited for: a spinner on a terminal, nothing anywhere else. */

import { wantsColour } from '../config.ts'
import type { Desk } from './output.ts'

export interface Progress {
  /** What is waited for now. */
  wait(text: string): void
  /** Out of the way, before something is printed. */
  clear(): void
}

export async function showProgress({ json }: Desk): Promise<Progress> {
  if (json || !process.stderr.isTTY) return { wait: () => {}, clear: () => {} }
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
