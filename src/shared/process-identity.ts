/**
 * Which process a number means. Numbers of processes are given again, and containers have their own. So a process is known by
 * its number, its start and the space in which the number counts.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'

/** When a process started, as the system tells it, and in no other form; null if the system does not tell. */
export function startOf(pid: number): string | null {
  if (process.platform === 'linux') return quietly(() => linuxStat(pid)[19] ?? '') || null
  const [program, ...args] =
    process.platform === 'win32'
      ? ['powershell', '-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`]
      : ['ps', '-o', 'lstart=', '-p', String(pid)]
  const answer = quietly(() =>
    execFileSync(program!, args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe' }),
  )
  return answer.trim() || null
}

/** Whether a process of our own space runs that has this number and this start. What the system does not tell counts as right. */
export function isRunning(pid: number, start: string | null): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  if (process.platform === 'linux' && 'ZX'.includes(quietly(() => linuxStat(pid)[0]!) || '-')) return false // dead, not yet buried
  if (start === null) return true
  const current = startOf(pid)
  return current === null || start === current
}

/**
 * The process group that has the terminal if we are in it, else null, as in what a shell has started with `&`. It has the number of the first process
 * of what was typed, such as npx. Our own number where the system does not tell.
 */
export function foregroundGroup(): number | null {
  if (process.platform === 'win32') return process.pid
  try {
    const [own, current] = process.platform === 'linux' ? groupsOnLinux() : groupsByPs()
    return own === current ? Number(own) : null
  } catch {
    return process.pid
  }
}

const groupsOnLinux = () => [2, 5].map(field => linuxStat('self')[field])

const groupsByPs = () =>
  execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)

/** The space in which our process has its number; empty where the system has only one. */
export const ownSpace = (): string => quietly(() => readlinkSync('/proc/self/ns/pid'))

// Behind the command, which may hold blanks and parentheses: the state first, the start in ticks since boot as the 20th.
const linuxStat = (pid: number | 'self') => {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')
}

const quietly = (ask: () => string) => {
  try {
    return ask()
  } catch {
    return ''
  }
}
