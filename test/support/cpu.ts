/** What a process has cost, with all that it started: milliseconds of CPU tell that on a busy machine too. */
import { readdirSync, readFileSync } from 'node:fs'

/** Of Linux, on every processor that Node runs on. */
const MS_A_TICK = 10

/** With those that it started and that run still. 0 where the machine doesn't tell. */
export function cpuMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the name, which may hold blanks, comes the state; as twelfth to fifteenth its own times, and those of its children that ended.
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
    const threads = readdirSync(`/proc/${pid}/task`)
    const children = threads.flatMap(thread =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    )
    return children.reduce(
      (sum, child) => sum + cpuMsOf(Number(child)),
      ticks.reduce((sum, count) => sum + Number(count), 0) * MS_A_TICK,
    )
  } catch {
    return 0
  }
}
