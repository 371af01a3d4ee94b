/** Crashes, damage and failing disks, in numbers: the body of crash.test.ts and of the long run. */
import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { ConstraintError, type Db, StoreError, type Tx } from '../../src/store/db.ts'
import type { Disk } from '../../src/store/disk.ts'
import { readFrame } from '../../src/store/frame.ts'
import { foldSealed } from '../../src/store/snapshot.ts'
import { openSqlite, openSqliteOn } from '../../src/store/sqlite.ts'
import { crashImage, type Fault, MemoryDisk } from './memory-disk.ts'

const FILE = '/data/market.db'
const TRANSACTIONS = 60

/** A repeatable source of chance. */
export const chance = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

export const openOn = (disk: Disk, onFatal: (error: Error) => void = () => {}) =>
  openSqliteOn(
    { disk, fold: file => foldSealed(disk, file), lock: async () => async () => {} },
    { file: FILE, journalBytes: 6000, onFatal },
  )

/** The transactions, the same every time; number 0 makes the tables. */
const transaction = (number: number) => async (tx: Tx) => {
  if (number === 0) {
    await tx.run('CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL CHECK (balance >= 0))')
    await tx.run(
      'CREATE TABLE ledger (id BIGINT PRIMARY KEY, account BIGINT NOT NULL REFERENCES accounts (id), note TEXT)',
    )
    for (let id = 0; id < 5; id++) await tx.run('INSERT INTO accounts (id, balance) VALUES ($1, $2)', [id, 1000])
    return
  }
  await tx.run('UPDATE accounts SET balance = balance - $2 WHERE id = $1', [number % 5, number])
  await tx.run('UPDATE accounts SET balance = balance + $2 WHERE id = $1', [(number + 1) % 5, number])
  try {
    await tx.run('UPDATE accounts SET balance = balance - $1', [100_000]) // refused, and caught: leaves nothing behind
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error
  }
  const note = 'né '.repeat((number * 37) % 400)
  await tx.run('INSERT INTO ledger (id, account, note) VALUES ($1, $2, $3)', [number, number % 5, note])
  if (number % 9 === 0) await tx.run('DELETE FROM ledger WHERE id <= $1', [number / 3])
}

