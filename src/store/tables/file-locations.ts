/** Where each instance keeps uploaded files: a row under a lease, which ends by itself when the instance is gone. */
import type { Reader, Tx } from '../db.ts'
import { bigint, type Row, table, text } from './table.ts'

export const fileLocations = table('file_locations', {
  instance: text(),
  /** The same for two instances only if each can serve what the other took in, or is its successor. */
  location: text(),
  /** What the instance is to a human. */
  holder: text(),
  /** Real time. */
  leasedUntil: bigint(),
})

export type FileLocationRow = Row<typeof fileLocations>

/** All others whose lease runs at `realNow`, the one that lasts longest first. */
export const otherLocations = (q: Reader, instance: string, realNow: number) =>
  q.all<FileLocationRow>(
    `SELECT ${fileLocations.all} FROM file_locations
     WHERE instance <> $1 AND leased_until > $2 ORDER BY leased_until DESC, instance`,
    [instance, realNow],
  )

/** The instance's own row, new or again; rows whose lease is over go. */
export async function insertLocation(tx: Tx, row: FileLocationRow, realNow: number): Promise<void> {
  await tx.run('DELETE FROM file_locations WHERE instance = $1 OR leased_until <= $2', [row.instance, realNow])
  await fileLocations.insert(tx, row)
}

/** False if the lease is over: then others may have come. */
export const renewLocation = async (tx: Tx, instance: string, realNow: number, leasedUntil: number) =>
  (await tx.run('UPDATE file_locations SET leased_until = $3 WHERE instance = $1 AND leased_until > $2', [
    instance,
    realNow,
    leasedUntil,
  ])) === 1

export const deleteLocation = (tx: Tx, instance: string) =>
  tx.run('DELETE FROM file_locations WHERE instance = $1', [instance])
