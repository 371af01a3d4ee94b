/** Where each instance keeps uploaded files: a row under a lease, which ends by itself when the instance is gone. */
import type { Reader, Tx } from '../db.ts'
import { bigint, type Row, table, text } from './table.ts'

export const filePlaces = table('file_places', {
  instance: text(),
  /** The same for two instances only if each can serve what the other took in, or is its successor. */
  place: text(),
  /** What the instance is to a human. */
  holder: text(),
  /** Real time. */
  leasedUntil: bigint(),
})

export type FilePlaceRow = Row<typeof filePlaces>

/** All others whose lease runs at `realNow`, the one that lasts longest first. */
export const otherPlaces = (q: Reader, instance: string, realNow: number) =>
  q.all<FilePlaceRow>(
    `SELECT ${filePlaces.all} FROM file_places
     WHERE instance <> $1 AND leased_until > $2 ORDER BY leased_until DESC, instance`,
    [instance, realNow],
  )

/** The instance's own row, new or again; rows whose lease is over go. */
export async function takePlace(tx: Tx, row: FilePlaceRow, realNow: number): Promise<void> {
  await tx.run('DELETE FROM file_places WHERE instance = $1 OR leased_until <= $2', [row.instance, realNow])
  await filePlaces.insert(tx, row)
}

/** False if the lease is over: then others may have come. */
export const renewPlace = async (tx: Tx, instance: string, realNow: number, leasedUntil: number) =>
  (await tx.run('UPDATE file_places SET leased_until = $3 WHERE instance = $1 AND leased_until > $2', [
    instance,
    realNow,
    leasedUntil,
  ])) === 1

export const leavePlace = (tx: Tx, instance: string) =>
  tx.run('DELETE FROM file_places WHERE instance = $1', [instance])
