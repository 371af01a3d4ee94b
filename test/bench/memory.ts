/** What a process keeps in memory, from /proc, where there is one. */
import { readFileSync } from 'node:fs'

/** In MB: what is resident now, or the most that ever was. -1 where it can't be told, as of a process that has ended. */
export function megabytesOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  try {
    const [, kilobytes] = new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? -1 : Number(kilobytes) / 1024
  } catch {
    return -1
  }
}
