/**
 * The owner of a database proves that it still is, before it tells anybody that a write is done and before it renames or
 * removes anything. An owner that stood still (a stopped process, a frozen machine) may have been succeeded meanwhile,
 * where nothing but its heartbeat could be asked about: then the lock is another file of the same name.
 */
import { type BigIntStats, statSync } from 'node:fs'
import { StoreError } from '../db.ts'
import type { Disk } from './disk.ts'

/** What tells one's own lock file from another's of the same name. Can be handed to a thread. */
export interface Proof {
  path: string
  id: string
}

/** Nobody makes the same file again while its owner has it open. */
export const idOf = ({ dev, ino }: BigIntStats) => `${dev}:${ino}`

export const isOwn = ({ path, id }: Proof) => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats !== undefined && idOf(stats) === id
}

/** Throws a StoreError if the lock is not one's own any more. Costs a few µs, so it is asked for every batch. */
export const prove = (proof: Proof | null) => {
  if (proof && !isOwn(proof)) throw lost(proof)
}

const lost = ({ path }: Proof) =>
  new StoreError(
    `${path} is not this process' any more: it stood still for so long that another has taken over, or somebody has ` +
      'removed the file. Nothing more is accepted here. See who uses the database now; start again when nobody does.',
  )

/** A disk on which only the owner of the lock renames and removes. */
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
