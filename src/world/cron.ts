/** Ticks by the hours of the day. A tick can be missed while the process is busy: what is due is told by rows. */
import type { Timer } from './world.ts'

/** Calls `work` at every `hours`-th full hour, UTC. Does not keep the process alive. */
export function everyHours(hours: number, work: () => void): Timer {
  let cancelled = false
  // Not needed for hours, so a start does not wait for it.
  const loading = import('node-cron').then(({ schedule }) => {
    if (cancelled) return null
    return schedule(`0 */${hours} * * *`, work, { timezone: 'Etc/UTC', unref: true, suppressMissedWarning: true })
  })
  return {
    cancel() {
      cancelled = true
      void loading.then(task => task?.destroy())
    },
  }
}
