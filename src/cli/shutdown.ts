/** Ends a serving command at a signal. Source: A-4. */

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Resolves after the first signal and `close`. A second signal ends the process at once. `listen` gets a function that ends it
 * as a signal does.
 */
export function untilSignal(
  close: (signal: NodeJS.Signals) => Promise<void>,
  listen: (end: () => void) => void = () => {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    let ending = false
    // A signal listener does not keep the process alive, but the server's socket does.
    const onSignal = (signal: NodeJS.Signals) => {
      if (ending) process.exit(130)
      ending = true
      close(signal).then(() => resolve(0), reject)
    }
    for (const signal of SIGNALS) process.on(signal, onSignal)
    listen(() => ending || onSignal('SIGTERM'))
  })
}
