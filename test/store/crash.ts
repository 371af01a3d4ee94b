/** Crashes, damage and failing disks, in numbers: the body of crash.test.ts and of the long run. */
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Db, StoreError } from '../../src/store/db.ts'
import { backupOn } from '../../src/store/embedded/backup.ts'
import { writeFully } from '../../src/store/embedded/disk.ts'
import { readFrame } from '../../src/store/embedded/frame.ts'
import { packedPath } from '../../src/store/embedded/snapshot.ts'
import { snapshotOn } from '../../src/store/embedded/verify.ts'
import { type Fault, MemoryDisk } from './memory-disk.ts'
import { chance, Machine } from './page-cache.ts'
import { expectedStates, FILE, openOn, run, stateOf, TRANSACTIONS, transaction, unevenPace } from './workload.ts'

/** The start from an image was refused. */
class Refused extends Error {}

const opened = async (disk: MemoryDisk, file = FILE) => {
  try {
    return await openOn(disk, undefined, file)
  } catch (error) {
    throw error instanceof StoreError ? new Refused(error.message) : error
  }
}

/** How many transactions a database holds. Throws if its state is a wrong one. What it shows, it may not lose later. */
const shown = async (disk: MemoryDisk, db: Db, states: readonly string[]) => {
  const count = states.indexOf(await stateOf(db))
  assert.ok(count >= 0, 'the state is one after whole transactions')
  disk.told(count)
  return count
}

/** Starts from what was left, goes on, and starts again. Returns how many transactions were there at first. */
const recovered = async (disk: MemoryDisk, states: readonly string[]) => {
  const db = await opened(disk)
  const count = await shown(disk, db, states)
  if (count < TRANSACTIONS) {
    await db.write(transaction(count))
    disk.told(count + 1)
  }
  await db.close()
  const again = await opened(disk)
  assert.is(await stateOf(again), states[Math.min(count + 1, TRANSACTIONS)], 'life goes on after the recovery')
  await again.close()
  return count
}

/** The same of what was left that must not be refused; `what` says why. */
const accepted = async (disk: MemoryDisk, states: readonly string[], told: number, what: string) => {
  const count = await recovered(disk, states).catch(error => {
    error.message = `${what}: ${error.message}`
    throw error
  })
  assert.ok(count >= told, `${what}: ${count} are there, ${told} were told of`)
  return count
}

/** The machine stops, or only the process on it does. */
const interrupted = (machine: Machine, random: () => number) =>
  new MemoryDisk(random() < 0.65 ? machine.restarted(random) : machine)

/** One interruption, then maybe others while it starts again. Returns how many starts that were. */
const starts = async (
  machine: Machine,
  random: () => number,
  { states, depth, what }: { states: readonly string[]; depth: number; what: string },
): Promise<number> => {
  const disk = interrupted(machine, random)
  const { told } = machine
  await accepted(disk, states, told, what)
  if (depth === 0) return 1
  const cut = cutOf(disk, random)
  return 1 + (await starts(disk.at(cut), random, { states, depth: depth - 1, what: `${what}, again at ${cut}` }))
}

/** Often right after the first look at what was found: nothing may have been shown that was not durable by then. */
const cutOf = ({ log }: MemoryDisk, random: () => number) => {
  const firstLook = log.findIndex(({ type }) => type === 'told') + 1
  return random() < 0.5 ? firstLook : Math.floor(random() * (log.length + 1))
}

/** Interrupts real runs after each operation, until so many starts were tried; most are interrupted again. */
export const crashes = async (images: number, seed: number) => {
  const states = await expectedStates()
  const random = chance(seed)
  for (let tried = 0, runs = 1; tried < images; runs++) {
    const disk = new MemoryDisk()
    await run(disk, random)
    const packs = disk.log.some(operation => operation.type === 'name' && operation.gone === packedPath(FILE))
    assert.ok(packs, 'one of the snapshots was packed')
    const share = Math.min(1, images / disk.log.length)
    let at = 0
    for (const machine of disk.moments()) {
      at++
      if (tried >= images || random() > share) continue
      const depth = Math.floor(random() * 3)
      tried += await starts(machine, random, { states, depth, what: `seed ${seed}, run ${runs}, cut at ${at}` })
    }
  }
}

const COPY = '/data/copy.db'
const DELIVERED = {
  folder: `${FILE}.files`,
  names: ['one', 'two', 'none'],
  async *named() {
    yield* this.names
  },
}
/** More than a page, and nothing at all. */
const contentOf = (name: string) => Buffer.from(name === 'none' ? '' : name.repeat(2_000))

