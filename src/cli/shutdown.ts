/** How a command that serves ends: by a signal, or because the disk failed. Source: A-4. */

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Resolves at the first signal, after `close`; a second one ends the process at once. */
export function untilSignal(close: (signal: NodeJS.Signals) => Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    let ending = false
    // A listener alone keeps no process alive; whoever serves holds a socket.
    const onSignal = (signal: NodeJS.Signals) => {
      if (ending) process.exit(130)
      ending = true
      close(signal).then(() => resolve(0), reject)
    }
    for (const signal of SIGNALS) process.on(signal, onSignal)
  })
}

/** Nothing that was promised can be kept any more. */
export function endAfterDiskFailure(error: Error): void {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
