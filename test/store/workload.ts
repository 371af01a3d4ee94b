/** What the embedded database does while a test stops it: transactions whose states are known, and readers. */
import { createHash } from 'node:crypto'
import { ConstraintError, type Db, type Tx } from '../../src/store/db.ts'
import { openSqlite, openSqliteOn } from '../../src/store/embedded/database.ts'
import type { Disk } from '../../src/store/embedded/disk.ts'
import { foldSealed } from '../../src/store/embedded/fold-sealed.ts'
import type { MemoryDisk } from './memory-disk.ts'

export const FILE = '/data/market.db'
export const TRANSACTIONS = 60

const nextTick = () => new Promise<void>(resolve => setImmediate(resolve))

/** Calls take turns in an order that chance gives. */
export const unevenPace = (random: () => number) => async () => {
  for (let ticks = Math.floor(random() * 4); ticks >= 0; ticks--) await nextTick()
}

/** Nobody else is on this machine. */
const unlocked = { proof: null, mayWake: false, onLost: () => {}, release: async () => {} }

/** As the product does, the snapshot is made beside the units that go on: the thread is replaced by a call. */
export const openOn = (disk: Disk, onFatal: (error: Error) => void = () => {}, file = FILE) =>
  openSqliteOn(
    { disk, fold: name => nextTick().then(() => foldSealed(disk, name)), lock: async () => unlocked },
    { file, journalBytes: 6000, onFatal },
  )

/** The transactions, the same every time; number 0 makes the tables. */
export const transaction = (number: number) => async (tx: Tx) => {
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
  const note = 'né '.repeat(number === 30 ? 4500 : (number * 37) % 400)
  await tx.run('INSERT INTO ledger (id, account, note) VALUES ($1, $2, $3)', [number, number % 5, note])
  if (number % 9 === 0) await tx.run('DELETE FROM ledger WHERE id <= $1', [number / 3])
  // Then the snapshot after the one with the long note is packed.
  if (number === 40) await tx.run('DELETE FROM ledger WHERE id < $1', [number])
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
export const expectedStates = async () => {
  const db = await openSqlite({ file: null, onFatal: () => {} })
  const states = [await stateOf(db)]
  for (let number = 0; number < TRANSACTIONS; number++) {
    await db.write(transaction(number))
    states.push(await stateOf(db))
  }
  await db.close()
  return states
}

/** How many transactions a reader sees. */
const seenBy = (db: Db) =>
  db.read(async q => {
    const made = await q.get(`SELECT 1 AS one FROM sqlite_schema WHERE name = 'ledger'`)
    if (!made) return 0
    const { last } = (await q.get<{ last: number }>('SELECT COALESCE(MAX(id), 0) AS last FROM ledger'))!
    return last + 1
  })

export interface Outcome {
  told: number
  fatal: number
  toldAtFatal: number | null
}

/** Runs transactions, several at a time, with readers between them; the disk notes what was told and shown. */
export const run = async (
  disk: MemoryDisk,
  random: () => number,
  { from = 0, to = TRANSACTIONS, marks = true } = {},
): Promise<Outcome> => {
  disk.pace = unevenPace(random)
  const outcome: Outcome = { told: 0, fatal: 0, toldAtFatal: null }
  const db = await openOn(disk, () => {
    outcome.fatal++
    outcome.toldAtFatal = outcome.told
  })
  const tell = (count: number) => {
    outcome.told = Math.max(outcome.told, count)
    disk.told(count)
  }
  for (let number = from; number < to; ) {
    const group = Array.from({ length: Math.min(1 + Math.floor(random() * 6), to - number) }, () => number++)
    const units = group.flatMap(one => [db.write(transaction(one)).then(() => tell(one + 1)), seenBy(db).then(tell)])
    await Promise.allSettled(units)
    if (marks && random() < 0.15) await new Promise(resolve => setTimeout(resolve, 25)) // long enough for a mark
  }
  await db.close()
  return outcome
}
