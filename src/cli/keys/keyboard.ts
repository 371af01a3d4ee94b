/** The keyboard, key by key: only where a person sits at a terminal that gives single keys. */
import { emitKeypressEvents, type Key } from 'node:readline'
import { foregroundGroup } from '../../shared/process-identity.ts'
import type { Press } from './key-presses.ts'

export interface Keyboard {
  /** Leaves the terminal as it was. May be called again. */
  close(): void
  /** As Ctrl-Z does: leaves the terminal as it was, without these rows, until the shell lets the process go on. */
  suspend(rows: { open(): void; close(): void }): void
}

/** Returns null where there are no keys. `onLost`: the terminal has gone. */
export function openKeyboard(onPress: (press: Press) => void, onLost: () => void): Keyboard | null {
  const { stdin } = process
  // A shell's background job that touches the settings of the terminal is stopped.
  if (!stdin.isTTY || foregroundGroup() === null || !setRaw(true)) return null
  const hear = (typed: string | undefined, { name, ctrl }: Key) => onPress({ typed, name, ctrl })
  emitKeypressEvents(stdin)
  stdin.on('keypress', hear).on('end', onLost).on('error', onLost).resume()
  return {
    close() {
      stdin.off('keypress', hear).off('end', onLost).pause()
      setRaw(false)
    },
    suspend(rows) {
      if (isWindows) return
      rows.close()
      setRaw(false)
      process.once('SIGCONT', () => {
        if (foregroundGroup() !== null) setRaw(true)
        rows.open()
      })
      // The shell waits for all that it has started, such as npx.
      process.kill(0, 'SIGTSTP')
    },
  }
}

/** Ends this process as Ctrl-C does. On Windows a signal that is sent ends a process at once, so it is only told of there. */
export const quit = () => void (isWindows ? process.emit('SIGINT', 'SIGINT') : process.kill(process.pid, 'SIGINT'))

/** As from a terminal that does not give single keys: to all that the shell has started as one command. */
export const interrupt = () => (isWindows ? quit() : void process.kill(0, 'SIGINT'))

const isWindows = process.platform === 'win32'

function setRaw(raw: boolean): boolean {
  try {
    process.stdin.setRawMode(raw)
    return true
  } catch {
    return false
  }
}
