/**
 * Reads a journal and replays it. recovery.ts says which endings are accepted, and why.
 *
 * A journal is read twice, one frame at a time: first to verify it, then to replay it. So no more than one frame is in
 * memory, and nothing of a damaged journal is replayed.
 */
import { crc32 } from 'node:zlib'
import { plainShellWord } from '../../api/command-line.ts'
import { StoreError } from '../db.ts'
import type { Disk, ReadableFile } from './disk.ts'
import type { Frame, Position } from './frame.ts'
import { FrameReader } from './frame-reader.ts'
import type { Effect, Engine } from './statements.ts'

/** A record of the journal: statement (its text or its number), rows changed, values, statement, … */
type JournalRecord = (string | number | Effect['values'])[]

interface Batch {
  seq: number
  records: JournalRecord[]
}

/** The end of an existing journal, where writing continues. */
export interface JournalEnd extends Position {
  offset: number
  /** The bytes of the file, including the zeros after the end. */
  length: number
  /** The statements so far. Records refer to them by their index in this list. */
  texts: readonly string[]
}

export interface JournalContent {
  path: string
  start: Position
  /** Its statements are known once it was replayed. */
  end: JournalEnd
  /** Reads the records from the beginning, one batch at a time. */
  batches(): Iterable<Batch>
  records: number
  /** True if the last frame is a mark. */
  marked: boolean
  /** The checksum of all bytes up to the end. */
  checksum: number
  /** How many bytes follow the end, if they are more than a mark and zeros. */
  tornBytes: number
  close(): Promise<void>
}

/** Reads a journal. Returns undefined if there is no such file. Throws a StoreError if it is damaged. */
export const readJournal = async (disk: Disk, path: string): Promise<JournalContent | undefined> => {
  const file = await disk.openToRead(path)
  if (!file) return undefined
  try {
    return examined(file, path)
  } catch (error) {
    await file.close()
    throw error
  }
}

const examined = (file: ReadableFile, path: string): JournalContent => {
  const frames = new FrameReader(file)
  const head = frames.frameAt(0)
  if (head?.kind !== 'head') throw damagedAt(path, 0)
  let last = head
  let checksum = crc32(head.bytes)
  let next = frames.frameAt(last.end)
  while (next?.kind === 'batch' && follows(next, last)) {
    checksum = crc32(next.bytes, checksum)
    last = next
    next = frames.frameAt(last.end)
  }
  const marked = next?.kind === 'mark' && follows(next, last)
  const tail = marked ? next!.end : last.end
  const rest = frames.restFrom(tail)
  if (rest === 'frame') throw damagedAt(path, last.end)
  const seq = last.seq + last.count
  return {
    path,
    start: { seq: head.seq, chain: head.previous },
    end: { seq, chain: last.chain, offset: last.end, length: file.size, texts: [] },
    batches: () => batches(new FrameReader(file), head.end, last.end),
    records: seq - head.seq,
    marked,
    checksum,
    tornBytes: rest === 'torn' ? file.size - tail : 0,
    close: () => file.close(),
  }
}

const follows = (next: Frame, last: Frame) => next.previous === last.chain && next.seq === last.seq + last.count

function* batches(frames: FrameReader, from: number, to: number): Generator<Batch> {
  for (let at = from; at < to; ) {
    const frame = frames.frameAt(at)
    if (!frame)
      throw new StoreError(`Byte ${at} of the journal was whole a moment ago and is not now. See to the disk.`)
    at = frame.end
    yield { seq: frame.seq, records: JSON.parse(frame.payload.toString()) }
  }
}

/** Replays every record. Throws a StoreError if a statement changes another number of rows than the first time. */
export const replay = (engine: Engine, journal: JournalContent) => {
  const texts: string[] = []
  // In one transaction, so that a page which many records change is written once.
  engine.replaying(() => {
    for (const batch of journal.batches()) {
      batch.records.forEach((record, i) => {
        replayRecord(engine, record, texts, { path: journal.path, number: batch.seq + i })
      })
    }
  })
  journal.end.texts = texts
}

interface Where {
  readonly path: string
  readonly number: number
}

const replayRecord = (engine: Engine, record: JournalRecord, texts: string[], where: Where) => {
  for (let i = 0; i < record.length; i += 3) {
    const statement = record[i] as string | number
    const changed = record[i + 1] as number
    const values = record[i + 2] as Effect['values']
    if (typeof statement === 'string') texts.push(statement)
    const sql = typeof statement === 'string' ? statement : texts[statement]!
    const now = attempt(engine, { sql, changed, values }, where)
    if (now !== changed) throw notRepeatable(where, `it changed ${changed} rows at first and ${now} now`)
  }
}

const attempt = (engine: Engine, effect: Effect, where: Where) => {
  try {
    return engine.replay(effect)
  } catch (error) {
    throw notRepeatable(where, (error as Error).message)
  }
}

const LOOK = '; look with: npx agent-marketplace db check '
/** `path`: of the database, or of one of its journals. */
export const restore = (path: string) =>
  `Restore a backup${LOOK}${plainShellWord(path.replace(/\.journal(?:\.sealed)?$/, ''))}`

/** For whoever is looking. */
export const withoutLook = (message: string) => message.split(LOOK, 1)[0]!

export const damagedAt = (path: string, offset: number) =>
  new StoreError(`${path} is damaged at byte ${offset}, before a point that was durable. ${restore(path)}`)

const notRepeatable = ({ path, number }: Where, what: string) =>
  new StoreError(`${path}, record ${number}, can't be done again: ${what}. ${restore(path)}`)
