/**
 * Finds out who has a lock, and whether that process still lives.
 *
 * Process ids are reused, and containers have their own. So an owner is identified by its pid, its start time, the boot of
 * the machine and the pid namespace. Certain evidence comes first: the system's own lock, the process itself, an earlier
 * boot. Otherwise the heartbeat decides, which is the modification time of the file. An owner without a heartbeat may only
 * stand still, and wake up later.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isLocal, isLocked } from './system-lock.ts'

export interface Owner {
  pid: number
  /** Describes the process for people: a command, an address. */
  holder: string
  startedAt: string
  /** The start time of the process as the system reports it; null if it doesn't. */
  start: string | null
  /** The host, its boot and the pid namespace. */
  machine: string
  /** True if the file is locked by the system as well. */
  system?: boolean
}

export type Life = 'alive' | 'gone' | 'silent'

export const HEARTBEAT_MS = 2_000
export const SILENCE_MS = 7_000
const LOOK_MS = 250

export const describeSelf = (holder: string, system: boolean): Owner => ({
  pid: process.pid,
  holder,
  startedAt: new Date().toISOString(),
  start: startOf(process.pid),
  machine: thisMachine(),
  system,
})

/** Returns undefined if there is no such file; null if it is not readable, as after a crash before it was on the disk. */
export const readOwner = async (path: string): Promise<Owner | null | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null
  }
}

/** Whether the owner of the lock file `path` lives. Waits for a heartbeat if nothing else decides. */
export const lifeOf = async (owner: Owner, path: string): Promise<Life> =>
  (await knownLifeOf(owner, path)) ?? ((await beats(path)) ? 'alive' : 'silent')

/** Decides at once and for certain, if possible; else returns undefined. */
export const knownLifeOf = async (owner: Owner, path: string): Promise<'alive' | 'gone' | undefined> => {
  const boot = bootOf(owner.machine)
  if (owner.system && boot && boot === bootOf(thisMachine())) {
    const locked = await isLocked(path).catch(() => undefined)
    if (locked !== undefined) return locked ? 'alive' : 'gone'
  }
  if (owner.machine === thisMachine()) return livesHere(owner) ? 'alive' : 'gone'
  const bootIsOver = boot && bootOf(thisMachine()) && boot !== bootOf(thisMachine()) && (await isLocal(dirname(path)))
  return bootIsOver ? 'gone' : undefined
}

const livesHere = ({ pid, start }: Owner) => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  if (process.platform === 'linux' && 'ZX'.includes(quietly(() => linuxStat(pid)[0]!) || '-')) return false // dead, not yet buried
  const current = startOf(pid)
  return start === null || current === null || start === current
}

const beats = async (path: string) => {
  const before = await timeOf(path)
  for (let waited = 0; waited < SILENCE_MS; waited += LOOK_MS) {
    await wait(LOOK_MS)
    if ((await timeOf(path)) !== before) return true
  }
  return false
}

export const timeOf = async (path: string) => (await stat(path).catch(() => undefined))?.mtimeMs

// host|boot|namespace
let machine: string | undefined
const thisMachine = () => {
  machine ??= [
    hostname(),
    quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    quietly(() => readlinkSync('/proc/self/ns/pid')),
  ].join('|')
  return machine
}
const bootOf = (machine: string) => machine.split('|')[1]

/** Returns when the process started, as the system reports it; null if it doesn't. */
const startOf = (pid: number) => {
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

// Behind the command, which may hold blanks and parentheses: the state first, the start in ticks since boot as the 20th.
const linuxStat = (pid: number) => {
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
