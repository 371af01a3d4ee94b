/** For a database that is not in use: verifies it without changes, or folds it into one plain SQLite file. */
import type { Reader } from '../db.ts'
import { realPath } from './database.ts'
import { type Disk, realDisk } from './disk.ts'
import { fenced } from './fence.ts'
import { stepsOfSnapshot } from './file-state.ts'
import { lockFile, refuseIfLocked } from './lock.ts'
import { type Recovered, recover, runSteps } from './recovery.ts'
import { withoutLook } from './replay.ts'
import { Unit } from './unit.ts'

export interface FileCheck {
  ok: boolean
  problems: string[]
  /** How many records the snapshot has; null if it could not be read. */
  snapshotSeq: number | null
  journalRecords: number
  /** Bytes at the journal's end that a start would cut off, because they were never acknowledged. */
  tornBytes: number
  /** The recovered database, for further checks; null if it can't be recovered. */
  db: Reader | null
}

/**
 * Verifies `file` and its journals without changing them. Throws a StoreError if a live process uses them, and the error of
 * the system if it refuses to read them.
 */
export const checkFile = async (path: string): Promise<FileCheck> => {
  const file = await realPath(path)
  await refuseIfLocked(file)
  try {
    return report(await recover(realDisk, file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error
    const problems = [withoutLook((error as Error).message)]
    return { ok: false, problems, snapshotSeq: null, journalRecords: 0, tornBytes: 0, db: null }
  }
}

const report = ({ engine, snapshotSeq, sealed, current }: Recovered): FileCheck => {
  const found = [...engine.column('PRAGMA integrity_check'), ...engine.column('PRAGMA foreign_key_check')]
  const problems = found.map(String).filter(line => line !== 'ok')
  return {
    ok: problems.length === 0,
    problems,
    snapshotSeq,
    journalRecords: (sealed?.records ?? 0) + (current?.records ?? 0),
    tornBytes: current?.tornBytes ?? 0,
    db: new Unit(engine, false),
  }
}

/** Folds the journals into the SQLite file, which then has everything and can be copied alone. */
export const snapshotFile = async (path: string) => {
  const file = await realPath(path)
  const lock = await lockFile(file)
  try {
    await snapshotOn(fenced(realDisk, lock.proof), file)
  } finally {
    await lock.release()
  }
}

/**
 * Under the lock.
 * @internal Tests give it a disk that fails.
 */
export const snapshotOn = async (disk: Disk, file: string) => {
  const recovered = await recover(disk, file)
  try {
    const steps = stepsOfSnapshot(recovered.state, recovered.found)
    const { journal } = await runSteps(disk, file, { steps, recovered })
    await journal?.abandon()
  } finally {
    recovered.engine.close()
  }
}
