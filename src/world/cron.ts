/** Ticks by the hours of the day. A tick can be missed while the process is busy, so rows say what is due. */
import type { Timer } from './world.ts'

/** The module is not needed for hours, so loading it does not delay the start. */
const LOAD_AFTER_MS = 1000

export const loadCron = () => import('node-cron')

/** Calls `work` at every `hours`-th full hour, UTC. Does not keep the process alive. */
export function everyHours(hours: number, work: () => void): Timer {
  let cancelled = false
  let loading: Promise<{ destroy(): unknown } | null> | undefined
  const load = async () => {
    const { schedule } = await loadCron()
    if (cancelled) return null
    return schedule(`0 */${hours} * * *`, work, { timezone: 'Etc/UTC', unref: true, suppressMissedWarning: true })
  }
  const begin = setTimeout(() => {
    loading = load()
  }, LOAD_AFTER_MS).unref()
  return {
    cancel() {
      cancelled = true
      clearTimeout(begin)
      void loading?.then(task => task?.destroy())
    },
  }
}
