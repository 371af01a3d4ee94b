/**
 * One process per database. `<file>.lock` names its owner; it appears with its content already in it (a hard link), so
 * that of two who start at once one gets it.
 *
 * The lock of a process that is gone is taken over. Comparing and replacing a file is not one step, so whoever wants to
 * take over first announces himself with a file of his own, then looks for others who did: of two, the one who looks
 * last sees the other. Only who is alone replaces the lock; the rest step back and try again.
 *
 * Process numbers are used again and containers count their own, so an owner is known by its number, its start, and the
 * machine's boot and process namespace. Where the namespace is another one nothing can be asked about the owner; there
 * the owner's heartbeat, the time of the file, decides.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { link, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { StoreError } from './db.ts'

interface Owner {
  pid: number
  /** What the process is to a human: a command, an address. */
  holder: string
  startedAt: string
  /** The start of the process as the system tells it; null if it doesn't. */
  start: string | null
  /** The host, its boot and the namespace in which the pid counts. */
  place: string
}

const HEARTBEAT_MS = 2_000
const SILENCE_MS = 7_000
// Together far longer than SILENCE_MS: an announcement that was cut off before it had content counts as young for so long.
const TRIES = 60

/** Takes the lock of `file`, or throws a StoreError that names who has it. Answers the function that gives it back. */
export const lockFile = async (file: string, holder = process.argv.slice(1, 4).join(' ')) => {
  const lock = `${file}.lock`
  await take(lock, file, `${JSON.stringify(describeSelf(holder))}\n`)
  const heartbeat = setInterval(() => {
    const now = new Date()
    utimes(lock, now, now).catch(() => {})
  }, HEARTBEAT_MS).unref()
  return async () => {
    clearInterval(heartbeat)
    await rm(lock, { force: true })
  }
}

/** Throws a StoreError if a living process has the lock of `file`. Takes nothing. */
export const refuseIfLocked = async (file: string) => {
  const owner = await readOwner(`${file}.lock`)
  if (owner && (await isAlive(owner, `${file}.lock`))) throw inUse(file, owner)
}

const take = async (lock: string, file: string, self: string) => {
  for (let tries = 1; tries <= TRIES; tries++) {
    const own = `${lock}.${process.pid}-${randomBytes(6).toString('hex')}`
    try {
      await writeFile(own, self, { flag: 'wx', mode: 0o600 })
      if (await linked(own, lock)) return
      const owner = await readOwner(lock)
      if (owner && (await isAlive(owner, lock))) throw inUse(file, owner)
      if ((await isAloneWith(own, lock)) && (await isAbandoned(lock))) {
        await rename(own, lock)
        return
      }
    } finally {
      await rm(own, { force: true })
    }
    await wait(Math.random() * 20 * tries) // ever further apart, until one finds himself alone
  }
  throw new StoreError(`${file} is being opened by others at this moment. Try again.`)
}

const linked = (own: string, lock: string) =>
  link(own, lock).then(
    () => true,
    error => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )

/** Announcements stay until their makers have the lock or give up, so being alone here excludes everybody else. */
const isAloneWith = async (own: string, lock: string) => {
  const names = await readdir(dirname(lock))
  const others = names.filter(name => name.startsWith(`${basename(lock)}.`) && name !== basename(own))
  for (const path of others.map(name => join(dirname(lock), name))) {
    const owner = await readOwner(path)
    const alive = owner?.place === here() ? livesHere(owner) : await isYoung(path)
    if (alive) return false
    await rm(path, { force: true }) // nobody makes the same name again
  }
  return others.length === 0
}

/** Asked only while alone: then nobody else can replace the lock between this answer and the next step. */
const isAbandoned = async (lock: string) => {
  const owner = await readOwner(lock)
  return owner === null || (owner !== undefined && !(await isAlive(owner, lock)))
}

/** undefined if there is no such file; null if it can't be read, as after a machine stopped before it was on the disk. */
const readOwner = async (path: string): Promise<Owner | null | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null
  }
}

const isAlive = async (owner: Owner, lock: string) => {
  if (owner.place === here()) return livesHere(owner)
  const otherBoot = hostOf(owner.place) === hostOf(here()) && bootOf(owner.place) !== bootOf(here())
  return !otherBoot && beats(lock)
}

const isYoung = async (path: string) => Date.now() - ((await timeOf(path)) ?? 0) < SILENCE_MS

const livesHere = ({ pid, start }: Owner) => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const current = startOf(pid)
  return start === null || current === null || start === current
}

const beats = async (lock: string) => {
  const before = await timeOf(lock)
  for (let waited = 0; waited < SILENCE_MS; waited += 250) {
    await wait(250)
    if ((await timeOf(lock)) !== before) return true
  }
  return false
}

const timeOf = async (path: string) => (await stat(path).catch(() => undefined))?.mtimeMs

const inUse = (file: string, owner: Owner) =>
  new StoreError(
    `${file} is in use by process ${owner.pid} (${owner.holder}), which opened it at ${owner.startedAt}. ` +
      'Stop that process, or use another file.',
  )

const describeSelf = (holder: string): Owner => ({
  pid: process.pid,
  holder,
  startedAt: new Date().toISOString(),
  start: startOf(process.pid),
  place: here(),
})

// host|boot|namespace
let place: string | undefined
const here = () => {
  place ??= [
    hostname(),
    quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace(),
  ].join('|')
  return place
}
const namespace = () => quietly(() => readlinkSync('/proc/self/ns/pid'))
const hostOf = (where: string) => where.split('|')[0]
const bootOf = (where: string) => where.split('|')[1]

/** When the process started, as the system tells it; null if it doesn't. */
const startOf = (pid: number) => {
  if (process.platform === 'linux') return quietly(() => linuxStart(pid)) || null
  const [program, ...args] =
    process.platform === 'win32'
      ? ['powershell', '-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`]
      : ['ps', '-o', 'lstart=', '-p', String(pid)]
  const answer = quietly(() =>
    execFileSync(program!, args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe' }),
  )
  return answer.trim() || null
}

// The 22nd field, in ticks since boot; the second, the command, may hold blanks and parentheses.
const linuxStart = (pid: number) => {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

const quietly = (ask: () => string) => {
  try {
    return ask()
  } catch {
    return ''
  }
}
