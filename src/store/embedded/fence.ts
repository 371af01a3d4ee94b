/**
 * Fencing: the process that owns a database checks that it still has the lock before it acknowledges a write, and before it
 * renames or removes a file. A process that stood still (stopped, or on a frozen machine) may have lost the lock where only
 * its heartbeat could be checked. Then the lock is a different file with the same name.
 */
import { type BigIntStats, statSync } from 'node:fs'
import { StoreError } from '../db.ts'
import type { Disk } from './disk.ts'

/** Identifies one's own lock file, as another process may have made one with the same name. Can be passed to a thread. */
export interface Proof {
  path: string
  id: string
}

/** The inode can't be reused while its owner has the file open. */
export const idOf = ({ dev, ino }: BigIntStats) => `${dev}:${ino}`

export const isOwn = ({ path, id }: Proof) => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats !== undefined && idOf(stats) === id
}

/** Throws a StoreError if this process has lost the lock. It costs a few µs, so every batch is checked. */
export const prove = (proof: Proof | null) => {
  if (proof && !isOwn(proof)) throw lost(proof)
}

const lost = ({ path }: Proof) =>
  new StoreError(
    `${path} is not this process' any more: it stood still for so long that another has taken over, or somebody has ` +
      'removed the file. Nothing more is accepted here. See who uses the database now; start again when nobody does.',
  )

/** Returns a disk that renames and removes files only while this process has the lock. */
export const fenced = (disk: Disk, proof: Proof | null): Disk => ({
  openToRead: path => disk.openToRead(path),
  open: path => disk.open(path),
  syncFolder: path => disk.syncFolder(path),
  async rename(from, to) {
    prove(proof)
    await disk.rename(from, to)
  },
  async remove(path) {
    prove(proof)
    await disk.remove(path)
  },
})
