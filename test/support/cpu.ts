/** What a process has cost, and all that it started and saw end: milliseconds of CPU tell that on a busy machine too. */
import { readFileSync } from 'node:fs'

/** Of Linux on every processor that Node runs on. */
const MS_A_TICK = 10

/** 0 where the machine doesn't tell, or the process is gone. */
export function cpuMsOf(pid: number | 'self'): number {
  try {
    // The name in parentheses may hold blanks; after it come the state, and as twelfth to fifteenth its own times and those of its children.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_A_TICK
  } catch {
    return 0
  }
}
