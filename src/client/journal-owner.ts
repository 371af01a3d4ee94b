/** Who has a journal, and whether that process still runs. Numbers of processes are given again, and containers have their own. */
import { readFileSync, readlinkSync } from 'node:fs'

export interface Owner {
  readonly pid: number
  /** When the process began, as the system tells it; empty where it does not. */
  readonly began: string
  /** Where the number counts. */
  readonly space: string
  /** Which of its journals, as one process may open several. */
  readonly nth: number
}

const began = beganAt(process.pid)
const space = ownSpace()
let last = 0

export const newOwner = (): Owner => ({ pid: process.pid, began, space, nth: ++last })

export const isOfThisProcess = (owner: Owner): boolean =>
  owner.pid === process.pid && owner.began === began && owner.space === space

/** Of a process in another container nothing can be seen: it counts as ended. */
export function isRunning(owner: Owner): boolean {
  if (owner.space !== space) return false
  if (owner.pid === process.pid) return owner.began === began
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return process.platform !== 'linux' || beganAt(owner.pid) === owner.began
}

function beganAt(pid: number): string {
  if (process.platform !== 'linux') return pid === process.pid ? String(Math.round(performance.timeOrigin)) : ''
  return quietly(() => {
    // Behind the command, which may hold blanks and parentheses: the state first, the start in ticks since boot as the 20th.
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
    // Dead, and not yet buried.
    return 'ZX'.includes(fields[0]!) ? '' : fields[19]!
  })
}

function ownSpace(): string {
  return process.platform === 'linux' ? quietly(() => readlinkSync('/proc/self/ns/pid')) : ''
}

function quietly(ask: () => string): string {
  try {
    return ask()
  } catch {
    return ''
  }
}