/** What a database can be operation when it is interrupted. */
const operations: Readonly<Record<string, (disk: MemoryDisk, states: readonly string[]) => Promise<void>>> = {
  async start(disk, states) {
    const db = await opened(disk)
    await shown(disk, db, states)
    await db.close()
  },
  async snapshot(disk, states) {
    const db = await opened(disk)
    const count = await shown(disk, db, states)
    const numbers = [0, 1, 2].map(more => count + more).filter(number => number < TRANSACTIONS)
    const units = numbers.map(number => db.write(transaction(number)).then(() => disk.told(number + 1)))
    await Promise.all([...units, db.snapshot()])
    await db.close()
  },
  'db snapshot': disk => snapshotOn(disk, FILE),
  backup: async disk => {
    await disk.makeFolder(DELIVERED.folder)
    for (const name of DELIVERED.names) {
      const file = await disk.open(join(DELIVERED.folder, name))
      writeFully(file, contentOf(name), 0)
      await file.datasync()
      await file.close()
    }
    await disk.syncFolder(DELIVERED.folder)
    await disk.syncFolder(dirname(FILE))
    await backupOn(disk, FILE, COPY, DELIVERED)
  },
}

/**
 * Interrupts start, snapshot, `db snapshot` and backup after every operation, from states that other interruptions left,
 * until so many starts were tried. Returns how many that were.
 */
export const interruptions = async (images: number, seed: number) => {
  const states = await expectedStates()
  const random = chance(seed)
  let tried = 0
  while (tried < images) {
    const before = await someMachine(random)
    for (const name of Object.keys(operations)) tried += await interruptionsOf(name, before, { states, random, seed })
  }
  return tried
}

const interruptionsOf = async (
  name: string,
  before: Machine,
  { states, random, seed }: { states: readonly string[]; random: () => number; seed: number },
) => {
  const disk = interrupted(before, random)
  disk.pace = unevenPace(random)
  await operations[name]!(disk, states)
  let [tried, at] = [0, 0]
  for (const machine of disk.moments()) {
    const what = `seed ${seed}, interrupted in ${name} at ${at} of ${disk.log.length}`
    tried += await starts(machine, random, { states, depth: at++ % 2, what })
    if (name === 'backup') await copyIsWhole(machine.restarted(random), states, before.told, what)
  }
  return tried
}

/** A database that was copied here and not synced: what is shown of it, and built upon it, stays. */
export const copiedHere = async (images: number, seed: number) => {
  const states = await expectedStates()
  const random = chance(seed)
  const source = new MemoryDisk()
  await run(source, random, { to: 20 })
  await snapshotOn(source, FILE)
  for (let image = 0; image < images; image++) {
    const disk = new MemoryDisk()
    const copy = await disk.open(FILE)
    writeFully(copy, source.files().get(FILE)!, 0)
    const db = await opened(disk)
    await shown(disk, db, states)
    await db.write(transaction(20))
    disk.told(21)
    const machine = disk.at(disk.log.length).restarted(random)
    await starts(machine, random, { states, depth: 0, what: `seed ${seed}, copied here, image ${image}` })
  }
}

const someMachine = async (random: () => number) => {
  const disk = new MemoryDisk()
  const to = 5 + Math.floor(random() * (TRANSACTIONS - 10))
  await run(disk, random, { to, marks: false })
  return disk.at(Math.floor(disk.log.length * (0.3 + 0.7 * random())))
}

/** It is there with all of its files or not at all; then it can be made under the same name. */
const copyIsWhole = async (machine: Machine, states: readonly string[], told: number, what: string): Promise<void> => {
  const disk = new MemoryDisk(machine)
  if (!machine.read(COPY)) {
    await operations.backup!(disk, states)
    return copyIsWhole(disk.at(disk.log.length), states, told, `${what}, made again`)
  }
  for (const name of DELIVERED.names)
    assert.ok(machine.read(join(`${COPY}.files`, name))?.equals(contentOf(name)), `${what}: the copy lacks ${name}`)
  const db = await opened(disk, COPY)
  const count = await shown(disk, db, states)
  assert.ok(count >= told, `${what}: the copy has ${count} of ${told}`)
  await db.close()
}

/** Changes one byte anywhere in a state that was left without a crash or after a clean stop of the process. */
export const flips = async (images: number, seed: number) => {
  const states = await expectedStates()
  const random = chance(seed)
  const disk = new MemoryDisk()
  await run(disk, random)
  const seen = { refused: 0, same: 0, undecidable: 0 }
  for (let i = 0; i < images; i++) {
    const end = Math.floor(random() * (disk.log.length + 1))
    const image = new Map([...disk.at(end).files()].map(([path, bytes]) => [path, Buffer.from(bytes)]))
    const whole = await recovered(withFiles(image), states)
    const [path, bytes] = [...image][Math.floor(random() * image.size)] ?? []
    if (!path || !bytes?.length) continue
    const used = random() < 0.1 ? bytes.length : Math.max(1, usedLength(bytes))
    const at = Math.floor(random() * used)
    const before = lastUnmarked(path, bytes)
    bytes[at]! ^= 1 << Math.floor(random() * 8)
    const found = await recoveredOrNull(image, states)
    if (found === null) seen.refused++
    else if (found === whole) seen.same++
    else {
      assert.ok(before && at >= before.offset, `byte ${at} of ${path}, cut at ${end}: ${found} of ${whole}`)
      assert.ok(whole - found <= before.count, 'only the last batch, which no mark follows, can be lost')
      seen.undecidable++
    }
  }
  return seen
}

