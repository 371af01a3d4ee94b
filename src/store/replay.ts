/** Reading a journal, and doing again what it tells. Which ends are accepted and why: see recovery.ts. */
import { StoreError } from './db.ts'
import type { Disk } from './disk.ts'
import type { Effect, Engine } from './engine.ts'
import { type Frame, findFrame, type Position, readFrame } from './frame.ts'
import type { JournalEnd } from './journal.ts'

/** As the journal writes it: statement (its text or its number), rows changed, values, statement, … */
type JournalRecord = (string | number | Effect['values'])[]

interface Batch {
  seq: number
  records: JournalRecord[]
}

export interface JournalContent {
  path: string
  start: Position
  end: JournalEnd
  batches: readonly Batch[]
  records: number
  /** True if the last frame is a mark. */
  marked: boolean
  /** Bytes behind the end if any of them is neither a mark's nor zero. */
  tornBytes: number
}

/** The content of a journal; undefined if there is no such file. Throws a StoreError if it is damaged. */
export const readJournal = async (disk: Disk, path: string): Promise<JournalContent | undefined> => {
  const bytes = await disk.read(path)
  if (!bytes) return undefined
  const head = readFrame(bytes, 0)
  if (head?.kind !== 'head') throw damagedAt(path, 0)
  const batches: Batch[] = []
  let last = head
  let next = readFrame(bytes, last.end)
  while (next?.kind === 'batch' && follows(next, last)) {
    batches.push({ seq: next.seq, records: JSON.parse(next.payload.toString()) })
    last = next
    next = readFrame(bytes, last.end)
  }
  const marked = next?.kind === 'mark' && follows(next, last)
  const tail = marked ? next!.end : last.end
  if (findFrame(bytes, tail) >= 0) throw damagedAt(path, last.end)
  const seq = last.seq + last.count
  return {
    path,
    start: { seq: head.seq, chain: head.previous },
    end: { seq, chain: last.chain, offset: last.end, length: bytes.length, texts: texts(batches) },
    batches,
    records: seq - head.seq,
    marked,
    tornBytes: isZero(bytes.subarray(tail)) ? 0 : bytes.length - tail,
  }
}

const follows = (next: Frame, last: Frame) => next.previous === last.chain && next.seq === last.seq + last.count

// Zeros written ahead are compared with themselves, one byte further on: far faster than looking at each.
const isZero = (bytes: Buffer) =>
  bytes.length === 0 || (bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1)))

/** Every text in the order of its first use. */
const texts = (batches: readonly Batch[]) =>
  batches.flatMap(({ records }) => records.flatMap(record => record.filter(part => typeof part === 'string')))

/** Does every record once more. Throws a StoreError if one does not change as many rows as it did at first. */
export const replay = (engine: Engine, journal: JournalContent) => {
  const names: string[] = []
  // As one transaction: a page that many records change is then written once.
  engine.replaying(() => {
    for (const batch of journal.batches) {
      batch.records.forEach((record, i) => {
        replayRecord(engine, record, names, `${journal.path}, record ${batch.seq + i}`)
      })
    }
  })
}

const replayRecord = (engine: Engine, record: JournalRecord, names: string[], where: string) => {
  for (let i = 0; i < record.length; i += 3) {
    const statement = record[i] as string | number
    const changed = record[i + 1] as number
    const values = record[i + 2] as Effect['values']
    if (typeof statement === 'string') names.push(statement)
    const sql = typeof statement === 'string' ? statement : names[statement]!
    const now = attempt(engine, { sql, changed, values }, where)
    if (now !== changed) throw notRepeatable(where, `it changed ${changed} rows at first and ${now} now`)
  }
}

const attempt = (engine: Engine, effect: Effect, where: string) => {
  try {
    return engine.replay(effect)
  } catch (error) {
    throw notRepeatable(where, (error as Error).message)
  }
}

export const restore = 'Restore a backup; look with: marketplace db check FILE'

export const damagedAt = (path: string, offset: number) =>
  new StoreError(`${path} is damaged at byte ${offset}, before a point that was durable. ${restore}`)

const notRepeatable = (where: string, what: string) =>
  new StoreError(`${where}, can't be done again: ${what}. ${restore}`)
