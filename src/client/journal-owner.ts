/** Who has a journal, and whether that process still runs. */
import { isRunning, ownSpace, startOf } from '../shared/process-identity.ts'

export interface Owner {
  readonly pid: number
  /** When the process began, as the system tells it; null where it does not. */
  readonly began: string | null
  /** Where the number counts. */
  readonly space: string
  /** Which of its journals, as one process may open several. */
  readonly nth: number
}

let last = 0

export const newOwner = (): Owner => ({
  pid: process.pid,
  began: startOf(process.pid),
  space: ownSpace(),
  nth: ++last,
})

/** Whether the owner still runs. Of a process in another container nothing can be seen: it counts as ended. */
export const runs = ({ pid, began, space }: Owner): boolean => space === ownSpace() && isRunning(pid, began)