export const stateOf = (db: Db) =>
  db.read(async q => {
    const hash = createHash('sha256')
    const tables = await q.all<{ name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'store_position' ORDER BY name`,
    )
    for (const { name } of tables) hash.update(JSON.stringify([name, await q.all(`SELECT * FROM ${name} ORDER BY 1`)]))
    return hash.digest('hex')
  })

/** The state before the first transaction and after each. */
const expectedStates = async () => {
  const db = await openSqlite({ file: null, onFatal: () => {} })
  const states = [await stateOf(db)]
  for (let number = 0; number < TRANSACTIONS; number++) {
    await db.write(transaction(number))
    states.push(await stateOf(db))
  }
  await db.close()
  return states
}

/** Runs all transactions, several at a time; notes in the log who was told. Answers how many were. */
const run = async (disk: MemoryDisk, random: () => number, from = 0) => {
  let fatal = 0
  let told = 0
  let toldAtFatal: number | null = null
  const db = await openOn(disk, () => {
    fatal++
    toldAtFatal = told
  })
  for (let number = from; number < TRANSACTIONS; ) {
    const group = Array.from({ length: Math.min(1 + Math.floor(random() * 6), TRANSACTIONS - number) }, () => number++)
    await Promise.allSettled(
      group.map(async one => {
        await db.write(transaction(one))
        told = Math.max(told, one + 1)
        disk.log.push({ type: 'ack', number: one })
      }),
    )
    if (random() < 0.15) await new Promise(resolve => setTimeout(resolve, 25)) // long enough for a mark
  }
  await db.close()
  return { told, fatal, toldAtFatal }
}

/** The start from an image was refused. */
class Refused extends Error {}

/** Recovers an image. Answers how many transactions it holds. Throws if it is refused, or the state is a wrong one. */
const recovered = async (files: ReadonlyMap<string, Buffer>, states: readonly string[]) => {
  const disk = new MemoryDisk(files)
  let db: Db
  try {
    db = await openOn(disk)
  } catch (error) {
    throw error instanceof StoreError ? new Refused(error.message) : error
  }
  const count = states.indexOf(await stateOf(db))
  assert.ok(count >= 0, 'the state is one after whole transactions')
  if (count < TRANSACTIONS) await db.write(transaction(count))
  await db.close()
  const again = await openOn(disk)
  assert.is(await stateOf(again), states[Math.min(count + 1, TRANSACTIONS)], 'life goes on after the recovery')
  await again.close()
  return { count, disk }
}

/** The same of an image that no crash can leave: null if it was refused. */
const recoveredOrNull = (files: ReadonlyMap<string, Buffer>, states: readonly string[]) =>
  recovered(files, states).catch(error => {
    if (error instanceof Refused) return null
    throw error
  })

/** The same of an image that must not be refused; `what` says why. */
const accepted = (files: ReadonlyMap<string, Buffer>, states: readonly string[], what: string) =>
  recovered(files, states).catch(error => {
    if (error instanceof Refused) error.message = `${what}: ${error.message}`
    throw error
  })

const toldBy = (log: MemoryDisk['log'], end: number) =>
  log
    .slice(0, end)
    .reduce((most, operation) => (operation.type === 'ack' ? Math.max(most, operation.number + 1) : most), 0)

/** Crashes at `images` points of real runs; each third one crashes again while recovering. */
export const crashes = async (images: number, seed: number) => {
  const states = await expectedStates()
  const random = chance(seed)
  let disk = new MemoryDisk()
  await run(disk, random)
  for (let i = 0; i < images; i++) {
    if (i % 50 === 49) {
      disk = new MemoryDisk()
      await run(disk, random)
    }
    const end =
      images > disk.log.length || random() < 0.7 ? Math.floor(random() * (disk.log.length + 1)) : i % disk.log.length
    const told = toldBy(disk.log, end)
    const image = crashImage(disk.log, end, random)
    const first = await accepted(image, states, `image ${i}, cut at ${end}: a crash alone is never refused`)
    assert.ok(first.count >= told, `image ${i}, cut at ${end}: ${first.count} are there, ${told} were told of`)
    if (i % 3) continue
    const { log, begin } = first.disk
    const again = begin + Math.floor(random() * (log.length - begin + 1))
    const torn = crashImage(log, again, random)
    const second = await accepted(torn, states, `image ${i}: a crash during recovery, at ${again}, is never refused`)
    assert.ok(second.count >= told, `image ${i}: a crash during recovery loses nothing`)
  }
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
    const image = crashImage(disk.log, end, () => 0.49) // everything that was written has arrived
    const whole = await accepted(image, states, `cut at ${end}, and nothing is damaged`)
    const [path, bytes] = [...image][Math.floor(random() * image.size)] ?? []
    if (!path || !bytes?.length) continue
    const used = random() < 0.1 ? bytes.length : Math.max(1, usedLength(bytes))
    const at = Math.floor(random() * used)
    const before = lastUnmarked(path, bytes)
    bytes[at]! ^= 1 << Math.floor(random() * 8)
    const found = await recoveredOrNull(image, states)
    if (!found) seen.refused++
    else if (found.count === whole.count) seen.same++
    else {
      assert.ok(before && at >= before.offset, `byte ${at} of ${path}, cut at ${end}: ${found.count} of ${whole.count}`)
      assert.ok(whole.count - found.count <= before.count, 'only the last batch, which no mark follows, can be lost')
      seen.undecidable++
    }
  }
  return seen
}

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

/** Fails operation number `at` of a run; checks who was told, then recovers on a healthy disk. Answers false behind the last one. */
export const failure = async (fault: Fault, seed: number, states: readonly string[]) => {
  const random = chance(seed)
  const disk = new MemoryDisk()
  disk.fault = fault
  let outcome = { told: 0, fatal: 0, toldAtFatal: null as number | null }
  try {
    outcome = await run(disk, random)
  } catch (error) {
    if (disk.count < fault.at) throw error // not opened: nobody was told anything
  }
  const { told, fatal, toldAtFatal } = outcome
  assert.ok(fatal <= 1, 'the alarm is given once')
  if (fatal) assert.is(told, toldAtFatal, 'nobody is told anything after the failure')
  else if (told) assert.is(told, TRANSACTIONS, 'without an alarm everybody is told')
  const left = await accepted(disk.files(), states, `${fault.code} at ${fault.at}`)
  assert.ok(left.count >= told, `${fault.code} at ${fault.at}: what was told is there`)
  const image = crashImage(disk.log, disk.log.length, random)
  const crashed = await accepted(image, states, `${fault.code} at ${fault.at}, then a crash`)
  assert.ok(crashed.count >= told, `${fault.code} at ${fault.at}: also after a crash`)
  return disk.count >= fault.at
}

/** Every operation of a run fails once, in every way. Answers how many runs that were. */
export const failures = async (seed: number, step = 1) => {
  const states = await expectedStates()
  let runs = 0
  for (const code of ['EIO', 'ENOSPC', 'short'] as const) {
    for (const sticky of [false, true]) {
      if (sticky && code === 'short') continue
      for (let at = 1; await failure({ at, code, sticky }, seed, states); at += step) runs++
    }
  }
  return runs
}
