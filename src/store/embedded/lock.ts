/**
 * Allows one process per database. `<file>.lock` names its owner. It is created with its content by a hard link, so that of
 * two processes that start at once only one gets it. Where the system can, the owner also locks the file by the system.
 *
 * The lock of a dead process is taken over. Comparing and replacing a file is not atomic. So a process that wants to take
 * over first announces itself with a file of its own, then looks for the announcements of others. Of two processes, the one
 * that looks last sees the other. A process replaces the lock only if it is alone; otherwise it removes its announcement and
 * tries again.
 *
 * Where only its heartbeat can be checked, an owner may lose the lock while it stands still: see fence.ts.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, futimes, openSync, rmSync, writeSync } from 'node:fs'
import { link, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { StoreError } from '../db.ts'
import { idOf, isOwn, type Proof, prove } from './fence.ts'
import {
  describeSelf,
  HEARTBEAT_MS,
  knownLifeOf,
  lifeOf,
  type Owner,
  readOwner,
  SILENCE_MS,
  timeOf,
} from './lock-owner.ts'
import { isLocal, lockFor } from './system-lock.ts'

export interface Lock {
  proof: Proof | null
  /** True if the earlier owner only had no heartbeat. It may not be dead, and may wake up and write. */
  mayWake: boolean
  /** Called once if another process has taken the lock over. */
  onLost: (error: StoreError) => void
  release(): Promise<void>
}

// Together far longer than SILENCE_MS: an announcement that was cut off before it had content counts as young for so long.
const TRIES = 60

/** Takes the lock of `file`, or throws a StoreError that names its owner. */
export const lockFile = async (file: string, holder = process.argv.slice(1, 4).join(' ')): Promise<Lock> => {
  const path = `${file}.lock`
  const { fd, mayWake, system } = await acquire(path, file, holder)
  const proof = { path, id: identityOf(fd, path) }
  const stop = beat(fd, () => check(), system && (await isLocal(dirname(path))))
  const lock: Lock = {
    proof,
    mayWake,
    onLost: () => {},
    async release() {
      await stop()
      try {
        if (isOwn(proof)) rmSync(path, { force: true })
      } finally {
        closeSync(fd)
      }
    },
  }
  const check = () => {
    try {
      prove(proof)
    } catch (error) {
      if (!(error instanceof StoreError)) return // the lock could not be checked now; the next batch checks again
      void stop()
      lock.onLost(error)
    }
  }
  return lock
}

function identityOf(fd: number, path: string) {
  try {
    return idOf(fstatSync(fd, { bigint: true }))
  } catch (error) {
    rmSync(path, { force: true })
    closeSync(fd)
    throw error
  }
}

/** Throws a StoreError if a live process has the lock of `file`. Does not acquire the lock. */
export const refuseIfLocked = async (file: string) => {
  const owner = await readOwner(`${file}.lock`)
  if (owner && (await lifeOf(owner, `${file}.lock`)) === 'alive') throw inUse(file, owner)
}

/**
 * Writes the heartbeat. Where only the heartbeat shows that the owner lives, a thread does it, so that long work does not
 * stop it.
 */
const beat = (fd: number, check: () => void, isKnownBySystem: boolean): (() => Promise<void>) => {
  const timer = setInterval(() => {
    futimes(fd, new Date(), new Date(), () => {}) // nothing can be done if this fails
    check()
  }, HEARTBEAT_MS).unref()
  const thread = isKnownBySystem ? null : new Worker(BEAT, { eval: true, workerData: fd, execArgv: [], stdin: false })
  thread?.unref()
  thread?.on('error', () => {}) // the timer goes on
  return async () => {
    clearInterval(timer)
    await thread?.terminate()
  }
}

const BEAT = `const { futimesSync } = require('node:fs')
const { workerData } = require('node:worker_threads')
setInterval(() => {
  try {
    futimesSync(workerData, new Date(), new Date())
  } catch {}
}, ${HEARTBEAT_MS})`

interface Acquired {
  fd: number
  system: boolean
  mayWake: boolean
}

