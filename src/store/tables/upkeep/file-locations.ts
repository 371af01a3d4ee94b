/** Where each instance keeps uploaded files. Each row has a lease, which ends by itself when the instance is gone. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, type Row, table, text } from '../table.ts'

export const fileLocations = table('file_locations', {
  instance: text(),
  /** Equal for two instances only if each can serve the files of the other, or one is the successor of the other. */
  location: text(),
  /** A name of the instance for people. */
  holder: text(),
  /** Real time. */
  leasedUntil: bigint(),
})

export type FileLocationRow = Row<typeof fileLocations>

/** All other instances whose lease runs at `realNow`, the longest lease first. */
export const otherLocations = (q: Reader, instance: string, realNow: number) =>
  q.all<FileLocationRow>(
    `SELECT ${fileLocations.all} FROM file_locations
     WHERE instance <> $1 AND leased_until > $2 ORDER BY leased_until DESC, instance`,
    [instance, realNow],
  )

/** Writes the row of an instance, and removes rows whose lease is over. */
export async function insertLocation(tx: Tx, row: FileLocationRow, realNow: number): Promise<void> {
  await tx.run('DELETE FROM file_locations WHERE instance = $1 OR leased_until <= $2', [row.instance, realNow])
  await fileLocations.insert(tx, row)
}

/** Extends the lease of an instance. False if it was over: then other instances may have come. */
export const renewLocation = async (tx: Tx, instance: string, realNow: number, leasedUntil: number) =>
  (await tx.run('UPDATE file_locations SET leased_until = $3 WHERE instance = $1 AND leased_until > $2', [
    instance,
    realNow,
    leasedUntil,
  ])) === 1

export const deleteLocation = (tx: Tx, instance: string) =>
  tx.run('DELETE FROM file_locations WHERE instance = $1', [instance])
