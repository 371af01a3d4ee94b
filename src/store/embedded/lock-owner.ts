/**
 * Finds out who has a lock, and whether that process still lives.
 *
 * Process ids are reused, and containers have their own. So an owner is identified by its pid, its start time, the boot of
 * the machine and the pid namespace. Certain evidence comes first: the system's own lock, the process itself, an earlier
 * boot. Otherwise the heartbeat decides, which is the modification time of the file. An owner without a heartbeat may only
 * stand still, and wake up later.
 */
import { readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isRunning, ownSpace, startOf } from '../../shared/process-identity.ts'
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
  if (owner.machine === thisMachine()) return isRunning(owner.pid, owner.start) ? 'alive' : 'gone'
  const bootIsOver = boot && bootOf(thisMachine()) && boot !== bootOf(thisMachine()) && (await isLocal(dirname(path)))
  return bootIsOver ? 'gone' : undefined
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
    ownSpace(),
  ].join('|')
  return machine
}
const bootOf = (machine: string) => machine.split('|')[1]

const quietly = (ask: () => string) => {
  try {
    return ask()
  } catch {
    return ''
  }
}