const acquire = async (lock: string, file: string, holder: string): Promise<Acquired> => {
  const seen: Seen = { since: new Map(), silent: new Set() }
  for (let tries = 1; tries <= TRIES; tries++) {
    const own = await announce(lock, holder)
    let acquired = false
    try {
      if (await linked(own.path, lock)) {
        acquired = true
        return { ...own, mayWake: false }
      }
      const owner = await readOwner(lock)
      if (owner && (await life(owner, lock, seen)) === 'alive') throw inUse(file, owner)
      if (await isAloneWith(own.path, lock, seen)) {
        const before = await abandonment(lock, seen)
        if (before) {
          await rename(own.path, lock)
          acquired = true
          return { ...own, mayWake: before === 'silent' }
        }
      }
    } finally {
      await withdraw(own, acquired ? lock : null)
    }
    await wait(Math.random() * 20 * tries) // random and growing pauses, until one process is alone
  }
  throw new StoreError(`${file} is being opened by others at this moment. Try again.`)
}

/**
 * Removes the announcement. The lock `held` goes with it where that fails: the caller will not have it, nor anybody else.
 */
const withdraw = async ({ path, fd }: { path: string; fd: number }, held: string | null) => {
  let holds = false
  try {
    await rm(path, { force: true })
    holds = held !== null
  } finally {
    if (!holds && held !== null) rmSync(held, { force: true })
    if (!holds) closeSync(fd)
  }
}

/** The file is locked by the system before it gets the content that says so. */
const announce = async (lock: string, holder: string) => {
  const path = `${lock}.${process.pid}-${randomBytes(6).toString('hex')}`
  const fd = openSync(path, 'wx+', 0o600)
  try {
    const system = await lockFor(fd)
    writeSync(fd, `${JSON.stringify(describeSelf(holder, system))}\n`)
    return { path, fd, system }
  } catch (error) {
    closeSync(fd)
    rmSync(path, { force: true })
    throw error
  }
}

const linked = (own: string, lock: string) =>
  link(own, lock).then(
    () => true,
    error => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )

/** What a waiting process has seen so far. */
interface Seen {
  /** When an announcement was first found. */
  since: Map<string, number>
  /** Lock files, with their times, that had no heartbeat. */
  silent: Set<string>
}

/** Waits for a missing heartbeat only once per lock file. */
const life = async (owner: Owner, lock: string, { silent }: Seen) => {
  const key = async () => `${owner.machine} ${owner.pid} ${await timeOf(lock)}`
  if (silent.has(await key())) return 'silent'
  const found = await lifeOf(owner, lock)
  if (found === 'silent') silent.add(await key())
  return found
}

/** Whether no other process has announced itself. Announcements stay until their makers have the lock or give up. */
const isAloneWith = async (own: string, lock: string, seen: Seen) => {
  const names = await readdir(dirname(lock))
  const others = names.filter(name => name.startsWith(`${basename(lock)}.`) && name !== basename(own))
  for (const path of others.map(name => join(dirname(lock), name))) {
    const owner = await readOwner(path)
    const known = owner && (await knownLifeOf(owner, path))
    if (known ? known === 'alive' : await isYoung(path, seen)) return false
    await rm(path, { force: true }) // its name is never used again
  }
  return others.length === 0
}

/** By its time, or, as that may be ahead of our clock, by how long we have seen it. */
const isYoung = async (path: string, { since }: Seen) => {
  const now = performance.now()
  const first = since.get(path) ?? now
  since.set(path, first)
  return now - first < SILENCE_MS && Date.now() - ((await timeOf(path)) ?? 0) < SILENCE_MS
}

/** Call it only while alone. Then no other process can replace the lock before the next step. */
const abandonment = async (lock: string, seen: Seen) => {
  const owner = await readOwner(lock)
  if (owner === null) return 'gone'
  const found = owner && (await life(owner, lock, seen))
  return found === 'alive' ? undefined : found
}

const inUse = (file: string, owner: Owner) =>
  new StoreError(
    `${file} is in use by process ${owner.pid} (${owner.holder}), which opened it at ${owner.startedAt}. ` +
      'Stop that process, or use another file.',
  )
