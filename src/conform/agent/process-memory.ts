/** What a process and its children keep in memory, where the system tells it in files. */
import { readdir, readFile } from 'node:fs/promises'

const PAGE = 4_096

/** Of all processes of the group, in bytes; null where there is no /proc. */
export async function residentBytes(group: number): Promise<number | null> {
  const ids = await readdir('/proc').catch(() => [])
  const sizes = await Promise.all(ids.filter(id => /^\d+$/.test(id)).map(id => residentOf(id, group)))
  const all = sizes.reduce((sum, one) => sum + one, 0)
  return all > 0 ? all : null
}

/** 0 if it is of another group, or has ended. */
async function residentOf(id: string, group: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${id}/stat`, 'latin1')
    // The name, in brackets, may have spaces.
    const [, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(itsGroup) !== group) return 0
    const [, resident] = (await readFile(`/proc/${id}/statm`, 'latin1')).split(' ')
    return Number(resident) * PAGE
  } catch {
    return 0
  }
}
