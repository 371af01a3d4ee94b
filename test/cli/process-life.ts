/** Whether a process lives. */
import { spawnSync } from 'node:child_process'

/** One that has ended stays as a zombie until somebody asks, which not every machine does for orphans. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return /^[^Z]/.test(stdout.trim())
}