const withFiles = (files: ReadonlyMap<string, Buffer>) => new MemoryDisk(Machine.withFiles(files))

const recoveredOrNull = (files: ReadonlyMap<string, Buffer>, states: readonly string[]) =>
  recovered(withFiles(files), states).catch(error => {
    if (error instanceof Refused) return null
    throw error
  })

const usedLength = (bytes: Buffer) => {
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length--
  return length
}

const lastUnmarked = (path: string, bytes: Buffer) => {
  if (!path.endsWith('.journal')) return null
  let last: { offset: number; count: number } | null = null
  for (let frame = readFrame(bytes, 0), offset = 0; frame; offset = frame.end, frame = readFrame(bytes, offset)) {
    if (frame.kind === 'mark') return null
    last = { offset, count: frame.count }
  }
  return last
}

/**
 * Fails call number `at` of a run. Checks who was told; then starts on the same machine, whose cache may be wrong by now,
 * goes on and lets it stop, or lets it stop at once. Returns false behind the last call.
 */
const failure = async (fault: Fault, seed: number, states: readonly string[]) => {
  const what = `${fault.code} at ${fault.at}${fault.sticky ? ' and from then on' : ''}, seed ${seed}`
  const random = chance(seed + fault.at)
  const disk = new MemoryDisk()
  disk.fault = fault
  let outcome = { told: 0, fatal: 0, toldAtFatal: null as number | null }
  try {
    outcome = await run(disk, random, { marks: false })
  } catch (error) {
    if (disk.count < fault.at) throw error // not opened: nobody was told anything
  }
  const { told, fatal, toldAtFatal } = outcome
  assert.ok(fatal <= 1, `${what}: the alarm is given once`)
  if (fatal) assert.is(told, toldAtFatal, `${what}: nobody is told anything after the failure`)
  else if (told) assert.is(told, TRANSACTIONS, `${what}: without an alarm everybody is told`)
  await starts(disk.at(disk.log.length), random, { states, depth: 0, what })
  // As a supervisor does: the machine goes on, so its cache does.
  const same = new MemoryDisk(disk.at(disk.log.length))
  if (random() < 0.5) same.forget(fault.at)
  const count = await accepted(same, states, told, `${what}, on the same machine`)
  await run(same, random, { from: count + 1, to: Math.min(count + 4, TRANSACTIONS), marks: false })
  await starts(same.at(same.log.length), random, { states, depth: 1, what: `${what}, and after more was told` })
  return disk.count >= fault.at
}

/** Every call of a run fails once, in every way. Returns how many runs that were. */
export const failures = async (seed: number, step = 1) => {
  const states = await expectedStates()
  let runs = 0
  for (const code of ['EIO', 'ENOSPC', 'EMFILE', 'short'] as const) {
    for (const sticky of [false, true]) {
      if (sticky && code === 'short') continue
      for (let at = 1; await failure({ at, code, sticky }, seed, states); at += step) runs++
    }
  }
  return runs
}

/**
 * Calls that start, snapshot, `db snapshot` and backup make fail once, so many of each in every way; then the database
 * starts on the same machine, more is told, and the machine stops. Returns how many faults that were.
 */
export const failuresOfOperations = async (seed: number, samples: number) => {
  const states = await expectedStates()
  const random = chance(seed)
  let faults = 0
  for (const [name, operation] of Object.entries(operations)) {
    const before = await someMachine(random)
    const calls = await callsOf(operation, before, states)
    for (const code of ['EIO', 'ENOSPC', 'EMFILE'] as const) {
      for (let sample = 0; sample < samples; sample++) {
        const fault = { at: 1 + Math.floor(random() * calls), code, sticky: random() < 0.3 }
        const disk = interrupted(before, random)
        disk.fault = fault
        await operation(disk, states).catch(error => {
          if (error instanceof assert.Assertion || disk.count < fault.at) throw error
        })
        faults++
        const what = `seed ${seed}, ${code} at ${fault.at} in ${name}`
        const same = new MemoryDisk(disk.at(disk.log.length))
        if (random() < 0.5) same.forget(fault.at)
        await accepted(same, states, disk.at(disk.log.length).told, `${what}, on the same machine`)
        await starts(same.at(same.log.length), random, { states, depth: 1, what: `${what}, and after more was told` })
      }
    }
  }
  return faults
}

const callsOf = async (operation: (typeof operations)[string], before: Machine, states: readonly string[]) => {
  const disk = new MemoryDisk(before)
  await operation(disk, states)
  return disk.count
}
